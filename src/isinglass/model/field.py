"""A pairwise Markov random field over named columns."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.core import MAX_STATES
from isinglass.engine.learn import threads_for
from isinglass.errors import SettingError
from isinglass.frames import frame
from isinglass.graph import Graph, Link, position_of, sign_of, trend_of
from isinglass.model import elimination, rows
from isinglass.model.codings import Coded, convert, table_against
from isinglass.model.gibbs import Schedule, run_chains, warn_if_poor
from isinglass.model.labelled import LabelledTable, code_of
from isinglass.model.sampled import sampled_joints
from isinglass.model.settings import check_method, check_whole
from isinglass.table.labels import key, sort_labels

if TYPE_CHECKING:
    from isinglass.model.record import FitRecord

Array = NDArray[np.float64]
Evidence = Mapping[str, Any]
Seed = int | np.random.SeedSequence | np.random.Generator | None

#: Bytes that exact work may take, unless told otherwise.
MEMORY = 1e9


@dataclass(frozen=True, eq=False, repr=False)
class MarkovField:
    """A pairwise model of discrete columns; frozen.

    The probability of a row x is proportional to the exponential of its log-potential, the sum
    of ``intercepts[i][x_i]`` over columns and ``couplings[i, j][x_i, x_j]`` over edges, where
    x_i is the code of a state: its place in ``states[i]``. All are in the zero-sum gauge: an
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
    intercepts : tuple of arrays, shapes (m_i,)
    couplings : dict of arrays
        From (i, j), i < j, to the table of shape (m_i, m_j).
    library : str, optional
        The data-frame library that `sample` answers in; None for arrays.

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

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "states", tuple(map(tuple, self.states)))
        object.__setattr__(self, "intercepts", tuple(map(_frozen, self.intercepts)))
        ordered = {pair: _frozen(self.couplings[pair]) for pair in sorted(self.couplings)}
        object.__setattr__(self, "couplings", ordered)
        _check_columns(self.names, self.states, self.intercepts, self.couplings)
        for name, intercept in zip(self.names, self.intercepts, strict=True):
            _check_zero_sum(intercept, f"the intercept of {name!r}")
        for (i, j), table in self.couplings.items():
            _check_zero_sum(table, f"the coupling of {self.names[i]!r} and {self.names[j]!r}")

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

        >>> agree = {(0, 1): [[1.0, 0.0], [0.0, 1.0]]}
        >>> field = MarkovField.from_potentials("ab", [(0, 1), (0, 1)], [[0, 1], [0, 0]], agree)
        >>> field.couplings[0, 1].tolist(), field.intercepts[0].tolist()
        ([[0.5, -0.5], [-0.5, 0.5]], [-0.5, 0.5])
        """
        fields = [np.array(intercept, dtype=np.float64) for intercept in intercepts]
        tables = {pair: np.asarray(table, dtype=np.float64) for pair, table in couplings.items()}
        _check_columns(names, states, fields, tables)
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
    def graph(self) -> Graph:
        """Which columns are coupled.

        An edge's strength is the one it would have between two columns alone, without
        intercepts; no table was asked, so there is no evidence.
        """
        ordered = [
            sort_labels(labels, None, nominal=False) == (list(labels), True)
            for labels in self.states
        ]
        links = tuple(
            _link(i, j, table, ordered[i] and ordered[j])
            for (i, j), table in self.couplings.items()
        )
        return Graph(self.names, links, self.library)

    def log_potential(self, codes: NDArray[np.integer[Any]]) -> Array:
        """Log-probability of each row of codes, but for the constant `log_partition`.

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

    def log_partition(self, *, memory: float = MEMORY) -> float:
        """Log of the sum of exp(log-potential) over all rows there could be, exactly.

        Parameters
        ----------
        memory : float
            Bytes it may take; a model that needs more is refused with the number.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.grid(10, 10), coupling=0.4, signs="positive")
        >>> round(field.log_partition(), 3)
        85.624
        """
        order = elimination.plan(self, memory)
        elimination.check_memory(order, 0, memory, "")
        return elimination.log_partition(self, order)

    def tables_of(self, r: int) -> dict[int, Array]:
        """The couplings of one column: from each neighbour t to its table of shape (m_t, m_r)."""
        return self._tables[r]

    @cached_property
    def _tables(self) -> list[dict[int, Array]]:
        tables: list[dict[int, Array]] = [{} for _ in self.names]
        for (i, j), table in self.couplings.items():
            tables[i][j], tables[j][i] = table.T, table
        return tables

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
        table = table_against(
            self.tables_of(j)[i],
            code_of(a, self.states[i], labels[0]),
            code_of(b, self.states[j], labels[1]),
        )
        return self._table((i, j), table, "log_odds")

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

    def given(self, evidence: Evidence) -> MarkovField:
        """Return the model of the other columns when some are known.

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
            known[v] = code_of(name, self.states[v], label)
        return known

    def _reduced(self, known: Mapping[int, int]) -> MarkovField:
        free = [v for v in range(len(self.names)) if v not in known]
        if not free:
            raise SettingError("all columns are given; leave out those to ask about.")
        intercepts = []
        for v in free:
            tables = self.tables_of(v)
            shifts = [tables[t][code] for t, code in known.items() if t in tables]
            intercepts.append(np.sum([self.intercepts[v], *shifts], axis=0))
        place = {v: at for at, v in enumerate(free)}
        return MarkovField.from_potentials(
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

    def marginals(
        self, given: Evidence | None = None, *, memory: float = MEMORY
    ) -> dict[str, LabelledTable]:
        """Return the chances of the states of every column that is not given, exactly.

        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), signs="positive")
        >>> field.marginals({"x0": 1})["x1"]
        chance of x1
          0.2689  -1
          0.7311  1
        """
        field = self.given(given or {})
        single, _ = field._chances(memory)
        return {field.names[v]: field._table((v,), chances) for v, chances in enumerate(single)}

    def pair_marginals(
        self, given: Evidence | None = None, *, memory: float = MEMORY
    ) -> dict[tuple[str, str], LabelledTable]:
        """Return the joint chances of every two columns that are linked; not of those given.

        `conditional` answers for any two columns.
        """
        field = self.given(given or {})
        _, pairs = field._chances(memory)
        return {
            (field.names[i], field.names[j]): field._table((i, j), chances)
            for (i, j), chances in pairs.items()
        }

    def _chances(self, memory: float) -> tuple[list[Array], dict[tuple[int, int], Array]]:
        order = elimination.plan(self, memory)
        elimination.check_memory(order, 0, memory, "", beliefs=True)
        _, single, pairs = elimination.marginals(self, order)
        return single, pairs

    def conditional(
        self,
        of: str | Sequence[str],
        given: Evidence | None = None,
        *,
        method: str = "exact",
        memory: float = MEMORY,
        draws: int = 10_000,
        burn_in: int = 1000,
        thin: int = 10,
        seed: Seed = None,
    ) -> LabelledTable:
        """Return the joint chances of one or several columns, given the labels of others.

        Parameters
        ----------
        of : str or sequence of str
        given : dict, optional
            Labels of other columns, by name.
        method : "exact" or "gibbs"
            By elimination, or by sampling: then ``error`` of the answer holds standard errors,
            and a `PoorMixing` warning says where they cannot be trusted.
        memory : float
            Bytes that an exact answer may take.
        draws, burn_in, thin, seed
            For sampling, as in `sample`.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), signs="positive")
        >>> round(field.conditional("x2", given={"x0": 1})[1], 4)
        0.6068
        """
        check_method(method, ("exact", "gibbs"))
        names = self._asked(of, given)
        field = self.given(given or {})
        columns = [position_of(name, field.names) for name in names]
        if method == "gibbs":
            check_whole("draws", draws, 1)
            schedule = Schedule(burn_in=burn_in, thin=thin)
            rng = np.random.default_rng(seed)
            ((shares, error),) = sampled_joints(field, [columns], draws, schedule, rng)
            return field._table(columns, shares, error=error)
        order = elimination.plan(field, memory, together=columns)
        elimination.check_memory(order, 0, memory, ', or take method="gibbs"', beliefs=True)
        return field._table(columns, elimination.joint(field, order, columns))

    def _asked(self, of: str | Sequence[str], given: Evidence | None) -> list[str]:
        """Names of columns that can be asked about."""
        names = [of] if isinstance(of, str) else list(of)
        if not names or len(set(names)) < len(names):
            raise SettingError("of must name at least one column, and none twice.")
        for name in names:
            position_of(name, self.names)
            if name in (given or {}):
                raise SettingError(f"{name!r} is given already; ask about another column.")
        return names

    def _table(
        self,
        columns: Sequence[int],
        values: Array,
        quantity: str = "chance",
        error: Array | None = None,
    ) -> LabelledTable:
        names = tuple(self.names[v] for v in columns)
        states = tuple(self.states[v] for v in columns)
        return LabelledTable(names, states, values, quantity, self.library, error)

    def most_likely(
        self, given: Evidence | None = None, *, memory: float = MEMORY
    ) -> dict[str, Hashable]:
        """Return a row of the highest probability among those with the labels given.

        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), signs="positive")
        >>> field.most_likely({"x0": 1})
        {'x0': 1, 'x1': 1, 'x2': 1}
        """
        codes = self._evidence(given)
        free = [v for v in range(len(self.names)) if v not in codes]
        if free:
            field = self._reduced(codes) if codes else self
            order = elimination.plan(field, memory)
            elimination.check_memory(order, 0, memory, "")
            best = elimination.most_likely(field, order).tolist()
            codes |= dict(zip(free, best, strict=True))
        return {name: self.states[v][codes[v]] for v, name in enumerate(self.names)}

    def log_likelihood(self, X: Any, *, memory: float = MEMORY) -> Array:
        """Log-probability of each row of a table of labels, exactly; shape (n,)."""
        codes = rows.encode_rows(self, X, range(len(self.names)))
        return self.log_potential(codes) - self.log_partition(memory=memory)

    def pseudo_log_likelihood(self, X: Any) -> Array:
        """Sum over columns of log P(its cell given the rest of the row); shape (n,)."""
        codes = rows.encode_rows(self, X, range(len(self.names)))
        return rows.pseudo_log_likelihood(self, codes)

    def score_samples(self, X: Any) -> Array:
        """How ordinary each row is: its pseudo-log-likelihood, under scikit-learn's name.

        It takes no partition function, so any model has it; the lowest rows are the oddest.
        """
        return self.pseudo_log_likelihood(X)

    def predict_proba(self, X: Any, column: str) -> Array:
        """Chances of a column's states given the rest of each row, shape (n, m).

        Only the column's neighbours are looked at: its own cells may hold anything, and a frame
        need not have it.
        """
        r = position_of(column, self.names)
        return np.exp(rows.log_chances(self, rows.encode_rows(self, X, self.tables_of(r)), r))

    def predict(self, X: Any, column: str) -> NDArray[Any]:
        """The likeliest label of a column given the rest of each row, shape (n,)."""
        best = self.predict_proba(X, column).argmax(axis=1)
        states = self.states[position_of(column, self.names)]
        labels: NDArray[Any] = np.empty(len(states), dtype=_array_type([states]))
        labels[:] = states
        return np.asarray(labels[best])

    def sample(
        self,
        n: int,
        *,
        given: Evidence | None = None,
        seed: Seed = None,
        method: str = "auto",
        n_jobs: int | None = None,
        memory: float = MEMORY,
        chains: int = 32,
        burn_in: int = 1000,
        thin: int = 10,
        progress: Callable[[int, int], None] | None = None,
    ) -> Any:
        """Draw a table of n rows that can be given to ``GreedyGraph().fit``.

        Cells are the states' labels, so a state that happens not to be drawn makes no other
        state change its name. Models of arrays give an array (of small integers if the labels
        are whole numbers), others a frame of their library.

        Parameters
        ----------
        n : int
            Rows.
        given : dict, optional
            Labels of some columns, by name; the other columns are drawn given these.
        seed : int, SeedSequence, Generator, optional
            The same seed gives the same table, whatever `n_jobs`; another `memory` may not.
        method : "auto", "exact" or "gibbs"
            Exact: independent rows, by summing out columns one by one. Gibbs: many chains, with
            a `PoorMixing` warning if they disagree or move slowly. Auto: exact if memory allows.
        n_jobs : int, optional
            Threads for Gibbs sampling; None means all cores.
        memory : float
            Bytes that exact sampling may take.
        chains, burn_in, thin : int
            For Gibbs sampling: independent chains, sweeps before the first draw, sweeps from
            one draw to the next.
        progress : function of (chains done, chains in all), optional

        Returns
        -------
        array of shape (n, p), or data frame
        """
        codes = self._draw(
            n,
            given=given,
            seed=seed,
            method=method,
            n_jobs=n_jobs,
            memory=memory,
            schedule=Schedule(chains, burn_in, thin),
            progress=progress,
        )
        return self._labelled(codes)

    def sample_codes(
        self,
        n: int,
        *,
        given: Evidence | None = None,
        seed: Seed = None,
        method: str = "auto",
        n_jobs: int | None = None,
        memory: float = MEMORY,
        chains: int = 32,
        burn_in: int = 1000,
        thin: int = 10,
        progress: Callable[[int, int], None] | None = None,
    ) -> NDArray[np.uint8]:
        """Draw n rows as codes, places in ``states``; shape (n, p). Parameters as in `sample`."""
        return self._draw(
            n,
            given=given,
            seed=seed,
            method=method,
            n_jobs=n_jobs,
            memory=memory,
            schedule=Schedule(chains, burn_in, thin),
            progress=progress,
        )

    def _draw(
        self,
        n: int,
        *,
        given: Evidence | None,
        seed: Seed,
        method: str,
        n_jobs: int | None,
        memory: float,
        schedule: Schedule,
        progress: Callable[[int, int], None] | None,
    ) -> NDArray[np.uint8]:
        check_whole("n", n, 1)
        check_method(method, ("auto", "exact", "gibbs"))
        rng = np.random.default_rng(seed)
        known = self._evidence(given)
        if len(known) == len(self.names):
            return self._completed(known, np.empty((n, 0), dtype=np.uint8))
        field = self._reduced(known) if known else self
        if method != "gibbs":
            order = elimination.plan(field, memory)
            if method == "exact" or order.bytes_needed(n) <= memory:
                elimination.check_memory(order, n, memory, ', or take method="gibbs"')
                return self._completed(known, elimination.draw(field, order, n, rng))
        run = run_chains(
            field,
            n,
            schedule,
            seed=int(rng.integers(2**64, dtype=np.uint64)),
            threads=threads_for(n_jobs, schedule.chains),
            progress=progress,
        )
        warn_if_poor(run.mixing, schedule)
        return self._completed(known, run.rows(n))

    def _completed(self, known: Mapping[int, int], drawn: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Rows of all columns, from those of the columns that are not known."""
        if not known:
            return drawn
        codes = np.empty((len(drawn), len(self.names)), dtype=np.uint8, order="F")
        codes[:, [v for v in range(len(self.names)) if v not in known]] = drawn
        for v, code in known.items():
            codes[:, v] = code
        return codes

    def _labelled(self, codes: NDArray[np.uint8]) -> Any:
        kind = _array_type(self.states)
        labels = [np.array(states, dtype=kind) for states in self.states]
        if self.library is None:
            table = np.empty(codes.shape, dtype=kind, order="F")
            for j, of_column in enumerate(labels):
                table[:, j] = of_column[codes[:, j]]
            return table
        columns = zip(self.names, labels, codes.T, strict=True)
        return frame({name: of[column].tolist() for name, of, column in columns}, self.library)

    def save(self, path: str | os.PathLike[str], *, fit: FitRecord | None = None) -> None:
        """Write the model to a JSON file, and with it the record of the fit it came from.

        The file is plain data; see ``docs/files.md``.
        """
        from isinglass.model.files import save_model

        save_model(self, path, fit)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> MarkovField:
        """Read a model that `save` wrote; a file that is none is a FileError, and runs nothing."""
        from isinglass.model.files import load_model

        return load_model(path)

    def __repr__(self) -> str:
        p, edges = len(self.names), len(self.couplings)
        return (
            f"MarkovField({p} column{'' if p == 1 else 's'}, "
            f"{edges} edge{'' if edges == 1 else 's'})"
        )


def _frozen(numbers: ArrayLike) -> Array:
    array = np.array(numbers, dtype=np.float64)
    array.setflags(write=False)
    return array


def _check_columns(
    names: Sequence[str],
    states: Sequence[Sequence[Hashable]],
    intercepts: Sequence[Array],
    couplings: Mapping[tuple[int, int], Array],
) -> None:
    """Raise SettingError unless all parts of a model fit together."""
    p = len(names)
    if not p:
        raise SettingError("a model needs at least one column.")
    if len(set(names)) < p:
        raise SettingError("two columns of a model have one name; give each its own.")
    if not len(states) == len(intercepts) == p:
        raise SettingError(
            f"{p} names, {len(states)} columns of states and {len(intercepts)} intercepts do not "
            "fit together; give one of each for every column."
        )
    for name, labels, intercept in zip(names, states, intercepts, strict=True):
        _check_column(name, labels, intercept)
    for (i, j), table in couplings.items():
        if not 0 <= i < j < p:
            raise SettingError(f"a coupling joins columns i < j below {p}, not {(i, j)}.")
        shape = len(states[i]), len(states[j])
        if table.shape != shape:
            raise SettingError(
                f"the coupling of {names[i]!r} and {names[j]!r} has shape {table.shape}; their "
                f"states need {shape}."
            )


def _check_column(name: str, labels: Sequence[Hashable], intercept: Array) -> None:
    m = len(labels)
    if not 1 <= m <= MAX_STATES:
        raise SettingError(f"{name!r} has {m} states; 1 to {MAX_STATES} are possible.")
    if len(set(map(key, labels))) < m:
        raise SettingError(f"{name!r} has two states of one label; give each its own.")
    if intercept.shape != (m,):
        raise SettingError(
            f"the intercept of {name!r} has shape {intercept.shape}; its {m} states need ({m},)."
        )


def _check_zero_sum(numbers: Array, what: str) -> None:
    if not np.isfinite(numbers).all():
        raise SettingError(f"{what} is not finite; log-potentials must be finite numbers.")
    slack = 1e-9 * max(1.0, float(np.abs(numbers).max()))
    if any(np.abs(numbers.mean(axis=axis)).max() > slack for axis in range(numbers.ndim)):
        raise SettingError(
            f"{what} does not sum to zero; MarkovField.from_potentials takes any log-potentials."
        )


def _link(i: int, j: int, table: Array, ordered: bool) -> Link:
    coupling = float(table[1, 1]) if table.shape == (2, 2) else None
    return Link(
        i,
        j,
        strength=_strength_alone(table),
        sign=sign_of(trend_of(table)) if ordered else 0,
        coupling=coupling,
        log_odds=None if coupling is None else 4.0 * coupling,
        evidence=None,
        selected_by="both",
        unbounded=False,
    )


def _strength_alone(table: Array) -> float:
    """sqrt(1 - exp(-2 c)), c the mutual information of two columns with this coupling only."""
    joint = np.exp(table - table.max())
    joint /= joint.sum()
    independent = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    seen = joint > 0
    c = float(np.sum(joint[seen] * np.log(joint[seen] / independent[seen])))
    return float(np.sqrt(-np.expm1(-2.0 * max(c, 0.0))))


def _array_type(states: Sequence[Sequence[Any]]) -> Any:
    """The smallest type that holds all labels: bool, whole numbers, or objects."""
    labels = [label for of_column in states for label in of_column]
    if all(isinstance(label, bool) for label in labels):
        return np.bool_
    if not all(isinstance(label, int) and not isinstance(label, bool) for label in labels):
        return object
    for kind in (np.int8, np.int16, np.int32, np.int64):
        if np.iinfo(kind).min <= min(labels) and max(labels) <= np.iinfo(kind).max:
            return kind
    return object
