"""Times that differ stay different states, also those that Python's own types cannot hold."""

import datetime as dt
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from isinglass import GreedyGraph, MarkovField
from isinglass.table import encode

NANOSECONDS = np.array([1, 2, 3000], dtype="M8[ns]")
FAR = np.array(["12000-01-01", "12000-01-02", "2020-01-01"], dtype="M8[s]")
BERLIN = pd.to_datetime(["2020-10-25 00:30", "2020-10-25 01:30"], utc=True)
BERLIN = BERLIN.tz_convert("Europe/Berlin")
NANO_STATES = {
    dt.datetime(1970, 1, 1, microsecond=3),
    "1970-01-01T00:00:00.000000001",
    "1970-01-01T00:00:00.000000002",
}


def states(X):
    table = encode(X)
    assert len(set(table.codes[:, 0])) == len(table.columns[0].states)
    return table.columns[0].states


def as_objects(cells):
    array = np.empty((len(cells), 1), dtype=object)
    array[:, 0] = cells
    return array


@pytest.mark.parametrize(
    "X",
    [
        NANOSECONDS[:, None],
        pd.DataFrame({"a": NANOSECONDS}),
        pd.DataFrame({"a": pd.Series(list(pd.to_datetime(NANOSECONDS)), dtype=object)}),
        pl.DataFrame({"a": NANOSECONDS}),
        pa.table({"a": pa.array(NANOSECONDS)}),
        as_objects(list(NANOSECONDS)),
    ],
)
def test_nanoseconds(X):
    assert set(states(X)) == NANO_STATES


@pytest.mark.parametrize(
    "X",
    [
        FAR[:, None],
        FAR.astype("M8[us]")[:, None],
        pd.DataFrame({"a": FAR}),
        pl.DataFrame({"a": pl.Series(FAR.astype("M8[ms]").view("i8")).cast(pl.Datetime("ms"))}),
        pa.table({"a": pa.array(FAR)}),
    ],
)
def test_years_beyond_9999(X):
    assert set(states(X)) == {dt.datetime(2020, 1, 1), "12000-01-01", "12000-01-02"}


@pytest.mark.parametrize(
    "X",
    [
        FAR.astype("M8[D]")[:, None],
        pl.DataFrame({"a": pl.Series(FAR.astype("M8[D]").view("i8")).cast(pl.Date)}),
        pa.table({"a": pa.array(FAR.astype("M8[D]"))}),
    ],
)
def test_dates_beyond_9999(X):
    assert set(states(X)) == {dt.date(2020, 1, 1), "12000-01-01", "12000-01-02"}


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"a": BERLIN}),
        pl.DataFrame({"a": pl.from_pandas(BERLIN.to_series(index=[0, 1]))}),
        pa.Table.from_pandas(pd.DataFrame({"a": BERLIN})),
        as_objects(
            [
                dt.datetime(2020, 10, 25, 2, 30, fold=fold, tzinfo=ZoneInfo("Europe/Berlin"))
                for fold in (0, 1)
            ]
        ),
    ],
)
def test_the_hour_that_comes_twice(X):
    first, second = states(X)
    assert first == dt.datetime(2020, 10, 25, 0, 30, tzinfo=dt.UTC)
    assert second == dt.datetime(2020, 10, 25, 1, 30, tzinfo=dt.UTC)
    assert encode(X).encode_like(X).codes.ravel().tolist() == [0, 1]


@pytest.mark.parametrize(
    "X",
    [
        np.array([[1], [2]], dtype="m8[ns]"),
        np.array([[1], [2]], dtype="m8[M]"),
        np.array([[10**18], [2]], dtype="m8[s]"),
        pl.DataFrame({"a": pl.Series([1, 2]).cast(pl.Duration("ns"))}),
        pl.DataFrame({"a": pl.Series([2**62, 2]).cast(pl.Duration("ms"))}),
        pa.table({"a": pa.array([1, 2], type=pa.duration("ns"))}),
        pl.DataFrame({"a": pl.Series([1, 2]).cast(pl.Time)}),
        pa.table({"a": pa.array([1, 2], type=pa.time64("ns"))}),
        pa.table({"a": pa.array([1, 2], type=pa.time32("s"))}),
        pd.DataFrame({"a": pd.Series([dt.time(1), dt.time(2)], dtype="time64[us][pyarrow]")}),
        pa.table({"a": pa.array([10**15, 2], type=pa.timestamp("ms", "Europe/Berlin"))}),
    ],
)
def test_durations_times_and_far_zones(X):
    assert len(states(X)) == 2


def test_durations_that_python_holds_are_python_s():
    expected = (dt.timedelta(microseconds=1), dt.timedelta(seconds=1))
    for X in (
        np.array([[1000], [10**9]], dtype="m8[ns]"),
        pl.DataFrame({"a": expected}),
        pa.table({"a": expected}),
        pd.DataFrame({"a": expected}),
    ):
        assert states(X) == expected


def test_a_model_of_such_times_can_be_saved(tmp_path):
    cells = np.tile(FAR, 30)
    times = pl.Series(cells.astype("M8[ms]").view("i8")).cast(pl.Datetime("ms"))
    frame = pl.DataFrame({"a": times, "b": [0, 1] * 45})
    est = GreedyGraph().fit(frame)
    est.model_.save(tmp_path / "model.json")
    assert MarkovField.load(tmp_path / "model.json").states == est.model_.states
