"""Pictures of saved fits."""

import polars as pl
import pytest

import isinglass as ig
from isinglass.errors import SettingError


@pytest.fixture
def saved(tmp_path):
    """Two fits of the same columns."""
    field = ig.simulate.ising(ig.simulate.chain(4), coupling=0.6, seed=0)
    paths = []
    for name in ("one", "two"):
        rows = field.sample(300, seed=len(paths))
        est = ig.GreedyGraph().fit(pl.DataFrame(rows, schema=list("abcd")))
        (tmp_path / name).mkdir()
        paths.append(tmp_path / name / "model.json")
        est.record().save(paths[-1])
    return paths


@pytest.mark.parametrize("kind", ["network", "adjacency", "centrality"])
def test_every_kind_in_every_format(invoke, saved, tmp_path, kind):
    out = [tmp_path / f"picture.{end}" for end in ("pdf", "svg", "png")]
    words = [word for path in out for word in ("--out", path)]
    done = invoke("plot", kind, saved[0], *words)
    assert done.status == 0
    assert "picture.pdf" in done.out
    begins = [path.read_bytes()[:5] for path in out]
    assert begins == [b"%PDF-", b"<?xml", b"\x89PNG\r"]


def test_several_are_told_apart_by_their_folders(invoke, saved, tmp_path):
    out = tmp_path / "both.svg"
    for kind in ("network", "centrality"):
        invoke("plot", kind, *saved, "--out", out, "--group", "ends=a,d")
        assert out.stat().st_size > 1000


def test_what_cannot_be_drawn(invoke, saved, tmp_path):
    def fails(*words):
        with pytest.raises(SettingError) as error:
            invoke("plot", *words)
        return str(error.value)

    out = ("--out", tmp_path / "x.png")
    assert "ends in .pdf" in fails("network", saved[0], "--out", "x.gif")
    assert "one model at a time" in fails("adjacency", *saved, *out)
    assert "--predictability" in fails("network", saved[0], *out, "--rings")
    assert "NAME=A,B,C" in fails("network", saved[0], *out, "--group", "ends")
    assert "no column 'z'" in fails("network", saved[0], *out, "--group", "ends=z")
    assert not (tmp_path / "x.png").exists()


@pytest.mark.parametrize("what", ["--case-dropping", "--centrality", "--bootstrap"])
def test_figures_of_resamples(invoke, tmp_path, what):
    field = ig.simulate.ising(ig.simulate.chain(4), coupling=0.6, seed=0)
    pl.DataFrame(field.sample(200, seed=0), schema=list("abcd")).write_csv(tmp_path / "t.csv")
    out = tmp_path / "figure.png"
    done = invoke("resample", tmp_path / "t.csv", what, "--samples", 2, "--figure", out)
    assert done.status == 0
    assert out.read_bytes()[1:4] == b"PNG"
    assert "figure.png" in done.out


def test_resample_draws_what_was_asked_for(invoke, tmp_path):
    with pytest.raises(SettingError, match="add --case-dropping"):
        invoke("resample", "t.csv", "--figure", tmp_path / "x.png")
    with pytest.raises(SettingError, match="one at a time"):
        invoke("resample", "t.csv", "--bootstrap", "--centrality")
