"""Small tables in files, and three ways to run a command."""

import csv
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner

import isinglass.cli


class Outcome(NamedTuple):
    status: int
    out: str
    err: str


@pytest.fixture
def survey(tmp_path) -> Path:
    """A chain a - b - c, a column alone, an id, an age and two kinds of weights."""
    rng = np.random.default_rng(0)
    n = 300
    a = rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.85, a, 1 - a)
    c = np.where(rng.random(n) < 0.85, b, 1 - b)
    columns = {
        "a": np.where(a, "yes", "no"),
        "b": b,
        "c": np.array(["low", "high"])[c],
        "alone": rng.choice(["x", "y", "z"], n),
        "id": np.arange(n),
        "age": rng.integers(18, 90, n),
        "count": rng.integers(0, 3, n),
        "share": rng.random(n).round(3) + 0.5,
    }
    return write(tmp_path / "survey.csv", columns)


def write(path: Path, columns: dict) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


@pytest.fixture
def write_csv():
    return write


@pytest.fixture
def invoke(monkeypatch):
    """Run a command by click's own runner; an error of ours comes through as it is."""
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments) -> Outcome:
        result = CliRunner().invoke(
            isinglass.cli.group, [str(word) for word in arguments], catch_exceptions=False
        )
        return Outcome(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def run_main(monkeypatch, capsys):
    """Run `isinglass` as the shell does, but in this process."""
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["isinglass", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            isinglass.cli.main()
        out, err = capsys.readouterr()
        return Outcome(stop.value.code, out, err)

    return run


@pytest.fixture
def shell():
    """Run `isinglass` in a process of its own."""

    def run(*arguments, **options) -> Outcome:
        done = subprocess.run(
            [sys.executable, "-c", "from isinglass.cli import main; main()", *map(str, arguments)],
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            **options,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run
