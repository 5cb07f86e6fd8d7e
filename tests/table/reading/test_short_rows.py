"""Short rows are found by counting separators; the careful look at every cell is its twin."""

import random

import pytest

from isinglass.errors import FileError
from isinglass.table import read_table
from selections import mostly_long

LOOK = "isinglass.table.reading.delimited.may_have_short_rows"


def careful(data, layout, frame):
    """Look at every cell whenever the last column has an empty one."""
    return bool(frame[layout.names[-1]].null_count())


def text(seed: int) -> str:
    """A file with empty cells, and sometimes with short rows, blank lines, quotes or a long row."""
    rng = random.Random(seed)
    width, end = rng.randint(1, 4), rng.choice(["\n", "\n", "\r\n"])
    odd = rng.choice(["", "", "short", "blank", "quote", "long", "short and long"])
    lines = [",".join(f"c{j}" for j in range(width))]
    for _ in range(rng.randint(1, 12)):
        cells = [rng.choice(["", "1", "a", "NA", " "]) for _ in range(width)]
        if "short" in odd and rng.random() < 0.2:
            cells = cells[: rng.randint(1, width)]
        if "long" in odd and rng.random() < 0.2:
            cells = [*cells, "x"]
        if odd == "quote" and rng.random() < 0.3:
            cells[0] = rng.choice(['"a,b"', '"a\nb"', '"', '""', 'a"b'])
        if odd == "blank" and rng.random() < 0.3:
            cells = []
        lines.append(",".join(cells))
    return end.join(lines) + end * rng.randint(0, 2)


def outcome(path):
    try:
        found = read_table(path)
    except FileError as error:
        return str(error)
    return found.schema, found.rows()


@pytest.mark.parametrize("part", mostly_long(range(8), 2))
def test_counting_says_what_looking_says(part, tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    for seed in range(100 * part, 100 * (part + 1)):
        path.write_bytes(text(seed).encode())
        quick = outcome(path)
        with monkeypatch.context() as patched:
            patched.setattr(LOOK, careful)
            assert quick == outcome(path), seed


def test_most_such_files_need_no_careful_look(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,\n" * 50)
    monkeypatch.setattr("isinglass.table.reading.delimited.find_fault", None)
    assert read_table(path, na="").height == 50
