"""`isinglass compare`: a table on the terminal, files, and JSON for programs."""

import json
import os
import signal

import pytest
from matplotlib.image import imread

PLAIN = ("--drop", "id", "--drop", "age", "--drop", "count", "--drop", "share")


def test_files_and_terminal(invoke, survey, tmp_path):
    outcome = invoke("compare", survey, *PLAIN, "--out", tmp_path / "out")
    assert outcome.status == 0
    assert "300 rows; 4 methods; scores from 5 folds" in outcome.out
    assert "group l1" in outcome.out
    assert "Edges in common" in outcome.out
    assert sorted(os.listdir(tmp_path / "out")) == ["compare.csv", "compare.png", "edges.csv"]
    assert imread(tmp_path / "out" / "compare.png").ndim == 3
    assert "a,b,1,1,1" in (tmp_path / "out" / "edges.csv").read_text()


def test_json_is_clean(invoke, survey):
    outcome = invoke("compare", survey, *PLAIN, "--drop", "alone", "--json", "--folds", 3)
    result = json.loads(outcome.out)
    assert outcome.err == ""
    assert [method["method"] for method in result["methods"]] == [
        *("greedy", "greedy joint", "l1", "screening", "tree")
    ]
    assert result["common"]["greedy"]["tree"] == 2
    assert result["folds"] == 3


def test_the_seed_decides_the_folds(invoke, survey):
    runs = [
        json.loads(invoke("compare", survey, *PLAIN, "--json", "--seed", seed).out)
        for seed in (1, 1, 2)
    ]
    one, same, other = (run["methods"][0]["score"] for run in runs)
    assert one == same != other


@pytest.mark.parametrize("options", [("--bin", "age=3"), ("--weight-column", "count")])
def test_tables_are_read_as_by_fit(invoke, survey, options):
    used = "age" if "age=3" in options else "count"
    unused = [name for name in ("id", "age", "count", "share") if name != used]
    drop = [word for name in unused for word in ("--drop", name)]
    assert invoke("compare", survey, *drop, *options).status == 0


def test_a_missing_file_is_one_line(run_main, tmp_path):
    outcome = run_main("compare", tmp_path / "none.csv")
    assert outcome.status == 2
    assert outcome.err.count("\n") == 1


def test_ctrl_c_keeps_what_is_done(run_main, survey, tmp_path, monkeypatch):
    def stop(bar, words):
        if words.startswith("tree"):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("isinglass.cli.terminal.Bar.tell", stop)
    outcome = run_main("compare", survey, *PLAIN, "--out", tmp_path / "out")
    assert outcome.status == 130
    assert "tree: stopped before it was done" in outcome.out
    assert outcome.err.endswith("stopped; only the methods that were finished are compared\n")
    methods = (tmp_path / "out" / "compare.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in methods] == [
        *("method", "greedy", "greedy joint", "group l1", "tree")
    ]
