"""What the commands that learn a graph on the way share: options, and a fitted estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from isinglass.cli.tables import number_or_word, read_bins, read_without, table_options
from isinglass.cli.terminal import progress_bar
from isinglass.estimators import GreedyGraph

SEARCH_OPTIONS = (
    click.option(
        "--threshold",
        default="auto",
        show_default=True,
        help="What an edge must gain per row: auto, paper, paper:0.9, or a number such as 0.01.",
    ),
    click.option(
        "--rule",
        type=click.Choice(["or", "and"]),
        default="or",
        show_default=True,
        help="Whether one end of an edge must choose it, or both.",
    ),
)
MISSING_OPTION = click.option(
    "--missing",
    type=click.Choice(["error", "drop", "state", "available"]),
    default="error",
    show_default=True,
    help="Gaps: refuse them, keep complete rows only, or take a gap as an answer.",
)


def fit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how a table is read and learned from."""
    return search_options(MISSING_OPTION(table_options(command)))


def search_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say when an edge is taken in."""
    for option in reversed(SEARCH_OPTIONS):
        command = option(command)
    return command


def read_and_configure(
    data: str,
    *,
    na: tuple[str, ...],
    drop: tuple[str, ...],
    bins: tuple[str, ...],
    n_eff: str,
    no_header: bool,
    **settings: Any,
) -> tuple[GreedyGraph, Any]:
    """An estimator that is still to be fitted, and the table to fit it to."""
    estimator = GreedyGraph(n_eff=number_or_word(n_eff), bins=read_bins(bins), **settings)
    return estimator, read_without(data, drop, na=na, header=not no_header)


def fit_file(data: str, *, weight_column: str | None, **options: Any) -> GreedyGraph:
    """A graph learned from a file."""
    estimator, table = read_and_configure(data, **options)
    with progress_bar("searching") as progress:
        return estimator.fit(table, sample_weight=weight_column, progress=progress)
