"""A table on its way to other processes: few bits per cell, prepared once where it arrives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.core import Codes, PreparedTable, Weights


@dataclass(eq=False)
class ShippedTable:
    """The arrays of a table, a row of bits per column and binary digit of its codes.

    Wherever it arrives it is prepared when first asked for, and once. What was prepared stays
    behind when it is sent on.
    """

    digits: NDArray[np.uint8]
    rows: int
    n_states: tuple[int, ...]
    weights: Weights | None
    n: float
    answers: tuple[int, ...] | None
    _prepared: PreparedTable | None = field(default=None, repr=False)
    _lock: Any = field(default_factory=Lock, repr=False)

    @classmethod
    def of(
        cls,
        codes: Codes,
        weights: Weights,
        n_states: Sequence[int],
        n: float,
        answers: Sequence[int] | None = None,
    ) -> ShippedTable:
        """Pack the codes of a table."""
        n_states = tuple(n_states)
        digits = np.empty((sum(map(digits_of, n_states)), -(-len(codes) // 8)), dtype=np.uint8)
        places = iter(digits)
        for column, states in zip(codes.T, n_states, strict=True):
            for digit in range(digits_of(states)):
                next(places)[:] = np.packbits(column & (1 << digit))
        uneven = weights if (weights != 1).any() else None
        kept = None if answers is None else tuple(answers)
        return cls(digits, len(codes), n_states, uneven, float(n), kept)

    def codes(self) -> NDArray[np.uint8]:
        """The codes again, column by column."""
        codes = np.empty((len(self.n_states), self.rows), dtype=np.uint8)
        places = iter(self.digits)
        for j, states in enumerate(self.n_states):
            codes[j] = np.unpackbits(next(places), count=self.rows) if states > 1 else 0
            for digit in range(1, digits_of(states)):
                codes[j] |= np.unpackbits(next(places), count=self.rows) << np.uint8(digit)
        return codes.T

    @property
    def needs(self) -> float:
        """Bytes that it takes once it is prepared: codes, and a bit per state of each cell."""
        return self.rows * (len(self.n_states) + sum(self.n_states) / 8)

    def prepared(self, threads: int, memory: float = 0.0) -> PreparedTable:
        """The table as the core takes it; pairs may take a share of `memory`, bytes."""
        with self._lock:
            if self._prepared is None:
                ones = np.ones(self.rows) if self.weights is None else self.weights
                self._prepared = PreparedTable(
                    *(self.codes(), ones, self.n_states),
                    n=self.n,
                    answers=self.answers,
                    threads=threads,
                    memory=memory,
                )
            return self._prepared

    @property
    def is_prepared(self) -> bool:
        """Whether it was prepared here."""
        return self._prepared is not None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_prepared": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=Lock())

    def __sizeof__(self) -> int:
        """What Dask is to count: the bits it was sent."""
        return int(self.digits.nbytes + (0 if self.weights is None else self.weights.nbytes))


def digits_of(states: int) -> int:
    """Binary digits of the codes of a column.

    >>> [digits_of(states) for states in (1, 2, 3, 4, 5, 256)]
    [0, 1, 2, 2, 3, 8]
    """
    return (states - 1).bit_length()
