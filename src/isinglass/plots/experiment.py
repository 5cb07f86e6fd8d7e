"""An experiment in the layout of the paper: its panels, and one panel per design."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isinglass.experiments.curves import mean, wilson
from isinglass.experiments.plan import Design, Line
from isinglass.experiments.study import Outcome
from isinglass.experiments.tuning import Tuned
from isinglass.plots import canvas
from isinglass.plots.canvas import Axes, Figure, panels, png, svg
from isinglass.plots.curves import BETA, DASHES, MARKERS, color_of
from isinglass.report.experiment import words_of

Curve = tuple[str, str, str]
"""What to call a curve; the label of its line; how its constant is chosen."""


def paper_figure(outcome: Outcome, curves: Sequence[Curve], middle: int) -> Figure:
    """The paper's four panels: chain, grid and star for all p; then the three for one p.

    Colour is the method, the marker is p; in the last panel the marker is the graph.
    """
    families = list(dict.fromkeys(design.family for design in outcome.study.designs))
    figure, axes = panels(2, 2, 9.2, 7.2)
    for ax, letter, family in zip(axes, "abc", families, strict=False):
        designs = [design for design in outcome.study.designs if design.family == family]
        names = [f"p = {design.p}" for design in designs]
        _draw(ax, outcome, designs, names, curves)
        _label(ax, f"({letter}) {family}", designs)
    together = [design for design in outcome.study.designs if design.p == middle]
    _draw(axes[3], outcome, together, [design.family for design in together], curves)
    _label(axes[3], f"(d) all three, p = {middle}", together)
    _legend(figure, curves)
    return figure


def grid_figure(outcome: Outcome, curves: Sequence[Curve], measure: str = "exact") -> Figure:
    """One small panel for each design: all methods, with intervals."""
    designs = list(outcome.study.designs)
    columns = len(designs) // len({design.family for design in designs})
    rows = -(-len(designs) // columns)
    figure, axes = panels(rows, columns, 3.6 * columns + 0.4, 2.7 * rows + 0.8)
    for ax, design in zip(axes, designs, strict=False):
        _draw(ax, outcome, [design], [""], curves, measure=measure, bars=True)
        _label(ax, _title(design, outcome), [design], measure)
    for ax in axes[len(designs) :]:
        ax.set_axis_off()
    _legend(figure, curves)
    return figure


def degree_figure(outcome: Outcome, curves: Sequence[Curve]) -> Figure:
    """One panel per family: p fixed, the marker is d."""
    families = list(dict.fromkeys(design.family for design in outcome.study.designs))
    figure, axes = panels(1, len(families), 4.8 * len(families), 4.4)
    for ax, family in zip(axes, families, strict=True):
        designs = [design for design in outcome.study.designs if design.family == family]
        _draw(ax, outcome, designs, [f"d = {design.degree}" for design in designs], curves)
        _label(ax, f"{family}, p = {designs[0].p}", designs)
    _legend(figure, curves)
    return figure


def files_of(name: str, figure: Figure) -> dict[str, bytes]:
    """A figure as PNG and SVG."""
    return {f"{name}.png": png(figure), f"{name}.svg": svg(figure)}


def figures(outcome: Outcome) -> dict[str, bytes]:
    """All pictures of a study, as PNG and SVG."""
    name = outcome.study.name
    curves = [_curve(line) for line in outcome.study.lines]
    all_curves = [curve for curve in curves if curve[1] != "greedy, AND"]
    few = [curve for curve in curves if curve[1] in ("greedy", "l1, OR", "l1, cross-validated")]
    if name == "figure1":
        middle = sorted({design.p for design in outcome.study.designs})
        paper = paper_figure(outcome, few, middle[len(middle) // 2])
        return files_of(name, paper) | files_of(f"{name}-methods", grid_figure(outcome, all_curves))
    if name == "figure2":
        by_f1 = grid_figure(outcome, all_curves, "f1")
        return files_of(name, grid_figure(outcome, all_curves)) | files_of(f"{name}-f1", by_f1)
    return files_of(name, degree_figure(outcome, few[:2]))


def _curve(line: Line) -> Curve:
    """How a line is drawn: ours with the paper's c = 1, the others as they are at their best."""
    if line.label == "greedy":
        return "greedy, c = 1", line.label, "=or c=1"
    if line.label == "l1, cross-validated":
        return line.label, line.label, "own"
    return f"{line.label} (tuned)", line.label, "other"


def _title(design: Design, outcome: Outcome) -> str:
    """The words, with p and d where they differ in the study."""
    designs = outcome.study.designs
    parts = [words_of(design, outcome)]
    if len({other.p for other in designs}) > 1:
        parts.append(f"p = {design.p}")
    if len({other.degree for other in designs}) > 1:
        parts.append(f"d = {design.degree}")
    return ", ".join(parts)


def _draw(
    ax: Axes,
    outcome: Outcome,
    designs: Sequence[Design],
    names: Sequence[str],
    curves: Sequence[Curve],
    *,
    measure: str = "exact",
    bars: bool = False,
) -> None:
    """Draw some curves for some designs; a small legend explains the designs' markers."""
    labels = [line for _, line, _ in curves]
    for k, design in enumerate(designs):
        for c, (_, label, way) in enumerate(curves):
            tuned = outcome.tuned(design, label, way)
            if tuned is not None:
                style = {"marker": MARKERS[k % 4], "ls": DASHES[k % 4], "zorder": 3 - c / 100}
                shift = (c - len(curves) / 2) / 300 if bars else 0.0
                _draw_curve(ax, tuned, measure, shift, color=color_of(label, labels), **style)
    if len(designs) > 1:
        marks = {
            name: {"color": canvas.INK, "marker": MARKERS[k % 4], "ls": DASHES[k % 4], "ms": 4}
            for k, name in enumerate(names)
        }
        ax.legend(handles=canvas.handles(marks), frameon=False, fontsize=8, loc="lower right")


def _draw_curve(ax: Axes, tuned: Tuned, measure: str, shift: float, **style: Any) -> None:
    """Draw a curve; with a shift, a little to the side and with intervals."""
    values = tuned.exact if measure == "exact" else tuned.of(getattr(tuned.panel, measure))
    betas = np.asarray(tuned.panel.design.betas)
    betas = betas + shift * betas[-1]
    heights = np.array([mean(tries) for tries in values])
    limits = None
    if shift and measure == "exact":
        seen = [tries[np.isfinite(tries)] for tries in values]
        limits = np.array([wilson(float(tries.sum()), len(tries)) for tries in seen]).T
    canvas.draw_curve(ax, betas, heights, limits, **style)


def _label(ax: Axes, title: str, designs: Sequence[Design], measure: str = "exact") -> None:
    upward = "share of graphs recovered" if measure == "exact" else "F1"
    canvas.plain_frame(ax, across=BETA, upward=upward, title=title)
    ax.set_xlim(0, max(design.betas[-1] for design in designs) * 1.03)
    canvas.shares_upward(ax, 0.95)


def _legend(figure: Figure, curves: Sequence[Curve]) -> None:
    labels = [line for _, line, _ in curves]
    styles = {name: {"color": color_of(line, labels), "lw": 2.5} for name, line, _ in curves}
    canvas.shared_legend(figure, styles, int(figure.get_figwidth() // 2.6), letters=9)
