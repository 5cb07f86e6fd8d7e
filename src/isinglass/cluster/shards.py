"""The rows of a table where its partitions are: every worker counts its own, and counts add.

A search that asks for rows that are elsewhere asks for sums over rows. So each batch of questions
is one round: it goes to all workers, and what comes back from them are counts, which are whole
numbers and are added in the order of the shards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from isinglass.cluster.spreading import Spread, asked
from isinglass.cluster.working import Sealed, Unwanted, alone, threads_of, wanted
from isinglass.core.elsewhere import (
    TOGETHER,
    Answers,
    Chunk,
    GivenUp,
    Questions,
    RowsElsewhere,
    answer_chunks,
)
from isinglass.errors import ClusterError

#: How many searches wait for each other at most: each is a thread, and takes memory per column.
MOST_TOGETHER = 1024
#: Bytes per column and search, roughly; and what all searches together may take.
BYTES, MEMORY = 100, 2**30


@dataclass(frozen=True, eq=False)
class Shard:
    """Some rows of a table, packed in chunks, with the weight of each state among them."""

    chunks: Sequence[Chunk]
    counts: NDArray[np.float64]
    rows: int
    digest: bytes

    def __sizeof__(self) -> int:
        """What Dask is to count."""
        return sum(chunk.nbytes for chunk in self.chunks)


class RowsOnWorkers:
    """Who answers the questions of searches: workers that hold shards.

    Attributes
    ----------
    rounds, sent : int
        Batches of questions so far, and the bytes of all that came back.
    """

    def __init__(self, client: Any, shards: Sequence[Any], n_states: Sequence[int]) -> None:
        self.client, self.shards, self.n_states = client, list(shards), tuple(n_states)
        self.rounds = self.sent = 0
        self._weight = 0.0
        self._stopped = Event()
        self._workers: frozenset[str] = frozenset()
        self._groups: dict[str | None, list[Any]] = {}

    def elsewhere(self, counts: NDArray[np.float64], rows: int, n_planes: int) -> RowsElsewhere:
        """The rows as searches know them."""
        self._weight = float(counts[: self.n_states[0]].sum())
        p = len(self.n_states)
        together = max(TOGETHER, min(p, MOST_TOGETHER, MEMORY // (BYTES * max(p, 1))))
        more = n_planes, together
        return RowsElsewhere(self.n_states, counts, rows, self.answer, self._stopped.set, *more)

    def answer(self, questions: Questions) -> Answers:
        """The sum of the answers of all shards: one round."""
        self._stopped.clear()
        groups = self._by_holder()
        batch = Sealed((self.n_states, dict(questions), self._weight))
        calls = [(shards, batch) for shards in groups.values()]
        spread = Spread(self.client, answer_shards, calls, homes=list(groups))
        found: dict[int, Answers] = dict(spread.results(self._go_on))
        self.rounds += 1
        self.sent += sum(answers.nbytes for answers in found.values())
        total = found[0]
        for number in range(1, len(calls)):
            total = total + found[number]
        return total

    def _go_on(self) -> None:
        if self._stopped.is_set():
            raise GivenUp

    def _by_holder(self) -> Mapping[str | None, list[Any]]:
        """The shards of each worker; asked again when workers come or go."""
        workers = frozenset(asked(self.client.nthreads))
        if workers != self._workers or not self._groups:
            holders = asked(lambda: self.client.who_has(self.shards))
            self._groups = {}
            for shard in self.shards:
                holder = next(iter(holders.get(shard.key, ())), None)
                self._groups.setdefault(holder, []).append(shard)
            self._workers = workers
        return self._groups

    def __reduce__(self) -> NoReturn:
        raise ClusterError(
            "the rows of this table are on the workers of a cluster and cannot be copied; save "
            "the record of the fit instead: est.record().save(path)."
        )


def answer_shards(key: str, shards: Sequence[Shard], batch: Sealed) -> Answers | None:
    """The sum of the answers of some shards, which are here."""
    n_states, questions, weight = batch.content
    chunks = [chunk for shard in shards for chunk in shard.chunks]
    stopped = Event()
    try:
        with wanted(key) as (worker, check), alone(check):

            def watch(done: int) -> None:
                check()

            return answer_chunks(
                chunks.__getitem__,
                len(chunks),
                n_states,
                questions,
                weight=weight,
                threads=threads_of(worker, None),
                stopped=stopped,
                watch=watch,
            )
    except Unwanted:
        return None
