"""No table passes that the core or the machine cannot hold."""

import numpy as np
import polars as pl
import pytest

from isinglass import ChowLiuTree, GreedyGraph
from isinglass.errors import SettingError, TableError, TooManyStates
from isinglass.table import encode, limits


def wide(n_states, missing_value=False):
    cells = [*range(n_states), *([None] if missing_value else [])]
    return pl.DataFrame({"id": cells, "b": [k % 2 for k in range(len(cells))]})


@pytest.mark.parametrize("make", [encode, GreedyGraph(max_states=1000).fit])
def test_more_states_than_a_byte_holds(make):
    settings = {"max_states": 1000} if make is encode else {}
    with pytest.raises(TooManyStates) as error:
        make(wide(300), **settings)
    assert str(error.value) == (
        "column 'id' has 300 distinct values; at most 256 states are supported. Bin it "
        "(bins={'id': 4}) or drop it."
    )
    make(wide(256), **settings)


@pytest.mark.parametrize("missing", ["state", "available"])
def test_the_missing_state_counts(missing):
    assert encode(wide(255, missing_value=True), missing=missing, max_states=256).n_states[0] == 256
    with pytest.raises(TooManyStates, match="has 256 distinct values; at most 255 states are"):
        encode(wide(256, missing_value=True), missing=missing, max_states=256)
    assert encode(wide(256, missing_value=True), missing="drop", max_states=256).n_states[0] == 256


def test_the_array_of_integers_takes_the_same_gate():
    X = np.column_stack([np.arange(300), np.arange(300) % 2])
    with pytest.raises(TooManyStates, match="at most 256 states"):
        ChowLiuTree(max_states=500).fit(X)


@pytest.mark.parametrize("asked", [10**9, 33, list(range(40))])
def test_more_bins_than_states(asked):
    with pytest.raises(SettingError, match="bins of column 'id'; at most 32 states are supported"):
        encode(wide(200), bins={"id": asked})
    with pytest.raises(SettingError, match="at most 256 states are supported"):
        encode(wide(200), bins={"id": 257}, max_states=1000)
    assert encode(wide(200), bins={"id": 40}, max_states=40).n_states[0] == 40


def test_more_cells_than_the_machine_holds(monkeypatch):
    monkeypatch.setattr(limits, "memory", lambda: 100)
    with pytest.raises(TableError, match=r"need 2.*e-07 GB, and this machine has 1e-07 GB"):
        encode(wide(20).with_columns(pl.lit("x").alias(f"c{k}") for k in range(5)))


def test_more_rows_than_cells_can_be_numbered(monkeypatch):
    monkeypatch.setattr(limits, "MAX_ROWS", 10)
    with pytest.raises(TableError, match="the table has 20 rows; at most 10 are supported"):
        encode(wide(20))
