"""Both ends together: the order in which edges leave, against its plain definition."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import chi2

import isinglass as ig
from both_ends_reference import relative_null, rows_left
from instances import KINDS, instance
from isinglass.core import LookFurther, both_ends
from isinglass.engine import learn_neighbourhoods, pairs_at
from isinglass.engine.native import fit_neighbourhoods
from isinglass.solvers.equivalent import one_parameter_gain
from isinglass.table import encode


def of_the_weaker_end(table, pairs, intercept):
    """The smaller of both ends' likelihood ratios, from fits with and without each neighbour."""
    around = [[] for _ in table.columns]
    for a, b in pairs:
        around[a].append(b)
        around[b].append(a)

    def fits(neighbours):
        found = fit_neighbourhoods(table, neighbours, intercept=intercept, threads=1)
        return [found.fit(r, 0) for r in range(len(around))]

    def left_of(less, r, t):
        features = intercept + sum(table.n_states[u] - 1 for u in around[r] if u != t)
        scores = less.intercept + np.zeros((len(table.codes), 1))
        for u, effects in less.coef.items():
            scores = scores + effects.T[table.codes[:, u]]
        p = softmax(scores, axis=1)
        return rows_left(p, table.codes[:, r], table.weights, features, intercept)

    full, ratio = fits(around), {}
    for a, b in pairs:
        less = fits([[t for t in own if {r, t} != {a, b}] for r, own in enumerate(around)])
        for r, t in ((a, b), (b, a)):
            deviance = 2 * left_of(less[r], r, t) * max(less[r].loss - full[r].loss, 0.0)
            df = (table.n_states[a] - 1) * (table.n_states[b] - 1)
            scale, degrees = relative_null(table.codes, table.weights, (a, b), intercept)
            found = one_parameter_gain(deviance / 2 / scale, max(degrees * df, 1.0), 1.0)
            ratio[r, t] = 2 * float(found)
    return {(a, b): min(ratio[a, b], ratio[b, a]) for a, b in pairs}


class Leaving:
    """Entries, as `Elimination` in the core defines them, by whole statistics of whole graphs."""

    def __init__(self, table, pairs, held, **settings):
        self.table, self.pairs, self.settings = table, pairs, settings
        self.seen = of_the_weaker_end(table, pairs, settings["intercept"])
        self.live, self.stale, self.held = list(pairs), set(pairs), set(held)
        self.weighed = set(pairs)
        self.level, self.entry, self.tie = 0.0, {}, 2 * table.n * 1e-9
        self.now = {}  # what both ends say in the graph that is left

    def free(self, stale):
        return [p for p in self.live if p not in self.held and (p in self.stale) == stale]

    def look(self, pair):
        if not self.now:
            table = self.table
            known = (table.codes, table.weights, table.n_states, self.live)
            found, *_ = both_ends(*known, **self.settings)
            self.now = dict(zip(self.live, found.tolist(), strict=True))
        self.seen[pair] = self.now[pair]
        self.stale.remove(pair)

    def remove(self, weakest):
        self.live.remove(weakest)
        self.entry[weakest] = self.level
        changed = {pair for pair in self.live if set(pair) & set(weakest)}
        self.stale |= changed
        self.weighed -= changed
        self.now = {}

    def up_to(self, top):
        while self.free(stale=True) or self.free(stale=False):
            fresh = min((self.seen[pair] for pair in self.free(stale=False)), default=np.inf)
            oldest = min(self.free(stale=True), key=self.seen.get, default=None)
            could_be = np.inf if oldest is None else self.seen[oldest] / 1.05 - self.tie
            if min(fresh, could_be) > top:
                return
            self.level = max(self.level, min(fresh, could_be))
            if could_be <= fresh:
                self.look(oldest)
            else:
                known = [p for p in self.free(stale=False) if self.seen[p] <= fresh + self.tie]
                self.remove(known[0])

    def firm_ones(self, firm):
        self.up_to(firm)
        while True:
            stale = [pair for pair in self.free(stale=True) if self.seen[pair] < 2 * firm]
            unsure = [pair for pair in self.free(stale=True) if pair not in self.weighed]
            if stale:
                for pair in stale:
                    self.look(pair)
            elif unsure:
                self.weigh(unsure)
            else:
                return
            self.up_to(firm)

    def weigh(self, some):
        ratios = of_the_weaker_end(self.table, self.live, self.settings["intercept"])
        self.seen |= {pair: ratios[pair] for pair in some}
        self.weighed |= set(some)

    def entries(self):
        return np.array([self.entry.get(pair, np.inf) for pair in self.pairs])


def leave_one_by_one(table, pairs, held, firm=None, **settings):
    leaving = Leaving(table, pairs, held, **settings)
    if firm is not None:
        leaving.firm_ones(firm)
    leaving.up_to(np.inf)
    return leaving.entries()


def check_leaving(codes, weights, intercept, share_held, seed):
    table = encode(codes, weights)
    varying = [r for r, m in enumerate(table.n_states) if m > 1]
    if len(varying) < 2:
        return 0
    floor = ig.selection.FalseEdges(1).threshold(table.n, len(table.columns)) / 2
    runs = learn_neighbourhoods(table, floor)
    pairs = sorted(pairs_at(runs, floor, "or"))
    held = [pair for pair in pairs if np.random.default_rng(seed).random() < share_held]
    settings = {"intercept": intercept, "threads": 1, "n": table.n}
    known = (table.codes, table.weights, table.n_states, pairs)
    _, entry, _ = both_ends(*known, top=np.inf, held=held, **settings)
    plain = leave_one_by_one(table, pairs, held, **settings)
    np.testing.assert_allclose(entry, plain, rtol=2e-5, atol=1e-4)
    starts = runs.starts(floor, pairs)
    _, entry, _ = both_ends(*known, top=np.inf, held=held, starts=starts, **settings)
    np.testing.assert_allclose(entry, plain, rtol=2e-5, atol=1e-4)
    for top in between(plain[np.isfinite(plain)]):  # edges far above it are not looked at
        _, entry, _ = both_ends(*known, top=top, held=held, **settings)
        left = np.where(plain <= top, plain, np.inf)
        np.testing.assert_allclose(entry, left, rtol=2e-5, atol=1e-4)
        check_firm_ones(known, table, held, settings, firm=top)
    return len(pairs)


def check_firm_ones(known, table, held, settings, firm):
    """The same where one graph is looked at more closely, and nobody finds further edges."""
    plain = leave_one_by_one(table, known[-1], held, firm=firm, **settings)
    nobody = LookFurther(firm, 1e9, 1e9)
    _, entry, _ = both_ends(*known, top=np.inf, held=held, looking=nobody, **settings)
    np.testing.assert_allclose(entry, plain, rtol=2e-5, atol=1e-4)
    _, entry, _ = both_ends(*known, top=firm, held=held, looking=nobody, **settings)
    left = np.where(plain <= firm, plain, np.inf)
    np.testing.assert_allclose(entry, left, rtol=2e-5, atol=1e-4)


def between(levels):
    """Numbers well between neighbouring levels: the lowest, the middle one and the highest."""
    pairs = [(a, b) for a, b in pairwise(np.unique(levels)) if b > a + 0.1]
    chosen = {0, len(pairs) // 2, len(pairs) - 1} if pairs else set()
    return [sum(pairs[k]) / 2 for k in sorted(chosen)]


def drawn_table(seed):
    rng = np.random.default_rng(seed)
    p, most, n = int(rng.integers(4, 9)), int(rng.integers(2, 5)), int(rng.integers(40, 400))
    graph = ig.simulate.erdos_renyi(p, 2.5, seed=seed)
    states = [int(rng.integers(2, most + 1)) for _ in range(p)]
    field = ig.simulate.potts(graph, states, coupling=float(rng.uniform(0.2, 1.0)), seed=seed)
    return field.sample_codes(n, seed=seed), rng.integers(0, 3, n) + (np.arange(n) == 0)


#: Tables with edges that the ridge alone holds, where it is not enough that the loss hardly falls.
FLAT = [274, 282, 301, 304, 480]


@pytest.mark.parametrize("seed", [*range(25), *FLAT])
def test_edges_leave_by_the_plain_definition(seed):
    codes, weights = drawn_table(seed)
    assert check_leaving(codes, weights, seed % 4 != 0, 0.2 * (seed % 3 == 0), seed) >= 0


@pytest.mark.long
@pytest.mark.parametrize("seed", range(25, 500))
def test_edges_leave_by_the_plain_definition_on_more_tables(seed):
    test_edges_leave_by_the_plain_definition(seed)


@pytest.mark.parametrize("wrong", ["fields", "tables"])
def test_starts_beyond_the_numbers_are_refused(wrong):
    codes, weights = drawn_table(3)
    table = encode(codes, weights)
    runs = learn_neighbourhoods(table, 1e-3)
    pairs = sorted(pairs_at(runs, 1e-3, "or"))
    starts = runs.starts(1e-3, pairs)
    beyond = np.full_like(getattr(starts, wrong), len(starts.numbers) - 1)
    known = (table.codes, table.weights, table.n_states, pairs)
    with pytest.raises(ValueError, match="beyond"):
        both_ends(*known, starts=replace(starts, **{wrong: beyond}), intercept=True, threads=1)


@pytest.mark.parametrize("seed", range(2 * len(KINDS)))
def test_awkward_tables_have_an_answer(seed):
    """Separation, equal and constant columns, rare states: finite numbers, nested graphs."""
    one = instance(seed)
    est = ig.GreedyGraph(rule="joint", intercept=one.intercept, floor=1e-6, n_jobs=1)
    est.fit(one.codes, sample_weight=one.weights)
    thresholds = [1e-6, 1e-3, 0.01, est.threshold_, 0.1, 1.0]
    graphs = [set(est.at(t).pairs) for t in sorted(thresholds)]
    assert all(one >= other for one, other in pairwise(graphs))
    for link in est.graph_.links:
        assert np.isfinite([link.evidence, link.strength]).all()
        assert link.evidence >= 0.0


@pytest.fixture(scope="module")
def grid():
    return ig.simulate.ising(ig.simulate.grid(4, 4), coupling=0.5, seed=3).sample(300, seed=3)


@pytest.fixture(scope="module")
def est(grid):
    return ig.GreedyGraph(rule="joint", floor=0.002).fit(grid)


def test_every_threshold_is_as_a_fresh_run(est, grid):
    for threshold in (0.002, 0.006, 0.015, est.threshold_, 0.04, 0.1):
        fresh = ig.GreedyGraph(threshold, rule="joint").fit(grid)
        assert fresh.graph_.edges == est.at(threshold).edges
        for one, other in zip(fresh.graph_.links, est.at(threshold).links, strict=True):
            assert one._replace(tier="", entry_evidence=0.0) == other._replace(
                tier="", entry_evidence=0.0
            )


def test_paths_and_graphs_agree(est):
    for threshold in (0.002, 0.01, est.threshold_):
        chosen = {
            (min(r, t), max(r, t))
            for r, path in enumerate(est.paths_)
            for t in path.at(threshold).support
        }
        assert chosen == set(est.at(threshold).pairs)


def test_evidence_is_above_the_threshold_and_entry_below_it_for_weak_edges(est):
    level = 2 * est.table_.n * est.threshold_
    assert all(link.evidence > level for link in est.graph_.links)
    assert all(link.entry_evidence > level for link in est.graph_.links)
    weak = set(est.tentative_.pairs) - set(est.graph_.pairs)
    by_pair = {(link.source, link.target): link for link in est.tentative_.links}
    assert all(by_pair[pair].entry_evidence <= level for pair in weak)


def test_it_is_the_same_whatever_the_order_the_labels_and_the_threads(grid, est):
    codes = np.asarray(grid) if isinstance(grid, np.ndarray) else grid.to_numpy()
    rng = np.random.default_rng(0)
    columns, rows = rng.permutation(codes.shape[1]), rng.permutation(len(codes))
    turned = ig.GreedyGraph(rule="joint", n_jobs=1).fit(1 - codes[rows][:, columns])
    back = {
        tuple(sorted((int(columns[a]), int(columns[b])))): link.evidence
        for (a, b), link in zip(turned.graph_.pairs, turned.graph_.links, strict=True)
    }
    same = {
        pair: link.evidence for pair, link in zip(est.graph_.pairs, est.graph_.links, strict=True)
    }
    assert back.keys() == same.keys()
    np.testing.assert_allclose(
        [back[k] for k in sorted(back)], [same[k] for k in sorted(same)], rtol=1e-6
    )


def test_states_of_many_can_be_renamed():
    field = ig.simulate.potts(ig.simulate.grid(2, 3), 4, coupling=0.5, seed=1)
    codes = field.sample_codes(600, seed=1)
    others = np.column_stack(
        [np.random.default_rng(j).permutation(4)[codes[:, j]] for j in range(codes.shape[1])]
    )
    pairs = [(0, 1), (0, 3), (1, 2), (1, 4), (2, 5), (3, 4), (4, 5), (0, 5)]
    one, other = (
        both_ends(table, np.ones(600), [4] * 6, pairs, intercept=True, threads=1)[0]
        for table in (codes, others)
    )
    np.testing.assert_allclose(one, other, rtol=1e-6)


def test_weight_two_is_two_copies(grid):
    codes = np.asarray(grid)
    twice = ig.GreedyGraph(rule="joint").fit(codes, sample_weight=np.full(len(codes), 2))
    copies = ig.GreedyGraph(rule="joint").fit(np.vstack([codes, codes]))
    assert twice.graph_.edges == copies.graph_.edges
    np.testing.assert_allclose(
        [link.evidence for link in twice.graph_.links],
        [link.evidence for link in copies.graph_.links],
        rtol=1e-8,
    )


def test_required_and_forbidden_links_are_kept_and_left_out(grid):
    est = ig.GreedyGraph(rule="joint", require=[("x0", "x15")], forbid=[("x0", "x1")]).fit(grid)
    assert ("x0", "x15") in est.graph_.edges
    assert ("x0", "x1") not in est.graph_.edges
    assert ("x0", "x15") in est.at(1.0).edges


def test_missing_values_that_are_skipped_are_refused_in_a_sentence():
    table = np.array([[0.0, 1.0, np.nan], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]] * 20)
    with pytest.raises(ig.errors.SettingError, match="same rows"):
        ig.GreedyGraph(rule="joint", missing="available").fit(table)


@pytest.mark.parametrize("name", ["empty", "links"])
def test_false_edges_come_about_as_often_as_they_should(name):
    """Pairs without effect, at the level 0.02: 1,200 of them."""
    above = []
    for seed in range(200):
        graph = ig.simulate.grid(2, 3) if name == "links" else ig.simulate.star(6, 0)
        field = ig.simulate.ising(graph, coupling=0.4, intercept=0.3, seed=seed)
        codes = field.sample_codes(300, seed=seed + 500)
        true = sorted(tuple(map(int, pair)) for pair in field.couplings)
        null = [(a, b) for a in range(6) for b in range(a + 1, 6) if (a, b) not in true][:6]
        pairs = sorted([*true, *null])
        found, *_ = both_ends(codes, np.ones(300), [2] * 6, pairs, intercept=True, threads=1)
        above += [found[pairs.index(pair)] > chi2.isf(0.02, 1) for pair in null]
    assert 0.01 < np.mean(above) < 0.035


def test_selected_by_names_the_end_that_proposed_an_edge(est):
    runs = est.search_.runs
    proposed = set(
        zip(*(end.tolist() for end in runs.proposals.chosen(runs.proposed_at)), strict=True)
    )
    for (a, b), link in zip(est.graph_.pairs, est.graph_.links, strict=True):
        by = [est.table_.names[r] for r, t in ((a, b), (b, a)) if (r, t) in proposed]
        assert link.selected_by == ("both" if len(by) == 2 else by[0])


def test_a_record_tells_of_edges_that_leave_and_can_be_stopped(grid):
    """All edges leave for it, which may take long; nothing was said of it before."""
    est = ig.GreedyGraph(rule="joint").fit(grid)
    edges = len(est.search_.runs.entries(est.threshold_))
    told = []
    est.record(lambda done, total: told.append((done, total)))
    first = [done for done, total in told if total == edges]
    assert first
    assert first == sorted(first)

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ig.GreedyGraph(rule="joint").fit(grid).record(stop)


#: Tables where edges that had been far above the threshold fell below it when others left: seed,
#: columns, rows.
FALLEN = [(1036, 25, 203), (1744, 19, 451)]


@pytest.mark.parametrize(("seed", "p", "n"), FALLEN)
def test_no_edge_of_the_graph_is_below_the_threshold(seed, p, n):
    rng = np.random.default_rng(seed)
    assert p == rng.integers(16, 41)
    most = int(rng.integers(2, 5))
    assert n == rng.integers(200, 1500)
    states = [int(rng.integers(2, most + 1)) for _ in range(p)]
    graph, coupling = ig.simulate.erdos_renyi(p, 3, seed=seed), float(rng.uniform(0.2, 0.8))
    field = ig.simulate.potts(graph, states, coupling=coupling, seed=seed)
    codes = field.sample_codes(n, seed=seed)
    est = ig.GreedyGraph(rule="joint").fit(codes)
    assert min(link.evidence for link in est.graph_.links) > 2 * n * est.threshold_
