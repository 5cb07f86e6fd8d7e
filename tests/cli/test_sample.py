"""`isinglass sample`: the table of the model in a file, or one line that says why not."""

import polars as pl

from isinglass import MarkovField, simulate
from odd_names import ODD_NAMES

FIELD = simulate.ising(simulate.grid(2, 3), seed=1)


def test_the_table_of_the_model(invoke, tmp_path):
    model, out = tmp_path / "model.json", tmp_path / "new" / "table.csv"
    FIELD.save(model)
    outcome = invoke("sample", model, "--rows", 50, "--out", out, "--seed", 3)
    assert (
        outcome.out == f"wrote 50 rows, 6 columns to {out}; --seed 3 draws the same table again\n"
    )
    assert pl.read_csv(out).columns == list(FIELD.names)
    assert (pl.read_csv(out).to_numpy() == FIELD.sample(50, seed=3)).all()


def test_labels(invoke, tmp_path):
    model, out = tmp_path / "model.json", tmp_path / "table.csv"
    states = [ODD_NAMES, ("x", None)]
    field = MarkovField.from_potentials(("a,b", "c"), states, [[0] * len(ODD_NAMES), [0, 0]], {})
    field.save(model)
    invoke("sample", model, "--rows", 500, "--out", out, "--seed", 1)
    table = pl.read_csv(out)
    assert table.columns == ["a,b", "c"]
    assert set(table["a,b"]) == set(ODD_NAMES)
    assert set(table["c"]) == {"x", None}


def test_poor_mixing_is_said(run_main, tmp_path):
    model, out = tmp_path / "model.json", tmp_path / "table.csv"
    simulate.ising(simulate.grid(4, 4), coupling=1.5, signs="positive").save(model)
    outcome = run_main(
        *("sample", model, "--rows", 100, "--out", out, "--method", "gibbs"),
        *("--seed", 1, "--burn-in", 10, "--thin", 1, "--jobs", 1),
    )
    assert outcome.status == 0
    assert "raise --burn-in (now 10)" in outcome.err
    assert out.exists()


def test_no_model(run_main, tmp_path):
    outcome = run_main("sample", tmp_path / "none.json", "--rows", 5, "--out", tmp_path / "x.csv")
    assert outcome.status == 2
    assert outcome.err.startswith("isinglass: cannot read ")
