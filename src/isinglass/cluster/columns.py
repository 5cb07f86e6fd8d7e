"""The core's work on a table, spread over workers by columns.

Every worker has the whole table, packed, and takes blocks of columns. What a column's search finds
depends on no other search, so the answer is the same, bit for bit, as that of one process.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.cluster.connecting import check_workers
from isinglass.cluster.shipping import ShippedTable
from isinglass.cluster.spreading import Spread, asked, held
from isinglass.cluster.working import Sealed, losses_block, search_block
from isinglass.core import Codes, Flat, Progress, Weights

#: Blocks of searches per worker: few enough that searches of a block can be counted together, and
#: so many that all workers are done at about the same time. Refits take less, and more equal, time.
BLOCKS, BLOCKS_OF_REFITS = 4, 2
#: Columns of a block at least, per worker's thread.
LEAST = 8
#: Tables that workers keep: filled ones and those of folds follow each other.
KEPT = 2


class ByColumns:
    """`search_columns` and `edge_losses` of the core, on the workers of a Dask client.

    Progress is that of whole blocks. Threads are those of each worker, or fewer if `n_jobs` is
    positive and below.
    """

    def __init__(self, client: Any, n_jobs: int | None = None) -> None:
        check_workers(client)
        self.client = client
        self.threads = n_jobs if n_jobs is not None and n_jobs > 0 else None
        self._tables: list[tuple[tuple[Codes, Weights], Any, Any]] = []

    def search_columns(
        self,
        codes: Codes,
        weights: Weights,
        n_states: Sequence[int],
        threshold: float,
        *,
        threads: int,
        n: float = 0.0,
        answers: Sequence[int] | None = None,
        targets: Sequence[int] | None = None,
        progress: Progress | None = None,
        **settings: Any,
    ) -> Flat:
        """Run Algorithm 1 for columns of a table."""
        table = self._table(codes, weights, n_states, n, answers)
        some = list(range(len(n_states)) if targets is None else targets)
        blocks = [{"targets": some[begin:end]} for begin, end in self._blocks(len(some), BLOCKS)]
        shared = {"threshold": threshold, **settings}
        return joined(self._run(search_block, table, shared, blocks, progress))

    def edge_losses(
        self,
        codes: Codes,
        weights: Weights,
        n_states: Sequence[int],
        targets: Sequence[int],
        neighbours: Sequence[Sequence[int]],
        *,
        left_out: Sequence[Sequence[int]],
        threads: int,
        n: float = 0.0,
        small: Collection[tuple[int, int]] = (),
        progress: Progress | None = None,
        **settings: Any,
    ) -> Flat:
        """Fit columns with and without some neighbours."""
        table = self._table(codes, weights, n_states, n)
        blocks = []
        for begin, end in self._blocks(len(targets), BLOCKS_OF_REFITS):
            own = set(targets[begin:end])
            block = {"targets": targets[begin:end], "neighbours": neighbours[begin:end]}
            block |= {"left_out": left_out[begin:end]}
            blocks.append({**block, "small": {pair for pair in small if pair[0] in own}})
        found = self._run(losses_block, table, settings, blocks, progress)
        nothing = np.empty(0)
        return {
            name: np.concatenate([nothing, *(one[name] for one in found)])
            for name in ("loss", "without", "expected")
        }

    def _run(
        self,
        work: Callable[..., Any],
        table: Any,
        settings: Mapping[str, Any],
        blocks: Sequence[Mapping[str, Any]],
        progress: Progress | None,
    ) -> list[Flat]:
        """The results of blocks, in their order."""
        shared: Any = Sealed({"threads": self.threads, **settings})
        if any(settings.get(name) is not None for name in ("scales", "forms")):  # large ones
            shared = held(self.client, shared, "settings")
        calls = [(table, shared, Sealed(block)) for block in blocks]
        found: dict[int, Flat] = {}

        def report() -> None:
            if progress is not None:
                progress(sum(len(blocks[number]["targets"]) for number in found))

        for number, result in Spread(self.client, work, calls).results(report):
            found[number] = result
            report()
        return [found[number] for number in range(len(blocks))]

    def _blocks(self, columns: int, count: int) -> Iterator[tuple[int, int]]:
        """From which to which column each block goes."""
        threads: Mapping[str, int] = asked(self.client.nthreads)
        even = -(-columns // (count * max(len(threads), 1)))
        size = max(even, LEAST * max(threads.values(), default=1))
        return ((begin, min(begin + size, columns)) for begin in range(0, columns, size))

    def _table(
        self,
        codes: Codes,
        weights: Weights,
        n_states: Sequence[int],
        n: float,
        answers: Sequence[int] | None = None,
    ) -> Any:
        """The table as the workers know it; sent when it is first asked for."""
        arrays = codes, weights
        about = tuple(n_states), n, None if answers is None else tuple(answers)
        for known, known_about, future in self._tables:
            if about == known_about and all(map(_same, arrays, known)):
                return future
        shipped = ShippedTable.of(codes, weights, n_states, n, answers)
        future = held(self.client, shipped, "table")
        self._tables = [*self._tables[1 - KEPT :], (arrays, about, future)]
        return future


def _same(one: NDArray[Any], other: NDArray[Any]) -> bool:
    return one is other or np.array_equal(one, other)


def joined(parts: Sequence[Flat]) -> Flat:
    """The flat arrays of blocks of columns as those of all: see ``core/search/flat.hpp``."""
    begins = {"fit_begin": "loss", "support_begin": "support", "number_begin": "numbers"}
    whole: Flat = {}
    for name in parts[0]:
        arrays = [part[name] for part in parts]
        if name in begins:
            arrays = [arrays[0][:1], *_shifted(arrays, [len(part[begins[name]]) for part in parts])]
        whole[name] = np.concatenate(arrays)
    return whole


def _shifted(begins: Sequence[NDArray[Any]], lengths: Sequence[int]) -> Iterator[NDArray[Any]]:
    before = 0
    for begin, length in zip(begins, lengths, strict=True):
        yield begin[1:] + before
        before += length
