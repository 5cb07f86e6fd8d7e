"""Rows that belong together: pupils of a school, members of a family, a person asked twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.errors import BadClusters, Setting, TableError
from isinglass.table.cells import Cells, Source, check_shape, open_array
from isinglass.table.coding.factor import MISSING, Codes, factorise
from isinglass.table.column import Note
from isinglass.wording import counted, listing, quoted

Numbers = NDArray[np.intp]

CLUSTERS, STRATA = Setting("clusters"), Setting("strata")


def split_clusters(
    source: Source, columns: Sequence[int], clusters: ArrayLike | str | None
) -> tuple[list[int], Codes | None]:
    """The columns of a table, without that of the clusters; a code of each row's label.

    The codes are in no order; -1 is a missing label.
    """
    if clusters is None:
        return list(columns), None
    if not isinstance(clusters, str):
        return list(columns), _coded(_cells(clusters, source.n_rows))
    named = [position for position in columns if source.names[position] == clusters]
    if not named:
        known = listing([quoted(source.names[position]) for position in columns], 5)
        raise BadClusters(
            CLUSTERS, f" names {clusters!r}, which is not a column; the columns are {known}."
        )
    left = [position for position in columns if position not in named]
    check_shape(source.n_rows, len(left))
    return left, _coded(source.cells(named[0]))


def numbered(labels: Codes, setting: Setting = CLUSTERS) -> Numbers:
    """The cluster of each row, numbered from 0 as they first appear; refuse missing labels.

    >>> numbered(np.array([7, 2, 7, 5]))
    array([0, 1, 0, 2])
    """
    lacking = int(np.count_nonzero(labels == MISSING))
    if lacking:
        raise BadClusters(
            setting,
            f" has no label (NaN, None or empty) in {lacking:,} of {counted(len(labels), 'row')}. "
            "Give every row a label; a row that belongs to no other gets one of its own.",
        )
    _, first, number = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[number]


def labels_of_rows(
    labels: Any, n_rows: int, kept: NDArray[np.intp] | None, setting: Setting = CLUSTERS
) -> Numbers:
    """Numbers for labels that were given for all rows of a table of which some were kept.

    >>> labels_of_rows(["b", "a", "b", "c"], 3, np.array([0, 1, 2]))
    array([0, 1, 0])
    """
    given = _as_labels(labels, setting)
    fits = len(given) == n_rows if kept is None else len(given) > kept[-1]
    if given.ndim != 1 or not fits:
        raise BadClusters(
            setting, f" has shape {given.shape}; give one label for each row of the table."
        )
    codes = _coded(open_array(given[:, None]).cells(0), setting)
    return numbered(codes if kept is None else codes[kept], setting)


def strata_of_rows(
    labels: Any,
    weights: NDArray[np.float64],
    kept: NDArray[np.intp] | None,
    clusters: Numbers | None,
) -> Numbers:
    """Numbers for the strata that rows are drawn within; a cluster is in one of them.

    Every stratum must have two clusters, or two rows, so that there is something to draw.
    """
    strata = labels_of_rows(labels, len(weights), kept, STRATA)
    units = np.arange(len(strata)) if clusters is None else clusters
    of_unit = np.empty(int(units.max()) + 1, dtype=np.intp)
    of_unit[units] = strata
    if not np.array_equal(of_unit[units], strata):
        raise BadClusters(
            "some cluster has rows in several ",
            STRATA,
            "; give all rows of a cluster the same stratum.",
        )
    copies = clusters is None and np.array_equal(weights, np.rint(weights))
    if (np.bincount(strata, weights) if copies else np.bincount(of_unit)).min() < 2:
        what = "row" if clusters is None else "cluster"
        raise BadClusters(
            STRATA,
            f" has a stratum of one {what}, from which no part can be drawn; join it with another.",
        )
    return strata


def settle_clusters(
    clusters: Numbers | None, weights: NDArray[np.float64], *, copies: bool
) -> tuple[Numbers | None, tuple[Note, ...]]:
    """The clusters to learn with, None for rows that are independent; and what to say of them.

    A row of weight w is w rows, all of them in its cluster, if weights are `copies`.
    """
    if clusters is None:
        return None, ()
    count = int(clusters.max()) + 1
    if count == 1:
        raise BadClusters(
            "all rows are in one cluster, which does not show how clusters differ; at least two "
            "are needed, better 20 or more. Do not use ",
            CLUSTERS,
            " if rows are independent.",
        )
    if count == len(clusters) and bool((weights == 1).all()):
        done = "every row is its own cluster, so rows are treated as independent"
        return None, (Note(None, "clusters", done),)
    return clusters, (Note(None, "clusters", _about(clusters, weights, count, copies)),)


def _about(clusters: Numbers, weights: NDArray[np.float64], count: int, copies: bool) -> str:
    sizes = np.bincount(clusters, weights if copies else None)
    return (
        f"{sizes.sum():,.6g} rows in {count:,} clusters of {sizes.min():,.6g} to "
        f"{sizes.max():,.6g} rows; the search, the evidence of edges and standard errors take them "
        "into account"
    )


def _as_labels(given: Any, setting: Setting = CLUSTERS) -> NDArray[Any]:
    if isinstance(given, np.ndarray):  # with its mask, if it has one
        return np.atleast_1d(given)
    try:
        return np.atleast_1d(np.asarray(given, dtype=object if isinstance(given, list) else None))
    except (TypeError, ValueError):
        raise BadClusters(setting, " must be labels, one for each row.") from None


def _cells(clusters: ArrayLike, rows: int) -> Cells:
    given = _as_labels(clusters)
    if given.shape != (rows,):
        raise BadClusters(
            CLUSTERS,
            f" has shape {given.shape}, but the table has {rows} rows; give one label for each "
            "row.",
        )
    return open_array(given[:, None]).cells(0)


def _coded(cells: Cells, setting: Setting = CLUSTERS) -> Codes:
    try:
        return factorise(setting.name, cells).codes
    except TableError:
        raise BadClusters(
            setting, " must be labels (texts, numbers or other plain values), one for each row."
        ) from None
