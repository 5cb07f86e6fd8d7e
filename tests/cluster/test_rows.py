"""Rows that stay where the partitions are: the same answer as one table here, bit for bit."""

import os
import pickle
import signal
import sys

import numpy as np
import pandas as pd
import pytest

from cluster.test_losing import chain, searching, wait_until
from engine.test_ways_to_count import TABLES, assert_identical, settings_of, table_of
from isinglass import GreedyGraph
from isinglass.cluster import collections
from isinglass.cluster.shards import RowsOnWorkers, Shard
from isinglass.cluster.spreading import held
from isinglass.core import edge_losses, search_columns
from isinglass.core.elsewhere import digits_of, elsewhere_of, pack_chunk, state_counts
from isinglass.errors import BadWeights, ClusterError, MissingValues, SettingError
from isinglass.table.table import table_elsewhere

dd = pytest.importorskip("dask.dataframe")
da = pytest.importorskip("dask.array")


def on_workers(client, codes, weights, states):
    """Rows in five shards, each held by a task."""
    digits = digits_of(weights)
    shards, counts = [], np.zeros(sum(states))
    for rows in np.array_split(np.arange(len(codes)), 5):
        chunk = pack_chunk(codes[rows], weights[rows], states, digits)
        own = state_counts(chunk, states)
        counts += own
        shards.append(held(client, Shard([chunk], own, len(rows), b""), "shard"))
    return RowsOnWorkers(client, shards, states).elsewhere(counts, len(codes), digits)


def assert_same_search(client, seed: int) -> None:
    codes, weights, states = table_of(seed)
    settings = settings_of(seed, states)
    here = search_columns(codes, weights, states, threads=1, **settings)
    rows = on_workers(client, codes, weights, states)
    assert_identical(search_columns(rows, weights, states, threads=1, **settings), here)


@pytest.mark.parametrize("seed", range(3))
def test_the_same_search_bit_for_bit(client, seed):
    assert_same_search(client, seed)


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, TABLES, 20))
def test_many_tables_bit_for_bit(client, first):
    for seed in range(first, first + 20):
        assert_same_search(client, seed)


def test_the_same_losses_bit_for_bit(client):
    codes, weights, states = table_of(1)
    some = [r for r, m in enumerate(states) if m > 1]
    neighbours = [[t for t in some if t != r][:3] for r in some]
    rest = {"left_out": [of[:2] for of in neighbours], "intercept": True, "threads": 1}
    here = edge_losses(codes, weights, states, some, neighbours, **rest)
    rows = on_workers(client, codes, weights, states)
    assert_identical(edge_losses(rows, weights, states, some, neighbours, **rest), here)


@pytest.fixture
def too_large(monkeypatch):
    """As if no collection fitted."""
    monkeypatch.setattr(collections, "SHARE_HERE", 0.0)


def mixed(n: int = 900) -> pd.DataFrame:
    X = chain(3, 6, n)
    rng = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "number": X[:, 0],
            "word": np.array(["low", "mid", "high"])[X[:, 1]],
            "flag": X[:, 2] > 0,
            "level": pd.Categorical.from_codes(X[:, 3], ["a", "b", "c"], ordered=True),
            "late": np.where(np.arange(n) > n // 2, X[:, 4], 0),  # states that first parts lack
            "kind": pd.Categorical.from_codes(X[:, 5] % 2, ["x", "y"]),
            "count": rng.integers(0, 4, n),
        }
    )


def assert_same(here: GreedyGraph, there: GreedyGraph) -> None:
    assert there.graph_.links == here.graph_.links
    assert there.tentative_.links == here.tentative_.links
    assert there.states_ == here.states_
    steps = [
        [[(s.kind, s.variable, s.gain, s.loss) for s in path.steps] for path in est.paths_]
        for est in (there, here)
    ]
    assert steps[0] == steps[1]


@pytest.mark.parametrize("rule", ["or", pytest.param("and", marks=pytest.mark.long)])
def test_a_frame_by_rows(client, too_large, rule):
    frame = mixed()
    settings = {"rule": rule, "forbid": [("number", "flag")], "n_jobs": 1}
    here = GreedyGraph(**settings).fit(frame, sample_weight="count")
    told = []
    with client.as_current():
        there = GreedyGraph(**settings).fit(
            dd.from_pandas(frame, npartitions=4),
            sample_weight="count",
            progress=lambda done, total: told.append(done),
        )
    assert_same(here, there)
    assert there.table_.elsewhere is not None
    assert told[-1] == 6
    notes = there.diagnostics_
    pd.testing.assert_frame_equal(notes, here.diagnostics_)
    assert there.record().graph.edges == here.record().graph.edges
    with pytest.raises(ClusterError, match="cannot be copied; save the record"):
        pickle.dumps(there)


def test_a_frame_by_columns(client):
    frame = mixed()
    here = GreedyGraph(rule="joint", n_jobs=1).fit(frame)
    there = GreedyGraph(rule="joint").fit(dd.from_pandas(frame, npartitions=3), client=client)
    assert_same(here, there)
    assert there.table_.elsewhere is None


@pytest.mark.parametrize("dtype", ["int64", pytest.param("object", marks=pytest.mark.long)])
def test_an_array_by_rows(client, too_large, dtype):
    X = chain(5, 6, 800).astype(dtype)
    array = da.from_array(X, chunks=(250, 4))
    assert_same(GreedyGraph(n_jobs=1).fit(X), GreedyGraph().fit(array, client=client))


@pytest.mark.parametrize("missing", ["drop", pytest.param("state", marks=pytest.mark.long)])
def test_missing_values(client, too_large, missing):
    frame = mixed(600).drop(columns="count")
    frame.loc[::7, "word"] = None
    frame.loc[::11, "number"] = None
    parts = dd.from_pandas(frame, npartitions=3)
    here = GreedyGraph(missing=missing, n_jobs=1).fit(frame)
    assert_same(here, GreedyGraph(missing=missing).fit(parts, client=client))
    with pytest.raises(MissingValues, match=r"'number' \(55\), 'word' \(86\)"):
        GreedyGraph().fit(parts, client=client)


@pytest.mark.parametrize(
    ("settings", "about", "said"),
    [
        ({"rule": "joint"}, {}, 'rule="joint"'),
        ({"bins": {"number": 2}}, {}, "bins needs all rows in one place"),
        ({"adjust": ["flag"]}, {}, "adjust needs all rows in one place"),
        ({}, {"sample_weight": np.ones(300)}, "must be the name of a column"),
        ({"threshold": "cv"}, {}, "fits again on other rows"),
    ],
    ids=str,
)
def test_what_cannot_be_done_by_rows_is_refused(client, too_large, settings, about, said):
    parts = dd.from_pandas(mixed(300), npartitions=2)
    with pytest.raises(SettingError, match=said):
        GreedyGraph(**settings).fit(parts, client=client, **about)


def test_fractional_weights_are_refused(client, too_large):
    frame = mixed(300)
    frame["count"] = frame["count"] + 0.5
    with pytest.raises(BadWeights, match="whole numbers"):
        GreedyGraph().fit(
            dd.from_pandas(frame, npartitions=2), sample_weight="count", client=client
        )


def test_a_collection_needs_a_client():
    with pytest.raises(ClusterError, match="needs a client"):
        GreedyGraph().fit(da.ones((10, 2), dtype=int))


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent the POSIX way")
def test_a_worker_killed_half_way(client, too_large):
    X = chain(7, 40)
    here, victims = GreedyGraph(n_jobs=1).fit(X), list(client.run(os.getpid).values())

    def kill_all(done: int, total: int) -> None:
        while done and victims:
            os.kill(victims.pop(), signal.SIGKILL)

    array = da.from_array(X, chunks=(500, 40))
    there = GreedyGraph().fit(array, client=client, progress=kill_all)
    assert not victims
    assert_same(here, there)


def test_ctrl_c_by_rows(client, too_large):
    array = da.from_array(np.random.default_rng(0).integers(0, 2, (6000, 80)), chunks=(3000, 80))

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        GreedyGraph(1e-9, max_degree=15).fit(array, client=client, progress=stop)
    assert wait_until(lambda: not searching(client))


@pytest.mark.parametrize("share", [0.0, 0.25], ids=["by rows", "by columns"])
def test_packed_rows_are_sent_to_the_workers(client, monkeypatch, share):
    monkeypatch.setattr(collections, "SHARE_HERE", share)
    X = chain(6, 6, 700)
    table = GreedyGraph().encode(X)
    parts = [
        pack_chunk(table.codes[at : at + 100], table.weights[at : at + 100], table.n_states)
        for at in range(0, 700, 100)
    ]
    rows = elsewhere_of(parts, table.n_states)
    far = table_elsewhere(rows, table.columns, fingerprint=table.fingerprint)
    there = GreedyGraph().fit(far, client=client)
    assert_same(GreedyGraph(n_jobs=1).fit(X), there)
    assert (there.table_.elsewhere is None) == (share > 0)
