"""Frames come back in the library that the table came in."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import isinglass as ig

TABLE = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive").sample(300, seed=0)
MAKE = {
    pd.DataFrame: lambda: pd.DataFrame(TABLE, columns=list("abc")),
    pl.DataFrame: lambda: pl.DataFrame(TABLE, schema=list("abc")),
    pa.Table: lambda: pa.table({name: TABLE[:, at] for at, name in enumerate("abc")}),
}


@pytest.fixture(params=MAKE, ids=lambda kind: kind.__module__.partition(".")[0])
def kind(request):
    return request.param


def frames(table):
    est = ig.GreedyGraph(n_jobs=1).fit(table)
    yield "graph", est.graph_.to_frame()
    yield "path", est.paths_[0].to_frame()
    yield "cut path", est.paths_[0].at(0.5).to_frame()
    yield "diagnostics", est.diagnostics_
    yield "resample", ig.resample(est, n=2).to_frame()
    yield "case_dropping", ig.case_dropping(est, n=1, shares=(0.5,)).to_frame()
    yield "bootstrap", ig.bootstrap(est, n=2).to_frame()
    yield "audit", ig.audit(est, table, n=1, n_jobs=1).to_frame()
    yield "split_test", ig.split_test(ig.GreedyGraph(), table, splits=1).to_frame()
    yield "verdict", ig.verdict(est).to_frame()
    yield "explain", ig.explain(est, "a", "b").to_frame()
    yield "pairwise", ig.check_pairwise(est).to_frame()
    yield "compare", ig.compare(table, {"greedy": ig.GreedyGraph()}, folds=2).to_frame()
    yield "nodes", ig.measures.nodes(est, folds=None)
    yield "sample", est.model_.sample(3, seed=0)
    yield "intervals", ig.with_errors(est).intervals()
    yield "plan", ig.plan(pilot=table, rows=[50], graphs=1, n_jobs=1).to_frame()


def test_every_frame_is_of_the_users_library(kind):
    other = {name for name, frame in frames(MAKE[kind]()) if not isinstance(frame, kind)}
    assert not other
