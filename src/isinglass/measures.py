"""What people report of the columns of a network: how linked, how predictable, in which group."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from isinglass.engine import Progress
from isinglass.engine.available import seen_rows
from isinglass.errors import SettingError
from isinglass.estimators.base import GraphEstimator
from isinglass.estimators.filled import refuse_filled
from isinglass.estimators.folds import Split, learn_like, splits
from isinglass.estimators.score import refit_conditionals
from isinglass.frames import frame
from isinglass.graph import Graph, Link
from isinglass.model import FitRecord, MarkovField
from isinglass.parameters import checked

__all__ = ["Communities", "Predictability", "communities", "nodes", "predictability"]

Array = NDArray[np.float64]
HasGraph = GraphEstimator | Graph | MarkovField | FitRecord


def graph_of(of: Any) -> Graph:
    """Return the graph of a fitted estimator, a model or a record; a graph is its own."""
    if isinstance(of, Graph):
        return of
    if isinstance(of, GraphEstimator):
        check_is_fitted(of)
        return of.graph_
    if isinstance(of, MarkovField | FitRecord):
        return of.graph
    raise SettingError(
        f"this takes a fitted estimator, a Graph, a MarkovField or a FitRecord, not a "
        f"{type(of).__name__}."
    )


@checked
def nodes(
    of: HasGraph,
    *,
    folds: int | None = 5,
    seed: int = 0,
    library: str | None = None,
    progress: Progress | None = None,
) -> Any:
    """Measure every column of a network.

    Parameters
    ----------
    of : fitted estimator, Graph, MarkovField or FitRecord
        Predictability needs rows, so only estimators have it.
    folds : int, optional
        Folds of the predictability; None leaves it out. Each fold learns the graph again.
    seed : int
        For the split into folds.
    library : str, optional
        "pandas", "polars" or "pyarrow"; by default that of the table.
    progress : function of (folds done, folds in all), optional

    Returns
    -------
    data frame
        One row per column of the table, in its order:

        - ``name``
        - ``high``: the high state of a column with two states, which signs and log-odds are
          about; empty for others, and left out where states are not known (of a `Graph`)
        - ``degree``: its number of links
        - ``strength``: the sum of its links' relative strengths, whatever their signs (Barrat,
          Barthélemy, Pastor-Satorras and Vespignani, "The architecture of complex weighted
          networks", PNAS 101, 2004); relative, so that columns with rare states compare with others
        - ``expected_influence``: the same with signs, so that links of opposite signs cancel
          (Robinaugh, Millner and McNally, "Identifying highly influential nodes in the complicated
          grief network", J. Abnormal Psychology 125, 2016). Links without a sign do not count; it
          is empty where no link has one
        - ``community``: the number of its group, see `communities`; empty without a link
        - ``accuracy``, ``base_rate``, ``predictability``: see `predictability`

    Notes
    -----
    Strength and expected influence add up how well columns predict each other. They say nothing
    about what would happen if a column were changed.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.star(4, 3), coupling=0.6)
    >>> nodes(field, library="polars").select("name", "degree").rows()
    [('x0', 3), ('x1', 1), ('x2', 1), ('x3', 1)]
    >>> nodes(ig.GreedyGraph().fit(field.sample(500, seed=0))).columns
    ['name', 'high', 'degree', 'strength', 'expected_influence', 'community', 'accuracy',
     'base_rate', 'predictability']
    """
    graph = graph_of(of)
    columns: dict[str, list[Any]] = {"name": list(graph.names)}
    if not isinstance(of, Graph):
        known: Any = of.table_ if isinstance(of, GraphEstimator) else of
        columns["high"] = list(known.high)
    columns["degree"] = [len(links) for links in _links_of_columns(graph)]
    columns |= sums(graph)
    number = communities(graph).number
    columns["community"] = [number.get(name) for name in graph.names]
    if isinstance(of, GraphEstimator) and folds is not None:
        found = predictability(of, folds=folds, seed=seed, progress=progress).values()
        columns["accuracy"] = [column.accuracy for column in found]
        columns["base_rate"] = [column.base_rate for column in found]
        columns["predictability"] = [column.gain for column in found]
    return frame(columns, library or graph.library)


def sums(graph: Graph) -> dict[str, list[float | None]]:
    """Strength and expected influence of every column, as `nodes` has them."""
    ends = _links_of_columns(graph)
    return {
        "strength": [sum(map(_weight, links), 0.0) for links in ends],
        "expected_influence": [_influence(links) for links in ends],
    }


def _links_of_columns(graph: Graph) -> list[list[Link]]:
    ends: list[list[Link]] = [[] for _ in graph.names]
    for link in graph.links:
        ends[link.source].append(link)
        ends[link.target].append(link)
    return ends


def _influence(links: Sequence[Link]) -> float | None:
    signed = [link.sign * _weight(link) for link in links if link.sign]
    return sum(signed, 0.0) if signed or not links else None


def _weight(link: Link) -> float:
    return link.weight if link.relative_strength is None else link.relative_strength


@dataclass(frozen=True)
class Communities:
    """Groups of linked columns.

    Attributes
    ----------
    groups : tuple of tuple of str
        Names in column order, the group of the first column first. Columns without a link are
        in none.
    modularity : float
        Newman's Q: the share of strength inside groups, less what it would be by chance; 0 is
        no better than chance.
    """

    groups: tuple[tuple[str, ...], ...]
    modularity: float

    @property
    def number(self) -> Mapping[str, int]:
        """The number of each column's group, from 1."""
        return {name: at for at, group in enumerate(self.groups, start=1) for name in group}


@checked
def communities(graph: HasGraph, *, resolution: float = 1.0, starts: int = 20) -> Communities:
    """Find groups by the Louvain method: the best of some starts, by modularity.

    The method is that of Blondel, Guillaume, Lambiotte and Lefebvre ("Fast unfolding of
    communities in large networks", J. Stat. Mech., 2008), as networkx has it, on the edges'
    strengths: a negative link joins as a positive one does. It goes through the columns in a
    random order; from `starts` orders the grouping of the largest modularity (Newman, "Modularity
    and community structure in networks", PNAS 103, 2006) is kept, the first of equals.

    Parameters
    ----------
    graph : Graph, or a fitted estimator, MarkovField or FitRecord
    resolution : float
        More gives more and smaller groups.
    starts : int

    Examples
    --------
    >>> import isinglass as ig
    >>> import networkx as nx
    >>> graph = ig.exports.from_networkx(nx.barbell_graph(3, 0))
    >>> communities(graph).groups
    (('0', '1', '2'), ('3', '4', '5'))
    """
    import networkx as nx

    graph = graph_of(graph)
    network = nx.Graph()
    for link in graph.links:
        network.add_edge(link.source, link.target, weight=max(link.weight, 1e-12))
    if not network:
        return Communities((), 0.0)
    best, modularity = [set[int]()], -1.0
    for start in range(starts):
        found = nx.community.louvain_communities(
            network, weight="weight", resolution=resolution, seed=random.Random(start)
        )
        value = nx.community.modularity(network, found, weight="weight", resolution=resolution)
        if value > modularity + 1e-12:
            best, modularity = found, float(value)
    groups = sorted(sorted(group) for group in best)
    return Communities(tuple(tuple(graph.names[v] for v in group) for group in groups), modularity)


@dataclass(frozen=True)
class Predictability:
    """How often a column's held-out cells are predicted.

    Attributes
    ----------
    accuracy : float
        Share of cells whose most likely state, given the row's other cells, is the true one.
    base_rate : float
        The same for the commonest state of the rows learned from: no other cell is looked at.
    """

    accuracy: float
    base_rate: float

    @property
    def gain(self) -> float | None:
        """(accuracy - base_rate) / (1 - base_rate): 0 no better than the base rate, 1 perfect.

        It is below 0 where the neighbours mislead, and None where there is nothing to gain.

        >>> Predictability(accuracy=0.75, base_rate=0.5).gain
        0.5
        """
        room = 1.0 - self.base_rate
        return (self.accuracy - self.base_rate) / room if room > 1e-12 else None


@checked
def predictability(
    estimator: GraphEstimator, *, folds: int = 5, seed: int = 0, progress: Progress | None = None
) -> Mapping[str, Predictability]:
    """Cross-validate how well each column is predicted by its neighbours.

    The measure is the normalised accuracy of Haslbeck and Waldorp ("How well do network models
    predict observations? On the importance of predictability in network models", Behavior Research
    Methods 50, 2018), here on held-out rows: for each fold the graph is learned again from the
    other folds by the same estimator, each column's conditional is refitted there, and the fold's
    cells are predicted. So the cells influence neither the choice of edges nor their sizes.

    Parameters
    ----------
    estimator : fitted graph estimator
        It keeps the rows it learned from.
    folds : int
    seed : int
        For the split into folds. A row of weight w is w rows that may go to different folds.
    progress : function of (folds done, folds in all), optional

    Returns
    -------
    dict of Predictability
        By name, in column order. Rows with a state that the other folds lack are not counted.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=1.0, signs="positive")
    >>> found = predictability(ig.GreedyGraph().fit(field.sample(2000, seed=0)))
    >>> bool(found["x1"].gain > 0.7)
    True
    """
    check_is_fitted(estimator)
    refuse_filled(estimator, "predictability")
    table = estimator.table_
    right = np.zeros((2, len(table.columns)))
    counted = np.zeros(len(table.columns))
    for done, split in enumerate(splits(table, folds, seed), start=1):
        graph = learn_like(estimator, split.training)
        fits = refit_conditionals(graph, split.training)
        for r, fit in enumerate(fits):
            weights, hits = _hits(split, r, fit.scores)
            right[:, r] += hits @ weights
            counted[r] += weights.sum()
        if progress is not None:
            progress(done, folds)
    counted = np.maximum(counted, np.finfo(float).tiny)
    return {
        name: Predictability(float(ours), float(base))
        for name, ours, base in zip(table.names, *(right / counted), strict=True)
    }


def _hits(split: Split, r: int, scores: Callable[[NDArray[Any]], Array]) -> tuple[Array, Array]:
    """Weights of the rows where a column is seen; and whether we, and its mode, are right there."""
    seen, known = seen_rows(split.rows, r), seen_rows(split.training, r)
    codes, true = split.rows.wide.codes[seen], split.rows.codes[seen, r]
    common = np.bincount(split.training.codes[known, r], split.training.weights[known]).argmax()
    hits = np.array([scores(codes).argmax(axis=1) == true, true == common], dtype=np.float64)
    return split.rows.weights[seen], hits
