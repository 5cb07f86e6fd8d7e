"""Curves: how often graphs are recovered, links are found, and what a selector looked at."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import narwhals as nw
import numpy as np

from isinglass.errors import SettingError
from isinglass.parameters import checked
from isinglass.plots import canvas
from isinglass.plots.canvas import BLUE, ORANGE, PALE, Axes, axes_for, legend_below, plain_frame
from isinglass.selection import Selection
from isinglass.uncertainty.power.planned import Planned
from isinglass.uncertainty.simulation.audit import Audit
from isinglass.wording import counted

# Safe for colour-blind readers (Okabe and Ito); the same in every picture.
COLORS = {
    "greedy": "#0072B2",
    "greedy, AND": "#004060",
    "greedy, joint": "#56B4E9",
    "l1, OR": "#D55E00",
    "l1, AND": "#E69F00",
    "l1, cross-validated": "#5A5A5A",
    "l1, refitted, cut": "#CC79A7",
    "logRISE": "#009E73",
}
TIERS = (BLUE, canvas.GREEN, canvas.PINK)
OTHERS = ("#8C6D31", "#7A4FA3", "#A0A000")
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
    canvas.shares_upward(ax, level)
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
    x, shares = ([float(row[key]) for row in own] for key in (across, "recovered"))
    limits = None
    if all("low" in row and "high" in row for row in own):
        limits = [[float(row[end]) for row in own] for end in ("low", "high")]
    canvas.draw_curve(ax, x, shares, limits, **style)


def plan(planned: Planned, ax: Axes | None = None) -> Axes:
    """Draw the probability of recovering the graph, and the share of its edges found, by rows.

    Parameters
    ----------
    planned : Planned
        As :func:`isinglass.plan` returns it.
    ax : matplotlib axes, optional

    Examples
    --------
    >>> import isinglass as ig
    >>> planned = ig.plan(columns=5, degree=2, coupling=0.6, rows=[200, 400], graphs=20, n_jobs=1)
    >>> ig.plots.plan(planned).get_xlabel()
    'rows'
    """
    ax = axes_for(6.4, 4.2) if ax is None else ax
    factors = sorted({at.factor for at in planned.points})
    for factor, color in zip(factors, cycle((ORANGE, *TIERS))):
        own = [at for at in planned.points if at.factor == factor]
        rows = [at.rows for at in own]
        ax.vlines(rows, [at.low for at in own], [at.high for at in own], color=color, lw=0.8)
        style = {"color": color, "marker": "o", "lw": 1.4, "label": f"couplings x {factor:g}"}
        canvas.draw_curve(ax, rows, [at.recovered for at in own], **style)
        ax.plot(rows, [at.found for at in own], ":", color=color, lw=1.2)
        if factor in planned.answers:
            ax.axvline(planned.answers[factor].rows, color=color, lw=0.6, ls="--")
    canvas.shares_upward(ax, planned.target)
    _rows_axis(ax, sorted({at.rows for at in planned.points}))
    upward = "probability of recovering the whole graph (dots)\nshare of the edges found (dotted)"
    plain_frame(ax, across="rows", upward=upward, title="How many rows are enough?")
    legend_below(ax)
    return ax


def _rows_axis(ax: Axes, rows: list[int]) -> None:
    """Logarithmic, with ticks at round numbers that people read."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set_xscale("log")
    wide = rows[-1] > 4 * rows[0]
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if wide else (1, 1.5, *range(2, 10))))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


def audit(result: Audit, ax: Axes | None = None) -> Axes:
    """Draw the probability of finding a link against its size, one line per tier.

    Parameters
    ----------
    result : Audit
        As :func:`isinglass.audit` returns it.
    ax : matplotlib axes, optional

    Examples
    --------
    >>> import isinglass as ig
    >>> rows = ig.simulate.ising(ig.simulate.chain(4), coupling=0.5, seed=0).sample(300, seed=0)
    >>> ig.plots.audit(ig.audit(ig.GreedyGraph(), rows, n=20, n_jobs=1)).get_ylabel()
    'probability of being found'
    """
    ax = axes_for(6.4, 4.2) if ax is None else ax
    at = np.arange(len(result.detection))
    for tier, color in zip(result.tiers, TIERS, strict=False):
        shares = [size.found[tier.name] for size in result.detection]
        label = f"{tier.name}: {tier.false:.2f} false edges"
        canvas.draw_curve(ax, at, shares, color=color, marker="o", lw=1.4, label=label)
    names = [f"{size.words}\n{size.links:,} links" for size in result.detection]
    ax.set_xticks(at, names, fontsize=canvas.LETTERS)
    canvas.shares_upward(ax)
    plain_frame(
        ax,
        across="odds ratio of the link, or its inverse",
        upward="probability of being found",
        title=f"What this analysis finds, on {result.tables} tables like this one",
    )
    legend_below(ax, 46.0)
    return ax


def selection_curve(selection: Selection, ax: Axes | None = None) -> Axes:
    """Draw what a selector looked at, against the threshold, and mark its choice.

    Parameters
    ----------
    selection : Selection
        As ``GreedyGraph.selection_``; it must have a curve.
    ax : matplotlib axes, optional

    Examples
    --------
    >>> import isinglass as ig
    >>> rows = ig.simulate.ising(ig.simulate.chain(5), coupling=0.5, seed=0).sample(300, seed=0)
    >>> ig.plots.selection_curve(ig.GreedyGraph("ebic").fit(rows).selection_).get_ylabel()
    'ebic'
    """
    if selection.curve is None:
        raise SettingError("there is no curve: the rule uses only the numbers of rows and columns.")
    ax = axes_for(5.6, 3.8) if ax is None else ax
    curve, name = selection.curve, selection.looked_at
    thresholds, values = np.array(curve["threshold"]), np.array(curve[name])
    if "error" in curve:
        error = np.array(curve["error"])
        ax.fill_between(thresholds, values - error, values + error, color=BLUE, alpha=0.15)
    ax.plot(thresholds, values, "-", color=BLUE)
    at = int(np.argmin(np.abs(thresholds - selection.threshold)))
    point = thresholds[at], values[at]
    ax.plot(*point, "o", color=ORANGE, zorder=3)
    ax.axvline(selection.threshold, color=PALE, lw=0.8)
    edges = counted(int(curve["edges"][at]), "edge")
    canvas.write(ax, edges, point, (6, 6), color=canvas.INK, bbox=canvas.BOX)
    ax.set_xscale("log")
    ax.invert_xaxis()
    across = "threshold: smaller, hence more edges, to the right"
    plain_frame(ax, across=across, upward=name.replace("_", " "))
    ax.set_title(textwrap.fill(selection.rule, 70), fontsize=9, loc="left", parse_math=False)
    return ax
