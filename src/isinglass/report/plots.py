"""Pictures, with matplotlib (the extra ``plots``); each function takes and returns axes."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from isinglass.errors import MissingExtra
from isinglass.graph import Graph
from isinglass.report.layout import Positions, positions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Safe for colour-blind readers (Okabe and Ito).
POSITIVE, NEGATIVE, UNSIGNED = "#0072B2", "#D55E00", "#5A5A5A"
INK, PALE = "#1A1A1A", "#9A9A9A"


def new_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """An empty figure that no window shows and no global state keeps."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("pictures need matplotlib: pip install 'isinglass[plots]'") from error
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def png(figure: Figure, dpi: int = 150) -> bytes:
    """A figure as the content of a PNG file, the same bytes for the same figure."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None})
    return buffer.getvalue()


def network(
    graph: Graph,
    ax: Axes | None = None,
    *,
    at: Positions | None = None,
    labels: bool = True,
    node_color: Mapping[str, Any] | None = None,
    node_size: float = 14.0,
) -> Axes:
    """Draw a graph: width by strength, colour by sign.

    Parameters
    ----------
    graph : Graph
    ax : matplotlib axes, optional
    at : dict of name to (x, y), optional
        Where to draw the columns; by default their links decide.
    labels : bool
        Whether to write the names.
    node_color : dict of name to colour, optional
    node_size : float
        Diameter of a column's dot, in points.
    """
    if ax is None:
        side = figure_side(graph)
        _, ax = new_figure(side * 1.25, side)
    at = positions(graph) if at is None else at
    _draw_links(ax, graph, at)
    linked = {name for edge in graph.edges for name in edge}
    for name, (x, y) in at.items():
        color = node_color[name] if node_color else "white"
        edge = INK if name in linked else PALE
        ax.plot(x, y, "o", ms=node_size, mfc=color, mec=edge, mew=1.0, zorder=3)
        if labels:
            ax.annotate(
                _plain_text(name),
                (x, y),
                xytext=(0, -node_size / 2 - 2),
                textcoords="offset points",
                ha="center",
                va="top",
                fontsize=8,
                color=INK if name in linked else PALE,
                zorder=4,
                parse_math=False,
                bbox={"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.7},
            )
    _legend(ax, graph)
    ax.set_aspect("equal")
    ax.margins(0.08)
    ax.set_axis_off()
    return ax


def figure_side(graph: Graph) -> float:
    """Inches that leave every label room."""
    return float(min(max(5.0, 1.15 * len(graph.names) ** 0.5), 26.0))


def _draw_links(ax: Axes, graph: Graph, at: Positions) -> None:
    for link, (a, b) in sorted(
        zip(graph.links, graph.edges, strict=True), key=lambda pair: pair[0].strength
    ):
        color = {1: POSITIVE, -1: NEGATIVE}.get(link.sign, UNSIGNED)
        ax.plot(
            *zip(at[a], at[b], strict=True),
            color=color,
            lw=0.6 + 6.0 * link.strength,
            alpha=0.35 + 0.6 * link.strength,
            solid_capstyle="round",
            zorder=2,
        )


def _legend(ax: Axes, graph: Graph) -> None:
    from matplotlib.lines import Line2D

    words = {1: "more of one, more of the other", -1: "more of one, less of the other",
             0: "linked, no order to speak of"}
    colors = {1: POSITIVE, -1: NEGATIVE, 0: UNSIGNED}
    signs = [sign for sign in (1, -1, 0) if any(link.sign == sign for link in graph.links)]
    if signs:
        ax.legend(
            handles=[Line2D([], [], color=colors[s], lw=3, label=words[s]) for s in signs],
            loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=len(signs), frameon=False,
            fontsize=8,
        )


def _plain_text(name: str, most: int = 24) -> str:
    """A name as it can be drawn: one line, not too long, no character the font lacks."""
    line = " ".join(name.split()) or "(blank)"
    line = "".join(ch if ch.isprintable() and ord(ch) < 0x2E80 else "\N{WHITE SQUARE}" for ch in line)
    return line if len(line) <= most else line[: most - 1] + "…"
