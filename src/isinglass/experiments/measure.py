"""How near an answer comes to the truth, whatever form a method gives it in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.experiments.plan import Edges
from isinglass.graph import Graph


@dataclass(frozen=True)
class Found:
    """What a method found in one table."""

    #: By setting that the fit serves; a `Graph` or pairs of columns.
    graphs: Mapping[str, Graph | Iterable[tuple[int, int]]]
    #: How early each pair came on the method's path, shape (p, p): larger is earlier. Only the
    #: order counts; pairs of equal rank come together.
    ranking: NDArray[np.float64] | None = None
    #: Anything else to be kept in the record, under "kept"; plain, as JSON has it.
    kept: Any = None


def as_found(answer: Any) -> Found:
    """Read any form of answer: a `Found`, a dict by setting, a graph, pairs of columns."""
    if isinstance(answer, Found):
        return answer
    return Found(answer if isinstance(answer, Mapping) else {"": answer})


def edge_set(edges: Graph | Iterable[tuple[int, int]]) -> frozenset[tuple[int, int]]:
    """Pairs of columns, the smaller first.

    >>> sorted(edge_set([(2, 0), (0, 2), (np.int64(1), 2)]))
    [(0, 2), (1, 2)]
    """
    if isinstance(edges, Graph):
        return frozenset(edges.pairs)
    return frozenset((int(min(edge)), int(max(edge))) for edge in edges)


def errors(found: Graph | Iterable[tuple[int, int]], truth: Edges) -> tuple[int, int]:
    """Count the false edges, and those that were missed.

    >>> errors([(0, 1), (1, 2)], [(0, 1), (0, 2), (2, 3)])
    (1, 2)
    """
    got, true = edge_set(found), edge_set(truth)
    return len(got - true), len(true - got)


def f1(false: Any, missed: Any, true: Any) -> Any:
    """The harmonic mean of precision and recall; 1 when there is nothing to find nor found.

    >>> float(f1(false=1, missed=2, true=3)), float(f1(0, 0, 0))
    (0.4, 1.0)
    """
    hits = 2.0 * (np.asarray(true) - missed)
    both = hits + false + missed
    return np.where(both > 0, hits / np.where(both > 0, both, 1.0), 1.0)


def area_under_precision_recall(ranking: NDArray[np.float64], truth: Edges) -> float:
    """Mean precision over the true edges, each at the point of the path where it comes.

    Pairs of equal rank come together. Of no true edges there is no area: NaN. Here the path
    brings a true edge, a false one and the other true one, so the precisions are 1 and 2/3:

    >>> rank = np.zeros((4, 4))
    >>> rank[0, 1], rank[1, 2], rank[2, 3] = 3, 2, 1
    >>> round(area_under_precision_recall(rank, [(0, 1), (2, 3)]), 4)
    0.8333
    """
    from sklearn.metrics import average_precision_score

    if not len(truth):
        return float("nan")
    upper = np.triu_indices(len(ranking), 1)
    true = np.zeros(ranking.shape, dtype=bool)
    true[tuple(zip(*edge_set(truth), strict=True))] = True
    return float(average_precision_score(true[upper], np.maximum(ranking, ranking.T)[upper]))
