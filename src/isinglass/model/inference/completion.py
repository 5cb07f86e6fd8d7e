"""The missing cells of rows, drawn jointly given the cells that are seen.

In a row, missing columns that touch each other in the graph have to be drawn together; others are
independent once the seen cells are known. So each row falls into pieces, most of them small, and
rows that share a piece and what surrounds it are done at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from isinglass.engine.learn import threads_for
from isinglass.errors import Setting
from isinglass.model.inference import elimination
from isinglass.model.inference.gibbs import Schedule, run_chains, warn_if_poor
from isinglass.model.inference.mixing import Mixing
from isinglass.model.inference.order import Elimination
from isinglass.model.potentials import Potentials
from isinglass.wording import counted

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]

DISPLAY = (
    "for display: drawn at the estimated parameters, so that an analysis of these tables comes "
    "out too sure"
)
INFERENCE = (
    "for inference: the parameters were redrawn for each table, given the graph; analyse each "
    "table and combine the answers by Rubin's rules"
)
MOST_LIKELY = "for display: the likeliest cells, more alike than real rows are"


@dataclass(frozen=True, eq=False, repr=False)
class Completed:
    """Tables without gaps; frozen.

    Attributes
    ----------
    tables : tuple
        One a draw, in the kind of table that came in.
    filled : int
        How many cells of a table were missing.
    note : str
        What the tables may be used for.
    """

    tables: tuple[Any, ...]
    filled: int
    note: str

    def __len__(self) -> int:
        return len(self.tables)

    def __getitem__(self, at: int) -> Any:
        return self.tables[at]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tables)

    def __repr__(self) -> str:
        tables = counted(len(self), "table")
        return f"Completed({tables}, {self.filled:,} cells filled in each, {self.note})"


@dataclass(frozen=True)
class Piece:
    """Columns that are missing together in some rows, and the seen columns around them.

    `models` has one model of the missing columns for each combination of states around them
    that occurs, and `which` says which of them each row has.
    """

    columns: tuple[int, ...]
    rows: NDArray[np.intp]
    which: NDArray[np.intp]
    scores: list[Array]
    inner: dict[tuple[int, int], Array]
    states: tuple[tuple[Any, ...], ...]

    def models(self) -> Iterator[tuple[Potentials, NDArray[np.intp]]]:
        """Each model with the rows that it is of."""
        order = np.argsort(self.which, kind="stable")
        starts = np.searchsorted(self.which[order], np.arange(len(self.scores[0]) + 1))
        names = tuple(map(str, self.columns))
        for at in range(len(self.scores[0])):
            own = [score[at] for score in self.scores]
            model = Potentials.from_potentials(names, self.states, own, self.inner)
            yield model, self.rows[order[starts[at] : starts[at + 1]]]


Fill = Callable[[Piece, Codes], None]
"""A way to fill one piece: it writes into the codes it is given."""


def complete(field: Potentials, codes: Codes, missing: NDArray[np.bool_], fill: Fill) -> Codes:
    """Codes with all missing cells filled; those that came in are left as they were."""
    done = codes.copy(order="F")
    for columns, rows in pieces_of(field, missing).items():
        fill(_piece(field, codes, columns, rows), done)
    return done


def pieces_of(
    field: Potentials, missing: NDArray[np.bool_]
) -> dict[tuple[int, ...], NDArray[np.intp]]:
    """Connected sets of missing columns, and the rows that have each."""
    gappy = np.flatnonzero(missing.any(axis=1))
    if not len(gappy):
        return {}
    patterns, which = np.unique(missing[gappy], axis=0, return_inverse=True)
    by_pattern = gappy[np.argsort(which.ravel(), kind="stable")]
    ends = np.cumsum(np.bincount(which.ravel(), minlength=len(patterns)))
    rows_of: dict[tuple[int, ...], list[NDArray[np.intp]]] = {}
    for pattern, rows in zip(patterns, np.split(by_pattern, ends[:-1]), strict=True):
        for piece in _connected(field, set(np.flatnonzero(pattern).tolist())):
            rows_of.setdefault(piece, []).append(rows)
    return {piece: np.concatenate(rows_of[piece]) for piece in sorted(rows_of)}


def _connected(field: Potentials, columns: set[int]) -> Iterator[tuple[int, ...]]:
    left = set(columns)
    while left:
        piece, reached = set(), [min(left)]
        while reached:
            v = reached.pop()
            if v in piece:
                continue
            piece.add(v)
            reached += [t for t in _speaking(field, v) if t in left and t not in piece]
        left -= piece
        yield tuple(sorted(piece))


def _speaking(field: Potentials, v: int) -> list[int]:
    """Neighbours that can matter: a column of one state says nothing."""
    if field.n_states[v] == 1:
        return []
    return [t for t in field.tables_of(v) if field.n_states[t] > 1]


def _piece(
    field: Potentials, codes: Codes, columns: tuple[int, ...], rows: NDArray[np.intp]
) -> Piece:
    around = sorted({t for v in columns for t in _speaking(field, v)} - set(columns))
    seen, which = _distinct(codes[rows][:, around])
    scores = []
    for v in columns:
        score = np.tile(field.intercepts[v], (len(seen), 1))
        for t in set(_speaking(field, v)) & set(around):
            score += field.tables_of(v)[t][seen[:, around.index(t)]]
        scores.append(score)
    place = {v: at for at, v in enumerate(columns)}
    inner = {
        (place[i], place[j]): table
        for (i, j), table in field.couplings.items()
        if i in place and j in place
    }
    states = tuple(field.states[v] for v in columns)
    return Piece(columns, rows, which, scores, inner, states)


def _distinct(rows: Codes) -> tuple[Codes, NDArray[np.intp]]:
    """Different rows, and which of them each row is; rows of nothing are all the same."""
    if not rows.shape[1]:
        return rows[:1], np.zeros(len(rows), dtype=np.intp)
    seen, which = np.unique(rows, axis=0, return_inverse=True)
    return seen, which.ravel()


def likeliest(memory: float) -> Fill:
    """A way to fill pieces: by their most likely states together."""

    def fill(piece: Piece, done: Codes) -> None:
        order: Elimination | None = None
        for model, rows in piece.models():
            if order is None:
                order = elimination.plan(model, memory)
                elimination.check_memory(order, 0, memory, ", or draw (most_likely=False)")
            done[rows[:, None], list(piece.columns)] = elimination.most_likely(model, order)

    return fill


class Drawing:
    """A way to fill pieces: by a draw for each row, exact where memory allows.

    Large pieces are drawn by Gibbs chains if `method` lets them; `warn` speaks of the worst of
    all their runs.
    """

    def __init__(
        self, rng: np.random.Generator, method: str, memory: float, burn_in: int, thin: int
    ) -> None:
        self.rng, self.method, self.memory = rng, method, memory
        self.burn_in, self.thin = burn_in, thin
        self.worst: Mixing | None = None

    def __call__(self, piece: Piece, done: Codes) -> None:
        if len(piece.columns) == 1 and self.method != "gibbs":
            done[piece.rows, piece.columns[0]] = self._single(piece.scores[0][piece.which])
            return
        order: Elimination | None = None
        for model, rows in piece.models():
            if order is None and self.method != "gibbs":
                order = elimination.plan(model, self.memory)
            done[rows[:, None], list(piece.columns)] = self._several(model, order, len(rows))

    def _single(self, scores: Array) -> NDArray[np.intp]:
        below = np.cumsum(softmax(scores, axis=1)[:, :-1], axis=1)
        codes: NDArray[np.intp] = (self.rng.random((len(scores), 1)) >= below).sum(axis=1)
        return codes

    def _several(self, model: Potentials, order: Elimination | None, n: int) -> Codes:
        fits = order is not None and order.bytes_needed(n) <= self.memory
        if order is not None and (fits or self.method == "exact"):
            elimination.check_memory(
                order, n, self.memory, ", or take ", Setting("method", "gibbs")
            )
            return elimination.draw(model, order, n, self.rng)
        schedule = Schedule(min(max(n, 4), 32), self.burn_in, self.thin)
        seed = int(self.rng.integers(2**64, dtype=np.uint64))
        threads = threads_for(None, schedule.chains)
        run = run_chains(model, n, schedule, seed=seed, threads=threads)
        if self.worst is None or run.mixing.r_hat > self.worst.r_hat:
            self.worst = run.mixing
        return run.rows(n)

    def warn(self) -> None:
        """Warn if some chains mixed poorly."""
        if self.worst is not None:
            warn_if_poor(self.worst, Schedule(4, self.burn_in, self.thin))


def described(use: str, most_likely: bool) -> str:
    """What completed tables may be used for."""
    if most_likely:
        return MOST_LIKELY
    return INFERENCE if use == "inference" else DISPLAY
