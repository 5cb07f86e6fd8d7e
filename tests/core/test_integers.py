"""Reading tables of integers natively: np.unique, column by column, is what it must equal."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from isinglass.core import factorise_integers

DTYPES = [np.bool_, np.int8, np.uint8, np.int16, np.int32, np.int64]

LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "every second row": lambda x: np.repeat(x, 2, axis=0)[::2],
    "every second column": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "rows backwards": lambda x: x[::-1].copy()[::-1],
    "columns backwards": lambda x: np.asfortranarray(x[:, ::-1])[:, ::-1],
    "both backwards": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
    "a corner of a larger table": lambda x: np.pad(x, 3)[3:-3, 3:-3],
}


def assert_as_unique(data: np.ndarray, threads: int = 1) -> None:
    codes, least, counts = factorise_integers(data, threads)
    assert codes.shape == data.shape
    assert codes.flags.f_contiguous
    for j, column in enumerate(data.T.astype(np.int64)):
        values, numbers, rows = np.unique(column, return_inverse=True, return_counts=True)
        np.testing.assert_array_equal(codes[:, j], numbers)
        assert least[j] == values[0]
        full = np.zeros(256, int)
        full[values - values[0]] = rows
        np.testing.assert_array_equal(counts[j], full)


def draw(dtype: type, shape: tuple[int, int], seed: int = 0) -> np.ndarray:
    """Columns of various spans, some constant, some without values in between."""
    rng = np.random.default_rng(seed)
    top = 2 if dtype == np.bool_ else 100
    spans = rng.integers(1, top + 1, size=shape[1])
    data = rng.integers(0, spans, size=shape)
    if dtype != np.bool_:
        data = data - 50 * (np.dtype(dtype).kind == "i") * rng.integers(0, 2, size=shape[1])
    return data.astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(1, 1), (1, 70), (5, 3), (257, 65), (700, 130)])
def test_every_type_and_layout(dtype, layout, shape):
    data = LAYOUTS[layout](draw(dtype, shape))
    assert_as_unique(data, threads=2)


@pytest.mark.parametrize("dtype", DTYPES)
def test_constant_columns(dtype):
    for value in (0, 1):
        assert_as_unique(np.full((70, 3), value, dtype))


@pytest.mark.parametrize("dtype", DTYPES[1:])
def test_extremes_of_a_type(dtype):
    info = np.iinfo(dtype)
    ends = np.array([[info.min, info.max], [info.min + 3, info.max - 100]], dtype)
    assert_as_unique(ends)


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64])
@pytest.mark.parametrize("base", ["min", 0, "max"])
def test_256_values_and_no_more(dtype, base):
    info = np.iinfo(dtype)
    start = {"min": info.min, 0: -128, "max": info.max - 255}[base]
    values = [start + i for i in range(256)]
    fits = np.array([values, values[::-1]], dtype).T
    assert_as_unique(fits)
    many = np.zeros((257, 2), dtype)
    many[:, 0] = np.arange(257) + (start if base != "max" else start - 1)
    assert factorise_integers(many, 1) is None


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_all_values_of_a_byte(dtype):
    info = np.iinfo(dtype)
    data = np.arange(info.min, info.max + 1).astype(dtype)
    assert_as_unique(np.column_stack([data, data[::-1]]))


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64])
def test_a_span_beyond_256_is_not_read_here(dtype):
    info = np.iinfo(dtype)
    for pair in ((0, 256), (-1, 255), (info.min, info.max), (info.min, 0), (0, info.max)):
        data = np.zeros((3, 70), dtype)
        data[:2, 66] = pair
        assert factorise_integers(data, 2) is None


def test_a_span_of_256_with_missing():
    data = np.array([[0, 7], [255, 7], [3, 262], [255, 8]])
    assert_as_unique(data)


@given(
    st.sampled_from(DTYPES[1:]).flatmap(
        lambda dtype: hnp.arrays(
            dtype,
            hnp.array_shapes(min_dims=2, max_dims=2, max_side=12),
            elements=st.integers(0, 100) if np.dtype(dtype).kind == "u" else st.integers(-60, 67),
        )
    ),
    st.booleans(),
    st.integers(1, 4),
)
def test_any_small_table(data, turned, threads):
    assert_as_unique(data.T if turned else data, threads)
