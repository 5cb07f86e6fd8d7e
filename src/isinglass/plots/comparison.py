"""The graphs of several methods, side by side."""

from __future__ import annotations

import numpy as np

from isinglass.experiments.compare import Comparison, Entry
from isinglass.graph import Graph, Link
from isinglass.plots import canvas
from isinglass.plots.canvas import (
    GREY,
    INK,
    ORANGE,
    PALE,
    Axes,
    Figure,
    drawable,
    label_width,
    write_name,
)
from isinglass.report.layout import Positions, positions
from isinglass.wording import counted

SHARED, LONE = GREY, ORANGE


def comparison_figure(comparison: Comparison) -> Figure:
    """Every method's graph in the same layout: grey what all found, orange what some did not."""
    canvas.new_figure(1, 1)  # before all else, so that a missing matplotlib is noticed
    entries = [entry for entry in comparison.entries if entry.graph is not None]
    graph = union(entries)
    at = positions(graph, {name: label_width(name) for name in graph.names})
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
        _draw(ax, entry, shared, at)
    words = {"found by all": SHARED, "found by some": LONE}
    styles = {word: {"color": color, "lw": 2} for word, color in words.items()}
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


def _draw(ax: Axes, entry: Entry, shared: frozenset[tuple[int, int]], at: Positions) -> None:
    assert entry.graph is not None
    names = entry.graph.names
    linked = {names[end] for edge in entry.edges for end in edge}
    for a, b in sorted(entry.edges, key=lambda edge: edge not in shared):
        common = (a, b) in shared
        x, y = zip(at[names[a]], at[names[b]], strict=True)
        ax.plot(x, y, color=SHARED if common else LONE, lw=1.2 if common else 1.8, zorder=1)
    for name, point in at.items():
        ink = INK if name in linked else PALE
        ax.plot(*point, "o", ms=5, mfc="white", mec=ink, mew=0.8, zorder=2)
        write_name(ax, name, point, 4, color=ink, fontsize=7)
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
