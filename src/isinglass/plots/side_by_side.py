"""Several networks side by side, in one layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from isinglass.errors import SettingError
from isinglass.experiments.compare import Comparison, Entry
from isinglass.graph import Graph, Link
from isinglass.measures import HasGraph, graph_of
from isinglass.parameters import checked
from isinglass.plots import canvas
from isinglass.plots.canvas import INK, PALE, Axes, Figure, drawable
from isinglass.plots.network import Shares, draw_network, legend_entries, look_of
from isinglass.report.layout import Positions, positions
from isinglass.wording import counted


@checked
def networks(
    graphs: Mapping[str, HasGraph],
    *,
    at: Positions | None = None,
    labels: bool | Mapping[str, str] = True,
    groups: Mapping[str, Sequence[str]] | None = None,
    predictability: Mapping[str, Shares | None] | None = None,
    edge_labels: bool | str = False,
) -> Figure:
    """Draw several graphs of the same columns side by side: one layout, one scale of widths.

    Parameters
    ----------
    graphs : dict of title to Graph, fitted estimator, MarkovField or FitRecord
        Two or more, all of the same columns.
    at, labels, groups, edge_labels
        As for :func:`network`. By default the links of all graphs together decide where the
        columns are.
    predictability : dict of title to what `network` takes, optional

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(5), coupling=0.6, seed=0)
    >>> waves = {f"wave {k}": ig.GreedyGraph().fit(field.sample(300, seed=k)) for k in (1, 2)}
    >>> [ax.get_title() for ax in ig.plots.networks(waves).axes]
    ['wave 1: 4 links', 'wave 2: 4 links']
    """
    canvas.new_figure(1, 1)  # before all else, so that a missing matplotlib is noticed
    drawn = {title: graph_of(graph) for title, graph in graphs.items()}
    names = _same_columns(drawn)
    shares = predictability or {}
    looks = {
        title: look_of(
            names,
            labels=labels,
            groups=groups,
            predictability=shares.get(title),
            edge_labels=edge_labels,
            node_size=10.0,
        )
        for title in drawn
    }
    widths = {name: next(iter(looks.values())).width(name) for name in names}
    at = positions(union(list(drawn.values())), widths) if at is None else at
    figure, axes = _panels(len(drawn), at)
    for ax, (title, graph) in zip(axes, drawn.items(), strict=False):
        draw_network(ax, graph, at, looks[title])
        words = f"{drawable(title, 40)}: {counted(len(graph.links), 'link')}"
        ax.set_title(words, fontsize=9, parse_math=False)
        ax.margins(0.08)
    explained = [legend_entries(list(drawn.values()), look) for look in looks.values()]
    canvas.shared_legend(figure, {key: one[key] for one in explained for key in one}, 3)
    return figure


def _same_columns(graphs: Mapping[str, Graph]) -> tuple[str, ...]:
    if len(graphs) < 2:
        raise SettingError("this draws two graphs or more; plots.network draws one.")
    first = next(iter(graphs.values())).names
    for title, graph in graphs.items():
        if graph.names != first:
            raise SettingError(f"graph {title!r} is about other columns than the first one.")
    return first


def _panels(count: int, at: Positions) -> tuple[Figure, list[Axes]]:
    """A figure with room for so many drawings of the same extent; empty panels show nothing."""
    width, height = _extent(at)
    columns = max(count if count <= 3 else 2, 1)
    rows = max(1, -(-count // columns))
    scale = min(0.8, 5.0 / width)
    size = columns * max(scale * width, 3.2) + 0.2, rows * (scale * height + 0.5) + 0.4
    figure, axes = canvas.panels(rows, columns, *size)
    for ax in axes:
        ax.set_axis_off()
    return figure, axes


#: How links that all methods found are drawn, and others.
SHARED: dict[str, Any] = {"color": canvas.GREY, "lw": 1.2}
LONE: dict[str, Any] = {"color": canvas.ORANGE, "lw": 1.8}


def comparison_figure(comparison: Comparison) -> Figure:
    """Every method's graph in the same layout: grey what all found, orange what some did not."""
    canvas.new_figure(1, 1)  # before all else, so that a missing matplotlib is noticed
    entries = [entry for entry in comparison.entries if entry.graph is not None]
    graph = union([entry.graph for entry in entries if entry.graph is not None])
    at = positions(graph, {name: canvas.label_width(name) for name in graph.names})
    figure, axes = _panels(len(entries), at)
    shared = frozenset.intersection(*(entry.edges for entry in entries)) if entries else frozenset()
    for ax, entry in zip(axes, entries, strict=False):
        _draw_entry(ax, entry, shared, at)
    styles = {"found by all": SHARED | {"lw": 2}, "found by some": LONE | {"lw": 2}}
    canvas.shared_legend(figure, styles, 2)
    return figure


def union(graphs: Sequence[Graph]) -> Graph:
    """All edges of some graphs of the same columns."""
    links: dict[tuple[int, int], Link] = {}
    for graph in graphs:
        for link in graph:
            links.setdefault((link.source, link.target), link)
    names = graphs[0].names if graphs else ()
    return Graph(names, tuple(links[ends] for ends in sorted(links)))


def _draw_entry(ax: Axes, entry: Entry, shared: frozenset[tuple[int, int]], at: Positions) -> None:
    assert entry.graph is not None
    names = entry.graph.names
    linked = {names[end] for edge in entry.edges for end in edge}
    for a, b in sorted(entry.edges, key=lambda edge: edge not in shared):
        x, y = zip(at[names[a]], at[names[b]], strict=True)
        ax.plot(x, y, zorder=1, **SHARED if (a, b) in shared else LONE)
    for name, point in at.items():
        ink = INK if name in linked else PALE
        ax.plot(*point, "o", ms=5, mfc="white", mec=ink, mew=0.8, zorder=2)
        canvas.write_name(ax, name, point, 4, color=ink, fontsize=7)
    score = "" if np.isnan(entry.score) else f", held-out {entry.score:.3f}"
    title = f"{drawable(entry.name)}: {counted(len(entry.edges), 'edge')}{score}"
    ax.set_title(title, fontsize=9, parse_math=False)
    ax.margins(0.08)
    ax.set_aspect("equal")


def _extent(at: Positions) -> tuple[float, float]:
    if not at:
        return 3.0, 1.0
    x, y = zip(*at.values(), strict=True)
    return max(max(x) - min(x) + 1.0, 3.0), max(max(y) - min(y) + 1.0, 1.5)
