"""A graph as a heat map of its columns by its columns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import SettingError
from isinglass.graph import Graph, position_of
from isinglass.measures import HasGraph, communities, graph_of
from isinglass.parameters import checked
from isinglass.plots import canvas
from isinglass.plots.canvas import BLUE, INK, ORANGE, PALE, Axes, axes_for, drawable

Matrix = NDArray[np.float64]
#: More names than that cannot be read on a page.
MOST_NAMES = 120


@checked
def adjacency(
    graph: HasGraph,
    ax: Axes | None = None,
    *,
    order: Sequence[str] | None = None,
    labels: bool = True,
) -> Axes:
    """Draw the strength of every link, columns by columns, coloured by sign.

    Parameters
    ----------
    graph : Graph, or a fitted estimator, MarkovField or FitRecord
    ax : matplotlib axes, optional
    order : list of names, optional
        The columns to draw, in this order; ``graph.names`` for that of the table. By default by
        group, as :func:`isinglass.measures.communities` finds them, with lines between groups;
        columns without a link are last.
    labels : bool
        Whether to write the names; more than 120 are never written.

    Examples
    --------
    >>> import isinglass as ig
    >>> rows = ig.simulate.ising(ig.simulate.chain(4), coupling=0.6, seed=0).sample(1000, seed=0)
    >>> ax = ig.plots.adjacency(ig.GreedyGraph().fit(rows).graph_)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['x0', 'x1', 'x2', 'x3']
    """
    graph = graph_of(graph)
    groups = _groups(graph) if order is None else [_checked(order, graph)]
    names = [name for group in groups for name in group]
    side = 1.2 + min(max(0.16 * len(names), 2.4), 16.0)
    ax = axes_for(side + 0.9, side) if ax is None else ax
    strengths, signs = _matrix(graph, names, "strength"), _matrix(graph, names, "sign")
    _draw_layers(ax, strengths * np.where(signs == 0, 1.0, signs), signs)
    for at in list(accumulate(len(group) for group in groups))[:-1]:
        ax.axhline(at - 0.5, color=PALE, lw=0.6)
        ax.axvline(at - 0.5, color=PALE, lw=0.6)
    _write_names(ax, names if labels and len(names) <= MOST_NAMES else [])
    return ax


def _groups(graph: Graph) -> list[list[str]]:
    """Communities, and at the end all columns without a link."""
    groups = [list(group) for group in communities(graph).groups]
    linked = {name for group in groups for name in group}
    alone = [name for name in graph.names if name not in linked]
    return [group for group in (*groups, alone) if group]


def _checked(order: Sequence[str], graph: Graph) -> list[str]:
    for name in order:
        position_of(name, graph.names)
    if len(set(order)) < len(order):
        raise SettingError("order names a column twice.")
    return list(order)


def _matrix(graph: Graph, names: Sequence[str], number: str) -> Matrix:
    """One number of every link, in the order of names; NaN where there is no link."""
    at = {name: i for i, name in enumerate(names)}
    values = np.full((len(names), len(names)), np.nan)
    for link, (a, b) in zip(graph.links, graph.edges, strict=True):
        if a in at and b in at:
            values[at[a], at[b]] = values[at[b], at[a]] = getattr(link, number)
    return values


def _draw_layers(ax: Axes, values: Matrix, signs: Matrix) -> None:
    """Links with a sign and links without one, each with its scale of colours."""
    largest = float(np.nanmax(np.abs(values))) if np.isfinite(values).any() else 1.0
    if (signs == 0).any():
        layer = np.where(signs == 0, values, np.nan)
        _draw_layer(ax, layer, ("white", INK), (0.0, largest), "strength, states without order")
    if (np.abs(signs) == 1).any() or not (signs == 0).any():
        layer = np.where(signs == 0, np.nan, values)
        two = bool((layer < 0).any())
        colors = (ORANGE, "white", BLUE) if two else ("white", BLUE)
        limits = (-largest if two else 0.0, largest)
        _draw_layer(ax, layer, colors, limits, "strength, with the sign")


def _draw_layer(
    ax: Axes, values: Matrix, colors: tuple[str, ...], limits: tuple[float, float], label: str
) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    scale = LinearSegmentedColormap.from_list(label, list(colors))
    image = ax.imshow(values, cmap=scale, vmin=limits[0], vmax=limits[1], interpolation="nearest")
    bar = canvas.figure_of(ax).colorbar(image, ax=ax, shrink=0.7, aspect=25, pad=0.02)
    bar.set_label(label, fontsize=9)
    bar.ax.tick_params(labelsize=8)
    bar.outline.set_linewidth(0.5)


def _write_names(ax: Axes, names: Sequence[str]) -> None:
    shown = [drawable(name) for name in names]
    positions = range(len(shown))
    ax.set_xticks(positions, shown, fontsize=7, rotation=90, parse_math=False)
    ax.set_yticks(positions, shown, fontsize=7, parse_math=False)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_linewidth(0.5)
