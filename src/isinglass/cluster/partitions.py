"""What workers do with the partitions of a collection: look what is in them, and pack them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from isinglass.cluster.shards import Shard
from isinglass.core.elsewhere import CHUNK_ROWS, pack_chunk, state_counts
from isinglass.errors import SettingError
from isinglass.table import Table

#: Distinct values of a column that are collected; one with more is refused.
MOST_VALUES = 1000


@dataclass(frozen=True)
class Seen:
    """What a partition has: rows, bytes, the distinct values of its columns, missing ones."""

    rows: int
    size: float
    values: Any
    missing: Mapping[str, int]
    complete: int
    most_weight: float
    whole: bool


def partitions_of(X: Any) -> list[Any]:
    """The partitions of a frame, or the blocks of rows of an array, as delayed objects."""
    if hasattr(X, "columns"):
        return list(X.to_delayed())
    if X.ndim != 2:
        raise SettingError(f"a table has rows and columns; the array has {X.ndim} dimensions.")
    return list(X.rechunk({1: -1}).to_delayed().ravel())


def look_at(part: Any, weight: str | None, missing: str) -> Seen:
    """What one partition has."""
    columns, weights = _split(part, weight)
    size = float(getattr(part, "nbytes", 0) or part.memory_usage(deep=True).sum())
    gone = _missing(columns)
    kept = np.ones(len(columns), dtype=bool) if weights is None else np.asarray(weights) > 0
    missing_of = {str(name): int(of[kept].sum()) for name, of in gone.items() if of[kept].any()}
    complete = kept & ~np.logical_or.reduce([kept & False, *gone.values()])
    rows = complete if missing == "drop" else kept
    numbers = np.ones(1) if weights is None else np.asarray(weights, dtype=np.float64)
    whole = bool(np.array_equal(numbers, np.rint(numbers)))
    parts = missing_of, int(complete.sum()), float(numbers.max(initial=1)), whole
    return Seen(int(kept.sum()), size, _distinct(columns, rows), *parts)


def _split(part: Any, weight: str | None) -> tuple[Any, Any]:
    if weight is None:
        return part, None
    return part.drop(columns=[weight]), part[weight].to_numpy()


def _missing(columns: Any) -> dict[Any, Any]:
    if hasattr(columns, "columns"):
        return {name: columns[name].isna().to_numpy() for name in columns.columns}
    gone = np.zeros(columns.shape, dtype=bool)
    if columns.dtype.kind == "f":
        gone = np.isnan(columns)
    if columns.dtype.kind == "O":
        gone = np.vectorize(_is_missing, otypes=[bool])(columns)
    return {f"x{j}": gone[:, j] for j in range(columns.shape[1])}


def _is_missing(value: Any) -> bool:
    return value is None or bool(value != value)  # noqa: PLR0124 (NaN)


def _distinct(columns: Any, rows: Any) -> Any:
    """The distinct values of each column in some rows, a column each."""
    if hasattr(columns, "columns"):
        return [columns[name][rows].drop_duplicates()[:MOST_VALUES] for name in columns.columns]
    if columns.dtype.kind == "O":
        each = (list(dict.fromkeys(columns[rows, j].tolist())) for j in range(columns.shape[1]))
        return [np.array(values, dtype=object)[:MOST_VALUES] for values in each]
    return [np.unique(columns[rows, j])[:MOST_VALUES] for j in range(columns.shape[1])]


def example_of(seen: Sequence[Seen], names: Sequence[Any] | None) -> Any:
    """A small table of the same columns, with each of their values: its states are the table's."""
    some = [one.values for one in seen if one.rows]
    if names is None:
        arrays = [_joined_arrays([values[j] for values in some]) for j in range(len(some[0]))]
        longest = max(map(len, arrays))
        return np.column_stack([np.resize(array, longest) for array in arrays])
    import pandas as pd

    columns = [_joined_series([values[j] for values in some]) for j in range(len(names))]
    longest = max(map(len, columns))
    padded = [
        column.iloc[np.resize(np.arange(len(column)), longest)].reset_index(drop=True)
        for column in columns
    ]
    frame = pd.concat(padded, axis=1)
    frame.columns = list(names)
    return frame


def _joined_arrays(parts: Sequence[Any]) -> Any:
    values = np.concatenate(parts)
    if values.dtype.kind == "O":
        return np.array(list(dict.fromkeys(values.tolist())), dtype=object)
    return np.unique(values)


def _joined_series(parts: Sequence[Any]) -> Any:
    import pandas as pd

    first = parts[0].dtype
    if isinstance(first, pd.CategoricalDtype) and any(part.dtype != first for part in parts):
        joined = pd.api.types.union_categoricals(parts, ignore_order=True)
        return pd.Series(joined).drop_duplicates()
    return pd.concat(parts).drop_duplicates()


def pack_part(part: Any, like: Table, weight: str | None, missing: str, n_planes: int) -> Shard:
    """Pack the rows of one partition in the codes of a table."""
    n_states = like.n_states
    nothing = np.zeros(sum(n_states))
    if not len(part):
        return Shard((), nothing, 0, b"")
    table = like.encode_like(part, weight, missing)
    digest = sha256()
    chunks = []
    for begin in range(0, len(table.codes), CHUNK_ROWS):
        rows = slice(begin, begin + CHUNK_ROWS)
        codes, weights = table.codes[rows], table.weights[rows]
        digest.update(np.ascontiguousarray(codes).tobytes() + weights.tobytes())
        chunks.append(pack_chunk(codes, weights, n_states, n_planes))
    counts = sum((state_counts(chunk, n_states) for chunk in chunks), nothing)
    return Shard(chunks, counts, len(table.codes), digest.digest())


def without_rows(shard: Shard) -> Shard:
    """What is to be known of a shard: all but its rows."""
    return Shard((), shard.counts, shard.rows, shard.digest)
