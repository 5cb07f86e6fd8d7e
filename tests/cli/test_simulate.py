"""`isinglass simulate`: a table that can be learned from, or one line that says why not."""

import numpy as np
import polars as pl
import pytest

from isinglass import GreedyGraph, read_table, simulate

FAMILIES = {
    "chain": ("--columns", 6),
    "grid": ("--rows", 2, "--cols", 3),
    "star": ("--columns", 6, "--degree", 4),
    "tree": ("--columns", 6),
    "random-regular": ("--columns", 6, "--degree", 3),
    "erdos-renyi": ("--columns", 6, "--degree", 2.5),
    "small-world": ("--columns", 6, "--nearest", 2, "--rewire", 0.2),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_truth_is_learned_back(invoke, tmp_path, family):
    out, truth = tmp_path / "table.csv", tmp_path / "truth.csv"
    outcome = invoke(
        *("simulate", family, *FAMILIES[family], "--samples", 4000, "--coupling", 0.4),
        *("--out", out, "--edges", truth, "--seed", 3),
    )
    assert outcome.status == 0
    edges = pl.read_csv(truth)
    assert outcome.out.startswith(f"4,000 rows, 6 columns, {edges.height} true edge")
    assert f"wrote {out}, and the true edges to {truth}\n" in outcome.out
    table = read_table(out)
    assert table.shape == (4000, 6)
    assert set(table.to_numpy().ravel()) == {-1, 1}
    found = GreedyGraph().fit(table).graph_.to_frame()
    columns = ["source", "target", "sign"]
    assert found.select(columns).equals(edges.select(columns))
    np.testing.assert_allclose(edges["coupling"].abs(), 0.4)


def test_as_the_help_says(invoke, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcome = invoke(
        *("simulate", "small-world", "--columns", 50, "--nearest", 4, "--rewire", 0.1),
        *("--coupling", "0.1:0.5", "--signs", "positive", "--intercept", "-0.3:0.3"),
        *("--out", "new/world.csv", "--edges", "truth.csv", "--samples", 20),
    )
    assert outcome.status == 0
    couplings = pl.read_csv("truth.csv")["coupling"]
    assert 0.1 <= couplings.min() < couplings.max() <= 0.5
    assert pl.read_csv("new/world.csv").shape == (20, 50)


def test_states(invoke, tmp_path):
    out = tmp_path / "table.csv"
    invoke("simulate", "chain", "--columns", 4, "--states", 3, "--out", out)
    assert all(set(column) == {0, 1, 2} for column in pl.read_csv(out))
    invoke("simulate", "chain", "--columns", 3, "--states", "2,4,3", "--out", out)
    assert [column.max() for column in pl.read_csv(out)] == [1, 3, 2]


def test_seeds(invoke, tmp_path):
    def draw(*options) -> tuple[bytes, str]:
        outcome = invoke("simulate", "tree", "--columns", 8, "--out", tmp_path / "t.csv", *options)
        return (tmp_path / "t.csv").read_bytes(), outcome.out

    assert draw("--seed", 1) == draw("--seed", 1)
    assert draw("--seed", 1) != draw("--seed", 2)
    table, said = draw()
    seed = said.split("--seed ")[1].split()[0]
    assert draw("--seed", seed) == (table, said)


def test_gibbs_says_when_it_mixes_poorly(run_main, tmp_path):
    grid = ("simulate", "grid", "--rows", 6, "--cols", 6, "--coupling", 1, "--signs", "positive")
    outcome = run_main(*grid, "--method", "gibbs", "--out", tmp_path / "t.csv", "--seed", 1)
    assert outcome.status == 0
    assert outcome.err.startswith("isinglass: Gibbs sampling mixes poorly: R-hat is")
    assert "raise --burn-in (now 1000) and --thin (now 10)" in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("grid", "--rows", 30, "--cols", 30, "--method", "exact"), "Raise --memory, or take --me"),
        (("star", "--columns", 5, "--degree", 5), "--degree must be a whole number from 0 to 4"),
        (("small-world", "--columns", 5, "--nearest", 3), "--nearest must be an even number"),
        (("random-regular", "--columns", 5, "--degree", 3), "no graph of 5 nodes has 3 edges"),
        (("chain", "--columns", 5, "--coupling", "a:b"), "--coupling takes a number or a range"),
        (("chain", "--columns", 5, "--coupling", "0"), "--coupling must be a positive number"),
        (("chain", "--columns", 5, "--states", "few"), "--states takes a number, or one for each"),
        (("chain", "--columns", 5, "--states", "2,3"), "--states must be one number"),
        (("chain", "--columns", 5, "--states", 3, "--signs", "positive"), "is for two states"),
    ],
)  # fmt: skip
def test_one_line_says_what_was_wrong(run_main, tmp_path, words, said):
    outcome = run_main("simulate", *words, "--out", tmp_path / "t.csv")
    assert outcome.status == 2
    assert outcome.out == ""
    assert said in outcome.err
    assert outcome.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_files_that_cannot_be_written(run_main, tmp_path):
    chain = ("simulate", "chain", "--columns", 3)
    assert "it is a folder; name a file" in run_main(*chain, "--out", tmp_path).err
    (tmp_path / "taken").write_text("mine")
    outcome = run_main(*chain, "--out", tmp_path / "taken" / "t.csv")
    assert outcome.status == 2
    assert "is a file; name a folder" in outcome.err
    same = tmp_path / "t.csv"
    assert "the same file" in run_main(*chain, "--out", same, "--edges", same).err
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_help(invoke):
    text = invoke("simulate", "--help").out
    for family in FAMILIES:
        assert family in text
    assert "isinglass simulate grid --rows 10 --cols 10 --samples 2000 --out grid.csv" in text
    text = invoke("simulate", "grid", "--help").out
    assert "--rows" in text
    assert "a range to draw it from, such as 0.1:0.5" in " ".join(text.split())


def test_every_family_of_the_library_has_a_command():
    made = set(simulate.__all__) - {"ising", "ordinal", "potts"}
    assert {family.replace("-", "_") for family in FAMILIES} == made
