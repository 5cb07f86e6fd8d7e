"""Independent work on workers: the same records, in a file that is here."""

import json
import os
import signal
from functools import partial

import numpy as np
import pytest

import isinglass as ig
from isinglass.cluster import call_all
from isinglass.repeating import Task, repeat

X = np.random.default_rng(1).integers(0, 2, size=(300, 5))
X[::2, 1] = X[::2, 0]
X[1::2, 4] = X[1::2, 3]


def squared(table: np.ndarray, number: int) -> dict:
    if number == 3:
        raise ValueError("three\nis not allowed")
    return {"square": number**2, "rows": len(table), "process": os.getpid()}


def tasks(count: int = 8) -> list[Task]:
    return [Task.single(f"square/{i}", partial(squared, X, i)) for i in range(count)]


@pytest.mark.parametrize("processes", [False, True])
def test_records_are_made_there_and_kept_here(client, processes, tmp_path):
    path, told = tmp_path / "records.jsonl", []
    records = repeat(
        tasks(),
        work="squares",
        path=path,
        client=client,
        processes=processes,
        progress=lambda done, total: told.append((done, total)),
    )
    assert [records[f"square/{i}"].get("square") for i in range(8)] == [
        0,
        1,
        4,
        None,
        16,
        25,
        36,
        49,
    ]
    assert records["square/3"]["failed"] == "ValueError: three"
    pids = {record["process"] for record in records.values() if "process" in record}
    assert os.getpid() not in pids
    assert len(path.read_text().splitlines()) == 9  # with the line that says whose they are
    assert told[0] == (0, 8)
    assert told[-1] == (8, 8)
    again = repeat(tasks(), work="squares", path=path)  # what failed is done again, here
    assert again == records | {"square/3": again["square/3"]}


@pytest.mark.long
def test_a_call_at_which_every_worker_dies_fails_alone(client):
    def call(number: int) -> int:
        if number == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    calls = [partial(call, number) for number in range(4)]
    found = dict(call_all(client, calls, lost=lambda number, error: str(error)))
    assert "workers died at the same task" in found.pop(2)
    assert found == {0: 0, 1: 1, 3: 3}


def test_resample_bootstrap_and_splits(client):
    estimator = ig.GreedyGraph().fit(X)
    for work in (ig.resample, ig.bootstrap):
        here, there = work(estimator, n=4), work(estimator, n=4, client=client)
        assert there.to_frame().equals(here.to_frame())
    here, there = (
        ig.split_test(ig.GreedyGraph(), X, splits=4, **more) for more in ({}, {"client": client})
    )
    assert there.to_frame().equals(here.to_frame())


def test_audit_and_plan(client, tmp_path):
    here = ig.audit(ig.GreedyGraph(), X, n=4, n_jobs=1)
    there = ig.audit(ig.GreedyGraph(), X, n=4, client=client)
    assert there.tiers == here.tiers
    settings = {"columns": 4, "degree": 2, "coupling": 0.6, "rows": [200], "graphs": 4}
    here, there = (ig.plan(**settings, **more) for more in ({"n_jobs": 1}, {"client": client}))
    assert there.points == here.points


def test_compare(client):
    methods = {
        "greedy": ig.GreedyGraph(),
        "tree": ig.ChowLiuTree(),
        "impossible": ig.GreedyGraph(require=[("x0", "x1")], forbid=[("x0", "x1")]),
    }
    here, there = (ig.compare(X, methods, folds=2, **more) for more in ({}, {"client": client}))
    for one, two in zip(there.entries, here.entries, strict=True):
        assert (one.name, one.edges, one.failed) == (two.name, two.edges, two.failed)
        np.testing.assert_equal(one.score, two.score)
    assert there.entries[2].failed


def test_the_command_line(cluster, client, tmp_path, invoke):
    table = tmp_path / "table.csv"
    table.write_text("a,b,c,d,e\n" + "\n".join(",".join(map(str, row)) for row in X) + "\n")
    there = ["--scheduler", cluster.scheduler_address]
    here = json.loads(invoke("fit", table, "--json").out)
    found = json.loads(invoke("fit", table, "--json", *there).out)
    assert found["edges"] == here["edges"]
    here = json.loads(invoke("resample", table, "--samples", "4", "--json").out)
    assert json.loads(invoke("resample", table, "--samples", "4", "--json", *there).out) == here


def test_audit_and_plan_from_the_shell(cluster, client, tmp_path, invoke):
    table = tmp_path / "table.csv"
    table.write_text("a,b,c,d,e\n" + "\n".join(",".join(map(str, row)) for row in X) + "\n")
    small = ["--columns", 4, "--degree", 2, "--coupling", 0.6, "--rows", 200, "--graphs", 3]
    for command in (["audit", table, "--tables", 3], ["plan", *small]):
        ways = ["--jobs", 1], ["--scheduler", cluster.scheduler_address]
        here, there = (
            invoke(*command, "--json", "--out", tmp_path / f"{command[0]}{at}", *way)
            for at, way in enumerate(ways)
        )
        assert there.status == 0
        assert json.loads(there.out) == json.loads(here.out)


@pytest.mark.long
def test_reproduce_from_the_shell(cluster, client, tmp_path, invoke, monkeypatch):
    from isinglass.cli import reproduce
    from isinglass.experiments.paper.figures import Size

    tiny = Size((9,), repetitions=1, fewer=1, fewest=1, others=1, few_betas=True, figures=(1,))
    monkeypatch.setattr(reproduce, "QUICK", tiny)
    ways = {"here": ["--jobs", 1], "there": ["--scheduler", cluster.scheduler_address]}
    for folder, way in ways.items():
        assert invoke("reproduce", "--out", tmp_path / folder, *way).status == 0
    for name in ("points.csv", "tables.md"):
        here, there = ((tmp_path / folder / name).read_text() for folder in ("here", "there"))
        assert there == here


def test_the_command_line_without_a_scheduler(run_main, tmp_path, monkeypatch):
    from isinglass.cluster import connecting

    monkeypatch.setattr(connecting, "WAIT", 0.5)
    (tmp_path / "table.csv").write_text("a,b\n0,1\n1,0\n")
    for command in ("fit", "resample", "compare"):
        said = run_main(command, tmp_path / "table.csv", "--scheduler", "tcp://127.0.0.1:9")
        assert said.status == 2
        assert said.err.count("\n") == 1
        assert "no scheduler of Dask answers at 'tcp://127.0.0.1:9'" in said.err
