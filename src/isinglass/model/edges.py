"""The graph of a model, and the numbers of its edges when no table is asked."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from isinglass.graph import Graph, Link, sign_of, trend_of
from isinglass.losses.association import table_information
from isinglass.table.coding.labels import sort_labels
from isinglass.table.column import as_text

if TYPE_CHECKING:
    from isinglass.model.potentials import Potentials

Array = NDArray[np.float64]


def graph_of(field: Potentials) -> Graph:
    """Which columns are coupled; see ``MarkovField.graph``."""
    ordered = [_is_ordered(labels) for labels in field.states]
    links = tuple(
        _link(field, pair, ordered[pair[0]] and ordered[pair[1]]) for pair in field.couplings
    )
    return Graph(field.names, links, field.library)


def _is_ordered(labels: Sequence[Hashable]) -> bool:
    """Two states always are: the second is the high one."""
    return len(labels) == 2 or sort_labels(labels, None, nominal=False) == (list(labels), True)


def _link(field: Potentials, pair: tuple[int, int], ordered: bool) -> Link:
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
    )


def _size(table: Array) -> float:
    """sqrt(1 - exp(-2 c)), c the mutual information of two columns with this coupling only."""
    joint = np.exp(table - table.max())
    c = max(float(table_information(joint / joint.sum())), 0.0)
    return float(np.sqrt(-np.expm1(-2.0 * c)))
