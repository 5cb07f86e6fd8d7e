"""`isinglass reproduce`: stopped and started again, the files are the same."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace

import pytest

from isinglass.cli import reproduce
from isinglass.experiments.paper.figures import Size, studies

SMALL = Size((9,), repetitions=2, fewer=2, fewest=1, others=2, few_betas=True, figures=(1,))
SAME = ["results.csv", "points.csv", "tables.md", "figure1.png", "figure1.svg"]
SCRIPT = """
import sys
from isinglass.cli import main, reproduce
from isinglass.experiments.paper.figures import Size
reproduce.QUICK = Size((9,), 2, fewer=2, fewest=1, others=2, few_betas=True, figures=(1,))
sys.argv = ["isinglass", "reproduce", "--out", sys.argv[1], "--jobs", "2"]
main()
"""


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(reproduce, "QUICK", SMALL)


@pytest.mark.long
def test_killed_and_started_again(small, invoke, tmp_path):
    records = tmp_path / "killed" / "records.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, records.parent], stdout=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 120
    while not records.exists() or records.read_bytes().count(b"\n") < 40:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert sorted(os.listdir(records.parent)) == ["records.jsonl"]
    assert 40 <= records.read_bytes().count(b"\n") < 220

    again = invoke("reproduce", "--out", records.parent, "--jobs", 1)
    whole = invoke("reproduce", "--out", tmp_path / "whole", "--jobs", 1)
    assert "220 fits in all, 0 of them already done." in whole.out
    assert "220 fits in all" in again.out
    assert "220 fits in all, 0" not in again.out
    assert "in the rivals" in whole.out
    for name in SAME:
        first, second = (tmp_path / folder / name for folder in ("killed", "whole"))
        assert first.read_bytes() == second.read_bytes(), name

    done = invoke("reproduce", "--out", records.parent, "--jobs", 1)
    assert "220 fits in all, 219 of them already done." in done.out  # what failed is tried again
    assert "1 fit failed; results.csv says why." in done.out
    assert "4 rows cannot be split into 5 folds" in (records.parent / "results.csv").read_text()


def test_nothing_is_run_for_drawing(small, invoke, tmp_path):
    outcome = invoke("reproduce", "--out", tmp_path / "new", "--draw-only")
    assert outcome.status == 0
    assert (tmp_path / "new" / "results.csv").read_text().count("\n") == 1


def test_an_unknown_method_is_refused(run_main):
    outcome = run_main("reproduce", "--also", "magic")
    assert outcome.status == 2
    assert "'magic' is not one of 'rise'" in outcome.err


def test_rivals_may_see_fewer_graphs_than_greedy():
    size = replace(SMALL, repetitions=5, fewer=4, fewest=3, others=5, rivals=2, figures=(1, 2, 3))
    for study in studies(size):
        seen = Counter(cell.method.name for cell in study.cells() if cell.method.ours)
        assert len(set(seen.values())) == 1
        points = sum(len(design.betas) for design in study.designs)
        for name, count in Counter(cell.method.name for cell in study.cells()).items():
            assert count == points * (5 if name in seen else 2), name
