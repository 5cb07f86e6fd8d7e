"""Dask's data frames and arrays: learned here where they fit, else packed where they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any

import numpy as np

from isinglass.cluster.connecting import check_workers
from isinglass.cluster.partitions import (
    Seen,
    example_of,
    look_at,
    pack_part,
    partitions_of,
    without_rows,
)
from isinglass.cluster.shards import RowsOnWorkers, Shard
from isinglass.cluster.spreading import asked, held, result_of
from isinglass.cluster.working import SHARE, gigabytes, memory_limit
from isinglass.core.elsewhere import MOST_WEIGHT, Chunk, digits_of
from isinglass.errors import BadWeights, ClusterError, Setting, SettingError
from isinglass.table import Note, Table
from isinglass.table.column import about_column, about_rows
from isinglass.table.packed.api import unpacked
from isinglass.table.rows import refuse_missing
from isinglass.table.table import table_elsewhere

#: The share of the memory here that a collection may take when it is computed.
SHARE_HERE = 0.25
#: Shards per worker of a packed table, so that a worker that dies costs others little each.
SHARDS = 4


def is_collection(X: Any) -> bool:
    """Whether this is one of Dask's."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def present_client(client: Any) -> Any:
    """The client that is given, or else the present one of Dask."""
    if client is not None:
        return client
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        raise ClusterError(
            "a collection of Dask needs a client; make one first (distributed.Client(address)), "
            "or compute the collection: fit(X.compute())."
        ) from None


def learn_where_it_fits(
    X: Any, client: Any, *, estimator: Any, sample_weight: Any, clusters: Any
) -> Any:
    """A Dask collection as something to fit: computed here, or a table whose rows stay there.

    It is computed where it fits here and, packed, on every worker; then workers take columns. Else
    its partitions are packed where they are, and workers count rows.
    """
    check_workers(client)
    if sample_weight is not None and not isinstance(sample_weight, str):
        raise SettingError(
            *(Setting("sample_weight"), " of a Dask collection must be the name of a column."),
        )
    parts = partitions_of(X)
    about = {"weight": sample_weight, "missing": estimator.missing}
    seen: list[Seen] = list(map(result_of, on_parts(client, parts, look_at, **about)))
    rows = sum(one.rows for one in seen)
    columns = len(next((one.values for one in seen if one.rows), ()))
    if not rows or fits(client, sum(one.size for one in seen), rows, columns):
        return result_of(client.compute(X))
    refuse_by_rows(estimator, clusters, seen)
    names = [one for one in X.columns if one != sample_weight] if hasattr(X, "columns") else None
    like = estimator.encode(example_of(seen, names))
    digits = digits_of(np.array([max(one.most_weight for one in seen)]))
    shards = on_parts(client, parts, pack_part, like=like, n_planes=digits, **about)
    return table_there(client, shards, like, estimator, rows=rows, digits=digits)


def give_rows(table: Table, client: Any) -> Table:
    """A table whose packed rows are here, for workers: its codes, if all have room, or shards."""
    rows = table.elsewhere
    if rows is None or rows.chunks is None:
        return table
    check_workers(client)
    cells = rows.rows * len(table.columns)
    if fits(client, cells, rows.rows, len(table.columns)):
        return unpacked(table, rows.rows, rows.chunks())
    size = max(cells // (8 * SHARDS * max(len(asked(client.nthreads)), 1)), 1)
    shards = [held(client, shard, "shard") for shard in _shards(rows.chunks(), size)]
    there = RowsOnWorkers(client, shards, rows.n_states)
    return replace(table, elsewhere=there.elsewhere(rows.counts, rows.rows, rows.n_planes))


def _shards(chunks: Iterable[Chunk], size: float) -> Iterator[Shard]:
    """Chunks together, until they have so many bytes; nobody asks what else is known of them."""
    some: list[Chunk] = []
    for chunk in chunks:
        some.append(chunk)
        if sum(each.nbytes for each in some) >= size:
            yield Shard(some, np.zeros(0), sum(each.rows for each in some), b"")
            some = []
    if some:
        yield Shard(some, np.zeros(0), sum(each.rows for each in some), b"")


def on_parts(client: Any, parts: Sequence[Any], work: Any, **settings: Any) -> list[Any]:
    """Futures of some work on each partition."""
    from dask.delayed import delayed

    work = delayed(partial(work, **settings), pure=False)
    futures: list[Any] = client.compute([work(part) for part in parts])
    return futures


def fits(client: Any, size: float, rows: int, columns: int) -> bool:
    """Whether a table fits here and, as codes and bits, on every worker."""
    import psutil

    limits = [float(limit) for limit in asked(lambda: client.run(memory_limit)).values() if limit]
    needs = 1.5 * rows * columns
    here = SHARE_HERE * float(psutil.virtual_memory().available)
    return size <= here and needs <= SHARE * min(limits, default=np.inf)


def refuse_by_rows(estimator: Any, clusters: Any, seen: Sequence[Seen]) -> None:
    """Refuse what cannot be done where every worker has some rows only."""
    asked_for = {
        "clusters": clusters is not None,
        "adjust": bool(getattr(estimator, "adjust", None)),
        "bins": any(isinstance(cut, int) for cut in (estimator.bins or {}).values()),
        "n_eff": estimator.n_eff != "sum",
        "missing": estimator.missing in ("model", "available"),
    }
    size = gigabytes(sum(one.size for one in seen))
    for name in (name for name, is_so in asked_for.items() if is_so):
        raise SettingError(
            f"this collection of {size} is counted where its partitions are, and ",
            *(Setting(name), " needs all rows in one place; leave it out, or use larger workers."),
        )
    if not all(one.whole and one.most_weight <= MOST_WEIGHT for one in seen):
        raise BadWeights(
            "weights must be whole numbers where rows are counted on several workers; round them, "
            "or use larger workers."
        )
    missing: dict[str, int] = {}
    for one in seen:
        for name, count in one.missing.items():
            missing[name] = missing.get(name, 0) + count
    if missing and estimator.missing == "error":
        complete, rows = sum(one.complete for one in seen), sum(one.rows for one in seen)
        raise refuse_missing(missing, complete, rows, in_memory=False)


def table_there(
    client: Any, shards: Sequence[Any], like: Table, estimator: Any, *, rows: int, digits: int
) -> Table:
    """A table whose rows, some of which may have been dropped, are shards on the workers."""
    asked_for = [client.submit(without_rows, shard, pure=False) for shard in shards]
    about: list[Shard] = list(map(result_of, asked_for))
    counts = np.sum([one.counts for one in about], axis=0)
    kept = sum(one.rows for one in about)
    settings = ("missing", "n_eff", "bins", "high", "adjust")
    return table_elsewhere(
        RowsOnWorkers(client, shards, like.n_states).elsewhere(counts, kept, digits),
        like.columns,
        fingerprint=_fingerprint(like, about),
        library=like.library,
        notes=tuple(_notes(like, counts, rows, rows - kept)),
        dropped=rows - kept,
        made_with={name: getattr(estimator, name, None) for name in settings},
    )


def _fingerprint(like: Table, about: Sequence[Shard]) -> str:
    content = sha256(repr([(column.name, column.states) for column in like.columns]).encode())
    for one in about:
        content.update(one.digest)
    return f"sha256:{content.hexdigest()}"


def _notes(like: Table, counts: Any, rows: int, dropped: int) -> list[Note]:
    notes = list(about_rows(like.columns, float(counts[: like.n_states[0]].sum())))
    if dropped:
        done = f"{dropped:,} of {rows:,} rows dropped"
        notes.append(Note(None, "missing values", done))
    begin = np.cumsum([0, *like.n_states])
    for at, column in enumerate(like.columns):
        notes.extend(about_column(column, counts[begin[at] : begin[at + 1]]))
    return notes
