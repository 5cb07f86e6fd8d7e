"""Success curves: how often a method recovers a graph, against the rows it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from isinglass.errors import SettingError
from isinglass.parameters import checked
from isinglass.plots.canvas import PALE, axes_for, legend_below, plain_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Safe for colour-blind readers (Okabe and Ito); the same in every picture.
COLORS = {
    "greedy": "#0072B2",
    "greedy, AND": "#004060",
    "l1, OR": "#D55E00",
    "l1, AND": "#E69F00",
    "l1, cross-validated": "#5A5A5A",
    "l1, refitted, cut": "#CC79A7",
    "logRISE": "#009E73",
}
OTHERS = ("#56B4E9", "#8C6D31", "#7A4FA3", "#A0A000")
MARKERS = ("o", "s", "^", "D")
DASHES = ("-", "--", ":", "-.")
BETA = r"$\beta = n / (20\, d \log p)$"

Point = Mapping[str, Any]


@checked
def success(
    points: Any, ax: Axes | None = None, *, across: str = "beta", level: float = 0.95
) -> Axes:
    """Draw the share of graphs recovered by each method, with intervals.

    Parameters
    ----------
    points : data frame, or list of dicts
        One row per point: ``line`` (whose colour it is), `across`, ``recovered`` (a share), and, if
        there, ``low`` and ``high`` (its interval), ``design`` (its marker) and ``tuning``, as in
        the ``points.csv`` that ``isinglass reproduce`` writes.
    ax : matplotlib axes, optional
    across : str
        The column to draw against, as ``"beta"`` or ``"n"``.
    level : float
        A share to mark by a line.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import isinglass as ig
    >>> points = [
    ...     {"line": "greedy", "n": 100, "recovered": 0.2, "low": 0.1, "high": 0.4},
    ...     {"line": "greedy", "n": 200, "recovered": 0.9, "low": 0.7, "high": 1.0},
    ...     {"line": "tree", "n": 100, "recovered": 0.1, "low": 0.0, "high": 0.3},
    ...     {"line": "tree", "n": 200, "recovered": 0.6, "low": 0.4, "high": 0.8},
    ... ]
    >>> ax = ig.plots.success(points, across="n")
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['greedy', 'tree']
    """
    rows = _rows(points, ("line", across, "recovered"))
    ax = axes_for(5.6, 4.0) if ax is None else ax
    designs = list(dict.fromkeys(row.get("design") for row in rows))
    labels = list(dict.fromkeys(row["line"] for row in rows))
    for (line, tuning, design), own in _curves(rows).items():
        number = designs.index(design)
        words = [line, *([tuning] if _differs(rows, "tuning") else [])]
        words += [design] if len(designs) > 1 else []
        style = {
            "color": color_of(line, labels),
            "marker": MARKERS[number % 4],
            "ls": DASHES[number % 4],
            "label": ", ".join(map(str, words)),
        }
        _draw(ax, own, across, style)
    ax.axhline(level, color=PALE, lw=0.5, ls=(0, (1, 3)))
    ax.set_ylim(-0.03, 1.03)
    ax.set_xlim(left=0)
    axis = {"beta": BETA, "n": "rows"}.get(across, across)
    plain_frame(ax, across=axis, upward="share of graphs recovered")
    legend_below(ax)
    return ax


def color_of(label: str, labels: Sequence[str]) -> str:
    """The colour of a line, the same in every picture."""
    unknown = [line for line in dict.fromkeys(labels) if line not in COLORS]
    return COLORS.get(label) or OTHERS[unknown.index(label) % len(OTHERS)]


def _rows(points: Any, needed: Sequence[str]) -> list[Point]:
    """The rows of a data frame, or of what is a list already."""
    if not isinstance(points, Sequence):
        frame: Any = nw.from_native(points, eager_only=True)
        points = list(frame.iter_rows(named=True))
    missing = [name for name in needed if any(name not in row for row in points)]
    if missing or not points:
        lack = f"they lack {', '.join(missing)}" if points else "there are none"
        raise SettingError(f"points need {', '.join(needed)}; {lack}.")
    return list(points)


def _curves(rows: Sequence[Point]) -> dict[tuple[Any, Any, Any], list[Point]]:
    curves: dict[tuple[Any, Any, Any], list[Point]] = {}
    for row in rows:
        key = row["line"], row.get("tuning"), row.get("design")
        curves.setdefault(key, []).append(row)
    return curves


def _differs(rows: Sequence[Point], name: str) -> bool:
    return len({row.get(name) for row in rows}) > 1


def _draw(ax: Axes, own: Sequence[Point], across: str, style: dict[str, Any]) -> None:
    own = sorted(own, key=lambda row: float(row[across]))
    x = [float(row[across]) for row in own]
    shares = np.array([row["recovered"] for row in own], dtype=float)
    ax.plot(x, shares, ms=4, lw=1.3, mec="white", mew=0.4, **style)
    if all("low" in row and "high" in row for row in own):
        low, high = (np.array([row[end] for row in own], dtype=float) for end in ("low", "high"))
        ax.vlines(x, low, high, color=style["color"], lw=0.8, alpha=0.5, zorder=1)
