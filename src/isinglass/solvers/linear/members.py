"""The coordinates of each block; of single ones, no list is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from isinglass.losses.protocol import Block


class Singles(Mapping[int, Block]):
    """Blocks of one coordinate each: (0,), (1,), ..."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __getitem__(self, at: int) -> Block:
        if not 0 <= at < self.size:
            raise KeyError(at)
        return (int(at),)

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.size))

    def __len__(self) -> int:
        return self.size


class Members:
    """The blocks of the candidates, one after the other.

    Attributes
    ----------
    sizes, first : arrays
        How many coordinates each block has, and the first of them.
    """

    def __init__(self, blocks: Mapping[int, Block]) -> None:
        if isinstance(blocks, Singles):
            self._blocks: Mapping[int, Block] | Sequence[Block] = blocks
            self.sizes, self.first = np.ones(len(blocks), np.intp), np.arange(len(blocks))
            return
        self._blocks = [blocks[j] for j in sorted(blocks)]
        self.sizes = np.array([len(block) for block in self._blocks], dtype=np.intp)
        self.first = np.array([block[0] for block in self._blocks], dtype=np.intp)

    def __len__(self) -> int:
        return len(self._blocks)

    def __getitem__(self, at: int) -> Block:
        return self._blocks[at]
