"""Exact and Gibbs: words and objects mean the same, and the old arguments still work."""

import warnings

import numpy as np
import pytest

from isinglass import Exact, Gibbs, simulate
from isinglass.errors import OutOfMemory, SettingError
from isinglass.model import ask
from small_models import MODELS

FIELD = MODELS["Potts, dense"]
FIRST = FIELD.names[0]

#: What can be asked, as a function of settings, with an array as its answer.
CALLS = {
    "sample": lambda **how: FIELD.sample(40, seed=1, **how),
    "sample_codes": lambda **how: FIELD.sample_codes(40, seed=1, **how),
    "marginals": lambda **how: FIELD.marginals(seed=1, **how)[FIRST].values,
    "pair_marginals": lambda **how: np.concatenate(
        [table.values.ravel() for table in FIELD.pair_marginals(seed=1, **how).values()]
    ),
    "conditional": lambda **how: FIELD.conditional(FIRST, seed=1, **how).values,
    "ask": lambda **how: ask(FIELD, [FIRST], seed=1, **how).answers[0].table.values,
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_words_are_shorthand(call):
    np.testing.assert_array_equal(call(method="exact"), call(method=Exact()))
    np.testing.assert_array_equal(call(method="gibbs"), call(method=Gibbs()))
    np.testing.assert_array_equal(call(method="auto"), call(method=(Exact(), Gibbs())))
    np.testing.assert_array_equal(call(method="auto"), call(method="exact"))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_of_two_methods_the_second_takes_over_where_memory_ends(call):
    gibbs = Gibbs(draws=640, burn_in=10, thin=2)
    both = call(method=(Exact(memory=10), gibbs))
    np.testing.assert_array_equal(both, call(method=gibbs))
    with pytest.raises(OutOfMemory, match='take method="gibbs"'):
        call(method=Exact(memory=10))


@pytest.mark.filterwarnings("ignore::isinglass.errors.PoorMixing")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"memory": 1e8, "method": "exact"}, Exact(memory=1e8)),
        ({"burn_in": 5, "thin": 3, "method": "gibbs"}, Gibbs(burn_in=5, thin=3)),
        ({"memory": 10, "thin": 3, "method": "auto"}, (Exact(memory=10), Gibbs(thin=3))),
    ],
    ids=["exact", "gibbs", "auto"],
)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_old_arguments_still_work(call, old, new):
    with pytest.warns(FutureWarning, match="will be removed") as caught:
        before = call(**old)
    assert f"method={new!r}" in str(caught[0].message)
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(before, call(method=new))


def test_the_default_method_goes_with_old_arguments():
    with pytest.warns(FutureWarning, match=r"memory= will be .* method=Exact\(memory=1000000"):
        FIELD.marginals(memory=1e6)
    with pytest.warns(FutureWarning, match=r"method=\(Exact\(memory=1000000.*, Gibbs\(.*thin=7"):
        FIELD.sample(3, memory=1e6, thin=7)


def test_draws_of_impute_are_tables():
    rows = [[None] * len(FIELD.names)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(FIELD.impute(rows, draws=3)) == 3
    with pytest.warns(FutureWarning, match="burn_in= will be removed"):
        assert len(FIELD.impute(rows, draws=2, burn_in=5)) == 2


def test_one_spelling_at_a_time():
    with pytest.raises(SettingError, match="thin is part of method"):
        FIELD.sample(3, method=Gibbs(), thin=3)
    with pytest.raises(TypeError, match="sweeps"):
        FIELD.sample(3, sweeps=3)


@pytest.mark.parametrize("method", ["magic", (Gibbs(), Exact()), (Exact(),), Exact, None])
def test_other_methods_are_refused(method):
    with pytest.raises(SettingError, match="method must be 'auto', 'exact' or 'gibbs', or Exact"):
        simulate.ising(simulate.chain(2)).sample(3, given={"x0": 1, "x1": 1}, method=method)
