"""Exact inference has a budget: what exceeds it takes another way, or is refused in a sentence."""

import subprocess
import sys
import tracemalloc

import networkx as nx
import numpy as np
import pytest

from isinglass import Gibbs, simulate
from isinglass.errors import OutOfMemory
from isinglass.model.inference import elimination

#: Thirty columns of eight states, all linked: 10^27 rows. Prints how much memory it all took.
TANGLED = """
import resource, sys, warnings
import networkx as nx
import numpy as np
from isinglass import Exact, Gibbs, simulate
from isinglass.errors import OutOfMemory
from isinglass.model import ask, fit_model
from isinglass.table import encode

warnings.simplefilter("ignore")
field = simulate.potts(nx.complete_graph(30), 8, coupling=0.05, seed=0)
quick = Exact(), Gibbs(draws=400, burn_in=10, thin=1)

def refused(call):
    try:
        call()
    except OutOfMemory as error:
        assert str(error).count(". ") == 1 and "bytes" in str(error), error
        return True

rows = field.sample(200, method=quick, seed=0)
assert rows.shape == (200, 30)
assert len(field.marginals(method=quick, seed=0)) == 30
assert len(field.pair_marginals(method=quick, seed=0)) == 435
answers = ask(field, None, {"x0": 1}, method=quick, seed=0)
assert (len(answers.answers), answers.method, answers.most_likely) == (29, "gibbs", None)
incomplete = rows[:3].astype(float)
incomplete[:, 5:] = np.nan
assert not np.isnan(field.impute(incomplete, method=quick)[0]).any()
assert refused(lambda: ask(field, joint=True, method=quick))
assert refused(lambda: field.marginals())
assert refused(lambda: field.pair_marginals())
assert refused(lambda: field.conditional("x3"))
assert refused(lambda: field.odds_shift(("x0", 1), ("x1", 1)))
assert refused(lambda: field.most_likely())
assert refused(lambda: field.log_partition())
assert refused(lambda: field.log_likelihood(rows))
assert refused(lambda: field.sample(10, method="exact"))
assert refused(lambda: field.impute(incomplete, method="exact"))
assert refused(lambda: field.impute(incomplete, most_likely=True))
assert refused(lambda: fit_model(encode(rows), field.graph, "likelihood"))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(peak if sys.platform == "darwin" else 1024 * peak)
"""


def test_a_model_that_nothing_exact_can_handle():
    pytest.importorskip("resource")
    run = [sys.executable, "-c", TANGLED]
    done = subprocess.run(run, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 1e9


@pytest.mark.parametrize("work", ["most_likely", "joint", "marginals", "draw"])
def test_no_step_takes_more_than_was_predicted(work):
    field = simulate.potts(nx.complete_graph(7), 7, seed=0)
    columns = [5, 0, 3]
    order = elimination.plan(field, 1e9, columns)
    rng = np.random.default_rng(0)
    call = {
        "most_likely": lambda: elimination.most_likely(field, order),
        "joint": lambda: elimination.joint(field, order, columns),
        "marginals": lambda: elimination.marginals(field, order),
        "draw": lambda: elimination.draw(field, order, 1000, rng),
    }[work]
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    beliefs = work in ("joint", "marginals")
    assert peak < order.bytes_needed(1000, beliefs=beliefs) + 1e6


def test_sampled_answers_have_a_budget_too():
    field = simulate.potts(nx.complete_graph(9), 8, seed=0)
    with pytest.raises(OutOfMemory, match=r"over 9 columns, 134,217,728 cells.*fewer columns"):
        field.conditional(field.names, method="gibbs")
    with pytest.raises(OutOfMemory, match=r"100,000,000 draws need about .*Take fewer draws\."):
        field.marginals(method=Gibbs(draws=10**8))
