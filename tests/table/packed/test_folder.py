"""Packed tables in their folders: checked when opened, fitted from chunks, written whole."""

import errno
import json

import numpy as np
import pytest

import isinglass as ig
from engine.test_ways_to_count import table_of
from isinglass.errors import FileError
from isinglass.table.packed import api, folder, stream
from isinglass.table.packed.store import Store


@pytest.fixture
def packed(tmp_path, monkeypatch):
    """A packed table of several chunks, whose rows stay in the file, and its whole table."""
    monkeypatch.setattr(stream, "CHUNK_ROWS", 64)
    codes, weights, _ = table_of(1)
    lines = [",".join(map(str, [*row, int(w)])) for row, w in zip(codes, weights, strict=True)]
    names = [*(f"x{j}" for j in range(codes.shape[1])), "n"]
    (tmp_path / "t.csv").write_text("\n".join([",".join(names), *lines]) + "\n")
    whole = ig.pack(tmp_path / "t.csv", tmp_path / "t.bits", sample_weight="n")
    monkeypatch.setattr(api, "_SHARE", 0.0)
    return tmp_path / "t.bits", whole


@pytest.mark.parametrize("rule", ["or", "and"])
def test_fits_from_a_file_are_the_same(packed, rule):
    path, whole = packed
    table = ig.open_packed(path)
    assert (whole.elsewhere, table.elsewhere is None) == (None, False)
    here, there = (ig.GreedyGraph("paper", rule=rule).fit(each) for each in (whole, table))
    assert there.graph_.to_frame("polars").equals(here.graph_.to_frame("polars"))
    assert len(here.graph_) > 0
    assert there.record().rows == here.record().rows
    assert "packed:sha256:" in there.record().fingerprint


def test_damage_is_one_sentence(packed):
    path, _ = packed
    rows, manifest = path / folder.ROWS, path / folder.MANIFEST
    data, said = rows.read_bytes(), manifest.read_text()
    rows.write_bytes(data[:-8])
    with pytest.raises(FileError, match=r"bytes where its manifest says"):
        ig.open_packed(path)
    rows.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    with pytest.raises(FileError, match=r"is damaged, or changed while it was read"):
        ig.GreedyGraph().fit(ig.open_packed(path))
    rows.write_bytes(data)
    manifest.write_text(said.replace('"x0"', '"y0"'))
    with pytest.raises(FileError, match=r"manifest.json is damaged"):
        ig.open_packed(path)
    manifest.write_text(said[:40])
    with pytest.raises(FileError, match=r"manifest.json is damaged"):
        ig.open_packed(path)
    manifest.write_text(json.dumps({**json.loads(said), "format": "isinglass-bits/9"}))
    with pytest.raises(FileError, match=r"packed in the format 'isinglass-bits/9'"):
        ig.open_packed(path)
    manifest.unlink()
    with pytest.raises(FileError, match=r"is not a packed table"):
        ig.open_packed(path)


def test_rows_that_change_under_a_fit(packed):
    path, _ = packed
    table = ig.open_packed(path)
    ig.GreedyGraph().fit(table)
    rows = path / folder.ROWS
    rows.write_bytes(rows.read_bytes()[:100])
    with pytest.raises(FileError, match=r"changed while it was read"):
        ig.GreedyGraph().fit(table)


def test_a_full_disk_leaves_nothing(packed, monkeypatch):
    path, _ = packed
    source = path.parent / "t.csv"
    before = (path / folder.MANIFEST).read_text()

    def full(self, raw):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Store, "add", full)
    with pytest.raises(FileError, match=r"cannot write to .*: No space left on device"):
        ig.pack(source, path, sample_weight="n")
    monkeypatch.undo()
    monkeypatch.setattr(folder.zlib, "crc32", lambda data: full(None, None))
    with pytest.raises(FileError, match=r"No space left on device"):
        ig.pack(source, path, sample_weight="n")
    assert (path / folder.MANIFEST).read_text() == before
    assert sorted(each.name for each in path.parent.iterdir()) == ["t.bits", "t.csv"]


def test_places_that_are_refused(packed, tmp_path):
    path, _ = packed
    source = path.parent / "t.csv"
    with pytest.raises(FileError, match=r"a folder that ends with .bits"):
        ig.pack(source, tmp_path / "out")
    (tmp_path / "mine.bits").mkdir()
    with pytest.raises(FileError, match=r"is not a packed table; name another one"):
        ig.pack(source, tmp_path / "mine.bits")


def test_unpacked_weights_and_codes(packed):
    path, whole = packed
    table = folder.open_bits(path, threads=1)
    again = api.unpacked(table, table.elsewhere.rows, table.elsewhere.chunks())
    np.testing.assert_array_equal(again.codes, whole.codes)
    np.testing.assert_array_equal(again.weights, whole.weights)
    assert again.fingerprint == whole.fingerprint
