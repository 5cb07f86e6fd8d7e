"""The compiled core: arrays in, arrays out; it knows no names, tables or graphs."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from functools import cache
from typing import Any, NotRequired, TypedDict, Unpack

import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray

from isinglass.core import _core
from isinglass.core.elsewhere import RowsElsewhere, TooManyCells
from isinglass.core.gate import checked_integers, checked_scales, checked_table, checked_threads
from isinglass.core.lapack import lapack_lent

Codes = NDArray[np.integer]
Weights = NDArray[np.float64]
Flat = dict[str, NDArray[Any]]
Forms = _core.Forms
Progress = Callable[[int], None]

#: The name of the instruction set in use, "avx512", "avx2", "popcnt" or "portable".
instructions = _core.instructions
#: Force one by its name, for tests and measurements; "best" undoes it.
use_instructions = _core.use_instructions
#: Force a way to count, "whole", "rows", "gathered" or "gathered rows"; "best" undoes it.
use_counting = _core.use_counting

STOPS = ("below threshold", "no candidate", "max_degree", "interrupted")


@cache
def cores() -> int:
    """The cores that this process may use, as when first asked: the answer takes files to read."""
    return int(cpu_count())


class Settings(TypedDict):
    """What all work on a table takes: `n` is what losses are divided by, if not the rows."""

    intercept: bool
    threads: int
    n: NotRequired[float]
    progress: NotRequired[Progress | None]


def search_columns(
    codes: Codes | RowsElsewhere,
    weights: Weights,
    n_states: Sequence[int],
    threshold: float,
    *,
    nu: float,
    max_degree: int | None,
    answers: Sequence[int] | None = None,
    targets: Sequence[int] | None = None,
    required: Mapping[int, Set[int]] | None = None,
    forbidden: Mapping[int, Set[int]] | None = None,
    scales: NDArray[np.float64] | None = None,
    unit: float = 1.0,
    forms: Forms | None = None,
    level: float = math.inf,
    check: bool = False,
    **settings: Unpack[Settings],
) -> Flat:
    """Run Algorithm 1 for the columns in `targets` (all by default); results as flat arrays.

    A column's `required` others are its neighbours from the start and are never dropped; its
    `forbidden` ones are never looked at. Constant columns are neither.
    `answers` says how many of a column's states, the first ones, are answers; the rest stand for
    missing values, which make no edge unbounded.
    `scales`, a (p, p) array, divide the gains and the costs of each pair before they are made
    those of one parameter; the diagonal is not looked at, but positive. A weight of one stands for
    `unit` rows, of which pairs may have few. `forms` are those that edges may have, see
    `core_forms`; whole tables by default. Candidates that gain more than `level` come first, and
    among them the one that gains most before it is divided.

    The layout is described in ``core/search/flat.hpp``. With `check`, every candidate is
    evaluated, and a bound that skipped a better one is an error.
    """
    return _run(
        _core.search,
        (codes, n_states, weights),
        settings,
        answers=np.asarray([] if answers is None else answers, dtype=np.int32),
        targets=_targets(targets, n_states),
        required=_pairs(required),
        forbidden=_pairs(forbidden),
        scales=checked_scales(scales, len(n_states), len(n_states)),
        unit=unit,
        forms=forms,
        level=level,
        threshold=threshold,
        nu=nu,
        max_degree=-1 if max_degree is None else max_degree,
        check=check,
    )


def _run(
    work: Callable[..., Flat], table: tuple[Any, ...], settings: Mapping[str, Any], **more: Any
) -> Flat:
    """Let the core work on a table of codes, states and weights, once they are checked."""
    settings = {"n": 0.0, "progress": None, **settings}
    threads = checked_threads(settings.pop("threads"))
    codes, n_states, weights = table
    if isinstance(codes, RowsElsewhere):
        more["elsewhere"] = codes.in_core()
        codes, weights = np.empty((0, len(n_states)), dtype=np.uint8), np.empty(0)
    try:
        with lapack_lent(n_states):
            rows = checked_table(codes, n_states, weights)
            return work(*rows, threads=threads, **settings, **more)
    except _core.TooManyCells as error:
        raise TooManyCells(int(str(error))) from None


def _targets(targets: Sequence[int] | None, n_states: Sequence[int]) -> NDArray[np.int64]:
    """Columns, all of them by default."""
    return np.asarray(range(len(n_states)) if targets is None else targets, dtype=np.int64)


def _pairs(others_of: Mapping[int, Set[int]] | None) -> NDArray[np.int64]:
    """Each column and one of its others, one pair after the other."""
    pairs = [(r, t) for r, others in (others_of or {}).items() for t in sorted(others)]
    return np.asarray(pairs, dtype=np.int64).ravel()


def fit_columns(
    codes: Codes | RowsElsewhere,
    weights: Weights,
    n_states: Sequence[int],
    neighbours: Sequence[Sequence[int]],
    *,
    forms: Forms | None = None,
    small: Collection[tuple[int, int]] = (),
    **settings: Unpack[Settings],
) -> Flat:
    """Fit every column on its given neighbours.

    The layout is that of `search_columns`, with one fit per column. Pairs (column, neighbour) in
    `small` have the smaller of their `forms`.
    """
    return _run(
        _core.fit,
        (codes, n_states, weights),
        settings,
        forms=forms,
        small=_marks(small, range(len(neighbours)), neighbours),
        **_lists(neighbours),
    )


def edge_losses(
    codes: Codes | RowsElsewhere,
    weights: Weights,
    n_states: Sequence[int],
    targets: Sequence[int],
    neighbours: Sequence[Sequence[int]],
    *,
    left_out: Sequence[Sequence[int]],
    forms: Forms | None = None,
    small: Collection[tuple[int, int]] = (),
    **settings: Unpack[Settings],
) -> Flat:
    """Fit each target on its neighbours, and again without each of those in `left_out`.

    `loss` has one entry per target, `without` one per target and neighbour that was left out, in
    increasing order: losses per row.
    `expected` has the rows that the fit without a neighbour expects in each combination of the
    target's states and the neighbour's, row by row, one table after the other. Pairs (target,
    neighbour) in `small` have the smaller of their `forms`.
    """
    marks = [
        t in left for some, left in zip(neighbours, left_out, strict=True) for t in sorted(some)
    ]
    return _run(
        _core.deviances,
        (codes, n_states, weights),
        settings,
        targets=_targets(targets, n_states),
        leave_out=np.asarray(marks, dtype=np.uint8),
        forms=forms,
        small=_marks(small, targets, neighbours),
        **_lists(neighbours),
    )


def both_ends(
    codes: Codes | RowsElsewhere,
    weights: Weights,
    n_states: Sequence[int],
    pairs: Sequence[tuple[int, int]],
    *,
    held: Collection[tuple[int, int]] = (),
    scales: NDArray[np.float64] | None = None,
    unit: float = 1.0,
    top: float | None = None,
    adjusted: int = 0,
    forms: Forms | None = None,
    small: Collection[tuple[int, int]] = (),
    **settings: Unpack[Settings],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What both ends of each edge say of it; or when it leaves, the weakest first.

    Without `top` no edge leaves, and the first array has a chi-square with one degree of freedom
    for each pair. With it, edges leave while the weakest statistic is at most `top`, those in
    `held` excepted, and the second array has the largest statistic with which one has left by
    then, infinite for edges that stay; see ``core/search/both_ends.hpp``. `scales`, one per pair,
    divide the statistics before they are made those of one degree. So many of the last columns as
    `adjusted` says are neighbours of all others, and no edge leads to them. Pairs in `small` have
    the smaller of their `forms`.
    """
    if isinstance(codes, RowsElsewhere):
        raise ValueError("both ends are compared row by row, and the rows are elsewhere")
    found = _run(
        _core.both_ends,
        (codes, n_states, weights),
        settings,
        pairs=np.asarray(pairs, dtype=np.int64).reshape(-1),
        held=np.asarray([pair in held for pair in pairs], dtype=np.uint8),
        scales=checked_scales(scales, len(pairs)),
        unit=unit,
        top=-1.0 if top is None else top,
        all=top is None,
        adjusted=adjusted,
        forms=forms,
        small=np.asarray([pair in small for pair in pairs], dtype=np.uint8),
    )
    return found["statistic"], found["entry"]


def core_forms(
    n_states: Sequence[int],
    matrices: Sequence[NDArray[np.float64]],
    answered: Sequence[int],
    *,
    own: int,
    tables: bool,
) -> Forms:
    """The forms of edges as the core knows them.

    Each column has a score matrix (states, k), of whose columns the first `answered` are about
    answers. Edges to columns from `own` on are whole tables; without `tables`, other pairs that
    have a smaller form have nothing else.
    """
    sizes = [np.size(matrix) for matrix in matrices]
    return _core.make_forms(
        np.asarray(n_states, dtype=np.int32),
        np.concatenate([np.ravel(matrix) for matrix in matrices]).astype(np.float64),
        np.cumsum([0, *sizes], dtype=np.int64),
        np.asarray(answered, dtype=np.int64),
        own,
        tables,
    )


def _marks(
    small: Collection[tuple[int, int]],
    targets: Sequence[int],
    neighbours: Sequence[Sequence[int]],
) -> NDArray[np.uint8]:
    """Which neighbours have the smaller form, in the order of `_lists`."""
    pairs = [(r, t) for r, some in zip(targets, neighbours, strict=True) for t in sorted(some)]
    return np.asarray([pair in small for pair in pairs], dtype=np.uint8)


def _lists(neighbours: Sequence[Sequence[int]]) -> dict[str, NDArray[np.int64]]:
    """Where the neighbours of each column begin, and all of them, one list after the other."""
    begin = np.cumsum([0, *(len(some) for some in neighbours)], dtype=np.int64)
    flat = np.asarray([t for some in neighbours for t in sorted(some)], dtype=np.int64)
    return {"begin": begin, "neighbours": flat}


def l1_paths(
    codes: Codes,
    weights: Weights,
    n_states: Sequence[int],
    penalties: NDArray[np.float64],
    *,
    scales: NDArray[np.float64],
    loss: str = "pseudo",
    tolerance: float = 1e-9,
    targets: Sequence[int] | None = None,
    **settings: Unpack[Settings],
) -> Flat:
    """Regress each column on all others under a penalty, at falling penalties; flat arrays.

    The layout is described in ``core/l1/l1_columns.hpp``. `loss` is "pseudo" (any states), "rise"
    or "logrise" (two states).
    """
    return _run(
        _core.l1_paths,
        (codes, n_states, weights),
        settings,
        targets=_targets(targets, n_states),
        penalties=np.ascontiguousarray(penalties, dtype=np.float64),
        scales=np.ascontiguousarray(scales, dtype=np.float64),
        loss=loss,
        tolerance=tolerance,
    )


def pair_counts(codes: Codes, n_states: Sequence[int], a: int, b: int) -> NDArray[np.float64]:
    """Rows in each combination of states of two columns.

    >>> pair_counts(np.array([[0, 2], [1, 0], [1, 1]]), [2, 3], 0, 1).astype(int).tolist()
    [[0, 0, 1], [1, 1, 0]]
    """
    pair, states, ones = checked_table(
        codes[:, [a, b]], [n_states[a], n_states[b]], np.ones(len(codes))
    )
    counts: NDArray[np.float64] = _core.pair_counts(pair, states, ones, 0, 1)
    return counts.reshape(states)


def pair_null(rows: Weights, other: Weights) -> tuple[float, float, float]:
    """Shift, scale and degrees of freedom of the deviance of two columns that nothing links.

    >>> pair_null(np.array([500.0, 500.0, 500.0]), np.array([500.0, 700.0, 300.0]))
    (0.0, 1.0, 4.0)
    """
    return _core.pair_null(rows, other)


def all_pair_counts(
    codes: Codes, weights: Weights, n_states: Sequence[int], threads: int
) -> NDArray[np.float64]:
    """Weight of the rows in each combination of two states: a square matrix, in column order.

    >>> all_pair_counts(np.array([[0, 1], [1, 0], [1, 1]]), np.ones(3), [2, 2], 1).astype(int)
    array([[1, 0, 0, 1],
           [0, 2, 1, 1],
           [0, 1, 1, 0],
           [1, 1, 0, 2]])
    """
    table = checked_table(codes, n_states, weights)
    counts: NDArray[np.float64] = _core.all_pair_counts(*table, checked_threads(threads))
    return counts.reshape(sum(n_states), -1)


def factorise_integers(
    data: NDArray[Any], threads: int
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]] | None:
    """Codes (column-major), smallest values, and counts of a table of integers.

    Column j of the counts' 256 says how often its smallest value occurs, that plus one, and so
    on; codes number the values that do occur. None if a column spans more than 256 values.

    >>> codes, least, counts = factorise_integers(np.array([[5, 0], [9, 1], [5, 1]]), 1)
    >>> codes.tolist(), least.tolist(), counts[0, :5].tolist()
    ([[0, 0], [1, 1], [0, 1]], [5, 0], [2, 0, 0, 0, 1])
    """
    found = _core.factorise(checked_integers(data), checked_threads(threads))
    if found is None:
        return None
    codes, least, counts = found
    return codes.reshape(data.shape, order="F"), least, counts.reshape(-1, 256)
