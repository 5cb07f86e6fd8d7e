"""Every command's help shows examples, and they work as written (on small tables)."""

import gzip
import re
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pyreadstat
import pytest

import isinglass as ig
from isinglass.cli import COMMANDS, LazyCommands, group
from isinglass.record.findings import findings_of

#: Appended to an example, where the last of two equal options counts: the same, in seconds.
SMALLER = {
    "audit": "--tables 3 --jobs 1",
    "compare": "--folds 2",
    "resample": "--samples 2",
    "plan": "--graphs 2 --jobs 1 --rows 60",
    "simulate": "--samples 50",
    "theory": "--draws 3 --population 1000",
}
#: Long or drawing, and run whole by tests of their own; here their options are read.
READ_ONLY = {"desk", "demo", "reproduce"}


def help_of(name: str) -> str:
    command = group.get_command(None, name)
    return f"{command.help or ''}\n{command.epilog or ''}"


def examples(name: str) -> list[str]:
    """Lines that begin with isinglass, without what is said behind them."""
    text = help_of(name).replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("isinglass ")]
    return [re.split(r"\s{2,}(?![-\s])", line)[0] for line in lines]


EXAMPLES = [(name, line) for name in COMMANDS for line in examples(name)]


@pytest.fixture(scope="module")
def tables(tmp_path_factory) -> Path:
    """A folder with every file that an example names."""
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    n = 200
    fever = rng.random(n) < 0.4
    cough = rng.random(n) < np.where(fever, 0.9, 0.1)
    survey = pl.DataFrame(
        {
            "fever": fever,
            "cough": cough,
            "awake": rng.random(n) < np.where(cough, 0.9, 0.1),
            "age": rng.integers(20, 30, n),
            "sex": rng.choice(["f", "m"], n),
            "region": rng.choice(["north", "south", "west"], n),
            "id": np.arange(n) % 20,
            "weight": rng.choice([0.5, 1.5], n),
        }
    )
    plain = survey.select("fever", "cough", "awake")
    survey.write_csv(folder / "survey.csv")
    pyreadstat.write_sav(survey, folder / "survey.sav")
    survey.write_excel(folder / "answers.xlsx", worksheet="wave2")
    plain.write_csv(folder / "votes.csv")
    plain.with_columns(id=pl.lit(1)).write_csv(folder / "pilot.csv")
    counts = plain.with_columns(count=pl.lit(2))
    counts.write_csv(folder / "counts.tsv", separator="\t")
    (folder / "parts").mkdir()
    counts.write_csv(folder / "parts" / "first.csv")
    with_missing = plain.with_columns(cap=pl.Series(rng.choice(["bell", "flat", "?"], n)))
    (folder / "mushroom.csv.gz").write_bytes(gzip.compress(with_missing.write_csv().encode()))
    tree = ig.simulate.ising(ig.simulate.tree(6, seed=1), seed=1).sample(500, seed=1)
    pl.DataFrame(tree, schema=[f"x{j}" for j in range(6)]).write_csv(folder / "table.csv")
    est = ig.GreedyGraph(n_eff="kish").fit(survey, sample_weight="weight")
    est.model_.save(folder / "model.json", fit=est.record())
    # What examples read that other examples write: each works by itself.
    parts = {"men": plain[: n // 2], "women": plain[n // 2 :]}
    for name, table in {"votes": plain, "result": tree, **parts}.items():
        (folder / name).mkdir()
        fit = ig.GreedyGraph().fit(table)
        found = findings_of(fit.graph_.names, measures=ig.measures.nodes(fit, folds=2))
        record = replace(fit.record(), findings=found)
        fit.model_.save(folder / name / "model.json", fit=record)
    return folder


def test_every_command_has_an_example():
    assert isinstance(group, LazyCommands)
    assert {name for name, _ in EXAMPLES} == set(COMMANDS)


@pytest.mark.parametrize(("name", "line"), EXAMPLES, ids=[line for _, line in EXAMPLES])
def test_examples_work(name, line, tables, invoke, monkeypatch):
    monkeypatch.chdir(tables)
    words = shlex.split(line.split(" > ")[0])[1:]
    if words[0] in READ_ONLY:
        group.get_command(None, words[0]).make_context(words[0], words[1:])
        return
    words += SMALLER.get(words[0], "").split()
    if "--columns" in words and words[0] == "plan":
        words += ["--columns", "6", "--degree", "2"]
    status, out, err = invoke(*words)
    assert status == 0, err
    assert out


def test_help(invoke):
    top = invoke("--help").out
    assert "isinglass demo" in top
    assert "isinglass fit your.csv --out result/" in top
    text = invoke("fit", "--help").out
    assert "isinglass fit votes.csv --out votes/" in text
    assert "--weight-column weight --n-eff design" in text
    assert invoke("fit", "-h").out == text


def test_version(invoke):
    assert invoke("--version").out.startswith("isinglass, version 0.")


def test_unknown_command(run_main):
    outcome = run_main("fitt")
    assert outcome.status == 2
    assert "No such command 'fitt'" in outcome.err
