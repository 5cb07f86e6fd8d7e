"""The quick way in for integers gives what the general way gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from isinglass.errors import IsinglassError
from isinglass.table import encode
from isinglass.table.encode import encode_integers

DTYPES = [np.bool_, np.int8, np.uint8, np.int16, np.int32, np.int64]


def general(X, max_states=300):
    """Encode by the general way: weights, even if all are one, are not for the quick one."""
    return encode(X, sample_weight=np.ones(len(X)), max_states=max_states)


def assert_same(X, max_states=300):
    quick, slow = encode_integers(X, max_states), general(X, max_states)
    assert quick is not None
    assert quick.columns == slow.columns
    for one, two in zip(quick.columns, slow.columns, strict=True):
        assert [type(s) for s in one.states] == [type(s) for s in two.states]
    np.testing.assert_array_equal(quick.codes, slow.codes)
    np.testing.assert_array_equal(quick.weights, slow.weights)
    assert (quick.library, quick.notes, quick.n) == (slow.library, slow.notes, slow.n)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(1, 1), (2, 4), (65, 3), (300, 70)])
def test_random_tables(dtype, order, shape):
    rng = np.random.default_rng(shape[0])
    top = 2 if dtype == np.bool_ else 30
    X = rng.integers(0, rng.integers(1, top + 1, size=shape[1]), size=shape)
    assert_same(np.array(X, dtype=dtype, order=order))


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_negative_numbers_and_missing_values(dtype):
    assert_same(np.array([[-100, 5], [27, 5], [0, 7], [-100, 127]], dtype))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_large_numbers(dtype):
    info = np.iinfo(dtype)
    assert_same(np.array([[info.min, info.max], [info.min + 9, info.max - 200]], dtype))


def test_256_states():
    assert_same(np.arange(256)[:, None].repeat(2, axis=1) - 7)


@given(
    st.sampled_from(DTYPES[1:]).flatmap(
        lambda dtype: hnp.arrays(
            dtype,
            hnp.array_shapes(min_dims=2, max_dims=2, max_side=9),
            elements=st.integers(0, 100) if np.dtype(dtype).kind == "u" else st.integers(-60, 67),
        )
    )
)
def test_any_small_table(X):
    assert_same(X)


@pytest.mark.parametrize(
    "X",
    [
        np.array([[0.0, 1.0]]),
        np.array([["a", "b"]]),
        np.zeros((0, 2), int),
        np.zeros((2, 0), int),
        np.zeros(3, int),
        np.array([[0], [256]]),
        np.array([[0, 1]], np.uint64),
        np.array([[0, 1]], ">i4"),
        np.ma.masked_array([[0, 1]], mask=[[True, False]]),
        [[0, 1]],
    ],
)
def test_what_is_left_to_the_general_way(X):
    assert encode_integers(X, 300) is None


def test_too_many_states_are_refused_in_the_same_words():
    X = np.arange(40)[:, None]
    errors = []
    for way in (lambda: encode(X), lambda: general(X, 32)):
        with pytest.raises(IsinglassError) as caught:
            way()
        errors.append((type(caught.value), str(caught.value)))
    assert errors[0] == errors[1]
