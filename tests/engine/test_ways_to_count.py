"""Pairs at first or on demand, searches counted alone or together: nothing changes the answer."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from engine.adversarial import Case, case
from engine.agreement import assert_same_runs, run_native, run_readable
from instances import sample
from isinglass import GreedyGraph
from isinglass.core import search_columns, use_counting, use_instructions
from selections import mostly_long

WAYS = ["whole", "rows", "gathered", "gathered rows"]
TABLES = 200


@pytest.fixture(autouse=True)
def _best_again():
    yield
    use_counting("best")
    use_instructions("best")


def table_of(seed: int) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Codes, whole weights (ones in a third of the tables) and states, two in a third of them."""
    rng = np.random.default_rng([20, seed])
    p = int(rng.integers(3, 13))
    states = [2] * p if seed % 3 == 0 else rng.integers(1, 5, size=p).tolist()
    codes = sample(rng, [max(m, 2) for m in states], int(rng.integers(30, 400)), strength=1.5)
    codes = np.minimum(codes, np.array(states) - 1)
    if seed % 5 == 0:
        codes[:, -1] = codes[:, 0]  # a tie wherever both are candidates
        states[-1] = states[0]
    most = [1, 3, 200, 70_000][seed % 4] if seed % 3 else 1
    weights = rng.integers(1, most + 1, size=len(codes)).astype(float)
    return codes, weights, states


def settings_of(seed: int, states: list[int]) -> dict:
    """Settings of a search, with constraints in every other table."""
    rng = np.random.default_rng([21, seed])
    p = len(states)
    required, forbidden = {}, {}
    for r in range(p if seed % 2 else 0):
        others = [int(j) for j in rng.permutation(p) if j != r and states[j] > 1]
        if states[r] > 1:
            required[r], forbidden[r] = set(others[:1]), set(others[1:3])
    return {
        "threshold": float(rng.choice([1e-4, 2e-3, 2e-2])),
        "nu": float(rng.choice([0.3, 0.5, 0.9])),
        "intercept": bool(seed % 7),
        "max_degree": [None, 2][seed % 2],
        "required": required,
        "forbidden": forbidden,
    }


def run(way: str, seed: int, **more) -> dict[str, np.ndarray]:
    codes, weights, states = table_of(seed)
    use_counting(way)
    return search_columns(codes, weights, states, **settings_of(seed, states), **more)


def assert_identical(one: dict[str, np.ndarray], two: dict[str, np.ndarray]) -> None:
    assert one.keys() == two.keys()
    for name, values in one.items():
        np.testing.assert_array_equal(values, two[name], err_msg=name, strict=True)


@pytest.mark.parametrize("first", mostly_long(range(0, TABLES, 20), 4))
def test_all_ways_agree_to_the_last_bit(first):
    for seed in range(first, first + 20):
        at_once = run("whole", seed, threads=1)
        for way in WAYS[1:]:
            assert_identical(run(way, seed, threads=2), at_once)


@pytest.mark.parametrize("seed", range(8))
def test_nothing_better_is_skipped(seed):
    """Every candidate is evaluated, and a bound that skipped a better one is an error."""
    unchecked = run("gathered rows", seed, threads=2)
    checked = run("gathered rows", seed, threads=2, check=True)
    for name in unchecked.keys() - {"evaluated"}:
        np.testing.assert_array_equal(unchecked[name], checked[name], err_msg=name)


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_the_readable_solver_agrees(seed):
    drawn: Case = case(seed)
    truth = run_readable(drawn)
    for way in WAYS:
        use_counting(way)
        assert_same_runs(run_native(drawn, threads=2), truth, drawn.threshold)


@pytest.mark.parametrize("rule", ["and", "or", "joint"])
@pytest.mark.parametrize("seed", range(3))
def test_every_rule(rule, seed):
    codes, weights, _ = table_of(3 * seed + 1)
    graphs = []
    for way in WAYS:
        use_counting(way)
        graphs.append(GreedyGraph("paper", rule=rule).fit(codes, sample_weight=weights).graph_)
    for graph in graphs[1:]:
        assert graph == graphs[0]
        assert graph.to_frame("polars").equals(graphs[0].to_frame("polars"))


@pytest.mark.parametrize("weights", ["fractions", "many"])
def test_weights_that_are_no_small_counts(weights):
    """Rough counts, and counts beyond four bytes."""
    codes, _, states = table_of(4)
    rng = np.random.default_rng(0)
    drawn = rng.random(len(codes)) if weights == "fractions" else rng.integers(1, 10**9, len(codes))
    settings = {**settings_of(4, states), "threads": 2}
    runs = []
    for way in WAYS:
        use_counting(way)
        runs.append(search_columns(codes, drawn.astype(float), states, **settings))
    for one in runs[1:]:
        assert_identical(one, runs[0])


def test_an_unknown_way_is_refused():
    with pytest.raises(ValueError, match="no way to count called 'fingers'"):
        use_counting("fingers")


def test_an_exception_wakes_all_searches():
    def progress(done):
        raise RuntimeError("enough")

    codes = np.random.default_rng(1).integers(0, 2, size=(3000, 100))
    use_counting("gathered rows")
    rest = {"nu": 0.5, "intercept": True, "max_degree": None, "threads": 2}
    with pytest.raises(RuntimeError, match="enough"):
        search_columns(codes, np.ones(3000), [2] * 100, 2e-4, progress=progress, **rest)


# Minutes of work: every column takes all the others, with a cell for each row.
LONG_FIT = """
import numpy as np
from isinglass.core import search_columns, use_counting

codes = np.random.default_rng(0).integers(0, 2, size=(6000, 80))
use_counting("gathered rows")
progress = lambda done: print("started", flush=True) if not done else None
rest = dict(nu=0.5, intercept=True, max_degree=None, threads=2)
try:
    search_columns(codes, np.ones(6000), [2] * 80, 1e-9, progress=progress, **rest)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent the POSIX way")
def test_ctrl_c_wakes_all_searches():
    command = [sys.executable, "-c", LONG_FIT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "started\n"
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            said, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert said.splitlines()[-1] == "interrupted"
    assert process.returncode == 0
