"""A pairwise Markov random field over named columns.

One class, which holds the numbers. Most of its methods are functions of other modules: what they
call the field is the model itself.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.documents.parts import load_part, save_parts
from isinglass.graph import Graph
from isinglass.losses.forms import TABLE, Scores
from isinglass.model import codings, edges, labelled, steps
from isinglass.model.adjustment import Adjustment
from isinglass.model.fit.parameter_errors import ParameterErrors
from isinglass.model.inference import completion, questions, rows, sampling
from isinglass.model.potentials import check_columns, check_zero_sum, frozen, zero_sum
from isinglass.parameters import checked
from isinglass.table.column import high_states
from isinglass.wording import counted

if TYPE_CHECKING:
    from isinglass.record.fit_record import FitRecord

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class MarkovField:
    """A pairwise model of discrete columns; frozen.

    The probability of a row x is proportional to the exponential of its log-potential, the sum
    of ``intercepts[i][x_i]`` over columns and ``couplings[i, j][x_i, x_j]`` over edges, where
    x_i is the code of a state: its position in ``states[i]``. All are in the zero-sum gauge: an
    intercept sums to zero, and so do the rows and the columns of a coupling. `from_potentials`
    takes numbers in any gauge.

    For an Ising model with states -1 and +1 the coupling theta is the table
    [[theta, -theta], [-theta, theta]], and the field h the intercept [-h, h].

    Parameters
    ----------
    names : tuple of str
        The columns, in their order.
    states : tuple of tuple
        The labels of each column's states.
    intercepts, couplings
        Arrays of shape (m_i,), and a dict from (i, j), i < j, to tables of shape (m_i, m_j).
    library : str, optional
        The data-frame library that `sample` answers in; None for arrays.
    unbounded : frozenset of (i, j), optional
        Edges to whose size the rows set no limit: the size of their table means nothing.
    cuts : dict, optional
        From binned columns to their inner cut points: rows may then hold raw numbers there.
    errors : ParameterErrors, optional
        Standard errors of a fit; `isinglass.with_errors` attaches them.
    forms : dict, optional
        From edges to what they are: "product", "trend" or "table", the form of all that are not
        named. Whatever its form, a coupling is a table; `per_step` has the numbers of the others.
    scores : tuple, optional
        Of each column the scores of its states, rising; None where they have no order.
    adjusted : Adjustment, optional
        Columns that were adjusted for: the model is conditional on them. Its intercepts hold at a
        reference state of each; ``given({"age": 40})`` is the model at another.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(5), signs="positive")
    >>> field
    MarkovField(5 columns, 4 edges)
    >>> field.couplings[0, 1].tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    >>> field.sample(2000, seed=1).shape
    (2000, 5)
    >>> ig.GreedyGraph().fit(field.sample(2000, seed=1)).graph_ == field.graph
    True
    """

    names: tuple[str, ...]
    states: tuple[tuple[Hashable, ...], ...]
    intercepts: tuple[Array, ...]
    couplings: Mapping[tuple[int, int], Array]
    library: str | None = None
    unbounded: frozenset[tuple[int, int]] = frozenset()
    cuts: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    errors: ParameterErrors | None = None
    forms: Mapping[tuple[int, int], str] = field(default_factory=dict)
    scores: tuple[Scores | None, ...] = ()
    adjusted: Adjustment | None = None

    def __post_init__(self) -> None:
        couplings = {pair: frozen(self.couplings[pair]) for pair in sorted(self.couplings)}
        values = {
            "names": tuple(self.names),
            "states": tuple(map(tuple, self.states)),
            "intercepts": tuple(map(frozen, self.intercepts)),
            "couplings": couplings,
            "unbounded": frozenset(self.unbounded) & couplings.keys(),
            "cuts": dict(self.cuts),
            "forms": {pair: self.forms.get(pair, TABLE) for pair in couplings},
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        check_columns(self.names, self.states, self.intercepts, self.couplings)
        check_zero_sum(self.names, self.intercepts, self.couplings)
        scores = steps.checked_scores(self.names, self.n_states, self.scores)
        object.__setattr__(self, "scores", scores)
        steps.check_forms(self.names, scores, self.forms, self.couplings)

    @classmethod
    def from_potentials(
        cls,
        names: Sequence[str],
        states: Sequence[Sequence[Hashable]],
        intercepts: Sequence[ArrayLike],
        couplings: Mapping[tuple[int, int], ArrayLike],
        library: str | None = None,
    ) -> Self:
        """Make a model of log-potentials in any gauge; the distribution stays the same.

        >>> from isinglass import MarkovField
        >>> agree = {(0, 1): [[1.0, 0.0], [0.0, 1.0]]}
        >>> field = MarkovField.from_potentials("ab", [(0, 1), (0, 1)], [[0, 1], [0, 0]], agree)
        >>> field.couplings[0, 1].tolist(), field.intercepts[0].tolist()
        ([[0.5, -0.5], [-0.5, 0.5]], [-0.5, 0.5])
        """
        fields = [np.asarray(intercept, dtype=np.float64) for intercept in intercepts]
        tables = {pair: np.asarray(table, dtype=np.float64) for pair, table in couplings.items()}
        check_columns(names, states, fields, tables)
        return cls(tuple(names), tuple(map(tuple, states)), *zero_sum(fields, tables), library)

    @checked
    def save(self, path: str | os.PathLike[str], *, fit: FitRecord | None = None) -> None:
        """Write the model to a JSON file, and with it the record of the fit it came from.

        The file is plain data; see ``docs/files.md``.

        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> field.save("model.json")
        >>> ig.MarkovField.load("model.json")
        MarkovField(3 columns, 2 edges)
        """
        from isinglass.model.files import model_parts

        save_parts(path, **model_parts(self, fit))

    @classmethod
    @checked
    def load(cls, path: str | os.PathLike[str]) -> MarkovField:
        """Read a model that `save` wrote. Any other file raises a FileError; nothing in it is run.

        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> field.save("model.json")
        >>> ig.MarkovField.load("model.json").names
        ('x0', 'x1', 'x2')
        """
        from isinglass.model.files import model_from_json

        return load_part(path, "model", model_from_json)

    @cached_property
    def n_states(self) -> tuple[int, ...]:
        """The number of states of each column."""
        return tuple(map(len, self.states))

    @cached_property
    def high(self) -> tuple[str | None, ...]:
        """The high state of each column as text; None for columns without two states."""
        return high_states(self.states, self.n_states)

    @cached_property
    def graph(self) -> Graph:
        """Which columns are coupled.

        An edge's strength is the one it would have between two columns alone, without
        intercepts; no table was asked, so there is no evidence.
        """
        return edges.graph_of(self)

    def tables_of(self, r: int) -> dict[int, Array]:
        """The couplings of one column: from each neighbour t to its table of shape (m_t, m_r).

        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> field.tables_of(1)[0].tolist()
        [[0.8, -0.8], [-0.8, 0.8]]
        """
        return self._tables[r]

    @cached_property
    def _tables(self) -> list[dict[int, Array]]:
        tables: list[dict[int, Array]] = [{} for _ in self.names]
        for (i, j), table in self.couplings.items():
            tables[i][j], tables[j][i] = table.T, table
        return tables

    def scores_of(self, pair: tuple[int, int]) -> tuple[Scores | None, Scores | None]:
        """The scores of the two columns of an edge; None where there is no order.

        >>> import isinglass as ig
        >>> ig.simulate.ordinal(ig.simulate.chain(2), 3, unordered=[1]).scores_of((0, 1))
        ((0.0, 1.0, 2.0), None)
        """
        return self.scores[pair[0]], self.scores[pair[1]]

    edge = edges.edge
    per_step = steps.per_step
    steps = steps.steps
    intervals = edges.intervals
    wald = edges.wald
    to_coding = codings.to_coding

    given = labelled.given
    log_partition = questions.log_partition
    marginals = questions.marginals
    pair_marginals = questions.pair_marginals
    conditional = questions.conditional
    odds_shift = questions.odds_shift
    most_likely = questions.most_likely

    log_potential = rows.log_potential
    log_likelihood = rows.log_likelihood
    pseudo_log_likelihood = rows.pseudo_log_likelihood
    score_samples = rows.score_samples
    predict_proba = rows.predict_proba
    predict = rows.predict

    sample = sampling.sample
    sample_codes = sampling.sample_codes
    impute = completion.impute

    def __repr__(self) -> str:
        columns, links = counted(len(self.names), "column"), counted(len(self.couplings), "edge")
        at = "" if self.adjusted is None else f", given {self.adjusted.words}"
        return f"MarkovField({columns}, {links}{at})"

    def _repr_html_(self) -> str:
        """Strongest edges as a small table, for notebooks."""
        return edges.strongest_edges(self)
