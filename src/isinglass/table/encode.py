"""From any input to a `Table`, one step after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.core import cores, factorise_integers
from isinglass.core.gate import MAX_STATES
from isinglass.errors import Setting, SettingError, TableError
from isinglass.parameters import check
from isinglass.table.cells import array_names
from isinglass.table.clusters import settle_clusters
from isinglass.table.coding.adjusted import Adjusted, about_adjusted, adjusted_names, measured_bins
from isinglass.table.coding.bins import Cuts, bin_factor, bin_labels, check_bins, cut_points
from isinglass.table.coding.factor import Codes, Factor
from isinglass.table.coding.states import learn_states
from isinglass.table.column import RARE, Column, Note, about_column, about_rows, by_column
from isinglass.table.limits import check_limits
from isinglass.table.refusal import refusal
from isinglass.table.rows import Rows, read_rows, rescale, stack
from isinglass.table.table import Table
from isinglass.wording import counted, listing, quoted


def encode(
    X: Any,
    sample_weight: ArrayLike | str | None = None,
    clusters: ArrayLike | str | None = None,
    *,
    missing: str = "error",
    n_eff: str | float = "sum",
    bins: Mapping[Any, int | Sequence[float]] | None = None,
    max_states: int = 32,
    high: Mapping[Any, Any] | None = None,
    adjust: Sequence[Any] | None = None,
) -> Table:
    """Turn any discrete table into codes; TableError or SettingError if that cannot be.

    The settings are those of `GreedyGraph`. X is a 2-D array, a list of rows, or a pandas, polars
    or pyarrow table; None, NaN and the empty string are missing. `sample_weight` or `clusters` that
    are text name the column of the weights or labels, which is then no column of the table.

    >>> table = encode([["yes", 31], ["no", 45], ["yes", 62]], bins={"x1": 2})
    >>> table.codes
    array([[1, 0],
           [0, 0],
           [1, 1]], dtype=uint8)
    >>> [column.states for column in table.columns]
    [('no', 'yes'), ('<= 45', '> 45')]
    """
    check("missing", missing)
    check("n_eff", n_eff)
    check("max_states", max_states)
    if isinstance(X, Table):
        settled = {"missing": "error", "n_eff": "sum", "bins": None, "high": None, "adjust": None}
        given = {"missing": missing, "n_eff": n_eff, "bins": bins, "high": high, "adjust": adjust}
        about_rows = {"sample_weight": sample_weight, "clusters": clusters}
        return _settled(X, settled, given, about_rows)
    plain = sample_weight is None and clusters is None and adjust is None
    if plain and n_eff == "sum" and bins is None and high is None:
        table = encode_integers(X, max_states)
        if table is not None:
            return table
    used: Mapping[Any, Any] | None = bins
    try:
        rows = read_rows(X, sample_weight, missing, clusters)
        weights = rescale(rows.weights, n_eff)
        groups, odd = settle_clusters(rows.clusters, rows.weights, copies=n_eff == "sum")
        unnamed = rows.library is None
        most = min(int(max_states), MAX_STATES)
        aside = adjusted_names(adjust, rows.names, unnamed=unnamed)
        asked = check_bins(by_column("bins", bins, rows.names, unnamed=unnamed), most)
        asked = used = {**measured_bins(rows, aside, float(weights.sum()), most), **asked}
        highs = by_column("high", high, rows.names, unnamed=unnamed)
        rows = replace(rows, weights=weights, clusters=groups, notes=(*rows.notes, *odd))
        rows, cuts = _bin(rows, asked)
        check_limits(rows.names, rows.factors, max_states, missing)
    except TableError as error:
        settings: dict[str, Any] = {"missing": missing, "bins": used, "max_states": max_states}
        raise refusal(error, X, (sample_weight, clusters), **settings) from None
    return replace(_table(rows, cuts, missing, highs, aside), design=n_eff == "design")


def _settled(
    table: Table, settled: Mapping[str, Any], given: Mapping[str, Any], about: Mapping[str, Any]
) -> Table:
    """A table that is encoded already, unless something is asked of it that has to be done before.

    What its settings were when it was encoded may be said once more.
    """
    known = table.made_with or settled
    for name, value in given.items():
        if value not in (settled[name], known.get(name)):
            raise _too_late(name)
    for name, value in about.items():
        if value is not None and not (isinstance(value, str) and value == known.get(name)):
            raise _too_late(name)
    return table


def _too_late(name: str) -> SettingError:
    return SettingError(
        Setting(name),
        " cannot be changed for a table that is packed already; pack it again with this setting.",
    )


def _bin(rows: Rows, asked: Mapping[str, int | Cuts]) -> tuple[Rows, dict[str, Cuts]]:
    factors = dict(zip(rows.names, rows.factors, strict=True))
    cuts = {
        name: cut_points(name, factors[name], rows.weights, wanted)
        for name, wanted in asked.items()
    }
    binned = {name: bin_factor(factors[name], cuts[name]) for name in cuts}
    notes = [
        note for name in cuts for note in about_bins(name, asked[name], cuts[name], binned[name])
    ]
    factors.update(binned)
    return replace(rows, factors=tuple(factors.values()), notes=(*rows.notes, *notes)), cuts


def about_bins(name: str, asked: int | Cuts, cuts: Cuts, binned: Factor) -> Iterator[Note]:
    """What is odd about the bins of a column."""
    made = len(cuts) + 1
    if isinstance(asked, int):
        if made < asked:
            done = (
                f"{asked} were asked for, {counted(made, 'bin')} made: values repeat too often for "
                "more"
            )
            yield Note(name, "bins merged", done)
        return
    empty = [quoted(label) for label in bin_labels(cuts) if label not in set(binned.labels)]
    if empty:
        yield Note(name, "empty bins", f"no row is in {listing(empty)}; empty bins are not states")


def _table(
    rows: Rows,
    cuts: dict[str, Cuts],
    missing: str,
    highs: Mapping[str, Any],
    aside: Sequence[str],
) -> Table:
    learned = [
        learn_states(name, factor, missing, highs)
        for name, factor in zip(rows.names, rows.factors, strict=True)
    ]
    every = tuple(replace(column, cuts=cuts.get(column.name)) for column, _ in learned)
    own = [at for at, name in enumerate(rows.names) if name not in aside]
    columns = tuple(every[at] for at in own)
    codes = stack([learned[at][1] for at in own])
    seen = [
        np.bincount(codes[:, position], rows.weights, minlength=len(column.states))
        for position, column in enumerate(columns)
    ]
    odd = [
        note for column, of in zip(columns, seen, strict=True) for note in about_column(column, of)
    ]
    kept = [note for note in rows.notes if note.column not in aside]
    notes = (*kept, *about_rows(columns, float(rows.weights.sum())), *odd)
    by_model = missing == "model"
    available = (missing == "available" or by_model) and any(
        column.has_missing_state for column in columns
    )
    table = Table(
        codes,
        columns,
        rows.weights,
        rows.library,
        notes,
        available,
        kept=rows.kept,
        dropped=rows.dropped,
        clusters=rows.clusters,
        by_model=by_model and available,
    )
    others = [at for at in range(len(every)) if at not in own]
    return table if not others else _beside(table, others, every, learned)


def _beside(
    table: Table,
    positions: Sequence[int],
    columns: Sequence[Column],
    learned: Sequence[tuple[Column, Codes]],
) -> Table:
    """A table with some more columns, to adjust for."""
    beside = Adjusted(
        stack([learned[at][1] for at in positions]),
        tuple(columns[at] for at in positions),
        tuple(positions),
    )
    return replace(table, adjusted=beside, notes=(*table.notes, *about_adjusted(beside)))


def encode_integers(X: Any, max_states: int) -> Table | None:
    """Encode a whole array of integers or booleans; None if it is not one, or not discrete."""
    if not isinstance(X, np.ndarray) or X.ndim != 2 or 0 in X.shape or type(X) is not np.ndarray:
        return None
    if X.dtype.str not in ("|b1", "|i1", "|u1", "<i2", "<i4", "<i8"):
        return None
    found = factorise_integers(X, cores())
    if found is None:
        return None
    codes, least, counts = found
    counts = counts[:, : np.flatnonzero(counts.any(axis=0))[-1] + 1]
    seen = counts > 0
    n_states = seen.sum(axis=1)
    if n_states.max() > max_states:
        return None
    columns = _columns(least, seen, X.dtype == bool)
    odd = np.flatnonzero((n_states == 1) | (seen & (counts <= RARE)).any(axis=1))
    notes = [note for j in odd for note in about_column(columns[j], counts[j][seen[j]])]
    notes = [*about_rows(columns, float(len(X))), *notes]
    return Table(codes, columns, np.ones(len(X)), None, tuple(notes))


def _columns(
    least: NDArray[np.int64], seen: NDArray[np.bool_], boolean: bool
) -> tuple[Column, ...]:
    """The columns; most of them share their states, which are then made once."""
    known: dict[tuple[int, bytes], tuple[Any, ...]] = {}
    columns = []
    width, marks = seen.shape[1], seen.tobytes()
    for j, (name, first) in enumerate(zip(array_names(len(least)), least.tolist(), strict=True)):
        key = first, marks[j * width : (j + 1) * width]
        if key not in known:
            values = (first + np.flatnonzero(seen[j])).tolist()
            known[key] = tuple(map(bool, values)) if boolean else tuple(values)
        columns.append(Column(name, known[key], ordered=True))
    return tuple(columns)
