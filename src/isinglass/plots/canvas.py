"""What every picture shares: paper, colours, letters, files."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from isinglass.errors import MissingExtra
from isinglass.parameters import checked
from isinglass.wording import one_line

if TYPE_CHECKING:
    from matplotlib import axes, figure

    Axes = axes.Axes
    Figure = figure.Figure
else:  # matplotlib is imported when something is drawn
    Axes = Figure = Any

# Safe for colour-blind readers (Okabe and Ito).
BLUE, ORANGE, GREEN, PINK = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
INK, GREY, PALE = "#1A1A1A", "#5A5A5A", "#767676"
#: Fills of columns by group: pale, so that links keep their colours.
GROUPS = (
    *("#A6CEE3", "#FDBF6F", "#B2DF8A", "#CAB2D6", "#FB9A99"),
    *("#FFFF99", "#D9B38C", "#8DD3C7", "#F4CAE4", "#CCCCCC"),
)
#: Colour of a link by its sign, and what the sign means.
COLORS = {1: BLUE, -1: ORANGE, 0: GREY}
MEANING = {
    1: "more of one, more of the other",
    -1: "more of one, less of the other",
    0: "linked, states without order",
}
#: Points of a label's letters, and inches that one of them takes up on average.
LETTERS, LETTER_WIDTH = 8, 0.068
#: How curves are drawn, and words that may hold any character.
CURVE: dict[str, Any] = {"ms": 4, "lw": 1.3, "mec": "white", "mew": 0.4}
WORDS: dict[str, Any] = {"fontsize": LETTERS, "parse_math": False}
#: Behind words that stand on lines.
BOX = {"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.75}


@checked
def new_figure(width: float, height: float) -> tuple[Figure, Axes]:
    """Return an empty figure of so many inches, and its axes: no window, no global state.

    >>> figure, ax = new_figure(4.0, 3.0)
    >>> figure_of(ax) is figure
    True
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("pictures need matplotlib: pip install 'isinglass[plots]'") from error
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def axes_for(width: float, height: float) -> Axes:
    """Axes of a new figure of that many inches, where nobody gave any.

    In a notebook, or where pyplot draws to a screen, the figure is one of pyplot's, so that it is
    shown as others are; elsewhere nothing keeps it but the axes.
    """
    figure, ax = new_figure(width, height)
    if not _shown_by_pyplot():
        return ax
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(width, height), layout="constrained")
    return figure.add_subplot()


def _shown_by_pyplot() -> bool:
    if "ipykernel" in sys.modules:
        return True
    if "matplotlib.pyplot" not in sys.modules:
        return False
    from matplotlib import get_backend

    return str(get_backend()).lower() != "agg"  # which only writes files


def figure_of(ax: Axes | Figure) -> Figure:
    """Return the whole figure that some axes are in.

    >>> figure, _ = new_figure(4.0, 3.0)
    >>> figure_of(figure.subfigures().subplots()) is figure
    True
    """
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure


@checked
def png(figure: Figure, dpi: int = 120) -> bytes:
    """Return a figure as the content of a PNG file, the same bytes for the same figure.

    >>> png(new_figure(4.0, 3.0)[0])[1:4]
    b'PNG'
    """
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None})
    return buffer.getvalue()


def svg(figure: Figure) -> bytes:
    """Return a figure as the content of an SVG file, the same bytes for the same figure.

    >>> b"<svg" in svg(new_figure(4.0, 3.0)[0])
    True
    """
    import matplotlib as mpl

    buffer = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "isinglass"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def pdf(figure: Figure) -> bytes:
    """Return a figure as the content of a PDF file, the same bytes for the same figure.

    >>> pdf(new_figure(4.0, 3.0)[0])[:4]
    b'%PDF'
    """
    buffer = io.BytesIO()
    nobody = {"CreationDate": None, "Creator": None, "Producer": None}
    figure.savefig(buffer, format="pdf", metadata=nobody)
    return buffer.getvalue()


def plain_frame(
    ax: Axes, *, across: str, upward: str = "", title: str = "", above: float = 6.0
) -> None:
    """The frame of a paper's figure: two sides, small letters, the title at the left.

    The title is so many points above the axes.
    """
    ax.set_xlabel(across, fontsize=9)
    ax.set_ylabel(upward, fontsize=9)
    ax.set_title(title, fontsize=10, loc="left", color=INK, pad=above, parse_math=False)
    ax.tick_params(labelsize=LETTERS)
    ax.spines[["top", "right"]].set_visible(False)


def names_upward(ax: Axes, names: Iterable[str]) -> None:
    """Write names beside the vertical axis, the first on top, whatever characters are in them."""
    shown = [drawable(name, 48) for name in names]
    ax.set_yticks(range(len(shown)), shown, fontsize=LETTERS, parse_math=False)
    ax.set_ylim(max(len(shown), 1) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


def handles(styles: Mapping[str, Mapping[str, Any]]) -> list[Any]:
    """Lines of a legend by what they are called."""
    from matplotlib.lines import Line2D

    return [Line2D([], [], label=label, **style) for label, style in styles.items()]


def legend_below(
    ax: Axes, points: float = 34.0, columns: int = 3, entries: list[Any] | None = None
) -> None:
    """Explain what is drawn, or some entries, so many points under the axes."""
    from matplotlib.transforms import ScaledTranslation

    entries = ax.get_legend_handles_labels()[0] if entries is None else entries
    if entries:
        down = ScaledTranslation(0.0, -points / 72, figure_of(ax).dpi_scale_trans)
        ax.legend(
            handles=entries,
            loc="upper center",
            bbox_to_anchor=(0.5, 0.0),
            bbox_transform=ax.transAxes + down,
            ncols=min(columns, len(entries)),
            frameon=False,
            fontsize=LETTERS,
        )


def panels(rows: int, columns: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """A figure of so many inches, and its panels row by row."""
    figure, _ = new_figure(width, height)
    figure.clear()
    axes: Any = figure.subplots(rows, columns, squeeze=False)
    return figure, list(axes.ravel())


def shared_legend(
    figure: Figure, styles: Mapping[str, Mapping[str, Any]], columns: int, letters: float = LETTERS
) -> None:
    """Explain lines by their labels, under all panels."""
    figure.legend(
        handles=handles(styles),
        loc="outside lower center",
        ncols=min(len(styles), columns),
        frameon=False,
        fontsize=letters,
    )


def draw_curve(ax: Axes, x: Any, shares: Any, limits: Any = None, **style: Any) -> None:
    """A line with marks, and intervals if there are `limits`, low and high."""
    ax.plot(x, shares, **CURVE | style)
    if limits is not None:
        ax.vlines(x, *limits, color=style["color"], lw=0.8, alpha=0.5, zorder=1)


def shares_upward(ax: Axes, level: float | None = None) -> None:
    """A vertical axis from 0 to 1, with a line at a level."""
    ax.set_ylim(-0.03, 1.03)
    if level is not None:
        ax.axhline(level, color=PALE, lw=0.5, ls=(0, (1, 3)))


def write(ax: Axes, text: str, point: Any, shift: tuple[float, float], **style: Any) -> None:
    """Write some words so many points beside a point, whatever characters are in them."""
    ax.annotate(text, point, xytext=shift, textcoords="offset points", **WORDS | style)


def write_name(ax: Axes, name: str, point: tuple[float, float], below: float, **style: Any) -> None:
    """Write the name of a column so many points below its dot."""
    style = {"ha": "center", "va": "top", "zorder": 4, "bbox": BOX} | style
    write(ax, drawable(name), point, (0, -below), **style)


def label_width(name: str) -> float:
    """Inches that a name takes up when it is drawn."""
    return 0.15 + LETTER_WIDTH * len(drawable(name))


def drawable(name: str, most: int = 24) -> str:
    """A name as it can be drawn: one line, not too long, no character the font lacks."""
    return "".join(ch if _has_glyph(ch) else "\N{WHITE SQUARE}" for ch in one_line(name, most))


@cache
def _has_glyph(character: str) -> bool:
    from matplotlib import font_manager

    font = font_manager.get_font(font_manager.findfont(font_manager.FontProperties()))
    return bool(font.get_char_index(ord(character)))
