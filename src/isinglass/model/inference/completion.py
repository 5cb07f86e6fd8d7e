"""The missing values of rows, drawn jointly given the observed values.

In a row, missing columns that are connected in the graph have to be drawn together; others are
independent given the observed values. So each row splits into pieces, most of them small, and rows
with the same piece and the same values around it are handled together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from isinglass.errors import Setting, SettingError, Wording
from isinglass.model.adjustment import with_columns
from isinglass.model.fit.conditionals import cells_of
from isinglass.model.inference import elimination
from isinglass.model.inference.methods import (
    Exact,
    Gibbs,
    Method,
    first_that_fits,
    memory_of,
    takes_method,
)
from isinglass.model.inference.mixing import Mixing
from isinglass.model.inference.order import Elimination
from isinglass.model.inference.rows import encode_with_missing, refilled
from isinglass.model.inference.sampling import run_chains, warn_if_poor
from isinglass.wording import counted

if TYPE_CHECKING:
    from isinglass.model.field import MarkovField

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]

#: What completed tables may be used for.
NOTES = {
    "display": "for display: drawn at the estimated parameters, so an analysis of these tables "
    "understates its uncertainty",
    "inference": "for inference: the parameters were redrawn for each table, given the graph; "
    "analyse each table and combine the answers by Rubin's rules",
}
MOST_LIKELY = "for display: the most likely values, which vary less than real rows"


@dataclass(frozen=True, eq=False, repr=False)
class Completed(Sequence[Any]):
    """Tables without missing values, one per draw, in the kind of table that came in; frozen."""

    tables: tuple[Any, ...]
    filled: int  # values of a table that were missing
    note: str  # what the tables may be used for

    def __len__(self) -> int:
        return len(self.tables)

    def __getitem__(self, at: Any) -> Any:
        return self.tables[at]

    def __repr__(self) -> str:
        tables = counted(len(self), "table")
        return f"Completed({tables}, {self.filled:,} values filled in per table, {self.note})"


@dataclass(frozen=True)
class Piece:
    """Columns that are missing together in some rows, and the seen columns around them."""

    field: MarkovField
    columns: tuple[int, ...]
    rows: NDArray[np.intp]
    which: NDArray[np.intp]  # the combination of states around the columns that each row has
    scores: list[Array]  # of each column's states, for each combination
    inner: dict[tuple[int, int], Array]

    def models(self) -> Iterator[tuple[MarkovField, NDArray[np.intp]]]:
        """A model for each combination of states around the columns, and the rows it is for."""
        order = np.argsort(self.which, kind="stable")
        starts = np.searchsorted(self.which[order], np.arange(len(self.scores[0]) + 1))
        names = tuple(map(str, self.columns))
        states = [self.field.states[v] for v in self.columns]
        for at in range(len(self.scores[0])):
            own = [score[at] for score in self.scores]
            model = self.field.from_potentials(names, states, own, self.inner)
            yield model, self.rows[order[starts[at] : starts[at + 1]]]


def pieces_of(
    field: MarkovField, missing: NDArray[np.bool_]
) -> dict[tuple[int, ...], NDArray[np.intp]]:
    """Connected sets of missing columns, and the rows that have each."""
    incomplete = np.flatnonzero(missing.any(axis=1))
    if not len(incomplete):
        return {}
    patterns, which = np.unique(missing[incomplete], axis=0, return_inverse=True)
    by_pattern = incomplete[np.argsort(which.ravel(), kind="stable")]
    ends = np.cumsum(np.bincount(which.ravel(), minlength=len(patterns)))
    rows_of: dict[tuple[int, ...], list[NDArray[np.intp]]] = {}
    for pattern, rows in zip(patterns, np.split(by_pattern, ends[:-1]), strict=True):
        for piece in _connected(field, np.flatnonzero(pattern).tolist()):
            rows_of.setdefault(piece, []).append(rows)
    return {piece: np.concatenate(rows_of[piece]) for piece in sorted(rows_of)}


def _connected(field: MarkovField, columns: list[int]) -> Iterator[tuple[int, ...]]:
    """The columns in pieces that do not touch each other."""
    left = set(columns)
    while left:
        piece, reached = [], [min(left)]
        while reached:
            v = reached.pop()
            if v in left:
                left.remove(v)
                piece.append(v)
                reached += _speaking(field, v)
        yield tuple(sorted(piece))


def _speaking(field: MarkovField, v: int) -> list[int]:
    """Neighbours that can matter: a column of one state says nothing."""
    if field.n_states[v] == 1:
        return []
    return [t for t in field.tables_of(v) if field.n_states[t] > 1]


def _piece(
    field: MarkovField, codes: Codes, columns: tuple[int, ...], rows: NDArray[np.intp]
) -> Piece:
    around = sorted({t for v in columns for t in _speaking(field, v)} - set(columns))
    which, seen = cells_of(codes[rows][:, around], [field.n_states[t] for t in around])
    scores = []
    for v in columns:
        score = np.tile(field.intercepts[v], (len(seen), 1))
        for t in set(_speaking(field, v)) & set(around):
            score += field.tables_of(v)[t][seen[:, around.index(t)]]
        scores.append(score)
    new = {v: at for at, v in enumerate(columns)}
    inner = {
        (new[i], new[j]): table
        for (i, j), table in field.couplings.items()
        if i in new and j in new
    }
    return Piece(field, columns, rows, which, scores, inner)


class _Filler:
    """Fills pieces by likely states, or by draws; keeps the worst of all Gibbs runs."""

    def __init__(self, method: Method, rng: np.random.Generator, most_likely: bool) -> None:
        self.method, self.rng, self.most_likely = method, rng, most_likely
        self.worst: tuple[Mixing, Gibbs] | None = None
        self.order: Elimination | None = None  # the same for all models of a piece

    def fill(self, piece: Piece, done: Codes) -> None:
        """Write into the codes that are given."""
        gibbs_only = self.method == "gibbs" or isinstance(self.method, Gibbs)
        if len(piece.columns) == 1 and not gibbs_only and not self.most_likely:
            below = np.cumsum(softmax(piece.scores[0], axis=1)[:, :-1], axis=1)[piece.which]
            uniform = self.rng.random((len(piece.rows), 1))
            done[piece.rows, piece.columns[0]] = (uniform >= below).sum(axis=1)
            return
        self.order = None
        states = self._likeliest if self.most_likely else self._drawn
        for model, rows in piece.models():
            done[rows[:, None], list(piece.columns)] = states(model, len(rows))

    def _likeliest(self, model: MarkovField, n: int) -> NDArray[Any]:
        way_out = ", or draw (most_likely=False)"
        self.order = self.order or elimination.plan_within(model, memory_of(self.method), way_out)
        return elimination.most_likely(model, self.order)

    def _drawn(self, model: MarkovField, n: int) -> NDArray[Any]:
        def draw(how: Exact | Gibbs) -> Codes:
            if isinstance(how, Exact):
                self.order = self.order or elimination.plan(model, how.memory)
                way_out = elimination.GIBBS_INSTEAD
                elimination.check_memory(self.order, how.memory, way_out, rows=n)
                return elimination.draw(model, self.order, n, self.rng)
            run = run_chains(model, n, replace(how, chains=min(max(n, 4), how.chains)), self.rng)
            if self.worst is None or run.mixing.r_hat > self.worst[0].r_hat:
                self.worst = run.mixing, how
            return run.codes[:n]

        return first_that_fits(self.method, draw)


@takes_method
def impute(
    field: MarkovField,
    X: Any,
    *,
    draws: int = 1,
    use: str = "display",
    most_likely: bool = False,
    method: Method = "auto",
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Completed:
    """Complete the rows of a table: missing values are drawn jointly, given the observed ones.

    This assumes that, given the observed values of its row, whether a value is missing says
    nothing about what it would be.

    Parameters
    ----------
    X : array or data frame
        All columns of the model, found as in `predict`, and those that it was adjusted for; a frame
        may have others.
    draws : int
        How many completed tables. The first ones are the same however many there are.
    use : "display" or "inference"
        For inference, the parameters are redrawn for every table; this needs a model with
        `errors`. Otherwise an analysis of the tables understates its uncertainty.
    most_likely : bool
        Fill in the most likely values of a row, all together, instead of a draw.
    method
        As in `sample`, for each set of missing columns that are connected in the graph.
    progress : function of (tables done, tables in all), optional

    Examples
    --------
    >>> import numpy as np
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=2.0, signs="positive")
    >>> rows = np.array([[1, np.nan, 1], [-1, np.nan, np.nan]])
    >>> completed = field.impute(rows, most_likely=True)
    >>> completed[0].tolist()
    [[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]]
    >>> completed.filled, len(field.impute(rows, draws=5))
    (3, 5)
    """
    _check_use(field, use, most_likely, draws)
    field = with_columns(field)
    codes, missing = encode_with_missing(field, X)
    tables = []
    for at, seed_of_table in enumerate(np.random.SeedSequence(seed).spawn(draws)):
        rng = np.random.default_rng(seed_of_table)
        model = field if use == "display" or not field.errors else field.errors.redraw(field, rng)
        filler, done = _Filler(method, rng, most_likely), codes.copy(order="F")
        for columns, rows in pieces_of(model, missing).items():
            filler.fill(_piece(model, codes, columns, rows), done)
        if filler.worst is not None:
            warn_if_poor(*filler.worst)
        tables.append(refilled(field, X, done, missing))
        if progress is not None:
            progress(at + 1, draws)
    note = MOST_LIKELY if most_likely else NOTES[use]
    return Completed(tuple(tables), int(missing.sum()), note)


def _check_use(field: MarkovField, use: str, most_likely: bool, draws: int) -> None:
    if most_likely and (use == "inference" or draws > 1):
        raise SettingError(
            "the most likely values are one table, for display; leave out most_likely to draw."
        )
    if use == "inference" and field.adjusted is not None:
        raise SettingError(
            "completed tables for inference need the errors of all parameters, and the model has "
            "none of what it was adjusted for; leave out ",
            *(Setting("use", "inference"), "."),
        )
    if use == "inference" and field.errors is None:
        raise SettingError(
            "completed tables for inference need the errors of the parameters: ",
            Wording(
                "take isinglass.with_errors(est) instead of est.model_.",
                "this model has none. Leave out --use inference, or save a model with errors "
                "from Python.",
            ),
        )
