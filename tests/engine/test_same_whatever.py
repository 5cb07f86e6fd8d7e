"""Instruction sets, threads, the order of rows, copies for weights: nothing changes the answer."""

import warnings

import numpy as np
import pytest

from engine.adversarial import Case, case
from engine.agreement import as_table, assert_same_runs, run_native, settings_of
from isinglass.core import instructions, search_columns, use_instructions
from isinglass.engine import native
from isinglass.table import encode

SETS = ["portable", "popcnt", "avx2", "avx512"]
SEEDS = range(27)  # one case of each kind


@pytest.fixture(autouse=True)
def _best_again():
    yield
    use_instructions("best")


def available() -> list[str]:
    found = []
    for name in SETS:
        try:
            use_instructions(name)
        except ValueError:
            continue
        found.append(name)
    use_instructions("best")
    return found


def flat_of(drawn: Case, **more) -> dict[str, np.ndarray]:
    return run_native(drawn, check=False, **more).flat


def assert_identical(one: dict[str, np.ndarray], two: dict[str, np.ndarray]) -> None:
    assert one.keys() == two.keys()
    for name, values in one.items():
        np.testing.assert_array_equal(values, two[name], err_msg=name, strict=True)


def wide_case(seed: int, n: int = 500, p: int = 30) -> Case:
    """More columns than threads can take at once, of two to four states."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n, 5)) @ rng.normal(size=(5, p)) + rng.normal(scale=2, size=(n, p))
    codes = np.digitize(numbers, [0.0])
    codes[:, ::7] = np.digitize(numbers[:, ::7], [-2.0, 0.0, 2.0])
    return Case(codes, rng.integers(1, 4, size=n).astype(float), 0.006)


def test_the_best_set_is_one_that_can_be_forced():
    assert instructions() == available()[-1]
    for name in available():
        use_instructions(name)
        assert instructions() == name


def test_an_unknown_set_is_refused():
    with pytest.raises(ValueError, match="no instruction set 'avx1024'"):
        use_instructions("avx1024")


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("seed", SEEDS)
def test_instruction_sets_agree_to_the_last_bit(name, seed):
    if name not in available():
        pytest.skip(f"this machine has no {name}")
    drawn = case(seed)
    best = flat_of(drawn)
    use_instructions(name)
    assert_identical(flat_of(drawn), best)


@pytest.mark.parametrize("name", SETS)
def test_instruction_sets_agree_on_long_rows(name):
    if name not in available():
        pytest.skip(f"this machine has no {name}")
    drawn = wide_case(1, n=20_000, p=12)  # more than 31 groups of words
    best = flat_of(drawn)
    use_instructions(name)
    assert_identical(flat_of(drawn), best)


@pytest.mark.parametrize("threads", [2, 3, 16])
def test_threads_agree_to_the_last_bit(threads):
    for drawn in (wide_case(0), case(7), case(2)):
        assert_identical(flat_of(drawn, threads=threads), flat_of(drawn))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_check_changes_nothing(seed):
    drawn = case(seed)
    unchecked, checked = flat_of(drawn), run_native(drawn).flat
    for name in unchecked.keys() - {"evaluated"}:
        np.testing.assert_array_equal(unchecked[name], checked[name], err_msg=name)


@pytest.mark.parametrize("seed", [s for s in SEEDS if "tie" not in case(s).kind])
def test_rows_in_any_order(seed):
    drawn = case(seed)
    order = np.random.default_rng(seed).permutation(len(drawn.codes))
    shuffled = Case(**{**vars(drawn), "codes": drawn.codes[order], "weights": drawn.weights[order]})
    assert_same_runs(run_native(shuffled), run_native(drawn), drawn.threshold)


def test_rows_in_any_order_of_a_wide_table():
    drawn = wide_case(2)
    order = np.random.default_rng(0).permutation(len(drawn.codes))
    shuffled = Case(drawn.codes[order], drawn.weights[order], drawn.threshold)
    assert_same_runs(run_native(shuffled), run_native(drawn), drawn.threshold)


@pytest.mark.parametrize("seed", range(5))
def test_a_weight_is_a_number_of_copies(seed):
    drawn = wide_case(seed, n=130, p=9)
    copies = np.repeat(drawn.codes, drawn.weights.astype(int), axis=0)
    copied = Case(copies, np.ones(len(copies)), drawn.threshold)
    assert_same_runs(run_native(drawn), run_native(copied), drawn.threshold)


@pytest.mark.parametrize("seed", range(5))
def test_weights_in_bit_planes_or_summed_row_by_row(seed):
    """The same weights, once as counts and once a hair beside them."""
    drawn = wide_case(seed, n=130, p=9)
    beside = Case(drawn.codes, drawn.weights * (1 + 1e-13), drawn.threshold)
    assert not np.array_equal(beside.weights, np.round(beside.weights))
    assert_same_runs(run_native(beside), run_native(drawn), drawn.threshold)


def test_some_columns_alone():
    """A search of a few columns takes the steps that it takes among all."""
    drawn = wide_case(3)
    table = as_table(drawn)
    whole, targets = run_native(drawn), [17, 3, 29]
    some = search_columns(
        table.codes,
        table.weights,
        table.n_states,
        drawn.threshold,
        threads=2,
        targets=targets,
        **settings_of(drawn),
    )
    for i, r in enumerate(targets):
        first, last = some["fit_begin"][i : i + 2]
        steps = whole.path(r).steps
        assert some["variable"][first + 1 : last].tolist() == [s.variable for s in steps]
        changes = [s.gain or s.cost for s in steps]
        np.testing.assert_array_equal(some["change"][first + 1 : last], changes)


def test_a_larger_n_scales_gains_down():
    """Rows of a column may be some of those of a table: the loss is then divided by all."""
    drawn = wide_case(4, n=200, p=6)
    drawn = Case(np.minimum(drawn.codes, 1), np.ones(200), 1e-3)
    table = as_table(drawn)
    halves, wholes = (
        search_columns(
            table.codes, table.weights, table.n_states, t, threads=1, n=n, **settings_of(drawn)
        )
        for t, n in ((5e-4, 400.0), (1e-3, 200.0))
    )
    np.testing.assert_array_equal(halves["variable"], wholes["variable"])
    # The ridge weighs twice as much beside half the loss.
    np.testing.assert_allclose(2 * halves["change"], wholes["change"], rtol=0, atol=1e-7)


def test_more_rows_are_possible_than_a_float_can_say():
    codes = np.random.default_rng(0).integers(0, 2, (20, 1200))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(native.merged_rows(encode(codes))[0]) == 20


@pytest.mark.parametrize("weighted", [False, True])
def test_equal_rows_merged_or_not(weighted, monkeypatch):
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.integers(0, m, 2000) for m in (2, 3, 2, 2)])
    codes[:, 3] = np.where(rng.random(2000) < 0.7, codes[:, 0], codes[:, 3])
    weights = rng.integers(0, 5, 2000) if weighted else None
    table = encode(codes, weights)
    settings = {"nu": 0.5, "intercept": True, "max_degree": None, "threads": 2}
    merged = native.learn_native(table, 1e-4, **settings)
    assert len(native.merged_rows(table)[0]) == 24
    monkeypatch.setattr(native, "ROWS_TO_MERGE", np.inf)
    single = native.learn_native(table, 1e-4, **settings)
    for one, two in zip(map(merged.path, range(4)), map(single.path, range(4)), strict=True):
        assert [(s.kind, s.variable) for s in one.steps] == [
            (s.kind, s.variable) for s in two.steps
        ]
        assert one.loss == pytest.approx(two.loss, abs=1e-12)
