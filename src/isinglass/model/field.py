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
from isinglass.graph import Graph, Link, sign_of, trend_of
from isinglass.model import elimination
from isinglass.model.gibbs import Schedule, run_chains, warn_if_poor
from isinglass.model.settings import check_whole
from isinglass.table.labels import key, sort_labels

if TYPE_CHECKING:
    from isinglass.model.record import FitRecord

Array = NDArray[np.float64]
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

    def sample(
        self,
        n: int,
        *,
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
        seed: Seed,
        method: str,
        n_jobs: int | None,
        memory: float,
        schedule: Schedule,
        progress: Callable[[int, int], None] | None,
    ) -> NDArray[np.uint8]:
        check_whole("n", n, 1)
        if method not in ("auto", "exact", "gibbs"):
            raise SettingError(f"method must be 'auto', 'exact' or 'gibbs', not {method!r}.")
        rng = np.random.default_rng(seed)
        if method != "gibbs":
            order = elimination.plan(self, memory)
            if method == "exact" or order.bytes_needed(n) <= memory:
                elimination.check_memory(order, n, memory, ', or take method="gibbs"')
                return elimination.draw(self, order, n, rng)
        run = run_chains(
            self,
            n,
            schedule,
            seed=int(rng.integers(2**64, dtype=np.uint64)),
            threads=threads_for(n_jobs, schedule.chains),
            progress=progress,
        )
        warn_if_poor(run.mixing, schedule)
        return run.rows(n)

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
