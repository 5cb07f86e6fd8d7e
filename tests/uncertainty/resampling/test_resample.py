"""Half-samples and dropped cases: what comes out is what fits of those rows would say."""

import json

import numpy as np
import pytest

import isinglass as ig
from isinglass.errors import SettingError
from isinglass.table import Drawer
from isinglass.uncertainty.resampling import rerun as rerun_module
from selection.brute import decoded

CHAIN = ig.simulate.ising(ig.simulate.chain(6), coupling=0.5, seed=0)


def table(n: int = 300, seed: int = 1) -> np.ndarray:
    return CHAIN.sample(n, seed=seed)


def half_graphs(est: ig.GreedyGraph, pairs: int, seed: int) -> list[set]:
    """Graphs of half-samples by fits of their own, from the labels of the rows."""
    drawer = Drawer.of(est.table_)
    found = []
    for i in range(pairs):
        for half in drawer.halves(np.random.default_rng([seed, i])):
            part, _ = drawer.table_of(half)
            X, weights = decoded(part)
            again = ig.GreedyGraph(**est.get_params()).set_params(n_eff=part.n)
            found.append(set(again.fit(X, sample_weight=weights).graph_.edges))
    return found


@pytest.mark.parametrize("settings", [{}, {"rule": "and"}, {"threshold": "paper"}])
def test_frequencies_are_those_of_fits(settings):
    est = ig.GreedyGraph(n_jobs=1, **settings).fit(table())
    found = ig.resample(est, n=6, seed=3)
    graphs = half_graphs(est, 3, 3)
    assert [set(half) for half in found.halves] == graphs
    for pair, often in found.frequency.items():
        assert often == sum(pair in graph for graph in graphs) / 6
    for pair, often in found.simultaneous.items():
        both = sum(pair in graphs[2 * i] and pair in graphs[2 * i + 1] for i in range(3))
        assert often == both / 3


def test_with_weights_and_with_constraints():
    rng = np.random.default_rng(0)
    X = table(200)
    for weights, n_eff in ((rng.integers(1, 5, 200), "sum"), (rng.random(200) + 0.5, "kish")):
        links = {"require": [("x0", "x5")], "forbid": [("x0", "x1")]}
        est = ig.GreedyGraph(n_eff=n_eff, n_jobs=1, **links).fit(X, sample_weight=weights)
        found = ig.resample(est, n=4)
        assert [set(half) for half in found.halves] == half_graphs(est, 2, 0)
        assert found.frequency["x0", "x5"] == 1.0
        assert ("x0", "x1") not in found.frequency


def test_a_number_stands_for_the_same_evidence_in_half_of_the_rows():
    est = ig.GreedyGraph(0.02, n_jobs=1).fit(table(300))
    rerun = rerun_module.Rerun.of(est, None, None)
    assert rerun.threshold(150) == pytest.approx(0.04)
    by_rule = ig.GreedyGraph("paper", n_jobs=1).fit(table(300))
    rerun = rerun_module.Rerun.of(by_rule, None, None)
    assert rerun.threshold(150) == ig.selection.Paper().threshold(150, 6)
    looked = ig.GreedyGraph("ebic", n_jobs=1).fit(table(300))
    rerun = rerun_module.Rerun.of(looked, None, None)
    assert rerun.threshold(100) == pytest.approx(3 * looked.threshold_)


def test_the_same_whatever_the_order_of_rows_copies_and_jobs():
    X = table()
    distinct, counts = np.unique(X, axis=0, return_counts=True)
    first = ig.resample(ig.GreedyGraph(), X, n=6, n_jobs=1)
    shuffled = ig.resample(ig.GreedyGraph(), X[::-1], n=6, n_jobs=2)
    merged = ig.resample(ig.GreedyGraph(), distinct, n=6, sample_weight=counts)
    assert first.halves == shuffled.halves == merged.halves


def test_more_half_samples_begin_with_the_same_ones():
    est = ig.GreedyGraph().fit(table())
    assert ig.resample(est, n=8).halves[:4] == ig.resample(est, n=4).halves


def test_it_goes_on_where_it_stopped(tmp_path):
    path = tmp_path / "halves.jsonl"
    est = ig.GreedyGraph().fit(table())
    whole = ig.resample(est, n=10)
    done = []

    def stop(now: int, _: int) -> None:
        done.append(now)
        if now == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ig.resample(est, n=10, path=path, n_jobs=1, progress=stop)
    with path.open("a") as file:
        file.write('{"key": "halves/half a li')  # a process that was killed
    kept = len(path.read_text().splitlines()) - 2  # the head, and the piece
    assert kept >= 3
    seen = []
    again = ig.resample(est, n=10, path=path, progress=lambda now, _: seen.append(now))
    assert seen[0] == kept
    assert again.halves == whole.halves
    seen.clear()
    assert ig.resample(est, n=10, path=path, progress=lambda now, _: seen.append(now)).halves
    assert seen == [5]


def test_records_of_another_search_are_not_taken(tmp_path):
    path = tmp_path / "halves.jsonl"
    ig.resample(ig.GreedyGraph().fit(table()), n=4, path=path)
    other = ig.GreedyGraph(rule="and").fit(table())
    seen = []
    found = ig.resample(other, n=4, path=path, progress=lambda now, _: seen.append(now))
    assert seen[0] == 0
    assert found.halves == ig.resample(other, n=4).halves


def test_failures_are_counted_and_named(tmp_path, monkeypatch):
    path = tmp_path / "halves.jsonl"
    est = ig.GreedyGraph().fit(table())
    whole = ig.resample(est, n=8)
    run, calls = rerun_module.Rerun.run, []

    def failing(self, counts):
        calls.append(1)
        if len(calls) == 3:
            raise ArithmeticError("no luck")
        return run(self, counts)

    with monkeypatch.context() as patch:
        patch.setattr(rerun_module.Rerun, "run", failing)
        found = ig.resample(est, n=8, n_jobs=1, path=path)
    assert found.failures == {1: "ArithmeticError: no luck"}
    assert len(found.halves) == 6
    assert "1 pairs failed" in repr(found)
    assert any("failed" in line for line in path.read_text().splitlines())
    again = ig.resample(est, n=8, path=path)  # what failed is tried again
    assert again.halves == whole.halves
    assert not again.failures


def test_a_state_that_a_half_lacks_is_no_failure():
    X = table(60).astype(str)
    X[0, 2] = "once"
    found = ig.resample(ig.GreedyGraph().fit(X), n=4)
    assert len(found.halves) == 4
    assert not found.failures


def test_the_frame_and_the_bound():
    est = ig.GreedyGraph().fit(table(600))
    found = ig.resample(est, n=10)
    frame = found.to_frame()
    assert frame.columns == [
        *("source", "target", "frequency", "simultaneous", "in_graph", "tier"),
    ]
    assert set(est.graph_.edges) <= set(found.frequency)
    assert found.bound(0.75) == pytest.approx(found.mean_edges**2 / (0.5 * 15))
    assert set(found.stable(0.9)) <= set(found.stable(0.6))


def test_x_must_be_the_fitted_table():
    X = table()
    est = ig.GreedyGraph().fit(X)
    assert ig.resample(est, X, n=2).halves == ig.resample(est, n=2).halves
    with pytest.raises(SettingError, match="not the table"):
        ig.resample(est, X[:-1], n=2)
    with pytest.raises(SettingError, match="not fitted"):
        ig.resample(ig.GreedyGraph(), n=2)
    with pytest.raises(SettingError, match="even number"):
        ig.resample(est, n=3)
    with pytest.raises(SettingError, match="one row"):
        ig.resample(ig.GreedyGraph().fit(X[:1]), n=2)


def test_dropping_cases_by_the_definition():
    est = ig.GreedyGraph(n_jobs=1).fit(table(300))
    found = ig.case_dropping(est, n=4, seed=5, shares=(0.2, 0.6))
    drawer, p = Drawer.of(est.table_), 6
    for at, share in enumerate((0.2, 0.6)):
        for i in range(4):
            rng = np.random.default_rng([5, round(share * 1e6), i])
            part, _ = drawer.table_of(drawer.some(rng, round((1 - share) * 300)))
            X, weights = decoded(part)
            again = ig.GreedyGraph(n_jobs=1).fit(X, sample_weight=weights)
            one, two = (weights_of(graph) for graph in (est.graph_, again.graph_))
            above = np.triu_indices(p, 1)
            if two.any():
                expected = np.corrcoef(one[above], two[above])[0, 1]
                assert found.edge[at][i] == pytest.approx(expected)
                sums = np.corrcoef(abs(one).sum(axis=0), abs(two).sum(axis=0))[0, 1]
                assert found.strength[at][i] == pytest.approx(sums)
            first, second = set(est.graph_.edges), set(again.graph_.edges)
            assert found.overlap[at][i] == len(first & second) / len(first | second)


def weights_of(graph: ig.Graph) -> np.ndarray:
    matrix = np.zeros((6, 6))
    for link in graph.links:
        value = link.strength * (-1 if link.sign < 0 else 1)
        matrix[link.source, link.target] = matrix[link.target, link.source] = value
    return matrix


def test_the_cs_coefficient():
    values = tuple(np.array(v) for v in ([0.9] * 20, [0.9] * 19 + [0.1], [0.9] * 18 + [0.1] * 2))
    found = ig.CaseDropping((0.25, 0.5, 0.75), values, values, values, {})
    assert found.cs("edge") == 0.5
    assert found.cs("edge", certainty=0.99) == 0.25
    assert found.cs("strength", correlation=0.95) == 0.0
    with pytest.raises(SettingError, match="statistic"):
        found.cs("closeness")


def test_dropping_is_resumable_and_tells_its_curve(tmp_path):
    path = tmp_path / "records.jsonl"
    est = ig.GreedyGraph().fit(table(200))
    first = ig.case_dropping(est, n=3, shares=(0.3, 0.5), path=path)
    again = ig.case_dropping(est, n=3, shares=(0.3, 0.5), path=path)
    np.testing.assert_array_equal(first.edge, again.edge)
    assert len(path.read_text().splitlines()) == 1 + 6
    assert json.loads(path.read_text().splitlines()[1])["records"]
    frame = first.to_frame()
    assert frame.shape == (6, 6)
    assert set(frame["statistic"]) == {"edge", "strength", "overlap"}


@pytest.mark.parametrize("wrong", [{"n": 0}, {"shares": ()}, {"shares": (1.0,)}])
def test_settings_that_make_no_sense(wrong):
    with pytest.raises(SettingError):
        ig.case_dropping(ig.GreedyGraph().fit(table(50)), **wrong)
