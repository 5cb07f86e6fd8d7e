"""The table of one link: rows observed against those expected without it, and its trend."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import SettingError
from isinglass.graph import Link, position_of
from isinglass.losses.forms import PRODUCT, TABLE
from isinglass.losses.steps import scored_ends
from isinglass.model import FitRecord
from isinglass.parameters import checked
from isinglass.plots.canvas import BLUE, INK, ORANGE, WORDS, Axes, axes_for, drawable, figure_of
from isinglass.record.tables import LinkTable
from isinglass.table.column import as_text

Array = NDArray[np.float64]
#: Ratios from which on colours do not deepen.
MOST = 4.0


@checked
def link_table(fit: Any, a: str, b: str, ax: Axes | None = None) -> Axes:
    """Draw the table of a link, and the trend that its form gives.

    Squares are blue where a combination of states has more rows than it would have without the
    link, orange where it has fewer. If the link is a product of scores, a line joins the mean state
    of `b` in each state of `a` that this form gives; dots are the observed means. If it is a trend,
    strokes are the means of the ordered column in each state of the other one.

    Parameters
    ----------
    fit : GreedyGraph, fitted, or FitRecord
    a, b : str
        Two linked columns: `a` down, `b` across.
    ax : matplotlib axes, optional

    Examples
    --------
    >>> import isinglass as ig
    >>> items = ig.simulate.ordinal(ig.simulate.chain(3), 4, coupling=0.4, signs="positive")
    >>> est = ig.GreedyGraph(edges="auto").fit(items.sample(1000, seed=0))
    >>> ax = ig.plots.link_table(est, "x0", "x1")
    >>> ax.get_ylabel(), ax.get_xlabel()
    ('x0', 'x1')
    """
    record = fit if isinstance(fit, FitRecord) else fit.record()
    ends = position_of(a, record.names), position_of(b, record.names)
    pair = min(ends), max(ends)
    table = (record.link_tables or {}).get(pair)
    if table is None:
        raise SettingError(
            f"the record has no table of {a!r} and {b!r}: they are not linked in it."
        )
    link = record.graph.links[record.graph.pairs.index(pair)]
    turned = ends != pair
    observed, expected = (rows.T if turned else rows for rows in (table.observed, table.expected))
    across, down = observed.shape[1], observed.shape[0]
    ax = axes_for(1.9 + 0.42 * across, 1.1 + 0.42 * down) if ax is None else ax
    _draw_squares(ax, observed, expected)
    if link.form != TABLE and not link.unbounded:
        _draw_means(ax, record, link, table, turned)
    _write_states(ax, record, ends)
    return ax


def _draw_squares(ax: Axes, observed: Array, expected: Array) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(observed / expected)
    ratio = np.where(expected >= 1, np.clip(ratio, -np.log(MOST), np.log(MOST)), np.nan)
    scale = LinearSegmentedColormap.from_list("rows", [ORANGE, "white", BLUE])
    top = float(np.log(MOST))
    image = ax.imshow(ratio, cmap=scale, vmin=-top, vmax=top, aspect="auto", alpha=0.75)
    bar = figure_of(ax).colorbar(image, ax=ax, shrink=0.8, aspect=20, pad=0.03)
    marks = [1 / MOST, 0.5, 1.0, 2.0, MOST]
    bar.set_ticks(list(np.log(marks)), labels=[f"× {mark:g}" for mark in marks])
    bar.ax.tick_params(labelsize=8)
    bar.outline.set_linewidth(0.5)


def _draw_means(ax: Axes, record: FitRecord, link: Link, table: LinkTable, turned: bool) -> None:
    """Where the form of the link puts the means, and where they were seen."""
    scores = record.scores[link.source], record.scores[link.target]
    fitted = _fitted(record, link, table)
    if link.form == PRODUCT:
        by_row = [rows.T if turned else rows for rows in (fitted, table.observed)]
        places = np.arange(len(by_row[0]))
        ax.plot(_means(by_row[0]), places, color=INK, lw=1.4)
        ax.plot(_means(by_row[1]), places, "o", color="white", mec=INK, ms=4.5, mew=0.8)
        return
    source_scored = scored_ends(scores, link.form)[0]
    lines = [rows.T if source_scored else rows for rows in (fitted, table.observed)]
    places = np.arange(len(lines[0]))
    upright = source_scored != turned  # the ordered column runs down
    given, seen = map(_means, lines)
    strokes = ax.hlines if upright else ax.vlines
    strokes(given, places - 0.3, places + 0.3, color=INK, lw=1.6)
    x, y = (places, seen) if upright else (seen, places)
    ax.plot(x, y, "o", color="white", mec=INK, ms=4.5, mew=0.8)


def _means(rows: Array) -> Array:
    """The mean position of the rows of each line."""
    return np.asarray(rows @ np.arange(rows.shape[1]) / np.maximum(rows.sum(axis=1), 1e-300))


def _fitted(record: FitRecord, link: Link, table: LinkTable) -> Array:
    """Rows with the link in its form: expected ones times its odds, with the margins seen."""
    ends = [(link.source, link.target, False), (link.target, link.source, True)]
    tables = []
    for r, t, turn in ends:
        fit: Any = record.paths[r].at(record.threshold).final
        if t in fit.coef:
            own = np.asarray(fit.coef[t])[: record.n_answers[r], : record.n_answers[t]]
            tables.append(own.T if turn else own)
    rows = np.maximum(table.expected, 1e-9) * np.exp(np.mean(tables, axis=0))
    for _ in range(50):
        rows *= table.observed.sum(axis=1, keepdims=True) / rows.sum(axis=1, keepdims=True)
        rows *= table.observed.sum(axis=0) / rows.sum(axis=0)
    return np.asarray(rows)


def _write_states(ax: Axes, record: FitRecord, ends: tuple[int, int]) -> None:
    down, across = (
        [drawable(as_text(state)) for state in record.states[v][: record.n_answers[v]]]
        for v in ends
    )
    ax.set_yticks(range(len(down)), down, **WORDS)
    longest = max(map(len, across))
    ax.set_xticks(range(len(across)), across, rotation=90 if longest > 4 else 0, **WORDS)
    ax.set_ylabel(drawable(record.names[ends[0]]), parse_math=False)
    ax.set_xlabel(drawable(record.names[ends[1]]), parse_math=False)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_linewidth(0.5)
