"""Columns, and lists of their neighbours, as the core takes them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set

import numpy as np
from numpy.typing import NDArray


def as_targets(targets: Sequence[int] | None, n_states: Sequence[int]) -> NDArray[np.int64]:
    """Columns, all of them by default."""
    return np.asarray(range(len(n_states)) if targets is None else targets, dtype=np.int64)


def as_pairs(others_of: Mapping[int, Set[int]] | None) -> NDArray[np.int64]:
    """Each column and one of its others, one pair after the other."""
    pairs = [(r, t) for r, others in (others_of or {}).items() for t in sorted(others)]
    return np.asarray(pairs, dtype=np.int64).ravel()


def as_marks(
    small: Collection[tuple[int, int]],
    targets: Sequence[int],
    neighbours: Sequence[Sequence[int]],
) -> NDArray[np.uint8]:
    """Which neighbours have the smaller form, in the order of `as_lists`."""
    pairs = [(r, t) for r, some in zip(targets, neighbours, strict=True) for t in sorted(some)]
    return np.asarray([pair in small for pair in pairs], dtype=np.uint8)


def as_lists(neighbours: Sequence[Sequence[int]]) -> dict[str, NDArray[np.int64]]:
    """Where the neighbours of each column begin, and all of them, one list after the other."""
    begin = np.cumsum([0, *(len(some) for some in neighbours)], dtype=np.int64)
    flat = np.asarray([t for some in neighbours for t in sorted(some)], dtype=np.int64)
    return {"begin": begin, "neighbours": flat}
