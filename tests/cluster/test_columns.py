"""Blocks of columns on workers: the same answer as here, bit for bit, whatever the settings."""

import pickle

import numpy as np
import pytest

from engine.test_ways_to_count import TABLES, assert_identical, settings_of, table_of
from instances import sample
from isinglass import GreedyGraph
from isinglass.cluster import ByColumns, columns
from isinglass.cluster.shipping import ShippedTable
from isinglass.core import edge_losses, search_columns

RULES = ["or", "and", "joint"]


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(columns, "LEAST", 1)
    monkeypatch.setattr(columns, "BLOCKS", 2)


def assert_same_search(workers: ByColumns, seed: int) -> None:
    codes, weights, states = table_of(seed)
    settings = settings_of(seed, states)
    here = search_columns(codes, weights, states, threads=1, **settings)
    assert_identical(workers.search_columns(codes, weights, states, threads=1, **settings), here)


@pytest.mark.parametrize("seed", range(4))
def test_the_same_search_bit_for_bit(client, seed):
    assert_same_search(ByColumns(client), seed)


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, TABLES, 20))
def test_many_tables_bit_for_bit(client, first):
    workers = ByColumns(client)
    for seed in range(first, first + 20):
        assert_same_search(workers, seed)


def test_the_same_losses_bit_for_bit(client):
    codes, weights, states = table_of(1)
    some = [r for r, m in enumerate(states) if m > 1]
    neighbours = [[t for t in some if t != r][:3] for r in some]
    left_out = [of[:2] for of in neighbours]
    lists = {"targets": some, "neighbours": neighbours, "left_out": left_out}
    rest = {"intercept": True, "threads": 1, **lists}
    here = edge_losses(codes, weights, states, **rest)
    assert_identical(ByColumns(client).edge_losses(codes, weights, states, **rest), here)


def mixed(seed: int, n: int = 400) -> np.ndarray:
    return sample(np.random.default_rng(seed), [2, 3, 2, 4, 2, 3, 2], n, strength=1.5)


def steps(path) -> list[tuple]:
    return [(step.kind, step.variable, step.gain, step.cost, step.loss) for step in path.steps]


def assert_same_fit(client, X, weights=None, clusters=None, **settings) -> None:
    settings = {"n_jobs": 1, **settings}
    here = GreedyGraph(**settings).fit(X, sample_weight=weights, clusters=clusters)
    told = []
    there = GreedyGraph(**settings).fit(
        X,
        sample_weight=weights,
        clusters=clusters,
        client=client,
        progress=lambda done, total: told.append(done),
    )
    assert there.graph_.links == here.graph_.links
    assert there.tentative_.links == here.tentative_.links
    assert there.selection_ == here.selection_
    assert list(map(steps, there.paths_)) == list(map(steps, here.paths_))
    assert max(told) >= len(here.graph_.names)


@pytest.mark.parametrize("rule", RULES)
def test_every_rule(client, rule):
    assert_same_fit(client, mixed(1), rule=rule)


@pytest.mark.parametrize(
    "settings",
    [
        {"require": [("x0", "x3")], "forbid": [("x1", "x2")], "edges": "table"},
        {"adjust": ["x6"], "max_degree": 2},
        {"threshold": "cv"},
        {"missing": "available"},
        {"missing": "model"},
    ],
    ids="-".join,
)
def test_every_setting(client, settings):
    X = mixed(2, 250).astype(object)
    if "missing" in settings:
        X[::7, 1] = None
        X[::11, 2] = None
    assert_same_fit(client, X, **settings)


def test_weights_and_clusters(client):
    X = mixed(3)
    rng = np.random.default_rng(3)
    assert_same_fit(client, X, weights=rng.integers(1, 5, size=len(X)))
    assert_same_fit(client, X, weights=rng.uniform(0.5, 3, size=len(X)), n_eff="design")
    assert_same_fit(client, X, clusters=np.arange(len(X)) // 4)


def test_what_was_fitted_there_can_be_sent_and_asked_again_here(client):
    there = GreedyGraph().fit(mixed(4), client=client)
    copy = pickle.loads(pickle.dumps(there))
    again = copy.search_.learn(copy.search_.table, copy.search_.floor)
    assert again.path(0).support == there.paths_[0].support
    assert copy.graph_.links == there.graph_.links


@pytest.mark.parametrize("seed", range(12))
def test_a_table_arrives_as_it_left(seed):
    codes, weights, states = table_of(seed)
    shipped = pickle.loads(pickle.dumps(ShippedTable.of(codes, weights, states, 5.0)))
    np.testing.assert_array_equal(shipped.codes(), codes)
    np.testing.assert_array_equal(1 if shipped.weights is None else shipped.weights, weights)
    assert not shipped.is_prepared
    assert shipped.prepared(1) is shipped.prepared(1)
    assert shipped.is_prepared
    assert not pickle.loads(pickle.dumps(shipped)).is_prepared


def test_256_states_and_one():
    codes = np.column_stack([np.arange(512) % 256, np.zeros(512, int)])
    shipped = ShippedTable.of(codes, np.ones(512), [256, 1], 512.0)
    np.testing.assert_array_equal(shipped.codes(), codes)
    assert len(shipped.digits) == 8
