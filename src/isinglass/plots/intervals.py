"""Links of a model as odds ratios with their intervals."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from isinglass.model import MarkovField
from isinglass.parameters import checked
from isinglass.plots import canvas
from isinglass.plots.canvas import BLUE, GREY, ORANGE, PALE, Axes, axes_for, plain_frame

#: States that need no naming: the other one of the two says the opposite.
PLAIN = {"1", "1.0", "true", "yes", "y", "+1"}
#: Odds ratios that people read, for axes of few and of more powers of ten.
FINE = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
COARSE = (1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000, 10_000)

Row = dict[str, Any]


@checked
def intervals(
    model: MarkovField, ax: Axes | None = None, *, level: float = 0.95, most: int = 40
) -> Axes:
    """Draw the log odds ratios of all links with their intervals, given this graph.

    A link of columns with more than two states has a line for each pair of states other than the
    first ones, which are what they are compared with. A link that the rows set no bound to has
    an arrow in place of an interval.

    Parameters
    ----------
    model : MarkovField
        With errors, as :func:`isinglass.with_errors` returns it.
    ax : matplotlib axes, optional
    level : float
        Of the intervals.
    most : int
        Lines to draw: the largest ratios, either way.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(4), coupling=0.4, signs="positive")
    >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
    >>> ax = ig.plots.intervals(ig.with_errors(est))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['x0 – x1', 'x1 – x2', 'x2 – x3']
    """
    listed: Any = nw.from_native(model.intervals(level), eager_only=True)
    every: list[Row] = list(listed.iter_rows(named=True))
    rows = sorted(every, key=lambda row: (row["unbounded"], -abs(row["log_odds"])))[:most]
    rows.sort(key=lambda row: -row["log_odds"])
    ax = axes_for(5.6, 1.4 + 0.21 * max(len(rows), 3)) if ax is None else ax
    low, high = _limits(rows)
    for at, row in enumerate(rows):
        _draw(ax, at, row, (low, high))
    canvas.names_upward(ax, (_words(row, model) for row in rows))
    ax.axvline(0.0, color=PALE, lw=0.8, zorder=0)
    ax.set_xlim(low, high)
    drawn = "" if len(rows) == len(every) else f"\nthe largest {len(rows)} of {len(every):,}"
    plain_frame(
        ax,
        across=f"log odds ratio, {100 * level:g} % intervals given this graph{drawn}",
        title="" if rows else "no link",
    )
    _ratios_on_top(ax, low, high)
    return ax


def _limits(rows: list[Row]) -> tuple[float, float]:
    """Room for all intervals, and for zero."""
    ends = [row[end] for row in rows if not row["unbounded"] for end in ("low", "high")]
    low, high = min([*ends, 0.0]), max([*ends, 0.0])
    room = 0.06 * (high - low) if ends else 1.0
    return low - room, high + room


def _draw(ax: Axes, at: int, row: Row, limits: tuple[float, float]) -> None:
    if row["unbounded"]:
        up = row["log_odds"] > 0
        ax.plot([0.0, limits[up]], [at, at], ":", color=GREY, lw=1.0)
        ax.plot(limits[up], at, ">" if up else "<", color=GREY, ms=6, clip_on=False)
        return
    color = BLUE if row["log_odds"] > 0 else ORANGE
    ax.plot([row["low"], row["high"]], [at, at], "-", color=color, lw=1.4, solid_capstyle="butt")
    ax.plot(row["log_odds"], at, "o", color=color, ms=4.5, mec="white", mew=0.5)


def _words(row: Row, model: MarkovField) -> str:
    return " – ".join(
        _end(row[end], row[f"{end}_state"], model.n_states[model.names.index(row[end])])
        for end in ("source", "target")
    )


def _end(name: str, state: str, n_states: int) -> str:
    return name if n_states == 2 and state.lower() in PLAIN else f"{name} = {state}"


def _ratios_on_top(ax: Axes, low: float, high: float) -> None:
    """The same axis in odds ratios."""
    ratios: tuple[float, ...] = FINE if high - low < 5 else COARSE
    if high - low > 20:
        ratios = tuple(10.0**power for power in range(-300, 301, 4 * int((high - low) / 20)))
    shown = [ratio for ratio in ratios if low <= np.log(ratio) <= high]
    top = ax.secondary_xaxis("top")
    top.set_xticks([float(np.log(ratio)) for ratio in shown], [f"{ratio:g}" for ratio in shown])
    top.tick_params(labelsize=canvas.LETTERS)
    top.set_xlabel("odds ratio", fontsize=9)
    ax.spines["top"].set_visible(True)
