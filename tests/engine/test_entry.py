"""The number that decides: where an edge enters the graph, and the tiers that follow from it."""

import numpy as np
import pytest

from engine.adversarial import case
from engine.agreement import as_table, run_readable, settings_of, thresholds_of
from isinglass import GreedyGraph
from isinglass.engine import KeptRuns, pairs_at
from isinglass.engine.join import entries
from isinglass.engine.native import learn_native
from isinglass.losses.conditional import NodeFit
from isinglass.selection import tier_levels
from isinglass.solvers.path import Path, Step


def climbed(runs, pair, threshold: float, grid: list[float], rule: str) -> float:
    """The first threshold of a rising grid, from one on, whose graph lacks a pair."""
    for t in grid:
        if t >= threshold and pair not in pairs_at(runs, t, rule):
            return t
    return np.inf


@pytest.mark.parametrize("rule", ["or", "and"])
@pytest.mark.parametrize("seed", [seed for seed in range(40) if len(case(seed).codes) < 400][:12])
def test_an_edge_is_there_up_to_its_entry(seed, rule):
    drawn = case(seed)
    runs = learn_native(
        as_table(drawn), drawn.threshold, threads=1, progress=None, **settings_of(drawn)
    )
    grid = sorted(thresholds_of(runs, drawn.threshold))
    for threshold in grid:
        pairs = sorted(pairs_at(runs, threshold, rule))
        for pair, entry in zip(pairs, entries(runs, pairs, threshold, rule), strict=True):
            assert entry > threshold
            below = [t for t in grid if threshold <= t < entry]
            assert all(pair in pairs_at(runs, t, rule) for t in below)
            assert pair not in pairs_at(runs, entry, rule)


def test_readable_runs_have_the_same_entries():
    drawn = case(5)
    native = learn_native(
        as_table(drawn), drawn.threshold, threads=1, progress=None, **settings_of(drawn)
    )
    readable = run_readable(drawn)
    pairs = sorted(pairs_at(readable, drawn.threshold, "or"))
    one, two = (entries(runs, pairs, drawn.threshold, "or") for runs in (native, readable))
    np.testing.assert_allclose(one, two, atol=1e-8)


def hand_made(gains_and_supports) -> Path:
    """A path by its steps: a gain, or None for a drop, and the support after it."""
    steps = tuple(
        Step(
            "drop" if gain is None else "add",
            0,
            gain,
            None if gain is not None else 0.0,
            support,
            NodeFit({t: np.zeros((2, 2)) for t in support}, np.zeros(2), 0.0, frozenset()),
        )
        for gain, support in gains_and_supports
    )
    return Path(steps, NodeFit({}, np.zeros(2), 1.0, frozenset()), 0.01, "", ("a", "b", "c"), ())


def test_a_break_ends_the_climb():
    """Column 0 has 1, drops it for 2, and takes it in again: three stretches of thresholds."""
    path = hand_made([(0.5, (1,)), (0.3, (1, 2)), (None, (2,)), (0.1, (1, 2))])
    runs = KeptRuns([path, hand_made([]), hand_made([])])
    assert entries(runs, [(0, 1), (0, 2)], 0.05, "or") == [0.1, 0.3]
    assert entries(runs, [(0, 1)], 0.4, "or") == [0.5]
    other_end = hand_made([(0.35, (0,))])
    runs = KeptRuns([path, other_end, hand_made([])])
    assert entries(runs, [(0, 1)], 0.05, "or") == [0.5]  # the other end bridges the break
    assert entries(runs, [(0, 1)], 0.05, "and") == [0.1]


def test_later_larger_gains_do_not_count():
    path = hand_made([(0.2, (1,)), (0.4, (1, 2))])
    runs = KeptRuns([path, hand_made([]), hand_made([])])
    assert entries(runs, [(0, 1), (0, 2)], 0.05, "or") == [0.2, 0.2]


@pytest.mark.parametrize("rule", ["or", "and"])
def test_tiers_can_be_checked_from_the_entry(rule):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (400, 12))
    for j in range(1, 12):
        x[:, j] = np.where(rng.random(400) < 0.05 + 0.02 * j, x[:, j - 1], x[:, j])
    est = GreedyGraph(floor=1e-4, rule=rule).fit(x)
    levels = {name: 800 * level for name, level in tier_levels(400, 12).items()}
    tiers = set()
    for threshold in (0.1, est.threshold_, 0.008, 0.004, 1e-4):
        for link in est.at(threshold):
            passed = [name for name, level in levels.items() if link.entry_evidence > level]
            assert link.tier == (passed[0] if passed else "")
            assert link.entry_evidence > 800 * threshold
            tiers.add(link.tier)
    assert tiers == {"firm", "tentative", ""}
    assert all(link.tier == "firm" for link in est.at(0.1))
