"""Graphs as networks: one, or those of several methods side by side."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np

from isinglass.experiments.compare import Comparison, Entry
from isinglass.graph import Graph, Link
from isinglass.measures import HasGraph, graph_of
from isinglass.parameters import checked
from isinglass.plots import canvas
from isinglass.plots.canvas import INK, PALE, Axes, Figure, axes_for, drawable, figure_of
from isinglass.report.layout import HEIGHT, Positions, positions
from isinglass.wording import counted

#: Inches; larger graphs are drawn on that much paper all the same.
LARGEST = 30.0
Limits = tuple[tuple[float, float], tuple[float, float]]
DASHED = (0, (3.0, 1.5))


@checked
def network(
    graph: HasGraph,
    ax: Axes | None = None,
    *,
    at: Positions | None = None,
    labels: bool | Mapping[str, str] = True,
    node_color: Mapping[str, Any] | None = None,
    node_size: float = 14.0,
) -> Axes:
    """Draw a graph: width by strength, colour by sign, tentative links dashed.

    Parameters
    ----------
    graph : Graph, or a fitted estimator, MarkovField or FitRecord
    ax : matplotlib axes, optional
        By default, those of a new figure with room for every label.
    at : dict of name to (x, y), optional
        Where to draw the columns; by default their links decide, and the columns without
        a link are listed below.
    labels : bool or dict of name to text
        Whether to write the names; a dict has other words for some of them, such as
        ``read_codebook(path).labels``.
    node_color : dict of name to colour, optional
    node_size : float
        Diameter of a column's dot, in points.

    Examples
    --------
    >>> import isinglass as ig
    >>> rows = ig.simulate.ising(ig.simulate.grid(2, 3), coupling=0.6, seed=0).sample(1000, seed=0)
    >>> ax = ig.plots.network(ig.GreedyGraph().fit(rows).graph_)
    >>> len(ax.patches)
    7
    """
    if ax is None:
        canvas.new_figure(1, 1)  # before all else, so that a missing matplotlib is noticed
    graph = graph_of(graph)
    other = dict(labels) if isinstance(labels, Mapping) else {}
    words = {name: other.get(name, name) for name in graph.names}
    named = bool(labels) or isinstance(labels, Mapping)
    widths = {name: canvas.label_width(words[name]) if named else 0.3 for name in graph.names}
    shown = positions(graph, widths) if at is None else at
    limits = _limits(shown, widths)
    ax = _fitting_axes(graph, shown, limits) if ax is None else ax
    for link in sorted(graph.links, key=lambda link: link.weight):
        _draw_link(ax, link, graph, shown)
    linked = {name for edge in graph.edges for name in edge}
    for name, point in shown.items():
        color = node_color[name] if node_color else "white"
        edge = INK if name in linked else PALE
        ax.plot(*point, "o", ms=node_size, mfc=color, mec=edge, mew=1.0, zorder=3, clip_on=False)
        if named:
            canvas.write_name(ax, words[name], point, node_size / 2 + 2, color=edge)
    columns = _legend_columns(figure_of(ax).get_figwidth())
    canvas.legend_below(ax, 0.0, columns, canvas.handles(_legend_entries(graph)))
    ax.set_aspect("equal")
    ax.set_axis_off()
    if at is None:
        ax.set_anchor("N")
        ax.set(xlim=limits[0], ylim=limits[1])
        _list_unlinked(ax, graph, shown)
    else:
        ax.margins(0.08)
    return ax


def _fitting_axes(graph: Graph, at: Positions, limits: Limits) -> Axes:
    (left, right), (bottom, top) = limits
    width = min(max(right - left + 0.3, 5.5), LARGEST)
    lines = len(_unlinked_lines(graph, at, width))
    below = _legend_height(graph, width) + 0.1 + 0.14 * lines
    return axes_for(width, min(top - bottom, LARGEST) + 0.2 + below)


def _limits(at: Positions, widths: Mapping[str, float]) -> Limits:
    """From left to right, and from bottom to top, with room for names."""
    if not at:
        return (0.0, 1.0), (0.0, 0.3)
    left = min(x - widths.get(name, 0.0) / 2 for name, (x, _) in at.items())
    right = max(x + widths.get(name, 0.0) / 2 for name, (x, _) in at.items())
    y = [point[1] for point in at.values()]
    return (left, right), (min(y) - 0.8 * HEIGHT, max(y) + 0.4 * HEIGHT)


def _draw_link(ax: Axes, link: Link, graph: Graph, at: Positions) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    a, b = graph.names[link.source], graph.names[link.target]
    start, end = np.array(at[a]), np.array(at[b])
    middle = (start + end) / 2 + _bend(start, end, [at[name] for name in at if name not in (a, b)])
    curve = Path([start, middle, end], [Path.MOVETO, Path.CURVE3, Path.CURVE3])
    ax.add_patch(
        PathPatch(
            curve,
            fc="none",
            ec=canvas.COLORS[link.sign],
            lw=0.6 + 6.0 * link.weight,
            alpha=0.35 + 0.6 * link.weight,
            ls=DASHED if link.tier == "tentative" else "-",
            capstyle="butt" if link.tier == "tentative" else "round",
            zorder=2,
        )
    )


def _bend(start: Any, end: Any, others: list[tuple[float, float]], room: float = 0.12) -> Any:
    """Sideways shift of a line's middle, so that it does not run through a third column."""
    line = end - start
    length = float(np.hypot(*line))
    if not others or length == 0:
        return np.zeros(2)
    across = np.array([-line[1], line[0]]) / length
    away = np.asarray(others) - start
    hit = (np.abs(away @ across) < room) & (away @ line > 0) & (away @ line < length**2)
    return across * (0.3 + 0.08 * length if hit.any() else 0.0)


def _legend_entries(graph: Graph) -> dict[str, dict[str, Any]]:
    """What has to be explained: the signs that occur, and dashes if some links have none."""
    signs = {link.sign for link in graph.links}
    entries: dict[str, dict[str, Any]] = {
        words: {"color": canvas.COLORS[sign], "lw": 3}
        for sign, words in canvas.MEANING.items()
        if sign in signs
    }
    tiers = {link.tier for link in graph.links}
    if "tentative" in tiers and len(tiers) > 1:
        entries["tentative"] = {"color": INK, "lw": 2, "ls": DASHED}
    return entries


def _legend_columns(width: float) -> int:
    return 2 if width > 5 else 1


def _legend_height(graph: Graph, width: float) -> float:
    """Inches that the legend takes up."""
    entries = len(_legend_entries(graph))
    if not entries:
        return 0.05
    return 0.22 + 0.17 * -(-entries // min(entries, _legend_columns(width)))


def _list_unlinked(ax: Axes, graph: Graph, at: Positions) -> None:
    lines = _unlinked_lines(graph, at, figure_of(ax).get_figwidth())
    if not graph.links:
        ax.text(0.5, 0.15, f"no link among {counted(len(graph.names), 'column')}", ha="center")
    below = 72 * _legend_height(graph, figure_of(ax).get_figwidth())
    style = {"xycoords": "axes fraction", "ha": "center", "va": "top"}
    canvas.write(ax, "\n".join(lines), (0.5, 0.0), (0, -below), color=PALE, **style)


def _unlinked_lines(graph: Graph, at: Positions, width: float, most: int = 8) -> list[str]:
    """The columns that have no position, in a few lines of that many inches."""
    alone = [drawable(name) for name in graph.names if name not in at]
    if not alone:
        return []
    text = f"not linked: {', '.join(alone)}"
    letters = int((width - 0.4) / canvas.LETTER_WIDTH)
    if len(text) > most * letters:
        text = f"{counted(len(alone), 'column')} not linked, among them {', '.join(alone)}"
    return textwrap.wrap(text, letters, max_lines=most, placeholder=" …")


#: How links that all methods found are drawn, and others.
SHARED: dict[str, Any] = {"color": canvas.GREY, "lw": 1.2}
LONE: dict[str, Any] = {"color": canvas.ORANGE, "lw": 1.8}


def comparison_figure(comparison: Comparison) -> Figure:
    """Every method's graph in the same layout: grey what all found, orange what some did not."""
    canvas.new_figure(1, 1)  # before all else, so that a missing matplotlib is noticed
    entries = [entry for entry in comparison.entries if entry.graph is not None]
    graph = union(entries)
    at = positions(graph, {name: canvas.label_width(name) for name in graph.names})
    width, height = _extent(at)
    columns = max(len(entries) if len(entries) <= 3 else 2, 1)
    rows = max(1, -(-len(entries) // columns))
    scale = min(0.8, 5.0 / width)
    size = columns * max(scale * width, 3.2) + 0.2, rows * (scale * height + 0.5) + 0.4
    figure, axes = canvas.panels(rows, columns, *size)
    shared = frozenset.intersection(*(entry.edges for entry in entries)) if entries else frozenset()
    for ax in axes:
        ax.set_axis_off()
    for ax, entry in zip(axes, entries, strict=False):
        _draw_entry(ax, entry, shared, at)
    styles = {"found by all": SHARED | {"lw": 2}, "found by some": LONE | {"lw": 2}}
    canvas.shared_legend(figure, styles, 2)
    return figure


def union(entries: list[Entry]) -> Graph:
    """All edges that any method found."""
    graphs = [entry.graph for entry in entries if entry.graph is not None]
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
