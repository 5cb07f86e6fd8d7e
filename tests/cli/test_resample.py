"""The command, on a small file."""

import json

import numpy as np
import polars as pl
import pytest

from isinglass import GreedyGraph, read_table, resample, simulate


@pytest.fixture
def data(tmp_path):
    field = simulate.ising(simulate.chain(4), coupling=0.6, seed=0)
    path = tmp_path / "chain.csv"
    pl.DataFrame(field.sample(300, seed=0), schema=list("abcd")).write_csv(path)
    return str(path)


def test_what_it_prints(run_main, data):
    done = run_main("resample", data, "--samples", "6")
    assert done.status == 0, done.err
    assert "6 half-samples of 150 rows" in done.out
    assert "a -- b" in done.out


def test_json_is_the_python_result(run_main, data, tmp_path):
    records = tmp_path / "records.jsonl"
    done = run_main("resample", data, "--samples", "6", "--records", str(records), "--json")
    found = resample(GreedyGraph().fit(read_table(data)), n=6)
    shown = json.loads(done.out)
    assert {(e["source"], e["target"]): e["frequency"] for e in shown["edges"]} == found.frequency
    assert len(records.read_text().splitlines()) == 1 + 3


def test_dropping_cases(run_main, data):
    done = run_main("resample", data, "--samples", "2", "--case-dropping", "--json")
    shown = json.loads(done.out)
    assert set(shown["cs"]) == {"edge", "strength"}
    assert np.isfinite([row["mean"] for row in shown["curve"]]).all()


def test_an_odd_number_is_one_line(run_main, data):
    done = run_main("resample", data, "--samples", "5")
    assert done.status == 2
    assert len(done.err.splitlines()) == 1
