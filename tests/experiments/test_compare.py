"""Several methods on one table."""

import signal

import numpy as np
import polars as pl
import pytest

import isinglass as ig
from isinglass import GreedyGraph, IsinglassError
from isinglass.errors import Stopped
from isinglass.estimators.folds import held_out_weights
from isinglass.plots.side_by_side import comparison_figure
from isinglass.report.experiment import (
    comparison_csv,
    comparison_dict,
    edges_csv,
)


@pytest.fixture(scope="module")
def chain():
    return ig.simulate.ising(ig.simulate.chain(6), seed=1).sample(600, seed=2)


@pytest.fixture(scope="module")
def result(chain):
    return ig.compare(chain)


def test_a_chain_is_found_by_all(result):
    names = [entry.name for entry in result.entries]
    assert names == ["greedy", "greedy joint", "l1", "screening", "tree"]
    truth = {(j, j + 1) for j in range(5)}
    assert result.entries[0].edges == result.entries[3].edges == truth
    assert (np.diag(result.common()) == [len(entry.edges) for entry in result.entries]).all()
    assert all(entry.score > result.baseline for entry in result.entries)


def test_equal_graphs_have_equal_scores(chain):
    twice = {"one": GreedyGraph(), "two": GreedyGraph(), "none": GreedyGraph(10.0)}
    one, two, none = ig.compare(chain, twice).entries
    assert (two.score, two.difference, two.error) == (one.score, 0.0, 0.0)
    assert none.edges == frozenset()
    assert none.difference < -5 * none.error < 0


def test_scores_are_those_of_the_estimator(chain):
    """By hand: fit on the rows of other folds, score on the held-out ones."""
    result = ig.compare(chain, {"greedy": GreedyGraph()}, folds=3, seed=4)
    held = held_out_weights(np.ones(len(chain)), 3, 4) > 0
    scores = [GreedyGraph().fit(chain[~out]).score(chain[out]) for out in held.T]
    assert result.entries[0].score == pytest.approx(np.average(scores, weights=held.sum(axis=0)))


def test_weights_are_copies(chain):
    rows, counts = np.unique(chain, axis=0, return_counts=True)
    copied = np.repeat(rows, counts, axis=0)
    methods = {"greedy": GreedyGraph()}
    by_weight = ig.compare(rows, methods, sample_weight=counts)
    by_copies = ig.compare(copied, methods)
    assert by_weight.entries[0].edges == by_copies.entries[0].edges
    assert by_weight.entries[0].score == pytest.approx(by_copies.entries[0].score, rel=1e-6)


def test_weights_that_are_not_whole(chain):
    weights = np.random.default_rng(0).uniform(0.5, 1.5, len(chain))
    with pytest.raises(IsinglassError, match="n_eff"):
        ig.compare(chain, sample_weight=weights)
    result = ig.compare(chain, {"greedy": GreedyGraph()}, sample_weight=weights, n_eff="kish")
    assert result.rows < len(chain)
    assert len(result.entries[0].edges) == 5


def test_a_state_in_one_fold_only_is_left_out_and_counted():
    rng = np.random.default_rng(0)
    a = rng.choice(["x", "y"], 60)
    a[7] = "z"
    table = pl.DataFrame({"a": a, "b": rng.choice(["u", "v"], 60)})
    result = ig.compare(table)
    names = [entry.name for entry in result.entries]
    assert names == ["greedy", "greedy joint", "group l1", "tree"]
    assert result.left_out == 1
    assert np.isfinite(result.entries[0].score)


def test_a_method_that_fails_is_a_row_with_a_reason():
    x = np.random.default_rng(0).integers(0, 3, (60, 3))
    methods = {"greedy": GreedyGraph(), "screening": ig.InteractionScreening()}
    result = ig.compare(x, methods)
    assert result.entries[1].graph is None
    assert "x0' has 3 states" in result.entries[1].failed
    assert result.to_frame()["failed"].to_list()[0] == ""
    assert comparison_dict(result)["methods"][1]["score"] is None
    assert comparison_figure(result) is not None


def test_names_and_signs_come_back():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 400)
    b = np.where(rng.random(400) < 0.9, a, 1 - a)
    table = pl.DataFrame(
        {"yes no": np.where(a, "yes", "no"), "size": np.array(["tall", "short"])[b], "n": b}
    )
    (entry,) = ig.compare(table, {"greedy": GreedyGraph()}).entries
    assert entry.graph.names == ("yes no", "size", "n")
    expected = GreedyGraph().fit(table).graph_
    assert entry.graph == expected
    assert [link.sign for link in entry.graph] == [link.sign for link in expected]


def test_files(result):
    lines = comparison_csv(result).decode().splitlines()
    assert lines[0].startswith("method,edges,in_common,score")
    assert len(lines) == 6
    edges = edges_csv(result).decode().splitlines()
    assert edges[0] == "source,target,greedy,greedy joint,l1,screening,tree"
    assert "x0,x1,1,1,1,1,1" in edges


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"missing": "available"}, "missing must be 'error', 'drop' or 'state'"),
        ({"folds": 1}, "folds must be a whole number from 2"),
        ({"folds": 10_000}, "600 rows cannot be split into 10000 folds"),
        ({"methods": {}}, "at least one method"),
    ],
)
def test_bad_settings(chain, options, message):
    with pytest.raises(IsinglassError, match=message):
        ig.compare(chain, **options)


def test_progress(chain):
    calls = []
    ig.compare(
        chain, {"a": GreedyGraph(), "b": GreedyGraph()}, progress=lambda *call: calls.append(call)
    )
    assert calls[-1] == (12, 12)


def test_it_says_which_method_is_at_work(chain):
    told = []
    ig.compare(chain, {"a": GreedyGraph(), "b": ig.L1Graph()}, folds=2, tell=told.append)
    assert told[0] == "a, all rows"
    assert "a, fold 2 of 2" in told
    assert "b, fold 1 of 2, column 6 of 6" in told


def test_ctrl_c_keeps_the_methods_that_are_done(chain):
    def stop(words):
        if words == "b, fold 1 of 2":
            signal.raise_signal(signal.SIGINT)

    methods = {"a": GreedyGraph(), "b": GreedyGraph(), "c": GreedyGraph()}
    with pytest.raises(Stopped) as stopped:
        ig.compare(chain, methods, folds=2, tell=stop)
    a, b, c = stopped.value.result.entries
    assert a.score == ig.compare(chain, {"a": GreedyGraph()}, folds=2).entries[0].score
    assert b.failed == c.failed == "stopped before it was done"
    assert isinstance(stopped.value, KeyboardInterrupt)
