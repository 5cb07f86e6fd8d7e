"""``isinglass demo``: which pixels of handwritten digits are linked?"""

from __future__ import annotations

from functools import partial
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from isinglass.cli import options as opt
from isinglass.cli.results import write_with_picture
from isinglass.cli.terminal import new_console, progress_bar
from isinglass.estimators import GreedyGraph
from isinglass.exports import edges_csv, graphml
from isinglass.files import check_folder
from isinglass.graph import Graph

SIDE = 8


@opt.command(
    opt.option("--out DIR", "Write the edges, the graph and a picture there.", "isinglass-demo"),
    examples="isinglass demo --out demo/",
)
def command(out: str) -> None:
    """Learn from scanned digits which pixels are linked, and draw the graph.

    The data are the 1797 handwritten digits that come with scikit-learn, 8 x 8 pixels, ink or
    no ink. The search sees 64 yes/no columns in no order; where a pixel lies on the paper is
    used only for the drawing, and for counting how many links join pixels that touch.
    """
    check_folder(out)
    console = new_console()
    images, ink = _digits()
    console.print(
        f"{len(ink):,} handwritten digits, {ink.shape[1]} pixels each, ink or no ink.\n"
        "Which pixels are linked when all others are held fixed?\n"
        "The search sees 64 columns in no order; it does not know where a pixel lies."
    )
    with progress_bar("searching") as progress:
        estimator = GreedyGraph().fit(ink, progress=progress)
    graph = estimator.graph_
    found, expected = touching_shares(graph, estimator.states_)
    pairs = SIDE * SIDE * (SIDE * SIDE - 1) // 2
    console.print(f"\n{len(graph)} links among {pairs:,} pairs of pixels.", style="bold")
    console.print(
        f"{found:.0%} of them join pixels that touch; {expected:.0%} would be expected by chance.",
        style="bold",
    )
    _say_strongest(console, graph)
    contents = {"edges.csv": edges_csv(graph), "graph.graphml": graphml(graph)}
    lines = write_with_picture(out, contents, "digits.png", partial(picture, graph, images))
    click.echo("\n" + "\n".join(lines))
    console.print("\nNow your own table:  isinglass fit your.csv --out result/")


def _digits() -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    from sklearn.datasets import load_digits

    images = load_digits().data
    return images, images >= 1


def touching_shares(graph: Graph, states: list[list[Any]]) -> tuple[float, float]:
    """Share of touching pairs among the edges, and among all pairs that could be edges."""
    useful = [j for j, labels in enumerate(states) if len(labels) > 1]
    pairs = [(a, b) for a in useful for b in useful if a < b]
    edges = [(link.source, link.target) for link in graph.links]
    found, expected = (
        float(np.mean([_touch(a, b) for a, b in some])) if some else 0.0 for some in (edges, pairs)
    )
    return found, expected


def _touch(a: int, b: int) -> bool:
    return max(abs(a // SIDE - b // SIDE), abs(a % SIDE - b % SIDE)) == 1


def _say_strongest(console: Console, graph: Graph) -> None:
    console.print("The strongest, by strength from 0 to 1:")
    for link in sorted(graph.links, key=lambda link: -link.weight)[:3]:
        odds = "" if link.log_odds is None else f", odds x {np.exp(abs(link.log_odds)):.0f}"
        (row, column), (row_2, column_2) = (divmod(j, SIDE) for j in (link.source, link.target))
        console.print(
            f"  row {row} column {column}  --  row {row_2} column {column_2}: strength "
            f"{link.weight:.2f}{'' if link.unbounded else odds}"
        )


def picture(graph: Graph, images: NDArray[np.float64], plots: Any) -> Any:
    """The graph on the pixel grid, beside a few digits."""
    figure, _ = plots.new_figure(8.4, 5.6)
    figure.clear()
    panels: Any = figure.subfigures(1, 2, width_ratios=[1, 2.6])
    left, right = panels
    for digit, ax in enumerate(left.subplots(4, 2).ravel()):
        ax.imshow(images[digit].reshape(SIDE, SIDE), cmap="Greys")
        ax.set_axis_off()
    left.suptitle("the data: 1797 of these", fontsize=10)
    ax = right.subplots()
    at = {f"x{j}": (float(j % SIDE), -float(j // SIDE)) for j in range(SIDE * SIDE)}
    shade = 1 - 0.85 * images.mean(axis=0) / 16
    colors = {f"x{j}": (shade[j],) * 3 for j in range(SIDE * SIDE)}
    plots.network(graph, ax, at=at, labels=False, node_color=colors)
    right.suptitle(f"the graph: {len(graph)} links, learned without positions", fontsize=10)
    return figure
