"""One row per column: the measures of network papers, with names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from isinglass.estimators.base import GraphEstimator
from isinglass.frames import frame
from isinglass.graph import Graph, Link
from isinglass.measures.communities import communities
from isinglass.measures.graphs import HasGraph, graph_of
from isinglass.measures.predictability import predictability
from isinglass.parameters import checked


@checked
def nodes(
    of: HasGraph,
    *,
    folds: int | None = 5,
    seed: int = 0,
    library: str | None = None,
    progress: Callable[[int, int], None] | None = None,
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
    columns: dict[str, list[Any]] = {"name": list(graph.names), **_high(of), **_sums(graph)}
    number = communities(graph).number
    columns["community"] = [number.get(name) for name in graph.names]
    if isinstance(of, GraphEstimator) and folds is not None:
        found = predictability(of, folds=folds, seed=seed, progress=progress)
        columns["accuracy"] = [found[name].accuracy for name in graph.names]
        columns["base_rate"] = [found[name].base_rate for name in graph.names]
        columns["predictability"] = [found[name].gain for name in graph.names]
    return frame(columns, library or graph.library)


def _high(of: Any) -> dict[str, list[Any]]:
    """The high states, of anything that knows states."""
    if isinstance(of, Graph):
        return {}
    return {"high": list(of.table_.high if isinstance(of, GraphEstimator) else of.high)}


def _sums(graph: Graph) -> dict[str, list[Any]]:
    """Degree, strength and expected influence, added up link by link."""
    ends: list[list[Link]] = [[] for _ in graph.names]
    for link in graph.links:
        ends[link.source].append(link)
        ends[link.target].append(link)
    return {
        "degree": [len(links) for links in ends],
        "strength": [sum(map(_weight, links), 0.0) for links in ends],
        "expected_influence": [_influence(links) for links in ends],
    }


def _influence(links: Sequence[Link]) -> float | None:
    signed = [link.sign * _weight(link) for link in links if link.sign]
    return sum(signed, 0.0) if signed or not links else None


def _weight(link: Link) -> float:
    return link.weight if link.relative_strength is None else link.relative_strength
