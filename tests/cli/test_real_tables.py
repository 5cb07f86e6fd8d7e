"""`isinglass fit` on published tables, where a copy of them is at hand."""

import json
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("ISINGLASS_DATA", ROOT.parent / "shared" / "data"))


def table(name: str) -> Path:
    if not (DATA / name).exists():
        pytest.skip(f"no {name}; ISINGLASS_DATA names the folder that holds it")
    return DATA / name


def edges_of(outcome) -> set[tuple[str, str]]:
    return {(edge["source"], edge["target"]) for edge in json.loads(outcome.out)["edges"]}


def test_house_votes(invoke, tmp_path):
    path = table("votes/housevotes84.csv")
    outcome = invoke("fit", path, "--missing", "state", "--json", "--out", tmp_path / "out")
    assert ("Class", "V4") in edges_of(outcome), "the vote on the physician fee freeze"
    assert (tmp_path / "out" / "graph.png").stat().st_size > 10_000


def test_house_votes_refuses_missing_values(run_main):
    outcome = run_main("fit", table("votes/housevotes84.csv"))
    assert outcome.status == 2
    assert "--missing drop uses only complete rows (232 of 435 remain)" in outcome.err


@pytest.mark.long
def test_mushrooms(invoke):
    path = table("votes/mushroom.csv.gz")
    outcome = invoke("fit", path, "--na", "?", "--missing", "state", "--json")
    notes = {(note["column"], note["what"]) for note in json.loads(outcome.out)["diagnostics"]}
    assert any(what == "constant" for _, what in notes)
    assert len(edges_of(outcome)) > 10


@pytest.mark.long
def test_alarm(invoke):
    found = edges_of(invoke("fit", table("alarm/alarm.csv.gz"), "--json"))
    assert {("CVP", "LVV"), ("SAO2", "PVS")} <= found, "links of the published network"
