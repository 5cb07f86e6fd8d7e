"""All reasons why a table is refused, so that nobody meets them one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from isinglass.core.gate import MAX_STATES
from isinglass.errors import (
    IsinglassError,
    Part,
    SettingError,
    SeveralProblems,
    TableError,
    Wording,
)
from isinglass.table.cells import open_source
from isinglass.table.clusters import split_clusters
from isinglass.table.coding.bins import Cuts, bin_factor, check_bins, cut_points
from isinglass.table.coding.factor import Factor, factorise
from isinglass.table.coding.states import check_finite
from isinglass.table.column import by_column
from isinglass.table.limits import check_limits
from isinglass.table.rows import settle_missing, split_weights

#: Where to go on; the command line says it with the name of the file.
_INSPECT = Wording(" isinglass.inspect(table) shows every column, and settings that work.", "")


def refusal(
    first: TableError,
    X: Any,
    about_rows: tuple[Any, Any],
    *,
    missing: str,
    bins: Any,
    max_states: int,
) -> TableError:
    """The error to raise where a table is refused: the first one, or all there are.

    `about_rows` are the weights and the clusters.
    """
    try:
        errors = list(_reasons(X, about_rows, missing, bins, max_states))
    except IsinglassError:  # nothing can be said of other columns
        errors = []
    if len(errors) < 2:
        return first
    parts: list[Part] = [f"the table is refused for {len(errors)} reasons."]
    for number, error in enumerate(errors, start=1):
        parts += [f" ({number}) ", *error.message]
    return SeveralProblems(*parts, _INSPECT, errors=tuple(errors))


def _reasons(
    X: Any, about_rows: tuple[Any, Any], missing: str, bins: Any, max_states: int
) -> Iterator[TableError]:
    source = open_source(X)
    columns, weights = split_weights(source, about_rows[0])
    columns, _ = split_clusters(source, columns, about_rows[1])
    exists = weights > 0
    source, weights = source.rows(exists), weights[exists]
    names = [source.names[position] for position in columns]
    by_name = by_column("bins", bins, names, unnamed=source.library is None)
    asked = check_bins(by_name, min(int(max_states), MAX_STATES))
    factors = [factorise(source.names[at], source.cells(at)) for at in columns]
    try:
        settle_missing(names, factors, missing)
    except TableError as error:
        yield error
    finite: dict[str, Factor] = {}
    for name, factor in zip(names, factors, strict=True):
        try:
            check_finite(name, factor)
            finite[name] = _binned(name, factor, weights, asked)
        except SettingError:  # cannot be binned: another kind of error, which is raised alone
            finite[name] = factor
        except TableError as error:
            yield error
    if finite:
        yield from _limits(list(finite), list(finite.values()), max_states, missing)


def _binned(name: str, factor: Factor, weights: Any, bins: Mapping[str, int | Cuts]) -> Factor:
    if name not in bins:
        return factor
    return bin_factor(factor, cut_points(name, factor, weights, bins[name]))


def _limits(
    names: Sequence[str], factors: Sequence[Factor], max_states: int, missing: str
) -> Iterator[TableError]:
    try:
        check_limits(names, factors, max_states, missing)
    except TableError as error:
        yield error
