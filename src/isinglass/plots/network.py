"""One graph as a network: links by strength, sign and tier; columns by group."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.graph import Graph, Link, position_of
from isinglass.measures import HasGraph, Predictability, graph_of
from isinglass.parameters import checked
from isinglass.plots import canvas
from isinglass.plots.canvas import INK, PALE, Axes, axes_for, drawable, figure_of
from isinglass.report.layout import HEIGHT, Positions, positions
from isinglass.wording import counted

#: Inches; larger graphs are drawn on that much paper all the same.
LARGEST = 30.0
Limits = tuple[tuple[float, float], tuple[float, float]]
Points = NDArray[np.float64]
#: The middle of a box, and half its width and height, in inches.
Box = tuple[float, float, float, float]
Styles = dict[str, dict[str, Any]]
Shares = Mapping[str, Predictability | float | None]
DASHED = (0, (3.0, 1.5))
#: The ring of a column, as far as it goes, and the rest of its circle.
RING, REST = "#4D4D4D", "#DDDDDD"


@dataclass(frozen=True)
class Look:
    """How the columns and links of networks are drawn.

    Parameters
    ----------
    words : dict of name to text
        What is written below each column; empty to write nothing.
    fills : dict of name to colour
        White for columns that are not in it.
    rings : dict of name to share
        How much of a circle is drawn around each column.
    numbers : str
        Which number is written on each link; empty to write none.
    size : float
        Diameter of a column's dot, in points.
    explained : dict of text to style
        What a legend has to say beyond signs and tiers.
    """

    words: Mapping[str, str] = field(default_factory=dict)
    fills: Mapping[str, Any] = field(default_factory=dict)
    rings: Mapping[str, float] = field(default_factory=dict)
    numbers: str = ""
    size: float = 14.0
    explained: Styles = field(default_factory=dict)

    def width(self, name: str) -> float:
        """Inches that a column takes up."""
        return canvas.label_width(self.words[name]) if self.words else 0.3


@checked
def network(
    graph: HasGraph,
    ax: Axes | None = None,
    *,
    at: Positions | None = None,
    labels: bool | Mapping[str, str] = True,
    groups: Mapping[str, Sequence[str]] | None = None,
    predictability: Shares | None = None,
    edge_labels: bool | str = False,
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
    groups : dict of text to list of names, optional
        Columns that belong together, such as the items of a scale: a colour for each group, and a
        legend.
    predictability : dict of name to Predictability or share, optional
        Drawn as a ring around each column, a full circle for 1, as
        :func:`isinglass.measures.predictability` returns it.
    edge_labels : bool, "strength", "log_odds" or "evidence"
        Whether to write a number on every link; True writes the strength.
    node_color : dict of name to colour, optional
        Colours of single columns, without a legend; that of a whole group is in its legend.
    node_size : float
        Diameter of a column's dot, in points.

    Examples
    --------
    >>> import isinglass as ig
    >>> rows = ig.simulate.ising(ig.simulate.grid(2, 3), coupling=0.6, seed=0).sample(1000, seed=0)
    >>> est = ig.GreedyGraph().fit(rows)
    >>> len(ig.plots.network(est.graph_).patches)
    7
    >>> ax = ig.plots.network(est, groups={"left": ["x0", "x3"], "right": ["x2", "x5"]})
    >>> [text.get_text() for text in ax.get_legend().get_texts()][-2:]
    ['left', 'right']
    """
    if ax is None:
        canvas.new_figure(1, 1)  # before all else, so that a missing matplotlib is noticed
    graph = graph_of(graph)
    look = look_of(
        graph.names,
        labels=labels,
        groups=groups,
        predictability=predictability,
        edge_labels=edge_labels,
        node_color=node_color,
        node_size=node_size,
    )
    widths = {name: look.width(name) for name in graph.names}
    shown = positions(graph, widths) if at is None else at
    limits = _limits(shown, widths)
    entries = legend_entries([graph], look)
    ax = _fitting_axes(graph, shown, limits, len(entries)) if ax is None else ax
    draw_network(ax, graph, shown, look)
    columns = _legend_columns(figure_of(ax).get_figwidth())
    canvas.legend_below(ax, 0.0, columns, canvas.handles(entries))
    if at is None:
        ax.set_anchor("N")
        ax.set(xlim=limits[0], ylim=limits[1])
        _list_unlinked(ax, graph, shown, len(entries))
    else:
        ax.margins(0.08)
    return ax


def look_of(
    names: Sequence[str],
    *,
    labels: bool | Mapping[str, str] = True,
    groups: Mapping[str, Sequence[str]] | None = None,
    predictability: Shares | None = None,
    edge_labels: bool | str = False,
    node_color: Mapping[str, Any] | None = None,
    node_size: float = 14.0,
) -> Look:
    """How networks of some columns are drawn, from what `network` takes."""
    other = dict(labels) if isinstance(labels, Mapping) else {}
    named = bool(labels) or isinstance(labels, Mapping)
    colors, explained = _group_colors(names, groups or {}, node_color or {})
    rings = {name: _share(value) for name, value in (predictability or {}).items()}
    if rings:
        explained = {**explained, "ring: predictability": {"color": RING, "lw": 3}}
    return Look(
        {name: other.get(name, name) for name in names} if named else {},
        {**colors, **(node_color or {})},
        {name: share for name, share in rings.items() if share is not None},
        edge_labels if isinstance(edge_labels, str) else "strength" if edge_labels else "",
        node_size,
        explained,
    )


def _group_colors(
    names: Sequence[str], groups: Mapping[str, Sequence[str]], given: Mapping[str, Any]
) -> tuple[dict[str, Any], Styles]:
    """A colour for each column of a group, if none is given, and how the legend shows it."""
    colors, explained = {}, {}
    for at, (group, members) in enumerate(groups.items()):
        own = {given[name] for name in members if name in given}
        color = own.pop() if len(own) == 1 else canvas.GROUPS[at % len(canvas.GROUPS)]
        for name in members:
            position_of(name, names)
            colors[name] = color
        explained[drawable(group, 40)] = {
            "marker": "o",
            "ls": "",
            "ms": 8,
            "mfc": color,
            "mec": INK,
            "mew": 0.6,
        }
    return colors, explained


def _share(value: Predictability | float | None) -> float | None:
    share = value.gain if isinstance(value, Predictability) else value
    return None if share is None else min(max(float(share), 0.0), 1.0)


def draw_network(ax: Axes, graph: Graph, at: Positions, look: Look) -> None:
    """Draw links, then columns over them."""
    for link in sorted(graph.links, key=lambda link: link.weight):
        _draw_link(ax, link, _curve(link, graph, at))
    if look.numbers:
        _write_numbers(ax, graph, at, look)
    linked = {name for edge in graph.edges for name in edge}
    for name, point in at.items():
        ink = INK if name in linked else PALE
        below = look.size / 2 + 2
        _draw_column(ax, point, look.fills.get(name, "white"), ink, look.size)
        if name in look.rings:
            _draw_ring(ax, point, look.rings[name], look.size + 6)
            below += 4
        if look.words:
            canvas.write_name(ax, look.words[name], point, below, color=ink)
    ax.set_aspect("equal")
    ax.set_axis_off()


def _draw_column(ax: Axes, point: tuple[float, float], fill: Any, ink: str, size: float) -> None:
    ax.plot(*point, "o", ms=size, mfc=fill, mec=ink, mew=1.0, zorder=3, clip_on=False)


def _draw_ring(ax: Axes, point: tuple[float, float], share: float, size: float) -> None:
    """A circle of which a share, from the top on and clockwise, is dark."""
    from matplotlib.path import Path

    style: dict[str, Any] = {"ms": size, "mfc": "none", "mew": 3.0, "zorder": 3.1, "clip_on": False}
    ax.plot(*point, marker="o", mec=REST, **style)
    if share > 0:
        # A path is a marker of the same size: its first point, the top, is one radius away.
        ax.plot(*point, marker=Path.arc(90.0 - 360.0 * share, 90.0), mec=RING, **style)


def _fitting_axes(graph: Graph, at: Positions, limits: Limits, entries: int) -> Axes:
    (left, right), (bottom, top) = limits
    width = min(max(right - left + 0.3, 5.5), LARGEST)
    lines = len(_unlinked_lines(graph, at, width))
    below = _legend_height(entries, width) + 0.1 + 0.14 * lines
    return axes_for(width, min(top - bottom, LARGEST) + 0.2 + below)


def _limits(at: Positions, widths: Mapping[str, float]) -> Limits:
    """From left to right, and from bottom to top, with room for names."""
    if not at:
        return (0.0, 1.0), (0.0, 0.3)
    left = min(x - widths.get(name, 0.0) / 2 for name, (x, _) in at.items())
    right = max(x + widths.get(name, 0.0) / 2 for name, (x, _) in at.items())
    y = [point[1] for point in at.values()]
    return (left, right), (min(y) - 0.8 * HEIGHT, max(y) + 0.4 * HEIGHT)


def _curve(link: Link, graph: Graph, at: Positions) -> Points:
    """Where a link starts, where it bends to, and where it ends."""
    a, b = graph.names[link.source], graph.names[link.target]
    start, end = np.array(at[a]), np.array(at[b])
    bend = _bend(start, end, [at[name] for name in at if name not in (a, b)])
    return np.array([start, (start + end) / 2 + bend, end])


def _draw_link(ax: Axes, link: Link, curve: Points) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    ax.add_patch(
        PathPatch(
            Path(curve, [Path.MOVETO, Path.CURVE3, Path.CURVE3]),
            fc="none",
            ec=canvas.COLORS[link.sign],
            lw=0.6 + 6.0 * link.weight,
            alpha=0.35 + 0.6 * link.weight,
            ls=DASHED if link.tier == "tentative" else "-",
            capstyle="butt" if link.tier == "tentative" else "round",
            zorder=2,
        )
    )


def _write_numbers(ax: Axes, graph: Graph, at: Positions, look: Look) -> None:
    """A number on each link, moved along it where it would cover a name or another number."""
    numbers = [(link, getattr(link, look.numbers)) for link in graph.links]
    below = look.size / 2 / 72 + 0.1
    taken = [(x, y - below, look.width(name) / 2, 0.08) for name, (x, y) in at.items()]
    style = {"ha": "center", "va": "center", "fontsize": 7, "zorder": 2.5, "bbox": canvas.BOX}
    for link, value in numbers:
        if value is None:
            continue
        text = f"{value:.2f}"
        size = 0.033 * len(text), 0.07
        x, y = _free_point(_curve(link, graph, at), size, taken)
        taken.append((x, y, *size))
        canvas.write(ax, text, (x, y), (0, 0), color=INK, **style)


def _free_point(curve: Points, size: tuple[float, float], taken: Sequence[Box]) -> Points:
    """The point of a link, as near its middle as can be, where a box covers none of some others.

    If there is no such point, the one where it covers the least.

    >>> line = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    >>> _free_point(line, (0.1, 0.1), []).tolist()
    [1.0, 0.0]
    >>> _free_point(line, (0.1, 0.1), [(1.0, 0.0, 0.1, 0.1)]).round(2).tolist()
    [0.8, 0.0]
    """
    shares = sorted(np.linspace(0.2, 0.8, 25), key=lambda share: abs(round(share - 0.5, 6)))
    points = [
        (1 - share) ** 2 * curve[0] + 2 * share * (1 - share) * curve[1] + share**2 * curve[2]
        for share in shares
    ]
    return min(points, key=lambda point: round(_covered(point, size, taken), 6))


def _covered(point: Points, size: tuple[float, float], taken: Sequence[Box]) -> float:
    """The area of some boxes that a box around a point covers."""
    if not taken:
        return 0.0
    x, y, half_width, half_height = np.array(taken).T
    across = half_width + size[0] - np.abs(x - point[0])
    down = half_height + size[1] - np.abs(y - point[1])
    return float((np.maximum(across, 0.0) * np.maximum(down, 0.0)).sum())


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


def legend_entries(graphs: Sequence[Graph], look: Look) -> Styles:
    """What has to be explained: the signs that occur, dashes if some links have none, groups."""
    links = [link for graph in graphs for link in graph.links]
    signs, tiers = {link.sign for link in links}, {link.tier for link in links}
    entries: Styles = {
        words: {"color": canvas.COLORS[sign], "lw": 3}
        for sign, words in canvas.MEANING.items()
        if sign in signs
    }
    if "tentative" in tiers and len(tiers) > 1:
        entries["tentative"] = {"color": INK, "lw": 2, "ls": DASHED}
    return {**entries, **look.explained}


def _legend_columns(width: float) -> int:
    return 2 if width > 5 else 1


def _legend_height(entries: int, width: float) -> float:
    """Inches that the legend takes up."""
    if not entries:
        return 0.05
    return 0.22 + 0.17 * -(-entries // min(entries, _legend_columns(width)))


def _list_unlinked(ax: Axes, graph: Graph, at: Positions, entries: int) -> None:
    lines = _unlinked_lines(graph, at, figure_of(ax).get_figwidth())
    if not graph.links:
        ax.text(0.5, 0.15, f"no link among {counted(len(graph.names), 'column')}", ha="center")
    below = 72 * _legend_height(entries, figure_of(ax).get_figwidth())
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
