"""The numbers of a pairwise model, and what follows from them alone."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.errors import SettingError
from isinglass.graph import Graph, position_of
from isinglass.model.codings import Coded, convert, table_against
from isinglass.model.edges import graph_of
from isinglass.model.fit.gauge import check_columns, check_zero_sum, frozen
from isinglass.model.labelled import LabelledTable, code_of
from isinglass.parameters import checked
from isinglass.table.coding.bins import bin_of
from isinglass.table.coding.labels import are_numbers, is_missing, plain
from isinglass.table.column import high_states
from isinglass.wording import quoted

if TYPE_CHECKING:
    from isinglass.model.fit.parameter_errors import ParameterErrors, WaldTest

Array = NDArray[np.float64]
Evidence = Mapping[str, Any]

#: What errors of parameters take for granted.
CONDITION = "given this graph"

#: Bytes that exact work may take, unless told otherwise.
MEMORY = 1e9


@dataclass(frozen=True, eq=False, repr=False)
class Potentials:
    """Columns, their states, and the log-potentials of states and of pairs; frozen.

    `MarkovField` says what they mean, and adds questions, predictions and draws.
    """

    names: tuple[str, ...]
    states: tuple[tuple[Hashable, ...], ...]
    intercepts: tuple[Array, ...]
    couplings: Mapping[tuple[int, int], Array]
    library: str | None = None
    unbounded: frozenset[tuple[int, int]] = frozenset()
    cuts: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    errors: ParameterErrors | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "states", tuple(map(tuple, self.states)))
        object.__setattr__(self, "intercepts", tuple(map(frozen, self.intercepts)))
        ordered = {pair: frozen(self.couplings[pair]) for pair in sorted(self.couplings)}
        object.__setattr__(self, "couplings", ordered)
        object.__setattr__(self, "unbounded", frozenset(self.unbounded) & ordered.keys())
        object.__setattr__(self, "cuts", dict(self.cuts))
        check_columns(self.names, self.states, self.intercepts, self.couplings)
        for name, intercept in zip(self.names, self.intercepts, strict=True):
            check_zero_sum(intercept, f"the intercept of {quoted(name)}")
        for (i, j), table in self.couplings.items():
            check_zero_sum(
                table, f"the coupling of {quoted(self.names[i])} and {quoted(self.names[j])}"
            )

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
        fields = [np.array(intercept, dtype=np.float64) for intercept in intercepts]
        tables = {pair: np.asarray(table, dtype=np.float64) for pair, table in couplings.items()}
        check_columns(names, states, fields, tables)
        for (i, j), table in tables.items():
            rows, columns = table.mean(axis=1), table.mean(axis=0)
            fields[i] += rows
            fields[j] += columns
            tables[i, j] = table - rows[:, None] - columns + table.mean()
        centred = tuple(field - field.mean() for field in fields)
        return cls(tuple(names), tuple(map(tuple, states)), centred, tables, library)

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
        return graph_of(self)

    def log_potential(self, codes: NDArray[np.integer[Any]]) -> Array:
        """Log-probability of each row of codes, but for the constant `log_partition`.

        >>> from isinglass import MarkovField
        >>> field = MarkovField.from_potentials("a", [("no", "yes")], [[-1, 1]], {})
        >>> field.log_potential(np.array([[0], [1]])).tolist()
        [-1.0, 1.0]
        """
        total = np.zeros(len(codes))
        for j, intercept in enumerate(self.intercepts):
            total += intercept[codes[:, j]]
        for (i, j), table in self.couplings.items():
            total += table[codes[:, i], codes[:, j]]
        return total

    def tables_of(self, r: int) -> dict[int, Array]:
        """The couplings of one column: from each neighbour t to its table of shape (m_t, m_r).

        Examples
        --------
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

    @checked
    def edge(self, a: str, b: str, *, against: tuple[Any, Any] | None = None) -> LabelledTable:
        """Return the log odds ratios of an edge, all other columns held.

        Parameters
        ----------
        a, b : str
            Two columns that are linked.
        against : tuple of two labels, optional
            The states of a and b that others are compared with; the first ones by default.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(2), signs="positive")
        >>> field.edge("x0", "x1")[1, 1]
        2.0
        """
        i, j = position_of(a, self.names), position_of(b, self.names)
        if j not in self.tables_of(i):
            raise SettingError(f"there is no edge between {a!r} and {b!r}.")
        labels = against or (self.states[i][0], self.states[j][0])
        codes = code_of(a, self.states[i], labels[0]), code_of(b, self.states[j], labels[1])
        table = table_against(self.tables_of(j)[i], *codes)
        error = None if self.errors is None else self.errors.of_log_odds((i, j), codes)
        return self._table((i, j), table, "log_odds", error, CONDITION if self.errors else "")

    @checked
    def intervals(self, level: float = 0.95) -> Any:
        """Return a data frame of all edges' log odds ratios with errors and intervals.

        One row for each edge and pair of states other than the first ones. Everything in it
        holds given this graph; a model without `errors` has none.

        >>> import isinglass as ig
        >>> rows = ig.simulate.ising(ig.simulate.chain(3), coupling=0.6).sample(1000, seed=0)
        >>> ig.with_errors(ig.GreedyGraph().fit(rows)).intervals()["condition"].to_list()
        ['given this graph', 'given this graph']
        """
        return self._with_errors().to_frame(self, level)

    @checked
    def wald(self, a: str, b: str) -> WaldTest:
        """Test whether an edge's whole table is zero, given this graph.

        Only rows that did not choose the graph give a p-value; see `isinglass.with_errors`.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
        >>> ig.with_errors(est, field.sample(1000, seed=1)).wald("x0", "x1").df
        1
        """
        return self._with_errors().wald(self, a, b)

    def _with_errors(self) -> ParameterErrors:
        if self.errors is None:
            raise SettingError("the model has no errors; isinglass.with_errors(est) has them.")
        return self.errors

    @checked
    def to_coding(self, coding: str, *, reference: Evidence | None = None) -> Coded:
        """Write the same model in other numbers, exactly.

        Parameters
        ----------
        coding : "ising", "01" or "reference"
            For columns of two states, spins of -1 and +1, or indicators of the second state. For
            any, tables that are zero where one of the columns has its reference state.
        reference : dict, optional
            From columns to the labels of their reference states; the first ones by default.

        Returns
        -------
        Coded
            With ``intercepts``, ``couplings`` and the ``constant`` left of the log-potential.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), signs="positive")
        >>> field.to_coding("ising").couplings[0, 1]
        0.5
        >>> coded = field.to_coding("01")
        >>> coded.couplings[0, 1], coded.intercepts.tolist(), coded.constant
        (2.0, [-1.0, -2.0, -1.0], 1.0)
        """
        codes = [0] * len(self.names)
        for v, code in self._evidence(reference).items():
            codes[v] = code
        return convert(self, coding, codes)

    def given(self, evidence: Evidence) -> Self:
        """Return the model of the other columns when some are known.

        >>> from isinglass import MarkovField
        >>> agree = {(0, 1): [[1.0, -1.0], [-1.0, 1.0]]}
        >>> yes_no = ("no", "yes")
        >>> field = MarkovField(("a", "b"), (yes_no, yes_no), ([0, 0], [0, 0]), agree)
        >>> field.given({"a": "yes"}).intercepts[0].tolist()
        [-1.0, 1.0]
        """
        known = self._evidence(evidence)
        return self._reduced(known) if known else self

    def _evidence(self, given: Evidence | None) -> dict[int, int]:
        """Columns and states as positions and codes."""
        known = {}
        for name, label in (given or {}).items():
            v = position_of(name, self.names)
            measured = v in self.cuts and not is_missing(label) and are_numbers([plain(label)])
            state = bin_of(self.cuts[v], label) if measured else label
            known[v] = code_of(name, self.states[v], state)
        return known

    def _reduced(self, known: Mapping[int, int]) -> Self:
        free = [v for v in range(len(self.names)) if v not in known]
        if not free:
            raise SettingError("all columns are given; leave out those to ask about.")
        intercepts = []
        for v in free:
            tables = self.tables_of(v)
            shifts = [tables[t][code] for t, code in known.items() if t in tables]
            intercepts.append(np.sum([self.intercepts[v], *shifts], axis=0))
        place = {v: at for at, v in enumerate(free)}
        rest = self.from_potentials(
            [self.names[v] for v in free],
            [self.states[v] for v in free],
            intercepts,
            {
                (place[i], place[j]): table
                for (i, j), table in self.couplings.items()
                if i in place and j in place
            },
            self.library,
        )
        return replace(
            rest,
            unbounded=frozenset(
                (place[i], place[j]) for i, j in self.unbounded if i in place and j in place
            ),
            cuts={place[v]: cuts for v, cuts in self.cuts.items() if v in place},
        )

    def _table(
        self,
        columns: Sequence[int],
        values: Array,
        quantity: str = "chance",
        error: Array | None = None,
        condition: str = "",
    ) -> LabelledTable:
        names = tuple(self.names[v] for v in columns)
        states = tuple(self.states[v] for v in columns)
        return LabelledTable(names, states, values, quantity, self.library, error, condition)
