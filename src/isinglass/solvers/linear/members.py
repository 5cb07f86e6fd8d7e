"""The coordinates of each block; of single ones, no list is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from isinglass.losses.protocol import Block
from isinglass.solvers.blocks import Singles

Numbers = NDArray[np.intp]


class Members:
    """The blocks of the candidates, one after the other.

    Attributes
    ----------
    sizes : array
        How many coordinates each block has.
    """

    def __init__(self, blocks: Mapping[int, Block]) -> None:
        self._blocks: Mapping[int, Block] | Sequence[Block] = blocks
        self._first: Numbers | None = None  # every block is the coordinate of its own number
        if isinstance(blocks, Singles):
            self.sizes = np.broadcast_to(np.intp(1), len(blocks))
            return
        self._blocks = [blocks[j] for j in range(len(blocks))]
        self.sizes = np.array([len(block) for block in self._blocks], dtype=np.intp)
        self._first = np.array([block[0] for block in self._blocks], dtype=np.intp)

    def __len__(self) -> int:
        return len(self._blocks)

    def __getitem__(self, at: int) -> Block:
        return self._blocks[at]

    def first(self, places: Numbers) -> Numbers:
        """The first coordinates of some blocks."""
        return places if self._first is None else self._first[places]

    def singles(self) -> tuple[Numbers | slice, Numbers | slice]:
        """Which blocks have one coordinate, and which coordinates these are."""
        if self._first is None:
            return slice(None), slice(None)
        singles = np.flatnonzero(self.sizes == 1)
        return singles, self._first[singles]
