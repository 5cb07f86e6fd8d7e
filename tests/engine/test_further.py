"""Edges that no search has proposed, against their plain definition."""

from itertools import combinations

import numpy as np
import pytest

import isinglass as ig
from both_ends_reference import PlainEnd, of_both, relative_null
from isinglass.core import LookFurther, both_ends
from isinglass.solvers.equivalent import one_parameter_gain


def drawn(seed):
    """A small table, its numbers of states, and a part of its links."""
    rng = np.random.default_rng(seed)
    p, most = int(rng.integers(4, 7)), int(rng.integers(2, 4))
    states = [int(rng.integers(2, most + 1)) for _ in range(p)]
    graph = ig.simulate.erdos_renyi(p, 3, seed=seed)
    field = ig.simulate.potts(graph, states, coupling=0.5, seed=seed)
    codes = field.sample_codes(int(rng.integers(100, 300)), seed=seed)
    if seed % 3 == 0:
        codes[:, 0] = 0  # a constant column
    varying = [r for r in range(p) if len(np.unique(codes[:, r])) == states[r]]
    codes, states = codes[:, varying], [states[r] for r in varying]
    weights = rng.integers(1, 3, len(codes)).astype(float)
    pairs = [pair for pair in combinations(range(len(states)), 2) if rng.random() < 0.3]
    return codes, weights, states, pairs


def plain_further(codes, weights, states, pairs, looking, intercept):
    """The pairs that come in, and which ends found them."""
    around = [[] for _ in states]
    for a, b in pairs:
        around[a].append(b)
        around[b].append(a)
    limit = looking.max_degree
    found = []
    for pair in combinations(range(len(states)), 2):
        if pair in pairs:
            continue
        ends = [
            PlainEnd(codes, weights, states, r, sorted([*around[r], t]), intercept)
            for r, t in (pair, pair[::-1])
        ]
        scale, degrees = relative_null(codes, weights, pair, intercept)
        df = (states[pair[0]] - 1) * (states[pair[1]] - 1)
        gains = [
            -np.inf
            if t in looking.forbidden.get(r, ()) or (limit is not None and len(around[r]) >= limit)
            else one_parameter_gain(end.gain_of(t) / scale, max(degrees * df, 1.0), weights.sum())
            for end, (r, t) in zip(ends, (pair, pair[::-1]), strict=True)
        ]
        by = tuple(bool(gain > looking.gain) for gain in gains)
        if not all(by) and not max(gains) > looking.alone:
            continue
        one, other = ends[0].nearly_says_of(pair[1]), ends[1].nearly_says_of(pair[0])
        if of_both(one, other, codes, weights, states, pair, intercept) > looking.firm:
            found.append((pair, by))
    return found


def looking_for(weights, **settings):
    """As `learn_joint` looks, at a threshold that many pairs pass and many do not."""
    firm = 3.0
    gain = firm / (2 * weights.sum())
    return LookFurther(firm, gain, gain / 2, **settings)


def further(codes, weights, states, pairs, looking, intercept=True):
    seen = both_ends(
        codes,
        weights,
        states,
        pairs,
        held=pairs,
        top=0.0,
        looking=looking,
        intercept=intercept,
        threads=2,
    )
    assert len(seen.statistic) == len(seen.entry) == len(pairs) + len(seen.further)
    return seen


@pytest.mark.parametrize("seed", range(24))
def test_further_edges_are_those_of_the_definition(seed):
    codes, weights, states, pairs = drawn(seed)
    looking, intercept = looking_for(weights), seed % 4 != 0
    seen = further(codes, weights, states, pairs, looking, intercept)
    plain = plain_further(codes, weights, states, pairs, looking, intercept)
    assert [(one.pair, one.by) for one in seen.further] == plain
    assert not any(one.small for one in seen.further)


def test_the_cases_above_have_further_edges_and_others():
    """Some pairs come in by both ends and some by one; some of these leave again."""
    by, left, stayed = set(), 0, 0
    for seed in range(24):
        codes, weights, states, pairs = drawn(seed)
        seen = further(codes, weights, states, pairs, looking_for(weights))
        by |= {one.by for one in seen.further}
        gone = np.isfinite(seen.entry[len(pairs) :])
        left, stayed = left + gone.sum(), stayed + (~gone).sum()
    assert by == {(True, True), (True, False), (False, True)}
    assert left > 0
    assert stayed > 0


def test_forbidden_pairs_are_not_looked_at():
    codes, weights, states, pairs = drawn(2)
    looking = looking_for(weights)
    first = further(codes, weights, states, pairs, looking).further[0].pair
    forbidden = {first[0]: {first[1]}, first[1]: {first[0]}}
    without = looking_for(weights, forbidden=forbidden)
    assert first not in [
        one.pair for one in further(codes, weights, states, pairs, without).further
    ]


def test_columns_with_enough_neighbours_do_not_look():
    codes, weights, states, pairs = drawn(2)
    looking = looking_for(weights, max_degree=1)
    found = further(codes, weights, states, pairs, looking).further
    assert [(one.pair, one.by) for one in found] == plain_further(
        codes, weights, states, pairs, looking, True
    )
    assert all(
        not by or r not in {v for pair in pairs for v in pair}
        for one in found
        for r, by in zip(one.pair, one.by, strict=True)
    )


#: Tables whose searches propose too little: seed, columns, rows, and the pair that comes in.
FOUND = [(81, 8, 123, (1, 3)), (126, 13, 155, (2, 12)), (411, 11, 203, (1, 9))]


def table_of(seed):
    rng = np.random.default_rng(seed)
    p, most, n = int(rng.integers(8, 25)), int(rng.integers(2, 4)), int(rng.integers(100, 700))
    graph = ig.simulate.erdos_renyi(p, 3.5, seed=seed)
    states = [int(rng.integers(2, most + 1)) for _ in range(p)]
    coupling = float(rng.uniform(0.3, 0.9))
    return ig.simulate.potts(graph, states, coupling=coupling, seed=seed).sample(n, seed=seed)


@pytest.mark.parametrize(("seed", "p", "n", "pair"), FOUND)
def test_an_edge_that_nobody_proposed_is_in_the_graph(seed, p, n, pair):
    table = table_of(seed)
    assert np.shape(table) == (n, p)
    est = ig.GreedyGraph(rule="joint").fit(table)
    proposals = est.search_.runs.proposals
    proposed = set(zip(*proposals.chosen(est.search_.runs.proposed_at), strict=True))
    assert not {pair, pair[::-1]} & {(int(a), int(b)) for a, b in proposed}
    assert pair in est.graph_.pairs
    link = est.graph_.links[est.graph_.pairs.index(pair)]
    assert link.evidence > 2 * n * est.threshold_
    assert link.selected_by in {"both", *(est.table_.names[v] for v in pair)}


@pytest.mark.parametrize(("seed", "p", "n", "pair"), FOUND)
def test_every_threshold_is_still_as_a_fresh_run(seed, p, n, pair):
    est = ig.GreedyGraph(rule="joint", floor=0.01).fit(table_of(seed))
    for threshold in (0.01, 0.02, est.search_.runs.firm, est.threshold_, 0.1):
        fresh = ig.GreedyGraph(threshold, rule="joint").fit(table_of(seed))
        assert fresh.graph_.edges == est.at(threshold).edges
        for link, same in zip(fresh.graph_.links, est.at(threshold).links, strict=True):
            assert link.evidence == same.evidence
            assert link.selected_by == same.selected_by


def test_a_further_edge_can_be_forbidden():
    seed, _, _, (a, b) = FOUND[0]
    est = ig.GreedyGraph(rule="joint").fit(table_of(seed))
    names = est.table_.names[a], est.table_.names[b]
    without = ig.GreedyGraph(rule="joint", forbid=[names]).fit(table_of(seed))
    assert (a, b) not in without.graph_.pairs


@pytest.mark.parametrize(("seed", "pair"), [(47, (6, 7)), (173, (3, 8))])
def test_edges_between_ordered_columns_come_in_by_their_smaller_form(seed, pair):
    rng = np.random.default_rng(seed)
    p, n = int(rng.integers(8, 16)), int(rng.integers(100, 400))
    graph = ig.simulate.erdos_renyi(p, 3.5, seed=seed)
    coupling = float(rng.uniform(0.3, 0.9))
    table = ig.simulate.ordinal(graph, 3, coupling=coupling, seed=seed).sample(n, seed=seed)
    est = ig.GreedyGraph(rule="joint", floor=0.01).fit(table)
    link = est.graph_.links[est.graph_.pairs.index(pair)]
    assert link.form == "product"
    assert link.evidence > 2 * n * est.threshold_
    for threshold in (0.01, est.threshold_):
        fresh = ig.GreedyGraph(threshold, rule="joint").fit(table)
        assert [(one.form, one.evidence) for one in fresh.graph_.links] == [
            (one.form, one.evidence) for one in est.at(threshold).links
        ]
