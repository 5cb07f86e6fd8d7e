"""Cells of text and of data frames as numbers: the dictionaries of ``core/text``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.core import _core

#: What becomes of a column: few texts, a byte for each cell; many, four bytes; or nothing.
FEW, MANY, NOTHING = 0, 1, 2


class TextCoder:
    r"""Numbers the texts of each column as they are first seen.

    >>> coder = TextCoder([FEW, FEW], b",")
    >>> codes = np.zeros((4, 2), dtype=np.uint8, order="F")
    >>> coder.code(b"no,3\nyes,3\n", 0, codes, np.zeros((4, 0), np.uint32, order="F"), 0)
    (2, 11, False)
    >>> codes[:2].tolist(), coder.texts(0, 0)
    ([[0, 0], [1, 0]], [b'no', b'yes'])
    """

    def __init__(self, kept: Sequence[int], delimiter: bytes) -> None:
        self._coder = _core.make_coder(np.asarray(kept, dtype=np.uint8), delimiter)

    def code(
        self,
        text: bytes,
        start: int,
        few: NDArray[np.uint8],
        many: NDArray[np.uint32],
        first: int,
    ) -> tuple[int, int, bool]:
        """Code whole rows of text from a byte on, into the columns of two arrays from a row on.

        Returns the rows that were coded before there was no room, the bytes that they took, and
        whether the row that comes next has too few cells or too many. Text has no quotes, and ends
        with a newline; arrays are stored column by column.
        """
        return self._coder.code(text, start, few, many, first)

    def sizes(self) -> NDArray[np.int64]:
        """How many texts each column has."""
        return self._coder.sizes()

    def texts(self, column: int, start: int) -> list[bytes]:
        """The texts of a column from a number on."""
        return list(self._coder.texts(column, start))


class FrameCoder:
    """Numbers the whole numbers and texts of each column of data frames as they are first seen.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"x": [7, -5, 7], "y": ["no", None, ""], "z": [0.5, 1, 1]})
    >>> coder = FrameCoder(frame.dtypes)
    >>> codes = np.zeros((3, 3), dtype=np.uint8, order="F")
    >>> coder.code(frame, codes).tolist(), codes[:, :2].tolist()
    ([True, True, False], [[1, 0], [0, 1], [1, 2]])
    >>> coder.labels(0, 0), coder.labels(1, 0)
    ([-5, 7], ['no', None, ''])
    """

    def __init__(self, dtypes: Sequence[Any]) -> None:
        self._dtypes = list(dtypes)
        self._coder = _core.make_frame_coder(len(self._dtypes))

    def code(self, frame: Any, codes: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Code a frame of polars into the first rows of an array, stored column by column.

        Returns which columns were coded; the others have other types.
        """
        if codes.shape[1] != frame.width:
            raise ValueError("room for every column")
        # Column by column: a stream of the whole frame would be a copy of it.
        streams = [column.__arrow_c_stream__() for column in frame]
        return np.array([self._coder.code(j, lent, codes[:, j]) for j, lent in enumerate(streams)])

    def sizes(self) -> NDArray[np.int64]:
        """How many labels each column has."""
        return self._coder.sizes()

    def labels(self, column: int, start: int) -> list[Any]:
        """The labels of a column from a number on."""
        found = self._coder.labels(column, start)
        dtype = self._dtypes[column]
        if not dtype.is_integer():
            return [None if label is None else label.decode() for label in found]
        signed = dtype.is_signed_integer()
        return [
            None if label is None else int.from_bytes(label, sys.byteorder, signed=signed)
            for label in found
        ]
