"""The edges of a model: its graph, log odds ratios, and a small table for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import SettingError
from isinglass.graph import Graph, Link, position_of, sign_of, trend_of
from isinglass.losses.association import table_information
from isinglass.losses.steps import step_log_odds
from isinglass.model.codings import table_against
from isinglass.model.fit.parameter_errors import CONDITION, WaldTest, errors_of
from isinglass.model.labelled import LabelledTable, code_of, table_of
from isinglass.notebook import small_table
from isinglass.parameters import checked
from isinglass.table.coding.labels import sort_labels
from isinglass.table.column import as_text

if TYPE_CHECKING:
    from isinglass.model.field import MarkovField

Array = NDArray[np.float64]


def graph_of(field: MarkovField) -> Graph:
    # Two states always have an order: the second is the high one.
    ordered = [
        scores is not None
        or len(labels) == 2
        or sort_labels(labels, None, nominal=False) == (list(labels), True)
        for labels, scores in zip(field.states, field.scores, strict=True)
    ]
    links = tuple(
        _link(field, pair, ordered[pair[0]] and ordered[pair[1]]) for pair in field.couplings
    )
    return Graph(field.names, links, field.library)


def _link(field: MarkovField, pair: tuple[int, int], ordered: bool) -> Link:
    table = field.couplings[pair]
    coupling = float(table[1, 1]) if table.shape == (2, 2) else None
    high = [None if coupling is None else as_text(field.states[end][1]) for end in pair]
    return Link(
        *pair,
        strength=None,
        sign=sign_of(trend_of(table)) if ordered or coupling is not None else 0,
        coupling=coupling,
        log_odds=None if coupling is None else 4.0 * coupling,
        evidence=None,
        selected_by="",
        unbounded=pair in field.unbounded,
        source_state=high[0],
        target_state=high[1],
        size=_size(table),
        form=field.forms[pair],
        step_log_odds=step_log_odds(table, field.scores_of(pair), field.forms[pair]),
    )


def _size(table: Array) -> float:
    """sqrt(1 - exp(-2 c)), c the mutual information of two columns with this coupling only."""
    joint = np.exp(table - table.max())
    c = max(float(table_information(joint / joint.sum())), 0.0)
    return float(np.sqrt(-np.expm1(-2.0 * c)))


@checked
def edge(
    field: MarkovField, a: str, b: str, *, against: tuple[Any, Any] | None = None
) -> LabelledTable:
    """Return the log odds ratios of an edge, all other columns held fixed.

    The states of a and b are compared with those of `against`, the first ones by default.

    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(2), signs="positive")
    >>> field.edge("x0", "x1")[1, 1]
    2.0
    """
    i, j = position_of(a, field.names), position_of(b, field.names)
    if j not in field.tables_of(i):
        raise SettingError(f"there is no edge between {a!r} and {b!r}.")
    labels = against or (field.states[i][0], field.states[j][0])
    codes = code_of(a, field.states[i], labels[0]), code_of(b, field.states[j], labels[1])
    table = table_against(field.tables_of(j)[i], *codes)
    error = None if field.errors is None else field.errors.of_log_odds((i, j), codes)
    condition = CONDITION if field.errors else ""
    return table_of(field, (i, j), table, error, quantity="log_odds", condition=condition)


@checked
def intervals(field: MarkovField, level: float = 0.95) -> Any:
    """Return a data frame of all edges' log odds ratios with errors and intervals.

    One row for each edge and pair of states other than the first ones. Everything in it
    holds given this graph. The model must have `errors`.

    >>> import isinglass as ig
    >>> rows = ig.simulate.ising(ig.simulate.chain(3), coupling=0.6).sample(1000, seed=0)
    >>> ig.with_errors(ig.GreedyGraph().fit(rows)).intervals()["condition"].to_list()
    ['given this graph', 'given this graph']
    """
    return errors_of(field).to_frame(field, level)


@checked
def wald(field: MarkovField, a: str, b: str) -> WaldTest:
    """Test whether an edge's whole table is zero, given this graph.

    Only rows that did not choose the graph give a p-value; see `isinglass.with_errors`.

    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
    >>> ig.with_errors(est, field.sample(1000, seed=1)).wald("x0", "x1").df
    1
    """
    return errors_of(field).wald(field, a, b)


def strongest_edges(field: MarkovField) -> str:
    """The strongest edges as HTML."""
    size = {(e.source, e.target): e.size for e in field.graph.links}
    heads = ["source", "target", "states", "log odds ratio", "unbounded"]
    rows = [
        [
            *(field.names[i], field.names[j]),
            f"{field.n_states[i]} x {field.n_states[j]}",
            _log_odds_in_words(field, (i, j)),
            "yes" if (i, j) in field.unbounded else "",
        ]
        for i, j in sorted(size, key=lambda pair: -size[pair])
    ]
    note = "" if field.errors is None else f"; errors hold {CONDITION}"
    return small_table(f"{field!r}{note}", heads, rows, "edges, weaker than these")


def _log_odds_in_words(field: MarkovField, pair: tuple[int, int]) -> str:
    """The one log odds ratio of two columns of two states, with its error; else nothing."""
    if field.couplings[pair].shape != (2, 2) or pair in field.unbounded:
        return ""
    ratio = f"{4.0 * field.couplings[pair][1, 1]:.2f}"
    error = None if field.errors is None else field.errors.of_log_odds(pair, (0, 0))
    return ratio if error is None else f"{ratio} ± {error[1, 1]:.2f}"
