"""What a greedy search did, step by step, beside the thresholds."""

from __future__ import annotations

from collections.abc import Mapping

from sklearn.utils.validation import check_is_fitted

from isinglass.errors import SettingError
from isinglass.estimators import GreedyClassifier, GreedyGraph, GreedyRegressor
from isinglass.graph import position_of
from isinglass.parameters import checked
from isinglass.plots import canvas
from isinglass.plots.canvas import BLUE, ORANGE, PALE, Axes, axes_for, drawable, plain_frame
from isinglass.selection import FIRM, TENTATIVE
from isinglass.solvers import Path, Step
from isinglass.solvers.path import name

#: Steps that fit a page; later ones are counted, not drawn.
MOST_STEPS = 80


@checked
def search(
    estimator: GreedyGraph,
    column: str,
    ax: Axes | None = None,
    *,
    thresholds: Mapping[str, float] | None = None,
) -> Axes:
    """Draw the search at one column: what each step gained, and where thresholds cut it.

    Steps that the graph's own threshold leaves out are pale.

    Parameters
    ----------
    estimator : GreedyGraph
        Fitted.
    column : str
    ax : matplotlib axes, optional
    thresholds : dict of str to float, optional
        Lines to draw, by what to call them. By default that of the graph, and those of the firm
        and the tentative tier, as far as the search ran.

    Examples
    --------
    >>> import isinglass as ig
    >>> rows = ig.simulate.ising(ig.simulate.star(5, 3), coupling=0.5, seed=0).sample(500, seed=0)
    >>> ax = ig.plots.search(ig.GreedyGraph().fit(rows), "x0")
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['1 x2', '2 x3', '3 x1']
    """
    check_is_fitted(estimator)
    at = position_of(column, estimator.graph_.names)
    lines = _thresholds_of(estimator) if thresholds is None else thresholds
    ax = _axes(estimator.paths_[at]) if ax is None else ax
    title = f"The search at {drawable(column)}"
    return _draw(ax, estimator.paths_[at], lines, cut=estimator.threshold_, title=title)


def path(
    path: Path | GreedyRegressor | GreedyClassifier,
    ax: Axes | None = None,
    *,
    thresholds: Mapping[str, float] | None = None,
) -> Axes:
    """Draw any greedy search: what each step gained, or what dropping a variable cost.

    Steps beyond the largest of the thresholds are pale: a run that ended there would not have
    made them.

    Parameters
    ----------
    path : Path, GreedyRegressor or GreedyClassifier
        As :func:`isinglass.foba` returns it; or a fitted regression, whose own threshold is drawn.
    ax, thresholds
        As in `search`, but no lines of a path by default.

    Examples
    --------
    >>> import numpy as np
    >>> import isinglass as ig
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> found = ig.foba(ig.losses.SquaredLoss(X, X[:, 2] + 0.1 * X[:, 0]), threshold=1e-4)
    >>> ax = ig.plots.path(found, thresholds={"mine": 0.01})
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['1 2', '2 0']
    """
    lines = thresholds or {}
    if not isinstance(path, Path):
        check_is_fitted(path)
        if thresholds is None and path.n_nonzero is None:
            lines = {"threshold": path.threshold_}
        path = path.path_
    ax = _axes(path) if ax is None else ax
    cut = max(lines.values(), default=0.0)
    return _draw(ax, path, lines, cut=cut, title="The search, step by step")


def _axes(path: Path) -> Axes:
    return axes_for(5.6, 1.2 + 0.21 * max(len(path.steps[:MOST_STEPS]), 3))


def _draw(ax: Axes, path: Path, lines: Mapping[str, float], *, cut: float, title: str) -> Axes:
    """All steps, those that a run to `cut` would have made stronger than the others."""
    if any(not value > 0 for value in lines.values()):
        raise SettingError("thresholds must be positive numbers.")
    steps = path.steps[:MOST_STEPS]
    kept = len(path.steps) if cut <= path.threshold else len(path.at(cut).steps)
    gains = [step.gain for step in steps if step.gain is not None and step.gain > 0]
    least = 0.3 * min([*gains, *lines.values()], default=1.0)  # costs of almost nothing are there
    for at, step in enumerate(steps):
        _draw_step(ax, at, step, least, 1.0 if at < kept else 0.35)
    canvas.names_upward(ax, (_words(at, step, path.names) for at, step in enumerate(steps)))
    _plain_logarithms(ax)
    _draw_thresholds(ax, lines)
    left = len(path.steps) - len(steps)
    plain_frame(
        ax,
        across="gain of the step, per row" + (f" ({left} later steps not drawn)" if left else ""),
        title=title if steps else f"{title}: no step",
        above=6.0 + 10.0 * max(len(lines) - 1, 1 if lines else 0),
    )
    if any(step.kind == "drop" for step in steps):
        ax.plot([], [], "o", color=BLUE, ms=5.5, label="added: its gain")
        ax.plot([], [], "X", mfc="white", mec=ORANGE, ms=5.5, label="dropped: its cost")
        canvas.legend_below(ax)
    return ax


def _plain_logarithms(ax: Axes) -> None:
    """A logarithmic axis with numbers as people write them."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


def _thresholds_of(estimator: GreedyGraph) -> dict[str, float]:
    """The graph's own threshold, and those of the tiers that the run reached."""
    n, p = estimator.table_.n, len(estimator.graph_.names)
    lines = {"firm": FIRM.threshold(n, p), "tentative": TENTATIVE.threshold(n, p)}
    lines = {word: at for word, at in lines.items() if at >= estimator.floor_}
    if estimator.threshold_ not in lines.values():
        lines["this graph"] = estimator.threshold_
    return lines


def _draw_step(ax: Axes, at: int, step: Step, least: float, alpha: float) -> None:
    add = step.kind == "add"
    size = max((step.gain if add else step.cost) or 0.0, least)
    color = BLUE if add else ORANGE
    ax.plot([least, size], [at, at], "-", color=color, lw=0.8, alpha=0.5 * alpha, zorder=1)
    mark, fill = ("o", color) if add else ("X", "white")
    ax.plot(size, at, mark, mfc=fill, ms=5.5, mec=color, mew=1.0, alpha=alpha, zorder=2)


def _draw_thresholds(ax: Axes, lines: Mapping[str, float]) -> None:
    """A line for each, its name above the axes: the smallest to the left, others stacked."""
    for at, (word, value) in enumerate(sorted(lines.items(), key=lambda item: item[1])):
        ax.axvline(value, color=PALE, lw=0.8, ls=(0, (4, 3)), zorder=0)
        shift = (2 if at else -2, 2 + 10 * max(at - 1, 0))
        style = {"xycoords": ("data", "axes fraction"), "ha": "left" if at else "right"}
        canvas.write(ax, drawable(word), (value, 1.0), shift, color=PALE, **style)


def _words(at: int, step: Step, names: tuple[str, ...] | None) -> str:
    drop = " dropped" if step.kind == "drop" else ""
    return f"{at + 1} {name(step.variable, names)}{drop}"
