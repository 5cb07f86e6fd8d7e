"""Completed tables: against enumeration, in every kind of table, without a look at the answer."""

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import enumeration
from isinglass import Exact, Gibbs, GreedyGraph, simulate
from isinglass.errors import OutOfMemory, PoorMixing, SettingError, TableError, UnseenState
from small_models import MODELS, any_gauge, survey


def conditional_joint(field, row, gone):
    """Probabilities of the missing values of one row, by listing all rows there could be."""
    rows = enumeration.all_rows(field)
    seen = [v for v in range(len(row)) if v not in gone]
    agree = (rows[:, seen] == np.array(row)[seen]).all(axis=1)
    probabilities = enumeration.probabilities(field) * agree
    table = np.zeros([len(field.states[v]) for v in gone])
    np.add.at(table, tuple(rows[:, v] for v in gone), probabilities / probabilities.sum())
    return table


def with_missing(field, row, gone, copies):
    labels = [None if v in gone else field.states[v][row[v]] for v in range(len(row))]
    return np.array([labels] * copies, dtype=object)


CASES = {
    "touching": ("Potts, grid", (1, 2, 4)),
    "apart": ("Potts, grid", (0, 2, 4)),
    "one cell": ("Potts, dense", (2,)),
    "everything": ("Ising, chain", tuple(range(9))),
    "beside a constant column": ("a constant column", (1, 2, 3)),
    "no edges": ("Potts, alone", (0, 2)),
}


@pytest.mark.parametrize("method", ["exact", "gibbs"])
@pytest.mark.parametrize("case", CASES)
def test_draws_have_the_joint_probabilities(case, method):
    name, gone = CASES[case]
    field = MODELS[name]
    row = enumeration.all_rows(field)[-2]
    copies = 4000
    table = field.impute(with_missing(field, row, gone, copies), seed=1, method=method)[0]
    seen = [v for v in range(len(row)) if v not in gone]
    assert all((table[:, v] == field.states[v][row[v]]).all() for v in seen)
    expected = conditional_joint(field, row, gone)
    codes = [[field.states[v].index(label) for label in table[:, v]] for v in gone]
    found = np.zeros(expected.shape)
    np.add.at(found, tuple(codes), 1 / copies)
    # Pearson's statistic has mean cells - 1 and variance about twice that.
    many = copies * expected > 1
    pearson = copies * np.sum((found - expected)[many] ** 2 / expected[many])
    cells = expected.size - 1
    assert pearson < cells + 5 * np.sqrt(2 * cells) + 1


@pytest.mark.parametrize("name", ["Potts, grid", "Ising, grid", "Potts, dense"])
def test_the_most_likely_values_are_so_together(name):
    field = MODELS[name]
    rows = enumeration.all_rows(field)[::37]
    rng = np.random.default_rng(0)
    missing = rng.random(rows.shape) < 0.5
    labels = np.array([[field.states[v][c] for v, c in enumerate(row)] for row in rows], object)
    incomplete = labels.copy()
    incomplete[missing] = None
    done = field.impute(incomplete, most_likely=True)[0]
    assert (done[~missing] == labels[~missing]).all()
    for row, gone, completed in zip(rows, missing, done, strict=True):
        at = np.flatnonzero(gone)
        if not len(at):
            continue
        best = conditional_joint(field, row, at)
        codes = tuple(field.states[v].index(completed[v]) for v in at)
        assert best[codes] == pytest.approx(best.max(), rel=1e-9)


def test_rows_of_many_patterns_are_each_completed():
    field = any_gauge(3, [2, 3, 2, 4, 2, 3], [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5)])
    rows = field.sample(300, seed=0).astype(object)
    missing = np.random.default_rng(1).random(rows.shape) < 0.4
    rows[missing] = None
    done = field.impute(rows, draws=3, seed=2)
    assert done.filled == missing.sum()
    for table in done:
        assert (table[~missing] == rows[~missing]).all()
        assert all(set(table[:, v]) <= set(field.states[v]) for v in range(6))
    assert (done[0] != done[1]).any()
    again = field.impute(rows, draws=2, seed=2)
    assert (again[1] == done[1]).all()
    assert done.note.startswith("for display")
    assert repr(again).startswith("Completed(2 tables, ")


def test_a_value_that_is_seen_is_never_drawn_and_a_missing_one_never_read():
    """What stood in a cell before it was hidden makes no difference."""
    field = survey()
    rows = field.sample(200, seed=0)
    hidden = np.random.default_rng(0).random((200, 3)) < 0.3

    def hide(table):
        columns = {
            name: [
                None if gone else cell for cell, gone in zip(table[name], hidden[:, v], strict=True)
            ]
            for v, name in enumerate(field.names)
        }
        return pl.DataFrame(columns)

    other = pl.DataFrame(
        {
            name: np.where(hidden[:, v], rows[name].shuffle(seed=v), rows[name])
            for v, name in enumerate(field.names)
        }
    )
    assert field.impute(hide(rows), seed=3)[0].equals(field.impute(hide(other), seed=3)[0])


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_come_back_in_their_kind(library):
    table = pl.DataFrame(
        {
            "id": [10, 11, 12],
            "diet": ["fish", None, "all"],
            "cough": ["no", "yes", None],
            "smokes": ["no", "yes", "yes"],
        }
    )
    native = {"pandas": table.to_pandas, "polars": lambda: table, "pyarrow": table.to_arrow}
    came = native[library]()
    if library == "pandas":
        came.index = [5, 3, 1]
    done = survey().impute(came, seed=0)[0]
    assert type(done) is type(came)
    if library == "pandas":
        assert list(done.index) == [5, 3, 1]
    back = (
        pl.DataFrame(done)
        if library == "pandas"
        else pl.from_arrow(done)
        if (library == "pyarrow")
        else done
    )
    assert back.columns == table.columns
    assert back["id"].to_list() == [10, 11, 12]
    assert back["smokes"].to_list() == ["no", "yes", "yes"]
    assert back["cough"].to_list()[:2] == ["no", "yes"]
    assert back["diet"].null_count() == back["cough"].null_count() == 0


def test_arrays_keep_their_type():
    field = simulate.ising(simulate.chain(3), seed=0)
    rows = field.sample(50, seed=0).astype(np.float32)
    rows[::3, 1] = np.nan
    done = field.impute(rows)[0]
    assert done.dtype == np.float32
    assert set(done[:, 1].tolist()) <= {-1.0, 1.0}
    assert np.isnan(rows[0, 1])


def test_binned_columns_come_back_as_bins():
    rng = np.random.default_rng(0)
    age = rng.integers(20, 80, 400)
    rows = pd.DataFrame({"age": age.astype(float), "well": rng.random(400) < age / 100})
    model = GreedyGraph(bins={"age": 3}).fit(rows).model_
    incomplete = rows.copy()
    incomplete.loc[:30, "age"] = np.nan
    done = model.impute(incomplete)[0]
    assert set(done["age"]) == set(model.states[0])
    expected = np.array(model.states[0])[np.searchsorted(model.cuts[0], age)]
    assert (done["age"][31:] == expected[31:]).all()


def test_what_cannot_be_completed():
    field = survey()
    with pytest.raises(UnseenState, match="'diet' holds 'meat'"):
        field.impute([["no", None, "meat"]])
    with pytest.raises(TableError, match="no column 'smokes'"):
        field.impute(pl.DataFrame({"cough": [None, "no"], "diet": ["all", "all"]}))
    with pytest.raises(SettingError, match=r"isinglass\.with_errors"):
        field.impute([["no", None, "all"]], use="inference")
    with pytest.raises(SettingError, match="'display' or 'inference', not 'fun'"):
        field.impute([["no", None, "all"]], use="fun")
    with pytest.raises(SettingError, match="one table, for display"):
        field.impute([["no", None, "all"]], most_likely=True, draws=2)
    with pytest.raises(OutOfMemory, match='take method="gibbs"'):
        field.impute([[None, None, "all"]], method=Exact(memory=10))
    with pytest.raises(OutOfMemory, match="or draw"):
        field.impute([[None, None, "all"]], most_likely=True, method=Exact(memory=10))
    rows = np.array([["a", None], ["b", "x"], ["b", "x"], ["a", None]] * 50, dtype=object)
    with_missing_state = GreedyGraph(missing="state").fit(rows).model_
    with pytest.raises(SettingError, match="a missing value of 'x1' is a state"):
        with_missing_state.impute(rows)


def test_what_exceeds_memory_is_sampled():
    field = MODELS["Potts, grid"]
    rows = with_missing(field, enumeration.all_rows(field)[5], (0, 1, 2), 50)
    drawn = field.impute(rows, method=(Exact(memory=10), Gibbs()), seed=1)[0]
    assert (drawn == field.impute(rows, method="gibbs", seed=1)[0]).all()


def test_poor_mixing_is_said_once():
    field = simulate.ising(simulate.grid(4, 4), coupling=1.5, signs="positive")
    rows = np.full((40, 16), None, dtype=object)
    rows[:, 0] = [-1, 1] * 20
    with pytest.warns(PoorMixing) as caught:
        field.impute(rows, method=Gibbs(burn_in=5, thin=1))
    assert len(caught) == 1


def test_a_complete_table_comes_back():
    field = survey(None)
    rows = field.sample(10, seed=0)
    done = field.impute(rows)
    assert done.filled == 0
    assert (done[0] == rows).all()


def typed_frames():
    """The same three columns in every library, of types that labels alone do not tell."""
    numbers, words = [1, 2, None] * 30, ["01", "1", "01"] * 30
    floats, flags = [0.5, 2.0, None] * 30, [True, None, False] * 30
    pandas = pd.DataFrame(
        {
            "n": pd.array(numbers, dtype="Int16"),
            "w": pd.Categorical(words, ["1", "01"]),
            "f": np.array(floats, dtype="float32"),
            "b": pd.array(flags, dtype="boolean"),
        },
        index=range(100, 190),
    )
    polars = pl.DataFrame(
        {
            "n": pl.Series(numbers, dtype=pl.Int16),
            "w": pl.Series(words, dtype=pl.Categorical),
            "f": pl.Series(floats, dtype=pl.Float32),
            "b": pl.Series(flags),
        }
    )
    arrow = pa.table(
        {
            "n": pa.array(numbers, pa.int16()),
            "w": pa.array(words),
            "f": pa.array(floats, pa.float32()),
            "b": pa.array(flags),
        }
    )
    return {"pandas": pandas, "polars": polars, "pyarrow": arrow}


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_types_and_seen_cells_stay(library):
    before = typed_frames()[library]
    model = GreedyGraph(missing="available").fit(before).model_
    after = model.impute(before, seed=1)[0]
    old, new = (nw.from_native(frame, eager_only=True) for frame in (before, after))
    assert new.schema == old.schema
    for name in old.columns:
        seen = ~old[name].is_null().to_numpy()
        assert not new[name].is_null().any()
        kept, cells = (np.array(frame[name].to_list())[seen] for frame in (new, old))
        assert np.array_equal(kept, cells)
    if library == "pandas":
        assert after.index.equals(before.index)
        assert after.dtypes.equals(before.dtypes)
