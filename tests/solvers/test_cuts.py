"""All forms of the path at a threshold agree with a plain reading of the steps."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instances import sample
from isinglass import GreedyGraph
from isinglass.engine import learn_neighbourhoods
from isinglass.solvers import cuts
from isinglass.solvers.path import Path, Step
from isinglass.table import encode

gains = st.lists(st.one_of(st.none(), st.sampled_from([0.1, 0.2, 0.3, 0.4, 0.5])), max_size=8)
LEVELS = [0.05, 0.1, 0.15, 0.2, 0.3, 0.45, 0.5, 1.0]


def path_of(gains):
    """A path whose fit after k steps is the number k, and whose support is too."""
    fits = [SimpleNamespace(coef={}, loss=0.0, number=k) for k in range(len(gains) + 1)]
    steps = tuple(
        Step("drop" if gain is None else "add", k, gain, None, (k,), fits[k])
        for k, gain in enumerate(gains, start=1)
    )
    return Path(steps, fits[0], 0.01, "stopped")


def plain_count(gains, threshold):
    weak = [k for k, gain in enumerate(gains) if gain is not None and gain <= threshold]
    return min(weak, default=len(gains))


@given(st.lists(gains, min_size=1, max_size=4))
def test_every_form_of_the_cut_is_the_same(all_gains):
    paths = [path_of(one) for one in all_gains]
    begin = np.cumsum([0, *(len(one) + 1 for one in all_gains)])
    flat = np.array(
        [np.inf if gain is None else gain for one in all_gains for gain in (None, *one)]
    )
    for threshold in LEVELS:
        expected = [plain_count(one, threshold) for one in all_gains]
        assert [cuts.steps_at(one, threshold) for one in all_gains] == expected
        assert [len(path.at(threshold)) for path in paths] == expected
        assert (cuts.fits_at(begin, flat, threshold) - begin[:-1]).tolist() == expected
        for path, count in zip(paths, expected, strict=True):
            found = cuts.Cuts.of(path)
            at = int(found.at(np.array([threshold]))[0])
            assert found.fits[at].number == count
            assert found.supports[at] == cuts.support_at(path, threshold)


@given(st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)).filter(lambda p: p[0] != p[1])))
def test_joining_is_what_the_rules_say(chosen):
    neighbours = [sorted(t for s, t in chosen if s == r) for r in range(5)]
    for rule, joins in (("or", any), ("and", all)):
        assert cuts.join_neighbourhoods(neighbours, rule) == [
            (a, b)
            for a in range(5)
            for b in range(a + 1, 5)
            if joins([(a, b) in chosen, (b, a) in chosen])
        ]


@pytest.mark.parametrize("rule", ["or", "and"])
@pytest.mark.parametrize("solver", ["native", "readable"])
def test_runs_at_every_threshold(solver, rule):
    table = encode(sample(np.random.default_rng(5), [2, 3, 2, 4, 3], 200, strength=0.8))
    floor = 0.002
    runs = learn_neighbourhoods(table, floor, solver=solver)
    paths = [runs.path(r) for r in range(len(runs))]
    all_cuts = [cuts.Cuts.of(path) for path in paths]
    assert len(cuts.changes(all_cuts)) > 5
    thresholds = cuts.one_threshold_per_graph(all_cuts, floor)
    for threshold, edges in zip(
        thresholds, cuts.edges_at_each(all_cuts, thresholds, rule), strict=True
    ):
        plain = cuts.edges_at(paths, threshold, rule)
        assert sorted(edges) == plain
        assert cuts.join(*runs.chosen(threshold), rule).pairs == plain


def test_stretches_are_the_thresholds_at_which_a_neighbour_is_there():
    rows = sample(np.random.default_rng(2), [2, 2, 3, 2, 2, 2], 120, strength=0.9)
    est = GreedyGraph(0.001).fit(rows)
    for path in est.paths_:
        found = cuts.Cuts.of(path)
        for neighbour in range(6):
            stretches = list(found.stretches(neighbour))
            for gain in [*found.least.tolist(), 0.002, 0.9]:
                for threshold in (gain, np.nextafter(gain, 1)):
                    there = any(low <= threshold < high for low, high in stretches)
                    assert there == (neighbour in cuts.support_at(path, threshold))
