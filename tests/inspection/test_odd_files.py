"""The command that inspect proposes runs as it is, and gives the graph one would want."""

import json
import os
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

import isinglass as ig
import isinglass.cli
from odd_files import ODD, Odd
from selections import mostly_long

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("ISINGLASS_DATA", ROOT.parent / "shared" / "data"))
TABLES = [
    *("senate/S109_voteview.csv", "senate/supremecourt_9497.csv", "psych/Wenchuan.csv"),
    *("psych/Rogers.csv", "psych/dass.csv.gz", "votes/housevotes84.csv", "votes/mushroom.csv.gz"),
    *("votes/soybean.csv.gz", "alarm/alarm.csv.gz", "alarm/asia.csv.gz"),
    *("nltcs/nltcs.ts.data.gz", "protein/PF00014_tab_cont.txt"),
]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words) -> dict:
    outcome = CliRunner().invoke(isinglass.cli.group, list(map(str, words)), catch_exceptions=False)
    assert outcome.exit_code == 0, outcome.output
    return json.loads(outcome.stdout)


def proposed(path) -> tuple[dict, dict]:
    """What inspect says of a file, and what its command then finds."""
    said = run("inspect", path, "--json")
    program, *words = shlex.split(said["command"])
    assert program == "isinglass"
    out = words.index("--out")
    return said, run(*words[:out], "--json", "--no-model", *words[out:])


def pairs(summary) -> set[tuple[str, str]]:
    return {(edge["source"], edge["target"]) for edge in summary["edges"]}


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd.name)
def test_the_proposed_command(odd: Odd, here):
    odd.write(here / odd.name)
    said, found = proposed(odd.name)
    names = {node["name"] for node in found["nodes"]}
    assert odd.edges - {pair for pair in odd.edges if not set(pair) <= names} <= pairs(found)
    assert not odd.gone & names
    assert not pairs(found) - odd.edges or odd.name == "total.csv"
    for option in odd.options:
        assert option in said["command"]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd.name)
def test_the_settings_file_says_the_same(odd: Odd, here):
    odd.write(here / odd.name)
    _, found = proposed(odd.name)
    said = run("inspect", odd.name, "--out", "settings.toml", "--json")
    again = run(*shlex.split(said["command"])[1:], "--json", "--no-model")
    assert again["edges"] == found["edges"]
    assert [node["states"] for node in again["nodes"]] == [
        node["states"] for node in found["nodes"]
    ]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd.name)
def test_the_same_in_python(odd: Odd, here):
    odd.write(here / odd.name)
    _, found = proposed(odd.name)
    est = ig.inspect(odd.name).fit()
    assert set(est.graph_.edges) == pairs(found)


def real(name: str) -> Path:
    if not (DATA / name).exists():
        pytest.skip(f"no {name}; ISINGLASS_DATA names the folder that holds it")
    return DATA / name


@pytest.mark.parametrize("name", mostly_long(TABLES[:4], 2))
def test_small_real_tables(name):
    _, found = proposed(real(name))
    assert found["edges"]


@pytest.mark.long
@pytest.mark.parametrize("name", TABLES[4:])
def test_real_tables(name):
    _, found = proposed(real(name))
    assert found["edges"] or "PF00014" in name


def test_dass_drops_its_totals_and_keeps_its_items():
    found = ig.inspect(real("psych/dass.csv.gz"))
    assert {"Depression", "Anxiety", "Stress", "dasssum", "country"} == set(found.options.drop)
    assert found.options.bins == {"age": 4, "familysize": 4}
