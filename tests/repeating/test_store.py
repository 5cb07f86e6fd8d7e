"""A file of records is ours, or it is left alone; nothing in it can do harm."""

import json
import os
import subprocess
import sys

import pytest

from isinglass.errors import DamagedRecords, FileError
from isinglass.repeating import Store

OTHERS = {
    "JSON": b'{"precious": true}',
    "lines of JSON": b'{"key": "a", "x": 1}\n{"key": "b"}\n',
    "a table": b"a,b\n0,1\n1,0",
    "a model": b'{"format": "isinglass model", "schema": 2}\n',
    "bytes": bytes(range(256)) * 300,
    "one line break": b"\n",
    "a nested line": b"[" * 100_000,
}


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "records.jsonl", "coins")


def lines_of(store) -> list[bytes]:
    return store.path.read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize("content", OTHERS.values(), ids=OTHERS)
def test_a_file_that_is_not_ours_is_left_as_it_is(store, content):
    store.path.write_bytes(content)
    for touch in (store.prepare, store.read, lambda: store.append({"key": "a"})):
        with pytest.raises(FileError, match="holds something other than records"):
            touch()
    assert store.path.read_bytes() == content


def test_an_empty_or_absent_file_becomes_one(store):
    assert store.read() == {}
    assert not store.path.exists()
    store.path.touch()
    assert store.read() == {}
    store.append({"key": "a", "x": 1})
    assert json.loads(lines_of(store)[0]) == {
        "format": "isinglass records",
        "schema": 1,
        "work": "coins",
    }
    assert store.read() == {"a": {"key": "a", "x": 1}}


def test_records_of_other_work_or_another_version_are_left_alone(store):
    store.append({"key": "a"})
    before = store.path.read_bytes()
    with pytest.raises(FileError, match="are of coins, not of dice; name another file"):
        Store(store.path, "dice").append({"key": "b"})
    assert store.path.read_bytes() == before
    store.path.write_bytes(before.replace(b'"schema": 1', b'"schema": 7'))
    with pytest.raises(FileError, match="another version"):
        store.read()


@pytest.mark.parametrize("place", ["/dev/null", "folder"])
def test_records_need_a_file(tmp_path, place):
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileError):
        Store(tmp_path / place, "coins").prepare()


def test_a_process_killed_in_any_byte_loses_no_more_than_its_line(store):
    for key in "ab":
        store.append({"key": key})
    whole = store.path.read_bytes()
    for cut in range(len(whole)):
        store.path.write_bytes(whole[:cut])
        kept = set(store.read())
        store.append({"key": "c"})
        assert set(store.read()) == kept | {"c"}


WRITER = """
import sys
from isinglass.repeating import Store
store = Store(sys.argv[1], "coins")
for at in range(300):
    store.prepare()
    store.append({"key": f"{sys.argv[2]}/{at}", "x": "x" * 500})
"""


def test_processes_that_write_at_once_lose_nothing(store):
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, store.path, str(number)])
        for number in range(3)
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert set(store.read()) == {f"{number}/{at}" for number in range(3) for at in range(300)}


DAMAGED = {
    "no JSON": b'{"key": "b", "x',
    "no dict": b'["key"]',
    "no key": b'{"x": 1}',
    "a key that is no text": b'{"key": ["b"]}',
    "nested": b'{"key": "b", "x": ' + b"[" * 100_000 + b"}",
    "no text": b"\xff\xfe\x00",
    "a long number": b'{"key": "b", "x": ' + b"9" * 5000 + b"}",
}


@pytest.mark.parametrize("line", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_line_is_ignored_and_counted(store, line):
    store.append({"key": "a"})
    with store.path.open("ab") as file:
        file.write(line + b"\n" + line + b"\n")
    store.append({"key": "c"})
    with pytest.warns(DamagedRecords, match="^2 lines are damaged in .* and ignored"):
        assert set(store.read()) == {"a", "c"}


def test_what_its_reader_cannot_use_is_damaged(store):
    store.append({"key": "a", "x": 1})
    store.append({"key": "a", "x": "one"})
    store.append({"key": "b"})
    with pytest.warns(DamagedRecords, match="2 lines"):
        assert store.read(lambda record: record["x"] > 0) == {"a": {"key": "a", "x": 1}}


def test_reading_needs_no_right_to_write(store, monkeypatch):
    store.append({"key": "a"})
    monkeypatch.setattr(os, "open", None)
    assert set(store.read()) == {"a"}
