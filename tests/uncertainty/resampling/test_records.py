"""Whatever keeps records keeps off files that hold something else, and trusts no line."""

import json

import numpy as np
import pytest

import isinglass as ig
from isinglass.errors import DamagedRecords, FileError
from isinglass.repeating import RECORDS

X = ig.simulate.ising(ig.simulate.chain(4), coupling=0.6, signs="positive").sample(200, seed=0)
EST = ig.GreedyGraph(n_jobs=1).fit(X)

WORK = {
    "resample": lambda path: ig.resample(EST, n=4, n_jobs=1, path=path).halves,
    "case_dropping": lambda path: ig.case_dropping(EST, n=2, shares=(0.5,), path=path).edge[0],
    "bootstrap": lambda path: ig.bootstrap(EST, n=2, path=path).tables[0, 1],
    "split_test": lambda path: ig.split_test(ig.GreedyGraph(), X, splits=2, path=path).p_values,
    "audit": lambda path: ig.audit(ig.GreedyGraph(), X, n=2, n_jobs=1, path=path).tiers,
    "plan": lambda path: ig.plan(4, 1, 0.6, rows=[60], graphs=2, n_jobs=1, path=path).points,
}


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("content", [b'{"precious": 1}', b"a,b\n0,1\n"])
def test_a_precious_file_is_refused_and_left_as_it_is(work, content, tmp_path):
    path = tmp_path / RECORDS
    path.write_bytes(content)
    with pytest.raises(FileError, match="holds something other than records"):
        WORK[work](path)
    assert path.read_bytes() == content


@pytest.mark.parametrize("work", WORK)
def test_other_work_is_refused(work, tmp_path):
    path = tmp_path / RECORDS
    path.write_text('{"format": "isinglass records", "schema": 1, "work": "coins"}\n')
    with pytest.raises(FileError, match="are of coins, not of"):
        WORK[work](path)


def spoiled(value):
    """The same JSON with impossible columns and shapes."""
    if isinstance(value, dict):
        return {key: at if key == "key" else spoiled(at) for key, at in value.items()}
    if isinstance(value, list):
        return [spoiled(at) for at in value] if value else [[0, 99]]
    return -value - 99 if isinstance(value, int | float) else value


SPOIL = {
    "impossible": spoiled,
    "nothing": lambda record: {"key": record["key"]},
    "text": lambda record: dict.fromkeys(record, "x") | {"key": record["key"]},
    "null": lambda record: dict.fromkeys(record) | {"key": record["key"]},
    "empty": lambda record: {key: [[]] for key in record} | {"key": record["key"]},
}


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("how", SPOIL)
def test_what_was_damaged_is_done_again(work, how, tmp_path):
    path = tmp_path / RECORDS
    WORK[work](path)
    head, *lines = path.read_text().splitlines()
    bad = [json.dumps(SPOIL[how](json.loads(line))) for line in lines]
    path.write_text("\n".join([head, *bad, ""]))
    with pytest.warns(DamagedRecords, match="damaged"):
        again = WORK[work](path)
    np.testing.assert_equal(again, WORK[work](None))


def test_keys_are_those_of_the_first_files(tmp_path):
    """Their words are part of no sentence: to reword a `repr` must not do all work again."""
    rule, path = ig.selection.FalseEdges(0.5), tmp_path / RECORDS
    ig.plan(4, 1, 0.6, rows=[60], graphs=1, factors=[1], n_jobs=1, path=path)
    assert json.loads(path.read_text().splitlines()[-1])["key"] == (
        "plan/p=4/d=1/coupling=0.6/states=2/intercept=0/factor=1/seed=0/n=60/rep=0/"
        "Auto(): an edge without effect passes with chance 0.05:(p(p-1)), or"
    )
    halves, audited = tmp_path / "halves.jsonl", tmp_path / "audit.jsonl"
    ig.resample(ig.GreedyGraph(rule, edges="table"), X, n=2, n_jobs=1, path=halves)
    ig.audit(ig.GreedyGraph(rule, edges="table"), X, n=1, n_jobs=1, path=audited)
    keys = [json.loads(file.read_text().splitlines()[-1])["key"] for file in (halves, audited)]
    assert keys == [
        "halves/24c9d7ba579b84c7/seed=0/0",
        "audit/c6e54afbf2e9c2c8/seed=0/n=200/rep=0/audit",
    ]
