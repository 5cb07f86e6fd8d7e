"""`isinglass pack`, `fit` of what it wrote, and of files too large to be read at once."""

import pytest

from isinglass.table import limits
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


def test_a_large_file_is_read_in_chunks(run_main, votes, tmp_path, monkeypatch):
    whole = run_main("fit", str(votes), "--out", str(tmp_path / "whole"), "--no-model")
    monkeypatch.setattr(api, "most_bytes", lambda given: 100)
    result = run_main("fit", str(votes), "--out", str(tmp_path / "far"))
    assert edges(result.out).splitlines()[:4] == edges(whole.out).splitlines()[:4]
    assert "the joint model needs the rows in memory" in result.out
    same = ("edges.csv", "nodes.csv", "graph.graphml")
    for name in same:
        assert (tmp_path / "far" / name).read_text() == (tmp_path / "whole" / name).read_text()
    refused = run_main("fit", str(votes), "--adjust", "c")
    assert "--adjust needs the rows in memory" in refused.err
    refused = run_main("fit", str(votes), "--rule", "joint")
    assert "compares both ends of an edge row by row" in refused.err
    assert limits.most_bytes(None) > 100
