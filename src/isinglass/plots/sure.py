"""How sure one can be: the probabilities of a plan, and of an audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isinglass.plots.canvas import (
    BLUE,
    GREEN,
    LETTERS,
    ORANGE,
    PALE,
    PINK,
    axes_for,
    legend_below,
    plain_frame,
)
from isinglass.uncertainty.power.planned import Planned
from isinglass.uncertainty.simulation.audit import Audit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = (ORANGE, BLUE, GREEN, PINK)


def plan(planned: Planned, ax: Axes | None = None) -> Axes:
    """Draw the probability to recover the graph, and the share of its edges found, against rows.

    Parameters
    ----------
    planned : Planned
        As :func:`isinglass.plan` returns it.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import isinglass as ig
    >>> planned = ig.plan(columns=5, degree=2, coupling=0.6, rows=[200, 400], graphs=20, n_jobs=1)
    >>> ax = ig.plots.plan(planned)
    >>> ax.get_xlabel()
    'rows'
    """
    ax = axes_for(6.4, 4.2) if ax is None else ax
    factors = sorted({at.factor for at in planned.points})
    for factor, color in zip(factors, np.resize(COLORS, len(factors)).tolist(), strict=True):
        own = [at for at in planned.points if at.factor == factor]
        rows = [at.rows for at in own]
        ax.vlines(rows, [at.low for at in own], [at.high for at in own], color=color, lw=0.8)
        label = f"couplings x {factor:g}"
        whole = [at.recovered for at in own]
        ax.plot(rows, whole, "o-", color=color, ms=4, mec="white", mew=0.4, lw=1.4, label=label)
        ax.plot(rows, [at.found for at in own], ":", color=color, lw=1.2)
        if factor in planned.answers:
            ax.axvline(planned.answers[factor].rows, color=color, lw=0.6, ls="--")
    ax.axhline(planned.target, color=PALE, lw=0.5, ls=(0, (1, 3)))
    _rows_axis(ax, sorted({at.rows for at in planned.points}))
    ax.set_ylim(-0.03, 1.03)
    upward = "probability to recover the whole graph (dots)\nshare of the edges found (dotted)"
    plain_frame(ax, across="rows", upward=upward, title="How many rows are enough?")
    legend_below(ax)
    return ax


def audit(result: Audit, ax: Axes | None = None) -> Axes:
    """Draw the probability to find a link against its size, one line per tier.

    Parameters
    ----------
    result : Audit
        As :func:`isinglass.audit` returns it.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import isinglass as ig
    >>> rows = ig.simulate.ising(ig.simulate.chain(4), coupling=0.5, seed=0).sample(300, seed=0)
    >>> ax = ig.plots.audit(ig.audit(ig.GreedyGraph(), rows, n=20, n_jobs=1))
    >>> ax.get_ylabel()
    'probability to be found'
    """
    ax = axes_for(6.4, 4.2) if ax is None else ax
    at = np.arange(len(result.detection))
    for tier, color in zip(result.tiers, COLORS[1:], strict=False):
        shares = [size.found[tier.name] for size in result.detection]
        label = f"{tier.name}: {tier.false:.2f} false edges"
        ax.plot(at, shares, "o-", color=color, ms=4, mec="white", mew=0.4, lw=1.4, label=label)
    names = [f"{size.words}\n{size.links:,} links" for size in result.detection]
    ax.set_xticks(at, names, fontsize=LETTERS)
    ax.set_ylim(-0.03, 1.03)
    plain_frame(
        ax,
        across="odds ratio of the link, or its inverse",
        upward="probability to be found",
        title=f"What this analysis finds, on {result.tables} tables like this one",
    )
    legend_below(ax, 46.0)
    return ax


def _rows_axis(ax: Axes, rows: list[int]) -> None:
    """Logarithmic, with ticks at round numbers that people read."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set_xscale("log")
    wide = rows[-1] > 4 * rows[0]
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if wide else (1, 1.5, *range(2, 10))))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
