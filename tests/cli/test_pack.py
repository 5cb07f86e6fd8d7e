"""`isinglass pack`, `fit` of what it wrote, and of files too large to be read at once."""

import pytest

from isinglass.cli import fitting
from isinglass.table.packed import api


@pytest.fixture
def votes(tmp_path):
    rows = [f"{i % 2},{(i + i // 7) % 2},{(i // 3) % 3}" for i in range(600)]
    path = tmp_path / "votes.csv"
    path.write_text("a,b,c\n" + "\n".join(rows) + "\n")
    return path


def edges(said: str) -> str:
    return said[said.index("threshold") :]


def test_a_packed_table_is_fitted(run_main, votes, tmp_path):
    out = tmp_path / "votes.bits"
    packed = run_main("pack", str(votes), str(out))
    assert packed.out == f"wrote 600 rows of 3 columns to {out}\n"
    assert edges(run_main("fit", str(out)).out) == edges(run_main("fit", str(votes)).out)
    refused = run_main("fit", str(out), "--drop", "a")
    assert "is packed already" in refused.err
    refused = run_main("fit", str(out), "--missing", "drop")
    assert "--missing cannot be changed for a table that is packed already" in refused.err


@pytest.fixture
def _in_chunks(monkeypatch):
    """As if a file of more than 100 bytes were large."""
    monkeypatch.setattr(api, "most_bytes", lambda given: 100)


@pytest.mark.usefixtures("_in_chunks")
@pytest.mark.parametrize(
    "options",
    [("--rule", "joint"), ("--adjust", "c"), ("--cluster-column", "c"), ("--missing", "model")],
    ids="".join,
)
def test_what_needs_the_rows_works_where_they_fit(run_main, votes, options, monkeypatch):
    found = run_main("fit", str(votes), *options)
    monkeypatch.undo()
    assert found.status == 0
    assert found.out == run_main("fit", str(votes), *options).out


def test_a_large_file_is_read_in_chunks(run_main, votes, tmp_path, monkeypatch):
    whole = run_main("fit", str(votes), "--out", str(tmp_path / "whole"), "--no-model")
    for room in (api, fitting):
        monkeypatch.setattr(room, "most_bytes", lambda given: 100)
    monkeypatch.setattr(api, "_SHARE", 0)
    result = run_main("fit", str(votes), "--out", str(tmp_path / "far"))
    assert edges(result.out).splitlines()[:4] == edges(whole.out).splitlines()[:4]
    assert "the joint model needs the rows in memory" in result.out
    same = ("edges.csv", "nodes.csv", "graph.graphml")
    for name in same:
        assert (tmp_path / "far" / name).read_text() == (tmp_path / "whole" / name).read_text()
    for options in (("--adjust", "c"), ("--cluster-column", "c"), ("--missing", "model")):
        refused = run_main("fit", str(votes), *options)
        assert "needs the rows in memory" in refused.err
        assert "raise --max-size to read it at once" in refused.err
    refused = run_main("fit", str(votes), "--rule", "joint")
    assert "compares both ends of an edge row by row" in refused.err
