"""The study of the default threshold, in two pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.choosing.sheets import TARGETS, describe, judged_designs

from isinglass.experiments.curves import Ratio, mean
from isinglass.experiments.plan import Design
from isinglass.experiments.study import Outcome
from isinglass.plots.canvas import BLUE, GREEN, INK, ORANGE, PALE, new_figure
from isinglass.plots.experiment import files_of
from isinglass.selection import Auto, Paper

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The ratios that the picture shows.
SHOWN = (0.75, 1.5)


def choosing_figures(outcomes: Sequence[Outcome]) -> dict[str, bytes]:
    """The pictures of the study, as PNG and SVG."""
    curves = [outcome for outcome in outcomes if outcome.study.name in TARGETS]
    if not any(judged_designs(outcome) for outcome in curves):
        return {}
    return {
        **files_of("choosing", ratios_figure(curves)),
        **files_of("choosing-cuts", cuts_figure(curves)),
    }


def ratios_figure(outcomes: Sequence[Outcome]) -> Figure:
    """One line a design: how many times the rows of the best constant the default needs."""
    from matplotlib.lines import Line2D

    groups = [(outcome, judged_designs(outcome)) for outcome in outcomes]
    count = sum(len(judged) + 1 for _, judged in groups)
    figure, ax = new_figure(8.6, 0.26 * count + 1.3)
    y, labels = 0.0, []
    for outcome, judged in groups:
        target = TARGETS[outcome.study.name]
        top = y
        for one in judged:
            draw_ratio(ax, y + 0.14, one.ratio, BLUE)
            if one.stricter is not None:
                draw_ratio(ax, y - 0.14, one.stricter, GREEN)
            labels.append((y, describe(one.design)))
            y -= 1
        ax.plot([target, target], [top + 0.5, y + 0.5], color=ORANGE, lw=1.2, ls="--")
        y -= 0.7
    ax.axvline(1, color=PALE, lw=0.8, zorder=0)
    ax.set_yticks([at for at, _ in labels], [words for _, words in labels], fontsize=8)
    ax.set_xlim(*SHOWN)
    ax.set_ylim(y + 1, 1)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("rows needed / rows that the best constant needs", fontsize=9)
    words = {BLUE: "the default, FalseEdges(0.05)", GREEN: "FalseEdges(0.025)", ORANGE: "target"}
    handles = [Line2D([], [], color=color, label=label) for color, label in words.items()]
    ax.legend(
        handles=handles,
        frameon=False,
        fontsize=8,
        ncols=3,
        loc="lower center",
        bbox_to_anchor=(0.4, 1.0),
    )
    ax.spines[["top", "right", "left"]].set_visible(False)
    return figure


def draw_ratio(
    ax: Axes, y: float, ratio: Ratio, color: str, shown: tuple[float, float] = SHOWN
) -> None:
    """A point and its interval; what lies beyond the axis is an arrow."""
    ends = np.clip([ratio.low, ratio.high], *shown)
    ax.plot(ends, [y, y], color=color, lw=1.3)
    if ratio.high > shown[1]:
        ax.plot([shown[1] - 0.006], [y], marker=">", color=color, ms=4)
    if ratio.low < shown[0]:
        ax.plot([shown[0] + 0.006], [y], marker="<", color=color, ms=4)
    if shown[0] <= ratio.value <= shown[1]:
        ax.plot([ratio.value], [y], marker="o", color=color, ms=4.5, mec="white", mew=0.5)


def cuts_figure(outcomes: Sequence[Outcome], most: int = 12) -> Figure:
    """Share of graphs recovered against the constant, and where the default stands."""
    pairs = [(outcome, one.design) for outcome in outcomes for one in judged_designs(outcome)]
    pairs = pairs[:: max(1, -(-len(pairs) // most))]
    figure, _ = new_figure(9.2, 2.1 * -(-len(pairs) // 4) + 0.6)
    figure.clear()
    axes = figure.subplots(-(-len(pairs) // 4), 4, squeeze=False, sharex=True, sharey=True)
    for ax in axes.ravel()[len(pairs) :]:
        ax.set_axis_off()
    for ax, (outcome, design) in zip(axes.ravel(), pairs, strict=False):
        _draw_cuts(ax, outcome, design)
    figure.supxlabel("constant c of the threshold c log(np)/n", fontsize=9)
    figure.supylabel("share of graphs recovered", fontsize=9)
    return figure


def _draw_cuts(ax: Axes, outcome: Outcome, design: Design) -> None:
    """One curve for each number of rows, the palest for the fewest."""
    panel = outcome.panels[design.name, "or"]
    cs = [float(setting.removeprefix("or c=")) for setting in panel.constants]
    where = [panel.position(setting) for setting in panel.constants]
    for at, beta in enumerate(design.betas):
        n = design.rows(beta)
        alpha = 0.25 + 0.75 * at / len(design.betas)
        shares = [mean(panel.exact[at][:, k]) for k in where]
        ax.plot(cs, shares, color=BLUE, lw=1.2, alpha=alpha)
        auto = Auto().threshold(n, design.p) / Paper(1.0).threshold(n, design.p)
        share = mean(panel.exact[at][:, panel.position("or auto")])
        ax.plot([auto], [share], marker="o", color=ORANGE, ms=4.5, mec="white", mew=0.5, zorder=3)
    ax.set_title(describe(design), fontsize=7.5, loc="left", color=INK)
    ax.set_ylim(-0.03, 1.05)
    ax.axhline(0.95, color=PALE, lw=0.5, ls=(0, (1, 3)))
    ax.tick_params(labelsize=7)
    ax.spines[["top", "right"]].set_visible(False)
