"""The compiled core: arrays in, arrays out; it knows no names, tables or graphs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Any, NotRequired, TypedDict, Unpack

import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray

from isinglass.core import _core
from isinglass.core.elsewhere import RowsElsewhere
from isinglass.core.forms import Forms, compiled, core_forms
from isinglass.core.further import Further, LookFurther, Seen, as_looking, read_further
from isinglass.core.gate import checked_integers, checked_scales, checked_table, checked_threads
from isinglass.core.lapack import lapack_lent
from isinglass.core.lists import as_lists, as_marks, as_targets
from isinglass.core.prepared import (
    Codes,
    Flat,
    PreparedTable,
    Weights,
    cells_counted,
    split_rows,
)
from isinglass.core.starts import Starts, as_starts
from isinglass.core.stopping import Progress, stopped_by, watched

__all__ = [
    "STOPS",
    "Codes",
    "Flat",
    "Forms",
    "Further",
    "LookFurther",
    "PreparedTable",
    "Progress",
    "Seen",
    "Settings",
    "Starts",
    "Weights",
    "all_pair_counts",
    "both_ends",
    "core_forms",
    "cores",
    "edge_losses",
    "factorise_integers",
    "fit_columns",
    "instructions",
    "l1_paths",
    "pair_counts",
    "pair_null",
    "search_columns",
    "stopped_by",
    "use_counting",
    "use_instructions",
]

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
    threads: int,
    n: float = 0.0,
    answers: Sequence[int] | None = None,
    **settings: Any,
) -> Flat:
    """Run Algorithm 1 for columns of a table; see `PreparedTable` and its `search`."""
    table = PreparedTable(codes, weights, n_states, n=n, answers=answers, threads=threads)
    return table.search(threshold, threads=threads, **settings)


def _run(
    work: Callable[..., Flat], table: tuple[Any, ...], settings: Mapping[str, Any], **more: Any
) -> Flat:
    """Let the core work on a table of codes, states and weights, once they are checked."""
    settings = {"n": 0.0, **settings, "progress": watched(settings.get("progress"))}
    threads = checked_threads(settings.pop("threads"))
    codes, n_states, weights = table
    rows, elsewhere = split_rows(codes, n_states, weights)
    if elsewhere is not None:
        more["elsewhere"] = elsewhere
    with lapack_lent(n_states), cells_counted():
        return work(*rows, threads=threads, **settings, **more)


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
        forms=compiled(forms),
        small=as_marks(small, range(len(neighbours)), neighbours),
        **as_lists(neighbours),
    )


def edge_losses(
    codes: Codes | RowsElsewhere,
    weights: Weights,
    n_states: Sequence[int],
    targets: Sequence[int],
    neighbours: Sequence[Sequence[int]],
    *,
    threads: int,
    n: float = 0.0,
    **settings: Any,
) -> Flat:
    """Fit columns with and without some neighbours; see `PreparedTable.edge_losses`."""
    table = PreparedTable(codes, weights, n_states, n=n, threads=threads)
    return table.edge_losses(targets, neighbours, threads=threads, **settings)


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
    starts: Starts | None = None,
    looking: LookFurther | None = None,
    **settings: Unpack[Settings],
) -> Seen:
    """What both ends of each edge say of it; or when it leaves, the weakest first.

    Without `top` no edge leaves, and the first array has a chi-square with one degree of freedom
    for each pair. With it, edges leave while the weakest statistic is at most `top`, those in
    `held` excepted, and the second array has the largest statistic with which one has left by
    then, infinite for edges that stay; see ``core/ends/elimination.hpp``. On the way columns may
    be `looking` for further edges; then edges leave up to its `firm` statistic at least.
    `scales`, a (p, p) array, divide the statistics before they are made those of one degree. So
    many of the last columns as `adjusted` says are neighbours of all others, and no edge leads to
    them. Pairs in `small` have the smaller of their `forms`. Fits begin at `starts`, if some are
    known.
    """
    if isinstance(codes, RowsElsewhere):
        raise ValueError("both ends are compared row by row, and the rows are elsewhere")
    found = _run(
        _core.both_ends,
        (codes, n_states, weights),
        settings,
        pairs=np.asarray(pairs, dtype=np.int64).reshape(-1),
        held=np.asarray([pair in held for pair in pairs], dtype=np.uint8),
        scales=checked_scales(scales, len(n_states), len(n_states)),
        unit=unit,
        top=-1.0 if top is None else top,
        all=top is None,
        adjusted=adjusted,
        forms=compiled(forms),
        small=np.asarray([pair in small for pair in pairs], dtype=np.uint8),
        **as_starts(starts),
        **as_looking(looking),
    )
    return Seen(found["statistic"], found["entry"], read_further(found["further"]))


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
        targets=as_targets(targets, n_states),
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
