"""Groups of rows: their networks in one layout, and by how much their links differ."""

from __future__ import annotations

from isinglass.parameters import checked
from isinglass.plots import canvas
from isinglass.plots.canvas import BLUE, GREY, ORANGE, PALE, Axes, Figure, axes_for, plain_frame
from isinglass.plots.side_by_side import networks
from isinglass.uncertainty.groups.result import EdgeDifference, GroupComparison

#: Colours of groups, where there are more than two.
COLORS = (BLUE, ORANGE, "#4d9221", "#7b3294", "#8c510a", GREY)


def group_networks(found: GroupComparison) -> Figure:
    """Draw the graph of all rows as it is in each group, side by side in one layout.

    Width and colour are those of the coupling in the group.

    Examples
    --------
    >>> import numpy as np
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(4), coupling=0.6, signs="positive")
    >>> rows = np.column_stack([field.sample(800, seed=0), np.repeat([0, 1], 400)])
    >>> figure = ig.plots.group_networks(ig.compare_groups(rows, by=4))
    >>> [ax.get_title() for ax in figure.axes]
    ['0 (400 rows): 3 links', '1 (400 rows): 3 links']
    """
    figure = networks(
        {f"{group.name} ({group.rows:,.6g} rows)": group.model for group in found.groups}
    )
    for ax in figure.axes:  # room between flat drawings and their titles
        low, high = ax.get_ylim()
        ax.set_ylim(low - 0.2, high + 0.2)
    return figure


@checked
def group_differences(
    found: GroupComparison, ax: Axes | None = None, *, level: float = 0.95, most: int = 40
) -> Axes:
    """Draw by how much the links of groups differ, with intervals.

    Of two groups, the differences of log odds ratios per step, the second less the first; those
    that differ at the level of the comparison, all tests together, are in colour. Of more groups,
    the log odds ratios of each. Edges between columns without an order have no such number.

    Parameters
    ----------
    found : GroupComparison
    ax : matplotlib axes, optional
    level : float
        Of the intervals, each by itself.
    most : int
        Edges to draw: those with the smallest p-values.

    Examples
    --------
    >>> import numpy as np
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(4), coupling=0.6, signs="positive")
    >>> rows = np.column_stack([field.sample(800, seed=0), np.repeat([0, 1], 400)])
    >>> ax = ig.plots.group_differences(ig.compare_groups(rows, by=4))
    >>> len(ax.get_yticklabels())
    3
    """
    every = [edge for edge in found.edges if not edge.untested and None not in edge.log_odds]
    edges = sorted(every, key=lambda edge: edge.p_value)[:most]
    two = len(found.groups) == 2
    edges.sort(key=lambda edge: -(edge.difference or 0.0) if two else edge.p_value)
    ax = axes_for(5.6, 1.4 + 0.24 * max(len(edges), 3)) if ax is None else ax
    for at, edge in enumerate(edges):
        if two:
            _draw_difference(ax, at, edge, found.level, level)
        else:
            _draw_groups(ax, at, edge, level)
    canvas.names_upward(ax, (f"{edge.source} – {edge.target}" for edge in edges))
    ax.axvline(0.0, color=PALE, lw=0.8, zorder=0)
    drawn = "" if len(edges) == len(every) else f"\n{len(edges)} of {len(every):,} edges"
    plain_frame(ax, across=f"{_across(found)}, {100 * level:g} % intervals{drawn}")
    if not edges:
        ax.set_title("no edge that has a difference", fontsize=9, loc="left")
    _explain(ax, found)
    return ax


def _across(found: GroupComparison) -> str:
    if len(found.groups) > 2:
        return "log odds ratio per step"
    one, other = (canvas.drawable(group.name) for group in found.groups)
    return f"log odds ratio per step, {other} less {one}"


def _draw_difference(ax: Axes, at: int, edge: EdgeDifference, sure: float, level: float) -> None:
    ends = edge.interval(level)
    assert ends is not None
    assert edge.difference is not None
    color = GREY
    if edge.adjusted <= sure:
        color = BLUE if edge.difference > 0 else ORANGE
    ax.plot(ends, [at, at], "-", color=color, lw=1.4, solid_capstyle="butt")
    ax.plot(edge.difference, at, "o", color=color, ms=4.5, mec="white", mew=0.5)


def _draw_groups(ax: Axes, at: int, edge: EdgeDifference, level: float) -> None:
    from scipy.special import ndtri

    half = -float(ndtri((1.0 - level) / 2.0))
    count = len(edge.log_odds)
    for k, (value, error) in enumerate(zip(edge.log_odds, edge.errors, strict=True)):
        assert value is not None
        assert error is not None
        y, color = at + 0.5 * ((k + 0.5) / count - 0.5), COLORS[k % len(COLORS)]
        ax.plot([value - half * error, value + half * error], [y, y], "-", color=color, lw=1.2)
        ax.plot(value, y, "o", color=color, ms=3.5, mec="white", mew=0.4)


def _explain(ax: Axes, found: GroupComparison) -> None:
    if len(found.groups) > 2:
        styles = {
            canvas.drawable(group.name): {"color": COLORS[k % len(COLORS)], "lw": 2}
            for k, group in enumerate(found.groups)
        }
    else:
        _one, other = (canvas.drawable(group.name) for group in found.groups)
        signs = {edge.difference > 0 for edge in found.different if edge.difference is not None}
        styles = {
            words: {"color": color, "lw": 2}
            for up, words, color in (
                (True, f"higher in {other} (Holm, {found.level:g})", BLUE),
                (False, f"lower in {other} (Holm, {found.level:g})", ORANGE),
            )
            if up in signs
        }
        styles["not shown to differ"] = {"color": GREY, "lw": 2}
    canvas.legend_below(ax, 34.0, 2, canvas.handles(styles))
