"""What is reported of every column: its centrality, and how well it is predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw

from isinglass.errors import SettingError
from isinglass.measures import HasGraph, Predictability, graph_of, sums
from isinglass.parameters import checked
from isinglass.plots import canvas
from isinglass.plots.canvas import BLUE, GREY, ORANGE, PALE, Axes, axes_for, plain_frame
from isinglass.uncertainty.resampling.columns import MEASURES, ColumnIntervals

#: Measures differ by marker; several networks by colour.
MARKERS = {"strength": "o", "expected_influence": "D"}
Style = dict[str, Any]
COLORS = (BLUE, ORANGE, canvas.GREEN, canvas.PINK, GREY)
#: By measure, each column's value and the ends of its interval, if there is one.
Values = dict[str, dict[str, tuple[float | None, float | None, float | None]]]


@checked
def centrality(
    of: HasGraph | ColumnIntervals | Mapping[str, Any],
    ax: Axes | None = None,
    *,
    measures: Sequence[str] = MEASURES,
    level: float = 0.95,
    labels: Mapping[str, str] | None = None,
) -> Axes:
    """Draw strength and expected influence of every column, the strongest on top.

    Parameters
    ----------
    of : Graph, fitted estimator, MarkovField, FitRecord, or ColumnIntervals
        With intervals, if it is what :func:`isinglass.column_intervals` returns. A dict of title to
        any of these compares several networks of the same columns.
    ax : matplotlib axes, optional
    measures : list of "strength" and "expected_influence"
    level : float
        Of the intervals.
    labels : dict of name to text, optional
        Other words for some of the names.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.star(4, 3), coupling=0.6, signs="positive")
    >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
    >>> ax = ig.plots.centrality(ig.column_intervals(est, n=20))
    >>> ax.get_yticklabels()[0].get_text()
    'x0'
    """
    _check_measures(measures)
    of = of if isinstance(of, Mapping) else {"": of}
    drawn = {title: _values(one, level) for title, one in of.items()}
    order = _by_first(next(iter(drawn.values()), {}), measures[0])
    ax = axes_for(5.6, 1.3 + 0.2 * max(len(order), 3)) if ax is None else ax
    lines = _lines(list(drawn), measures)
    for number, (words, (title, measure, style)) in enumerate(lines.items()):
        shift = 0.5 * ((number + 0.5) / len(lines) - 0.5)
        _draw(ax, drawn[title][measure], order, shift, {**style, "label": words})
    canvas.names_upward(ax, ((labels or {}).get(name, name) for name in order))
    ax.axvline(0.0, color=PALE, lw=0.8, zorder=0)
    intervals = any(isinstance(one, ColumnIntervals) for one in of.values())
    words = f", {100 * level:g} % intervals from half-samples" if intervals else ""
    plain_frame(ax, across=f"sum of the strengths of a column's links{words}")
    marks = {words: {**style, "ls": "", "ms": 5} for words, (*_, style) in lines.items()}
    canvas.legend_below(ax, entries=canvas.handles(marks))
    return ax


def _lines(titles: Sequence[str], measures: Sequence[str]) -> dict[str, tuple[str, str, Style]]:
    """What the legend calls each line: its network, measure and style."""
    found: dict[str, tuple[str, str, Style]] = {}
    for at, title in enumerate(titles):
        for which, measure in enumerate(measures):
            known = measure.replace("_", " ")
            color = COLORS[(at if len(titles) > 1 else which) % len(COLORS)]
            words = f"{canvas.drawable(title, 40)}, {known}" if title else known
            found[words] = title, measure, {"color": color, "marker": MARKERS[measure]}
    return found


def _check_measures(measures: Sequence[str]) -> None:
    if not measures or not set(measures) <= set(MEASURES):
        known = " and ".join(MEASURES)
        raise SettingError(f"measures takes some of {known}, not {list(measures)!r}.")


def _values(of: Any, level: float) -> Values:
    if not isinstance(of, ColumnIntervals):
        graph = graph_of(of)
        return {
            measure: dict(zip(graph.names, ((value, None, None) for value in own), strict=True))
            for measure, own in sums(graph).items()
        }
    found: Values = {measure: {} for measure in MEASURES}
    frame: Any = nw.from_native(of.to_frame(level), eager_only=True)
    for row in frame.iter_rows(named=True):
        found[row["measure"]][row["name"]] = row["value"], row["low"], row["high"]
    return found


def _by_first(values: Values, measure: str) -> list[str]:
    """All names, the largest value first."""
    own = values.get(measure, {})
    return sorted(own, key=lambda name: -(own[name][0] or 0.0))


def _draw(
    ax: Axes, values: Mapping[str, Any], order: Sequence[str], shift: float, style: Style
) -> None:
    for at, name in enumerate(order):
        value, low, high = values.get(name, (None, None, None))
        if value is None:
            continue
        if low is not None and high is not None:
            ax.plot([low, high], [at + shift] * 2, "-", color=style["color"], lw=1.2, zorder=1)
        ax.plot(value, at + shift, ms=4.5, mec="white", mew=0.5, ls="", zorder=2, **style)


@checked
def predictability(
    found: Mapping[str, Predictability],
    ax: Axes | None = None,
    *,
    labels: Mapping[str, str] | None = None,
) -> Axes:
    """Draw how often each column is predicted correctly, beside its base rate; the best on top.

    Parameters
    ----------
    found : dict of name to Predictability
        As :func:`isinglass.measures.predictability` returns it.
    ax : matplotlib axes, optional
    labels : dict of name to text, optional
        Other words for some of the names.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(4), coupling=0.8, signs="positive")
    >>> est = ig.GreedyGraph().fit(field.sample(500, seed=0))
    >>> ax = ig.plots.predictability(ig.measures.predictability(est))
    >>> ax.get_xlabel()
    'share of held-out values predicted correctly'
    """
    order = sorted(found, key=lambda name: -(found[name].gain or 0.0))
    ax = axes_for(5.6, 1.3 + 0.2 * max(len(order), 3)) if ax is None else ax
    for at, name in enumerate(order):
        one = found[name]
        color = BLUE if one.accuracy >= one.base_rate else ORANGE
        ax.plot([one.base_rate, one.accuracy], [at, at], "-", color=color, lw=2.0, zorder=1)
        ax.plot(one.base_rate, at, "|", color=GREY, ms=9, mew=1.5, zorder=2)
        ax.plot(one.accuracy, at, "o", color=color, ms=5, mec="white", mew=0.5, zorder=3)
        said = "" if one.gain is None else f"{one.gain:.2f}"
        canvas.write(ax, said, (1.0, at), (8, 0), color=GREY, va="center", annotation_clip=False)
    canvas.names_upward(ax, ((labels or {}).get(name, name) for name in order))
    ax.set_xlim(-0.02, 1.0)
    plain_frame(ax, across="share of held-out values predicted correctly")
    top = (1.0, -0.6), (8, 6)
    canvas.write(ax, "gain", *top, color=GREY, ha="left", annotation_clip=False)
    styles: dict[str, dict[str, Any]] = {
        "from the other columns": {"color": BLUE, "marker": "o", "ls": ""},
        "the most common state (base rate)": {"color": GREY, "marker": "|", "ls": "", "mew": 1.5},
    }
    canvas.legend_below(ax, entries=canvas.handles(styles))
    return ax
