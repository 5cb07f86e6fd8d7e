"""How far results would change on other rows: dropped cases, and differences between links."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.parameters import checked
from isinglass.plots import canvas
from isinglass.plots.canvas import BLUE, GREEN, INK, ORANGE, PALE, Axes, axes_for, plain_frame
from isinglass.uncertainty.resampling.bootstrap import Bootstrap
from isinglass.uncertainty.resampling.dropping import CaseDropping

Array = NDArray[np.float64]
#: What is compared with the whole table, and its colour.
CURVES = {
    "edge": ("links (correlation)", BLUE),
    "strength": ("strengths of columns (correlation)", ORANGE),
    "overlap": ("sets of links (overlap)", GREEN),
}
DIFFERENT, ALIKE = "#4D4D4D", "#E6E6E6"


@checked
def case_dropping(dropping: CaseDropping, ax: Axes | None = None) -> Axes:
    """Draw how similar graphs of fewer rows are to that of all, with 95 % of the draws.

    Parameters
    ----------
    dropping : CaseDropping
        As :func:`isinglass.case_dropping` returns it.
    ax : matplotlib axes, optional

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(5), coupling=0.8, seed=0)
    >>> est = ig.GreedyGraph().fit(field.sample(500, seed=1))
    >>> ax = ig.plots.case_dropping(ig.case_dropping(est, n=10, shares=(0.25, 0.5)))
    >>> ax.get_xlabel()
    'share of the rows dropped'
    """
    ax = axes_for(5.6, 4.0) if ax is None else ax
    shares = np.array(dropping.dropped)
    for name, (words, color) in CURVES.items():
        draws: tuple[Array, ...] = getattr(dropping, name)
        known = [at for at, values in enumerate(draws) if len(values)]
        ends = np.array([np.quantile(draws[at], (0.025, 0.975)) for at in known]).reshape(-1, 2)
        ax.fill_between(shares[known], ends[:, 0], ends[:, 1], color=color, alpha=0.12, lw=0)
        cs = f"; CS {dropping.cs(name):.2f}" if name != "overlap" else ""
        style = {"color": color, "marker": "o", "label": words + cs}
        canvas.draw_curve(ax, shares[known], [draws[at].mean() for at in known], **style)
    ax.axhline(0.7, color=PALE, lw=0.8, ls=(0, (1, 3)))
    ax.set_ylim(min(0.0, ax.get_ylim()[0]), 1.03)
    ax.xaxis.set_major_formatter("{x:.0%}")
    across = "share of the rows dropped"
    plain_frame(ax, across=across, upward="similarity to the whole table\n(mean, 95 % of draws)")
    canvas.legend_below(ax, columns=1)
    return ax


@checked
def edge_differences(
    bootstrap: Bootstrap, ax: Axes | None = None, *, level: float = 0.95, most: int = 40
) -> Axes:
    """Draw which links differ in size: dark where the interval of a difference excludes zero.

    The size of a link is the root of the mean square of its log-potentials, with its sign; between
    two columns of two states it is the coupling. Links are in the order of their size, which the
    diagonal shows.

    Parameters
    ----------
    bootstrap : Bootstrap
        As :func:`isinglass.bootstrap` returns it. The graph stays the same in every resample, and
        no correction is made for the number of comparisons.
    ax : matplotlib axes, optional
    level : float
        Of each interval.
    most : int
        Links to draw: the largest, either way. Unbounded links are left out.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(4), coupling=0.6, signs="positive")
    >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
    >>> ax = ig.plots.edge_differences(ig.bootstrap(est, n=30))
    >>> len(ax.get_yticklabels())
    3
    """
    sizes, draws, names = _sizes(bootstrap, most)
    side = 1.4 + min(max(0.17 * len(names), 1.6), 16.0)
    ax = axes_for(side + 1.2, side + 0.6) if ax is None else ax
    _draw_matrix(ax, differ(draws, level))
    for at, size in enumerate(sizes):
        color = BLUE if size > 0 else ORANGE
        ax.plot(at, at, "s", ms=7, color=color, alpha=0.3 + 0.7 * abs(size) / abs(sizes).max())
    shown = [canvas.drawable(name, 48) for name in names]
    ax.set_xticks(range(len(shown)), shown, fontsize=7, rotation=90, parse_math=False)
    ax.set_yticks(range(len(shown)), shown, fontsize=7, parse_math=False)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if not len(names):
        ax.set_title("no link whose size is known", fontsize=9, loc="left")
    styles: dict[str, dict[str, Any]] = {
        "different sizes": {"color": DIFFERENT, "marker": "s", "ls": "", "ms": 7},
        f"no difference shown ({100 * level:g} % interval)": {
            "color": ALIKE,
            "marker": "s",
            "ls": "",
            "ms": 7,
        },
    }
    canvas.shared_legend(canvas.figure_of(ax), styles, 2)
    return ax


def _sizes(bootstrap: Bootstrap, most: int) -> tuple[Array, Array, list[str]]:
    """Sizes of the largest links, in order; the same in each resample; the links' names."""
    graph, kept = bootstrap.graph, []
    for link, (a, b) in zip(graph.links, graph.edges, strict=True):
        tables = bootstrap.tables[link.source, link.target]
        if not link.unbounded and len(tables):
            whole = bootstrap.model.couplings[link.source, link.target][None]
            size, draws = (link.sign or 1) * _size(whole), (link.sign or 1) * _size(tables)
            kept.append((size[0], draws, f"{a} – {b}"))
    kept = sorted(sorted(kept, key=lambda one: -abs(one[0]))[:most], key=lambda one: -one[0])
    sizes, every = np.array([one[0] for one in kept]), np.array([one[1] for one in kept])
    return sizes, every, [one[2] for one in kept]


def _size(tables: Array) -> Array:
    size: Array = np.sqrt(np.mean(tables**2, axis=(1, 2)))
    return size


def differ(draws: Array, level: float) -> NDArray[np.bool_]:
    """Which rows of (links, resamples) differ: the interval of the difference excludes zero.

    >>> differ(np.array([[1.0, 1.1, 0.9], [2.0, 2.1, 1.9], [0.0, 3.0, 1.0]]), 0.9).tolist()
    [[False, True, False], [True, False, False], [False, False, False]]
    """
    if not len(draws):
        return np.zeros((0, 0), dtype=bool)
    away = draws[:, None, :] - draws[None, :, :]
    low, high = np.quantile(away, [(1 - level) / 2, (1 + level) / 2], axis=2)
    outside: NDArray[np.bool_] = (low > 0) | (high < 0)
    return outside


def _draw_matrix(ax: Axes, different: NDArray[np.bool_]) -> None:
    from matplotlib.colors import ListedColormap

    if len(different):
        colors = ListedColormap([ALIKE, DIFFERENT])
        ax.imshow(different, cmap=colors, vmin=0, vmax=1, interpolation="nearest")
        lines = np.arange(len(different) + 1) - 0.5
        ax.hlines(lines, -0.5, len(different) - 0.5, color="white", lw=0.8)
        ax.vlines(lines, -0.5, len(different) - 0.5, color="white", lw=0.8)
        for at in range(len(different)):
            ax.plot(at, at, "s", ms=9, color="white", mec=INK, mew=0.3)
