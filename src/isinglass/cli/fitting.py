"""What the commands that learn a graph share: their options, and a fitted estimator."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Any

import click

from isinglass.cli.tables import (
    missing_option,
    table_options,
    take_settings,
    take_table,
    with_options,
)
from isinglass.cli.terminal import progress_bar
from isinglass.errors import SettingError
from isinglass.estimators import GreedyGraph
from isinglass.selection import look_below

#: When an edge is taken in.
THRESHOLD_OPTIONS = (
    click.option(
        "--threshold",
        default="auto",
        show_default=True,
        help="The log-likelihood per row that an edge must gain: auto, paper, paper:0.9, a number "
        "such as 0.01, or chosen on the table: ebic:0.25, cv:5, stability:1, stars:0.05.",
    ),
    click.option(
        "--rule",
        type=click.Choice(["or", "and", "joint"]),
        default="or",
        show_default=True,
        help="Keep an edge if either of its columns chooses it; only if both do; or let both "
        "decide together, which finds more from few rows.",
    ),
)
#: All settings of a search.
SEARCH_OPTIONS = (
    *THRESHOLD_OPTIONS,
    click.option(
        "--require",
        type=(str, str),
        multiple=True,
        metavar="A B",
        help="A link that the graph must have.",
    ),
    click.option(
        "--forbid",
        type=(str, str),
        multiple=True,
        metavar="A B",
        help="A link that it must not have.",
    ),
    click.option(
        "--forbid-group",
        multiple=True,
        metavar="A,B,C",
        help="Columns of which no two may be linked; quote names with a comma.",
    ),
    missing_option("error", "drop", "state", "available"),
    table_options,
    click.option(
        "--nu", type=float, default=0.5, show_default=True, help="Factor of the backward step."
    ),
    click.option("--no-intercept", is_flag=True, help="Fit no intercepts."),
    click.option("--max-degree", type=int, metavar="D", help="At most D neighbours per column."),
)
THREADS_OPTION = click.option(
    "--jobs", "n_jobs", type=int, metavar="N", help="Threads; all cores by default."
)


#: The options that say when an edge is taken in; how a table is read and searched; and threads.
threshold_options = with_options(*THRESHOLD_OPTIONS)
search_options = with_options(*SEARCH_OPTIONS)
fit_options = with_options(*SEARCH_OPTIONS, THREADS_OPTION)


def read_and_configure(
    data: str,
    *,
    threshold: str,
    require: Sequence[tuple[str, str]],
    forbid: Sequence[tuple[str, str]],
    forbid_group: Sequence[str],
    no_intercept: bool,
    **options: Any,
) -> tuple[GreedyGraph, Any]:
    """An estimator that is still to be fitted, and the table to fit it to."""
    settings = take_settings(options)
    table = take_table(data, options)
    estimator = GreedyGraph(
        look_below(threshold),
        intercept=not no_intercept,
        require=list(require) or None,
        forbid=[*forbid, *map(_group, forbid_group)] or None,
        **settings,
        **options,
    )
    return estimator, table


def fit_file(data: str, *, weight_column: str | None, **options: Any) -> GreedyGraph:
    """A graph learned from a file, with the settings of `fit_options`."""
    estimator, table = read_and_configure(data, **options)
    with progress_bar("searching") as progress:
        return estimator.fit(table, sample_weight=weight_column, progress=progress)


def _group(text: str) -> tuple[str, ...]:
    """Names with commas between them; a name that has a comma stands in quotes."""
    try:
        cells = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error:  # a line break that is not in quotes
        cells = []
    if len(cells) < 2:
        raise SettingError(
            f"--forbid-group takes two names or more, as a,b,c, those with a comma or a line break "
            f"in quotes; not {text!r}."
        )
    return tuple(name.strip() for name in cells)
