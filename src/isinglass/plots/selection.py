"""The curve that a selector of thresholds looked at."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from isinglass.errors import SettingError
from isinglass.plots.canvas import BLUE, INK, LETTERS, ORANGE, PALE, axes_for, plain_frame
from isinglass.selection import Selection
from isinglass.wording import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def selection_curve(selection: Selection, ax: Axes | None = None) -> Axes:
    """Draw what a selector looked at, against the threshold, and mark its choice.

    Parameters
    ----------
    selection : Selection
        As ``GreedyGraph.selection_``; it must have a curve.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import isinglass as ig
    >>> rows = ig.simulate.ising(ig.simulate.chain(5), coupling=0.5, seed=0).sample(300, seed=0)
    >>> ax = ig.plots.selection_curve(ig.GreedyGraph("ebic").fit(rows).selection_)
    >>> ax.get_ylabel()
    'ebic'
    """
    if selection.curve is None:
        raise SettingError(
            "there is no curve: the rule needs the numbers of rows and columns only."
        )
    ax = axes_for(5.6, 3.8) if ax is None else ax
    curve, name = selection.curve, selection.looked_at
    thresholds, values = np.array(curve["threshold"]), np.array(curve[name])
    if "error" in curve:
        error = np.array(curve["error"])
        ax.fill_between(thresholds, values - error, values + error, color=BLUE, alpha=0.15)
    ax.plot(thresholds, values, "-", color=BLUE)
    at = int(np.argmin(np.abs(thresholds - selection.threshold)))
    ax.plot(thresholds[at], values[at], "o", color=ORANGE, zorder=3)
    ax.axvline(selection.threshold, color=PALE, lw=0.8)
    ax.annotate(
        counted(int(curve["edges"][at]), "edge"),
        (thresholds[at], values[at]),
        xytext=(6, 6),
        textcoords="offset points",
        color=INK,
        fontsize=LETTERS,
        bbox={"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.75},
    )
    ax.set_xscale("log")
    ax.invert_xaxis()
    across = "threshold: smaller, hence more edges, to the right"
    plain_frame(ax, across=across, upward=name.replace("_", " "))
    ax.set_title(textwrap.fill(selection.rule, 70), fontsize=9, loc="left", parse_math=False)
    return ax
