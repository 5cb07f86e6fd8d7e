"""Pictures of how sure one can be: a plan, an audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from isinglass.report.plots import INK, PALE, new_figure
from isinglass.uncertainty import Audit, Planned

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Safe for colour-blind readers (Okabe and Ito).
COLORS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7")


def plan_figure(planned: Planned) -> Figure:
    """Chance to recover the whole graph, and share of its edges found, against rows."""
    figure, ax = new_figure(6.4, 4.2)
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
    ax.set_xlabel("rows", fontsize=9)
    ax.set_ylabel(
        "chance to recover the whole graph (dots)\nshare of the edges found (dotted)", fontsize=9
    )
    ax.set_title("How many rows are enough?", fontsize=10, loc="left", color=INK)
    ax.tick_params(labelsize=8)
    ax.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=len(factors), frameon=False, fontsize=9)
    return figure


def audit_figure(result: Audit) -> Figure:
    """Chance to find a link against its size, one line a tier."""
    figure, ax = new_figure(6.4, 4.2)
    at = np.arange(len(result.chances))
    for tier, color in zip(result.tiers, COLORS[1:], strict=False):
        shares = [chance.found[tier.name] for chance in result.chances]
        label = f"{tier.name}: {tier.false:.2f} false edges"
        ax.plot(at, shares, "o-", color=color, ms=4, mec="white", mew=0.4, lw=1.4, label=label)
    names = [f"{chance.words}\n{chance.links:,} links" for chance in result.chances]
    ax.set_xticks(at, names, fontsize=8)
    ax.set_ylim(-0.03, 1.03)
    ax.set_xlabel("odds ratio of the link, or its inverse", fontsize=9)
    ax.set_ylabel("chance to be found", fontsize=9)
    title = f"What this analysis finds, on {result.tables} tables like this one"
    ax.set_title(title, fontsize=10, loc="left", color=INK)
    ax.tick_params(labelsize=8)
    ax.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return figure


def _rows_axis(ax: Axes, rows: list[int]) -> None:
    """Logarithmic, with ticks at round numbers that people read."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set_xscale("log")
    wide = rows[-1] > 4 * rows[0]
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if wide else range(1, 10)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
