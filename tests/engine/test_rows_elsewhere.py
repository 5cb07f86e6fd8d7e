"""Rows in chunks that are asked for counts give what one array gives, bit for bit."""

import pickle
import threading
from dataclasses import replace

import numpy as np
import pytest

from engine.test_ways_to_count import assert_identical, settings_of, table_of
from instances import sample
from isinglass import GreedyGraph
from isinglass.core import edge_losses, fit_columns, search_columns, use_counting
from isinglass.core.elsewhere import (
    RowsElsewhere,
    TooManyCells,
    answer_chunk,
    crossings,
    digits_of,
    elsewhere_of,
    no_counts,
    pack_chunk,
    state_pairs,
)
from isinglass.engine.native import too_many_cells_named
from isinglass.errors import SettingError, TableError
from isinglass.table import Table
from isinglass.table.table import table_elsewhere
from selections import mostly_long

REST = {"nu": 0.5, "intercept": True, "max_degree": None, "threads": 2}


@pytest.fixture(autouse=True)
def _best_again():
    yield
    use_counting("best")


def in_chunks(codes, weights, states, seed: int = 0, **more) -> RowsElsewhere:
    """The rows in four chunks of unequal length, the last digits of weights in some only."""
    rng = np.random.default_rng([22, seed])
    cuts = np.sort(rng.integers(1, len(codes), size=3))
    parts = zip(np.split(codes, cuts), np.split(weights, cuts), strict=True)
    digits = digits_of(weights) if seed % 2 else 0
    chunks = [pack_chunk(c, w, states, digits) for c, w in parts if len(c)]
    return elsewhere_of(chunks, states, **more)


def far(table: Table) -> Table:
    """The same table, its rows elsewhere."""
    rows = in_chunks(table.codes, table.weights, table.n_states)
    return table_elsewhere(rows, table.columns, fingerprint=table.fingerprint, notes=table.notes)


@pytest.mark.parametrize("first", mostly_long(range(0, 200, 20), 4))
def test_searches_agree_to_the_last_bit(first):
    for seed in range(first, first + 20):
        codes, weights, states = table_of(seed)
        settings = settings_of(seed, states)
        here = search_columns(codes, weights, states, threads=1, **settings)
        use_counting(["best", "rows"][seed // 2 % 2])
        rows = in_chunks(codes, weights, states, seed, threads=1 + seed % 2, together=1 + seed % 9)
        there = search_columns(rows, weights, states, threads=2, **settings)
        use_counting("best")
        assert_identical(there, here)


@pytest.mark.parametrize("seed", range(12))
def test_refits_agree_to_the_last_bit(seed):
    codes, weights, states = table_of(seed)
    rng = np.random.default_rng(seed)
    p = len(states)
    varies = [r for r in range(p) if states[r] > 1]
    lists = [[] for _ in range(p)]
    for r in varies:
        lists[r] = [t for t in varies if t != r and rng.random() < 0.5]
    rows = in_chunks(codes, weights, states, seed)
    settings = {"intercept": bool(seed % 3), "threads": 2}
    here = fit_columns(codes, weights, states, lists, **settings)
    assert_identical(fit_columns(rows, weights, states, lists, **settings), here)
    targets = [r for r in varies if lists[r]]
    few = [lists[r] for r in targets]
    here = edge_losses(codes, weights, states, targets, few, left_out=few, **settings)
    there = edge_losses(rows, weights, states, targets, few, left_out=few, **settings)
    assert_identical(there, here)


@pytest.mark.parametrize("states", [[2] * 16, [3] * 9, [2, 5, 2, 4, 3, 6, 2, 2]])
def test_many_cells(states):
    """Cells beyond rows of bits, of which hardly any has two rows."""
    codes = sample(np.random.default_rng(0), states, 2500, strength=2.0)
    here = search_columns(codes, np.ones(2500), states, 1e-5, **REST | {"max_degree": 7})
    rows = in_chunks(codes, np.ones(2500), states)
    there = search_columns(rows, np.ones(2500), states, 1e-5, **REST | {"max_degree": 7})
    # Bounds are summed in another order there, so that other candidates may be looked at.
    for name in here.keys() - {"evaluated"}:
        np.testing.assert_array_equal(there[name], here[name], err_msg=name)


@pytest.mark.parametrize("edges", ["auto", "table", "scores"])
@pytest.mark.parametrize("rule", ["and", "or"])
@pytest.mark.parametrize("seed", [1, 2, 5])
def test_fits_and_their_records_agree(rule, edges, seed):
    codes, weights, _ = table_of(seed)
    settings = {"threshold": "paper", "rule": rule, "edges": edges}
    here = GreedyGraph(**settings).fit(codes, sample_weight=weights)
    there = GreedyGraph(**settings).fit(far(here.table_))
    assert there.graph_.to_frame("polars").equals(here.graph_.to_frame("polars"))
    assert repr(there.diagnostics_) == repr(here.diagnostics_)
    one, two = here.record(), there.record()
    for part in ("values", "tally", "link_tables", "fingerprint", "rows"):
        assert pickle.dumps(getattr(one, part)) == pickle.dumps(getattr(two, part)), part


def test_adjusted_columns_come_last():
    codes, _, _ = table_of(2)
    here = GreedyGraph(adjust=["x1"]).fit(codes)
    table, wide = here.table_, here.table_.wide
    rows = in_chunks(wide.codes, wide.weights, wide.n_states)
    given = table_elsewhere(rows, wide.columns, fingerprint="", adjusted=(1,))
    there = GreedyGraph().fit(given)
    assert there.graph_.to_frame("polars").equals(here.graph_.to_frame("polars"))
    assert there.table_.adjusted_names == table.adjusted_names


def test_weights_beyond_four_bytes():
    codes, _, states = table_of(4)
    weights = np.random.default_rng(0).integers(1, 10**9, len(codes)).astype(float)
    here = search_columns(codes, weights, states, 1e-3, **REST)
    rows = in_chunks(codes, weights, states)
    assert rows.answer(state_pairs(0, 1, 0)).dtype == np.uint64
    assert_identical(search_columns(rows, weights, states, 1e-3, **REST), here)


def test_answers_are_sums_over_rows():
    codes, weights, states = table_of(7)
    chunk = pack_chunk(codes, weights, states)
    questions = crossings([(0, 2, 1)])
    counts = no_counts(states, questions, weights.sum())
    answer_chunk(chunk, states, questions, counts)
    truth = np.zeros([states[j] for j in (0, 2, 1)])
    np.add.at(truth, tuple(codes[:, [0, 2, 1]].T), weights)
    assert counts.tolist() == truth.ravel().tolist()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("by", np.array([99])),
        ("by_begin", np.array([0, 5])),
        ("cells", np.array([-1])),
        ("grouping", np.array([3])),
        ("range", np.array([0, 1])),
        ("support_begin", np.array([0])),
    ],
)
def test_questions_that_make_no_sense_are_refused(name, value):
    chunk = pack_chunk(np.array([[0, 1], [1, 0]]), np.ones(2), [2, 2])
    questions = crossings([(0,)]) | {name: value}
    with pytest.raises(ValueError, match="does not fit the table"):
        answer_chunk(chunk, [2, 2], questions, np.zeros(2, dtype=np.uint32))


def test_a_combination_that_was_not_there_is_an_error():
    codes = np.random.default_rng(0).integers(0, 2, size=(200, 4))
    rows = in_chunks(codes, np.ones(200), [2] * 4)
    other = pack_chunk(1 - codes[:, [1, 0, 3, 2]], np.ones(200), [2] * 4)
    asked = {**crossings([(1,)]), "support": np.array([0]), "support_begin": np.array([0, 1])}
    asked |= {"codes": np.array([1], dtype=np.uint8)}
    with pytest.raises(ValueError, match="was not there before"):
        answer_chunk(other, rows.n_states, asked, np.zeros(2, dtype=np.uint32))


def test_what_a_holder_raises_comes_out():
    codes, weights, states = table_of(3)

    def answer(questions):
        raise OSError("the disk is gone")

    rows = replace(in_chunks(codes, weights, states), answer=answer)
    for way in ("best", "rows"):
        use_counting(way)
        with pytest.raises(OSError, match="the disk is gone"):
            search_columns(rows, weights, states, 1e-3, **REST)


def test_answers_of_the_wrong_size_are_refused():
    codes, weights, states = table_of(3)
    rows = replace(in_chunks(codes, weights, states), answer=lambda asked: np.zeros(1))
    with pytest.raises(ValueError, match="as many answers as were asked for"):
        search_columns(rows, weights, states, 1e-3, **REST)


def test_a_holder_is_told_to_stop():
    codes, weights, states = table_of(3)
    rows = in_chunks(codes, weights, states)
    stopped = threading.Event()

    def answer(questions):
        assert stopped.wait(30)
        raise InterruptedError

    def progress(done):
        raise RuntimeError("enough")

    use_counting("rows")
    rows = replace(rows, answer=answer, stop=stopped.set)
    with pytest.raises(RuntimeError, match="enough"):
        search_columns(rows, weights, states, 1e-3, progress=progress, **REST)
    assert stopped.is_set()


def test_too_many_cells_name_the_column():
    codes = np.random.default_rng(0).integers(0, 2, size=(100, 22))
    required = {0: set(range(1, 22))}
    rows = in_chunks(codes, np.ones(100), [2] * 22)
    search = search_columns(rows, np.ones(100), [2] * 22, 1.0, required=required, **REST)
    assert len(search["support"]) == 21  # few are occupied
    states = [128] * 3 + [2]
    wide = np.random.default_rng(0).integers(0, states, size=(20_000, 4))
    rows = in_chunks(wide, np.ones(len(wide)), states)
    settings = REST | {"targets": [3], "required": {3: {0, 1, 2}}}
    with pytest.raises(TooManyCells) as error:
        search_columns(rows, np.ones(len(wide)), states, 1.0, **settings)
    assert error.value.column == 3
    with (
        pytest.raises(TableError, match="the neighbours of column 'sex' have more than 1,048,576"),
        too_many_cells_named(["a", "b", "c", "sex"]),
    ):
        raise error.value


def test_what_needs_the_rows_is_refused_in_a_sentence():
    codes, _, _ = table_of(1)
    table = far(GreedyGraph().encode(codes))
    with pytest.raises(SettingError, match='rule="joint" compares both ends of an edge row by row'):
        GreedyGraph(rule="joint").fit(table)
    with pytest.raises(SettingError, match="fits again on other rows"):
        GreedyGraph("cv").fit(table)
    with pytest.raises(SettingError, match="missing cannot be changed for a table that is packed"):
        GreedyGraph(missing="drop").fit(table)
    with pytest.raises(SettingError, match="sample_weight cannot be changed"):
        GreedyGraph().fit(table, sample_weight=np.ones(3))
    fitted = GreedyGraph().fit(table)
    with pytest.raises(TableError, match="needs the rows one by one"):
        _ = fitted.model_
    assert pickle.loads(pickle.dumps(fitted.graph_)) == fitted.graph_
