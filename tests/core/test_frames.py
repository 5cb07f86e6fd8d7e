"""Columns of data frames as numbers: each has the number of its label."""

import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from isinglass.core.texts import FrameCoder

INTEGERS = [pl.Int8, pl.UInt8, pl.Int16, pl.UInt16, pl.Int32, pl.UInt32, pl.Int64, pl.UInt64]


def assert_coded(coder: FrameCoder, frame: pl.DataFrame) -> None:
    codes = np.full((frame.height + 3, frame.width), 99, dtype=np.uint8, order="F")
    assert coder.code(frame, codes).all()
    assert (codes[frame.height :] == 99).all()
    for j, column in enumerate(frame):
        labels = coder.labels(j, 0)
        assert len(labels) == coder.sizes()[j] == len(set(labels))
        assert [labels[code] for code in codes[: frame.height, j]] == column.to_list()


def some(rng: np.random.Generator, dtype: pl.DataType, rows: int, null: float) -> pl.Series:
    """Whole numbers near some place of the type, which moves now and then."""
    low, high = (int(pl.select(end).item()) for end in (dtype.min(), dtype.max()))
    begin = int(rng.choice([low, high - 120, 0, 5]))
    values = [min(begin + int(k), high) for k in rng.integers(0, 120, rows)]
    if rng.random() < 0.3:
        values[0] = int(rng.choice([low, high]))
    cells = [None if rng.random() < null else value for value in values]
    return pl.Series(cells, dtype=dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("null", [0.0, 0.1])
def test_whole_numbers(dtype, null):
    rng = np.random.default_rng(0)
    coder = FrameCoder([dtype, dtype])
    parts = [
        pl.DataFrame({name: some(rng, dtype, rows, null) for name in "ab"})
        for rows in (1, 60, 5000, 40)
    ]
    assert_few(coder, parts)


def assert_few(coder: FrameCoder, parts: list[pl.DataFrame]) -> None:
    """As long as a column has no more labels than a byte has numbers."""
    for part in parts:
        if max(coder.sizes()) > 120:
            return
        assert_coded(coder, part)
        assert_coded(coder, part.slice(part.height // 3, 17))


@pytest.mark.parametrize("null", [0.0, 0.2])
def test_texts(null):
    rng = np.random.default_rng(1)
    words = ["", "a", "ab", "ä", "eight by", "nine byte", "just twelve!", "longer than all that is"]
    coder = FrameCoder([pl.String, pl.String])
    for rows in (1, 30, 700):
        drawn = {
            name: [None if rng.random() < null else str(rng.choice(words)) for _ in range(rows)]
            for name in "ab"
        }
        part = pl.DataFrame(drawn, schema={"a": pl.String, "b": pl.String})
        assert_coded(coder, part)
        assert_coded(coder, part[rows // 2 :])


def test_numbers_come_in_increasing_order():
    codes = np.zeros((4, 1), dtype=np.uint8, order="F")
    coder = FrameCoder([pl.Int64])
    coder.code(pl.DataFrame({"a": [7, 3, 5, 3]}), codes)
    assert codes[:, 0].tolist() == [2, 0, 1, 0]


def test_other_types_are_left_alone():
    frame = pl.DataFrame({"a": [0.5, 1.0], "b": [True, False], "c": [1, 2]})
    codes = np.zeros((2, 3), dtype=np.uint8, order="F")
    assert FrameCoder(frame.dtypes).code(frame, codes).tolist() == [False, False, True]


def test_room_for_all():
    frame = pl.DataFrame({"a": [1, 2, 3]})
    for shape in ((2, 1), (3, 2)):
        with pytest.raises(ValueError, match="room for every"):
            FrameCoder(frame.dtypes).code(frame, np.zeros(shape, dtype=np.uint8, order="F"))


BESIDE_THREADS = """
import sys, threading, time
import numpy as np, polars as pl
from isinglass.core.texts import FrameCoder

sys.setswitchinterval(1e-6)
ended = threading.Event()

def make_arrays():
    while not ended.is_set():
        [np.empty(2) for _ in range(50)]

threads = [threading.Thread(target=make_arrays, daemon=True) for _ in range(3)]
for thread in threads:
    thread.start()
frame = pl.DataFrame({"x": [1, 2, 3], "y": ["a", "b", None]})
codes = np.zeros((3, 2), dtype=np.uint8, order="F")
coder, begin = FrameCoder(frame.dtypes), time.monotonic()
while time.monotonic() < begin + 3:
    assert coder.code(frame, codes).all()
ended.set()
"""


def test_beside_threads_that_make_objects():
    """Python's memory stays whole: what the core returns is made under the lock."""
    subprocess.run([sys.executable, "-c", BESIDE_THREADS], check=True, timeout=120)
