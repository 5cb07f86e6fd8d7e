"""Rows that are not in one array: packed in chunks, whose answers to questions add up.

A search asks its table questions, and each is a sum over rows (``core/counting/questions.hpp``). So
rows may be in a file, or on other machines: whoever holds some of them answers a batch of questions
for these, and the answers are added up. They are whole numbers, and so are weights, so that the sum
is exact, and a search finds what it would find in one array, bit for bit.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.core import _core
from isinglass.core.gate import checked_table

#: A batch of questions as flat arrays, by name: they can be sent anywhere.
Questions = Mapping[str, NDArray[Any]]
Answers = NDArray[np.uint64] | NDArray[np.uint32]

#: Rows of a chunk: bits of a state are 4 KB, so that those of many states stay in the cache.
CHUNK_ROWS = 32_768
#: How many searches wait for each other before a batch of questions is asked.
TOGETHER = 64
#: The same where address space is limited: each is a thread, for which the system reserves 70 MB.
FEW_TOGETHER = 8
#: The largest whole weight of a packed row.
MOST_WEIGHT = 2**31 - 1


class GivenUp(Exception):
    """Answers are no longer wanted."""


class TooManyCells(Exception):
    """The neighbours of a column, by number, have more combinations of states than are counted."""

    def __init__(self, column: int) -> None:
        super().__init__(f"more than {MOST_CELLS:,} combinations of the neighbours of {column}")
        self.column = column


#: Combinations of states of a column's neighbours, where rows are elsewhere.
MOST_CELLS = 2**20


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some rows of a table, packed.

    Attributes
    ----------
    bits : (states, words) array of uint64
        Which rows have each state but the first of each column, column by column; row i is bit
        i % 64 of word i // 64. There are ``words_for(rows)`` words.
    planes : (digits, words) array of uint64
        Which rows have each binary digit of their weight; none if all weights are one.
    rows : int
    """

    bits: NDArray[np.uint64]
    planes: NDArray[np.uint64]
    rows: int

    @property
    def nbytes(self) -> int:
        """Bytes of all bits."""
        return self.bits.nbytes + self.planes.nbytes


@dataclass(frozen=True, eq=False)
class RowsElsewhere:
    """What a search knows of a table whose rows somebody else holds.

    Attributes
    ----------
    n_states : sequence of int
        Of each column.
    counts : array
        The weight of the rows of each state, all states of the first column first.
    rows : int
    answer : function of a batch of questions
        Returns the sum of the answers of all rows; see `answer_chunk`. It is called from one thread
        at a time, which may be any.
    stop : function without arguments
        Called from the main thread when answers are no longer wanted, on Ctrl-C: `answer` may raise
        what it likes from then on.
    n_planes : int
        Binary digits of the weights; 0 if all weights are one.
    together : int
        How many searches wait for each other before a batch is asked. More of them need fewer
        batches, and a thread each.
    start : function without arguments
        Called before new work begins, also after `stop`.
    chunks : function without arguments, optional
        The rows themselves, chunk by chunk, if they can be had here.
    """

    n_states: Sequence[int]
    counts: NDArray[np.float64]
    rows: int
    answer: Callable[[Questions], Answers]
    stop: Callable[[], None] = lambda: None
    n_planes: int = 0
    together: int = TOGETHER
    start: Callable[[], None] = lambda: None
    chunks: Callable[[], Iterator[Chunk]] | None = None

    def in_core(self) -> _core.Elsewhere:
        """The same as the core knows it, for new work."""
        self.start()
        return _core.make_elsewhere(
            self.rows,
            np.ascontiguousarray(self.counts, dtype=np.float64),
            self.n_planes,
            lambda questions: np.ascontiguousarray(self.answer(questions), dtype=np.uint64),
            self.stop,
            self.together,
        )


def searches_together() -> int:
    """How many searches are to wait for each other in this process."""
    try:
        import resource
    except ImportError:  # not on Windows
        return TOGETHER
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return TOGETHER if limit == resource.RLIM_INFINITY else FEW_TOGETHER


def words_for(rows: int) -> int:
    """Words of 64 bits for so many rows; a multiple of eight, as wide instructions take them.

    >>> words_for(1), words_for(32_768)
    (8, 512)
    """
    return -(-rows // 512) * 8


def pack_chunk(codes: Any, weights: Any, n_states: Sequence[int], n_planes: int = 0) -> Chunk:
    """Pack rows of codes with whole weights; as many digits of the weights as asked for, or more.

    >>> chunk = pack_chunk(np.array([[0, 2], [1, 0], [1, 1]]), np.ones(3), [2, 3])
    >>> chunk.bits[:, 0].tolist()
    [6, 4, 1]
    """
    codes, states, checked = checked_table(codes, n_states, weights)
    digits = max(digits_of(checked), n_planes)
    whole = (np.ones(len(codes)) if not len(checked) else checked).astype(np.int64)
    planes = np.empty((digits, len(codes)), dtype=np.uint8)
    for digit in range(digits):
        planes[digit] = whole >> digit & 1
    both = np.full(digits, 2, dtype=np.int32)
    words = words_for(len(codes))
    bits = _core.pack(codes, states).reshape(-1, words)
    return Chunk(bits, _core.pack(planes.T, both).reshape(-1, words), len(codes))


def digits_of(weights: NDArray[np.float64]) -> int:
    """Binary digits of the largest weight; none if all weights are one."""
    if not len(weights) or (weights == 1).all():
        return 0
    return max(int(weights.max()).bit_length(), 1)


def no_counts(n_states: Sequence[int], questions: Questions, weight: float) -> Answers:
    """Zeros for the answers to a batch, in a type that holds so much weight.

    Answers of few bytes are what is sent, where rows are on several machines.
    """
    size = _core.answer_size(np.asarray(n_states, dtype=np.int32), **questions)
    return np.zeros(size, np.uint32) if weight < 2**32 else np.zeros(size, np.uint64)


def answer_chunk(
    chunk: Chunk, n_states: Sequence[int], questions: Questions, counts: Answers
) -> None:
    """Add the answers of some rows to `counts`, which `no_counts` made.

    >>> chunk = pack_chunk(np.array([[0, 2], [1, 0], [1, 1]]), np.ones(3), [2, 3])
    >>> questions = state_pairs(0, 1, 0)  # how often the second state of the first goes with all
    >>> counts = no_counts([2, 3], questions, weight=3)
    >>> answer_chunk(chunk, [2, 3], questions, counts)
    >>> counts.tolist()
    [2, 1, 0]
    """
    states = np.asarray(n_states, dtype=np.int32)
    _core.answer(chunk.bits, chunk.planes, chunk.rows, states, counts, **questions)


def answer_chunks(
    load: Callable[[int], Chunk],
    chunks: int,
    n_states: Sequence[int],
    questions: Questions,
    *,
    weight: float,
    threads: int,
    stopped: threading.Event,
    watch: Callable[[int], None] = lambda done: None,
) -> Answers:
    """The sum of the answers of many chunks, which threads load and count in turn.

    `watch` is called with the number of chunks done; once `stopped` is set, GivenUp is raised.
    """
    numbers, done = count(), count(1)  # whose next number only one thread gets

    def work() -> Answers:
        own = no_counts(n_states, questions, weight)
        while (number := next(numbers)) < chunks:
            if stopped.is_set():
                raise GivenUp
            answer_chunk(load(number), n_states, questions, own)
            watch(next(done))
        return own

    return sum_side_by_side(work, max(1, min(threads, chunks)), stopped)


def sum_side_by_side(
    work: Callable[[], Answers], threads: int, stopped: threading.Event
) -> Answers:
    """The sum of what threads find, this one among them; fewer, if there is no room for so many."""
    found: list[Answers] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:  # raised again below, once all have ended
            failures.append(error)
            stopped.set()

    helpers: list[threading.Thread] = []
    with suppress(RuntimeError):  # no room for one more
        for _ in range(threads - 1):
            helper = threading.Thread(target=run)
            helper.start()
            helpers.append(helper)
    run()
    for helper in helpers:
        helper.join()
    if failures:
        raise failures[0]
    total = found[0]
    for other in found[1:]:
        total = total + other
    return total


def elsewhere_of(
    chunks: Sequence[Chunk], n_states: Sequence[int], *, threads: int = 1, together: int = TOGETHER
) -> RowsElsewhere:
    """Chunks that are in memory, as rows that are elsewhere: each other way to hold them is a twin.

    >>> codes = np.array([[0, 2], [1, 0], [1, 1]])
    >>> rows = elsewhere_of([pack_chunk(codes[:2], np.ones(2), [2, 3]),
    ...                      pack_chunk(codes[2:], np.ones(1), [2, 3])], [2, 3])
    >>> rows.rows, rows.counts.tolist()
    (3, [1.0, 2.0, 1.0, 1.0, 1.0])
    """
    stopped = threading.Event()
    counts = sum((state_counts(chunk, n_states) for chunk in chunks), np.zeros(sum(n_states)))
    weight = float(counts[: n_states[0]].sum())

    def answer(questions: Questions) -> Answers:
        return answer_chunks(
            chunks.__getitem__,
            len(chunks),
            n_states,
            questions,
            weight=weight,
            threads=threads,
            stopped=stopped,
        )

    return RowsElsewhere(
        n_states,
        counts,
        sum(chunk.rows for chunk in chunks),
        answer,
        stopped.set,
        max((len(chunk.planes) for chunk in chunks), default=0),
        together,
        stopped.clear,
        lambda: iter(chunks),
    )


def state_counts(chunk: Chunk, n_states: Sequence[int]) -> NDArray[np.float64]:
    """The weight of the rows of each state, all states of the first column first.

    >>> state_counts(pack_chunk(np.array([[0, 2], [1, 0]]), np.array([3, 1]), [2, 3]), [2, 3])
    array([3., 1., 1., 0., 3.])
    """
    questions = crossings([(j,) for j in range(len(n_states))])
    counts = no_counts(n_states, questions, weight=np.inf)
    answer_chunk(chunk, n_states, questions, counts)
    return counts.astype(np.float64)


def crossings(groups: Sequence[Sequence[int]]) -> Questions:
    """Questions for the rows of each combination of states of some columns, group by group.

    There is one cell, of no column; it is split by the columns of each group.
    """
    size = len(groups)
    return _questions(size) | {
        "support_begin": np.zeros(2, dtype=np.int64),
        "cells": np.ones(1, dtype=np.int64),
        "by_begin": np.cumsum([0, *map(len, groups)], dtype=np.int64),
        "by": np.array([column for group in groups for column in group], dtype=np.int64),
    }


def state_pairs(first: int, last: int, others: int) -> Questions:
    """The question how often states from one to another go with all others from a third on."""
    return _questions(1) | {
        "grouping": np.full(1, -1, dtype=np.int64),
        "range": np.array([first, last, others], dtype=np.int64),
    }


def _questions(size: int) -> dict[str, NDArray[Any]]:
    """So many questions, of which nothing is said yet."""
    none, nothing = np.zeros(0, dtype=np.int64), np.zeros(size + 1, dtype=np.int64)
    names = "support", "cells", "states", "by"
    begin = "chosen_begin", "states_begin", "by_begin"
    return {
        **dict.fromkeys(names, none),
        **dict.fromkeys(("codes", "chosen"), none.astype(np.uint8)),
        **dict.fromkeys(begin, nothing),
        "support_begin": np.zeros(1, dtype=np.int64),
        "grouping": np.zeros(size, dtype=np.int64),
        "range": np.zeros(3 * size, dtype=np.int64),
    }


def crossed(elsewhere: RowsElsewhere, groups: Sequence[Sequence[int]]) -> list[NDArray[np.float64]]:
    """The rows of each combination of states of some columns, an array for each group of them.

    >>> codes = np.array([[0, 2], [1, 0], [1, 1]])
    >>> rows = elsewhere_of([pack_chunk(codes, np.ones(3), [2, 3])], [2, 3])
    >>> crossed(rows, [(0, 1)])[0].astype(int).tolist()
    [[0, 0, 1], [1, 1, 0]]
    """
    if not groups:
        return []
    elsewhere.start()
    shapes = [tuple(elsewhere.n_states[column] for column in group) for group in groups]
    counts = elsewhere.answer(crossings(groups)).astype(np.float64)
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    return [
        part.reshape(shape) for part, shape in zip(np.split(counts, ends[:-1]), shapes, strict=True)
    ]


def all_pairs(elsewhere: RowsElsewhere) -> NDArray[np.float64]:
    """The rows of each combination of two states: a square matrix, in column order.

    >>> codes = np.array([[0, 1], [1, 0], [1, 1]])
    >>> rows = elsewhere_of([pack_chunk(codes, np.ones(3), [2, 2])], [2, 2])
    >>> all_pairs(rows).astype(int)
    array([[1, 0, 0, 1],
           [0, 2, 1, 1],
           [0, 1, 1, 0],
           [1, 1, 0, 2]])
    """
    begin = np.cumsum([0, *elsewhere.n_states])
    first = np.zeros(begin[-1], dtype=bool)
    first[begin[:-1]] = True
    others = int((~first).sum())
    cells = np.zeros((begin[-1], begin[-1]))
    elsewhere.start()
    counts = elsewhere.answer(state_pairs(0, others, 0))
    cells[np.ix_(~first, ~first)] = counts.reshape(others, others)
    # The first state of a column has the rows that its other states do not have.
    sums = np.add.reduceat(cells, begin[:-1], axis=0)
    cells[first] = elsewhere.counts - sums
    cells[np.ix_(first, first)] = 0.0
    cells[:, first] = elsewhere.counts[:, None] - np.add.reduceat(cells, begin[:-1], axis=1)
    return cells
