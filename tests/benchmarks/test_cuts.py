"""One greedy run holds the graphs of every threshold and every rule."""

import numpy as np
import pytest
from benchmarks.choosing import cuts
from benchmarks.choosing.designs import weak_links_of_many_states

from isinglass import GreedyGraph
from isinglass.experiments.designs import grid_design
from isinglass.experiments.measure import edge_set

TABLES = {
    "grid": grid_design(16, (1.0,)).sample(150, seed=3)[0],
    "states": weak_links_of_many_states(300).sample(300, seed=5)[0],
    "copies": np.random.default_rng(0).integers(0, 2, (60, 4), dtype=np.uint8)[:, [0, 1, 0, 2, 3]],
}


@pytest.fixture(params=TABLES, scope="module")
def table(request):
    return TABLES[request.param]


@pytest.mark.parametrize("rule", ["or", "and"])
@pytest.mark.parametrize("intercept", [True, False])
def test_every_cut_is_the_graph_of_a_fresh_fit(table, rule, intercept):
    graphs = cuts.all_cuts(table, intercept=intercept).graphs
    for name, threshold in cuts.selectors().items():
        fresh = GreedyGraph(threshold, rule=rule, intercept=intercept).fit(table).graph_
        assert edge_set(graphs[f"{rule} {name}"]) == edge_set(fresh)


@pytest.mark.parametrize("rule", ["mean", "rms"])
def test_averages_are_those_of_the_thresholds_found_by_fresh_fits(table, rule):
    """w(r, t) by bisection over fresh fits of one column's neighbourhood."""
    floor = min(rule.threshold(*table.shape) for rule in cuts.selectors().values())
    taken = cuts.taken_in(list(GreedyGraph(floor).fit(table).paths_))
    for (r, t), limit in list(taken.items())[:8]:
        above = GreedyGraph(limit * (1 + 1e-9)).fit(table).paths_[r].support
        below = GreedyGraph(limit * (1 - 1e-9)).fit(table).paths_[r].support
        assert t in below
        assert t not in above
    graphs = cuts.all_cuts(table).graphs
    power = {"mean": 1, "rms": 2}[rule]
    limit = cuts.Paper(0.5).threshold(*table.shape)
    p = table.shape[1]
    both = np.array([[taken.get((r, t), 0.0) for t in range(p)] for r in range(p)]) ** power
    kept = ((both + both.T) / 2) ** (1 / power) > limit
    assert edge_set(graphs[f"{rule} c=0.5"]) == edge_set(zip(*np.nonzero(kept), strict=True))


def test_what_and_keeps_the_mean_keeps_and_what_the_mean_keeps_the_root_mean_square_keeps(table):
    graphs = cuts.all_cuts(table).graphs
    for c in (0.5, 0.9):
        low, mean, rms = (graphs[f"{rule} c={c:g}"] for rule in ("and", "mean", "rms"))
        assert low <= mean <= rms
