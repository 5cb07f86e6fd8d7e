"""Gibbs sampling against enumeration; reproducible whatever the threads; Ctrl-C is answered."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import enumeration
from isinglass import simulate
from isinglass.core.models import gibbs_sample
from isinglass.errors import SettingError
from isinglass.model import Gibbs
from isinglass.model.inference.sampling import FEWEST_DRAWS, run_chains
from small_models import MODELS

LONG_RUN = """
from isinglass import Gibbs, simulate

field = simulate.ising(simulate.grid(20, 20), coupling=0.1)

def progress(done, total):
    if not progress.told:
        print("started", flush=True)
    progress.told = True

progress.told = False
try:
    field.sample(10, method=Gibbs(burn_in=10**9), progress=progress)
except KeyboardInterrupt:
    field.sample(10, method=Gibbs(burn_in=10))
    print("interrupted, and still at work")
"""


@pytest.mark.parametrize("name", MODELS)
def test_moments(name):
    run = run_chains(MODELS[name], 40_000, Gibbs(burn_in=200, thin=30), np.random.default_rng(2))
    worth = len(run.codes) * min(1.0, run.mixing.effective / run.mixing.draws)
    assert worth > 15_000
    assert enumeration.standard_errors_off(MODELS[name], run.codes, worth) < 4


def test_the_same_whatever_the_threads():
    field = MODELS["Potts, dense"]
    draw = {"seed": 5, "method": Gibbs(chains=7, burn_in=20, thin=2)}
    one, three = (field.sample_codes(500, n_jobs=jobs, **draw) for jobs in (1, 3))
    np.testing.assert_array_equal(one, three)
    other = field.sample_codes(500, **(draw | {"seed": 6}))
    assert (one != other).any()


def test_chains_differ_and_take_turns():
    field = simulate.ising(simulate.chain(40), coupling=0.1)
    run = run_chains(field, 64, Gibbs(chains=4, burn_in=0), np.random.default_rng(0))
    assert run.codes.shape == (4 * FEWEST_DRAWS, 40)
    assert len(np.unique(run.codes, axis=0)) == 4 * FEWEST_DRAWS
    alone = run_chains(field, 64, Gibbs(chains=2, burn_in=0), np.random.default_rng(0))
    np.testing.assert_array_equal(run.codes[::4], alone.codes[::2])
    np.testing.assert_array_equal(run.codes[1::4], alone.codes[1::2])


def test_burn_in_and_thinning_count_sweeps():
    field = MODELS["Ising, grid"]
    every = run_chains(field, 200, Gibbs(chains=2, burn_in=0, thin=1), np.random.default_rng(0))
    third = run_chains(field, 60, Gibbs(chains=2, burn_in=5, thin=3), np.random.default_rng(0))
    np.testing.assert_array_equal(third.codes[:2], every.codes[14:16])
    np.testing.assert_array_equal(third.codes[2:4], every.codes[20:22])


def test_strong_potentials():
    field = simulate.potts(simulate.chain(5), 4, coupling=1000.0, intercept=1000.0, seed=0)
    run = run_chains(field, 100, Gibbs(burn_in=10, thin=1), np.random.default_rng(0))
    assert (run.codes < 4).all()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"chains": 1}, "chains must be a whole number from 2 to 1,000,000, not 1"),
        ({"burn_in": -1}, "burn_in must be a whole number from 0"),
        ({"thin": 0}, "thin must be a whole number from 1"),
    ],
)
def test_settings(settings, said):
    with pytest.raises(SettingError, match=said):
        Gibbs(**settings)


def test_the_core_refuses_arrays_that_do_not_fit():
    whole = np.zeros(0, dtype=np.int64)
    model = {
        "states": np.array([2, 2], dtype=np.int32),
        "field_begin": np.array([0, 1]),
        "fields": np.zeros(2),
        "neighbour_begin": np.array([0, 1, 1]),
        "neighbours": np.array([1]),
        "table_begin": np.array([0]),
        "tables": np.zeros(2),
    }
    sizes = {"chains": 2, "burn_in": 0, "thin": 1, "draws": 3, "seed": 0, "threads": 1}
    assert gibbs_sample(model, **sizes).shape == (6, 2)
    for wrong in (
        {"fields": np.zeros(1)},
        {"neighbours": np.array([2])},
        {"neighbours": np.array([-1])},
        {"table_begin": np.array([1])},
        {"table_begin": whole},
        {"neighbour_begin": np.array([0, 2, 1])},
        {"states": np.array([2, 300], dtype=np.int32)},
    ):
        with pytest.raises(ValueError, match="do not fit together"):
            gibbs_sample(model | wrong, **sizes)


def test_progress():
    told = []
    MODELS["Ising, grid"].sample(
        50, method="gibbs", seed=0, progress=lambda done, total: told.append((done, total))
    )
    assert told[-1] == (32, 32)
    assert told == sorted(told)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent the POSIX way")
def test_ctrl_c():
    command = [sys.executable, "-c", LONG_RUN]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "started\n"
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            said, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert said == "interrupted, and still at work\n"
    assert process.returncode == 0
