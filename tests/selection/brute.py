"""Selectors the slow way: a fit of its own for every threshold, and the definitions as written."""

from collections import Counter

import numpy as np

from isinglass import GreedyGraph
from isinglass.table import Drawer, Table


def decoded(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """A table as an array of its labels, and the weights."""
    labels = [
        [column.states[code] for code in codes]
        for column, codes in zip(table.columns, table.codes.T, strict=True)
    ]
    return np.array(labels).T, table.weights


def fresh(est: GreedyGraph, table: Table, threshold: float) -> GreedyGraph:
    """A fit of its own at one threshold; whole weights, or the sum of others, are the rows."""
    X, weights = decoded(table)
    settings = est.get_params() | {"threshold": float(threshold), "floor": None, "n_eff": table.n}
    known = zip(table.names, table.scores, strict=True)  # of states that some rows may lack
    settings["scores"] = {name: list(scores) for name, scores in known if scores is not None}
    return GreedyGraph(**settings).fit(X, sample_weight=weights)


def pairs(est: GreedyGraph) -> set[tuple[int, int]]:
    return {(link.source, link.target) for link in est.graph_.links}


def ebic(est: GreedyGraph, table: Table, threshold: float, gamma: float) -> float:
    again = fresh(est, table, threshold)
    n, p = table.n, len(table.columns)
    total = 0.0
    for path in again.paths_:
        parameters = sum(path.final.df.values())
        total += 2 * n * path.loss + parameters * np.log(n)
        total += 2 * gamma * len(path.support) * np.log(p - 1)
    return total


def fold_scores(est: GreedyGraph, table: Table, threshold: float, selector) -> list[float]:
    """Mean held-out score of each fold, row by row; rows whose state is new to a column skipped."""
    drawer = Drawer.of(table)
    folds = drawer.folds(np.random.default_rng(selector.seed), selector.folds)
    scores = []
    for fold in folds:
        train, kept = drawer.table_of(drawer.copies - fold)
        again = fresh(est, train, threshold * table.n / train.n)
        total = 0.0
        for row, weight in zip(drawer.table.codes, fold * drawer.weight, strict=True):
            if weight:
                total += weight * sum(
                    _log_probability(again, r, row, kept) for r in range(len(row))
                )
        scores.append(total / float((fold * drawer.weight).sum()))
    return scores


def _log_probability(est: GreedyGraph, r: int, row: np.ndarray, kept: list[np.ndarray]) -> float:
    if row[r] not in kept[r]:
        return 0.0
    path = est.paths_[r]
    scores = np.array(path.intercept, dtype=float)
    for t in path.support:
        if row[t] in kept[t]:
            scores += path.coef[t][:, list(kept[t]).index(row[t])]
    return scores[list(kept[r]).index(row[r])] - np.log(np.exp(scores).sum())


def edge_counts(est: GreedyGraph, table: Table, threshold: float, draws) -> Counter:
    """How many of the graphs of some draws have each edge, at one threshold."""
    drawer = Drawer.of(table)
    counts: Counter = Counter()
    for draw in draws:
        part, _ = drawer.table_of(draw)
        counts.update(pairs(fresh(est, part, threshold * table.n / part.n)))
    return counts
