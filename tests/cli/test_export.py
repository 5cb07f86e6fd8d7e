"""`isinglass export`: every format from a file, or one line that says why not."""

import networkx as nx
import polars as pl
import pytest

from isinglass import simulate
from isinglass.errors import FileError, SettingError
from isinglass.exports import FORMATS, from_networkx, read_uai, write

FIELD = simulate.ising(simulate.grid(2, 3), seed=1)


@pytest.fixture
def model(tmp_path):
    FIELD.save(tmp_path / "model.json")
    return tmp_path / "model.json"


@pytest.mark.parametrize("to", FORMATS)
def test_every_format(invoke, model, to, tmp_path):
    out = tmp_path / "new" / f"file.{to}"
    outcome = invoke("export", model, "--to", to, "--out", out)
    assert outcome.status == 0
    written = outcome.out.removeprefix("wrote ").strip().split(" and ")
    assert written[0] == str(out)
    assert sorted(written) == sorted(map(str, out.parent.iterdir()))


def test_what_is_written_is_the_model(invoke, model, tmp_path):
    out = tmp_path / "out"
    invoke("export", model, "--to", "graphml", "--out", out)
    assert from_networkx(nx.read_graphml(out)).links == FIELD.graph.links
    invoke("export", model, "--to", "csv", "--out", out)
    assert pl.read_csv(out)["source"].to_list() == [a for a, _ in FIELD.graph.edges]
    invoke("export", model, "--to", "uai", "--out", out)
    assert read_uai(out).graph == FIELD.graph


def test_a_file_that_is_no_model(run_main, tmp_path):
    (tmp_path / "model.json").write_text("[" * 100_000)
    out = tmp_path / "out"
    outcome = run_main("export", tmp_path / "model.json", "--to", "csv", "--out", out)
    assert outcome.status == 2
    assert outcome.err.count("\n") == 1
    assert "nested too deeply" in outcome.err
    assert not out.exists()


def test_a_model_that_the_format_cannot_hold(run_main, tmp_path):
    simulate.potts(simulate.chain(2), 3, seed=1).save(tmp_path / "model.json")
    outcome = run_main(
        "export", tmp_path / "model.json", "--to", "isingsampler", "--out", tmp_path / "out"
    )
    assert outcome.status == 2
    assert "two states" in outcome.err


def test_graphs_without_parameters(tmp_path):
    with pytest.raises(SettingError, match="give a MarkovField"):
        write(FIELD.graph, tmp_path / "x", "uai")
    with pytest.raises(SettingError, match="to must be 'csv', 'cytoscape'"):
        write(FIELD.graph, tmp_path / "x", "pickle")
    with pytest.raises(FileError, match="it is a folder"):
        write(FIELD.graph, tmp_path, "csv")
    assert write(FIELD.graph, tmp_path / "x", "gexf") == (str(tmp_path / "x"),)


@pytest.mark.parametrize("to", ["qgraph", "isingsampler"])
@pytest.mark.parametrize("name", ["x.R", "x.r"])
def test_numbers_and_script_have_two_names(run_main, model, to, name, tmp_path):
    outcome = run_main("export", model, "--to", to, "--out", tmp_path / name)
    assert outcome.status == 2
    assert outcome.err.count("\n") == 1
    assert "the name of the script beside them; name 'x.csv'" in outcome.err
    assert not (tmp_path / name).exists()


BESIDE = {"qgraph": "survey.R", "isingsampler": "survey.R", "uai": "survey.csv.labels.json"}


@pytest.mark.parametrize("to", BESIDE)
def test_somebody_elses_file_is_not_replaced(run_main, model, to, tmp_path):
    out, beside = tmp_path / "survey.csv", tmp_path / BESIDE[to]
    beside.write_text("my own analysis")
    export = ("export", model, "--to", to, "--out", out)
    refused = run_main(*export)
    assert refused.status == 2
    assert "give --overwrite" in refused.err
    assert not out.exists()
    assert beside.read_text() == "my own analysis"
    assert run_main(*export, "--overwrite").status == 0
    assert "Written by isinglass" in beside.read_text()
    assert run_main(*export).status == 0  # ours may be written again
