"""Records survive kills; results do not depend on who made them."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments import small
from isinglass.errors import DamagedRecords
from isinglass.experiments import Method, Plan, results_csv, run, times_csv
from isinglass.experiments.paper.reproduce import pilot, seconds_left
from isinglass.experiments.run import tasks
from isinglass.repeating import RECORDS


def csv_of(plan, path, n_jobs=1):
    return results_csv(plan.cells(), run(plan.cells(), path, n_jobs=n_jobs))


def test_any_number_of_workers_gives_the_same_bytes(tmp_path):
    plan = small.plan(small.by_correlation, small.moody)
    one, two = (csv_of(plan, tmp_path / f"{jobs}.jsonl", jobs) for jobs in (1, 2))
    assert one == two
    assert one.count(b"\n") > 24 * 3


SCRIPT = """
import sys
from experiments import small
from isinglass.experiments import run
plan = small.plan(small.by_correlation, small.slow_nothing, small.moody, repetitions=30)
run(plan.cells(), sys.argv[1], n_jobs=int(sys.argv[2]))
"""


def test_a_killed_run_goes_on_to_the_same_bytes(tmp_path):
    plan = small.plan(small.by_correlation, small.slow_nothing, small.moody, repetitions=30)
    records = tmp_path / "killed" / RECORDS
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, records, "2"],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
    )
    wait_for(lambda: records.exists() and records.read_bytes().count(b"\n") > 30, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    with records.open("ab") as file:
        file.write(b'{"key": "chain/p=5/beta=0.5/rep=0/by_corr')
    before = len(records.read_bytes().splitlines())
    assert before < 3 * 30 * 3
    assert csv_of(plan, records.parent) == csv_of(plan, tmp_path / "whole.jsonl")


def wait_for(condition, process, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_only_what_is_missing_is_done(tmp_path):
    seen = []

    def counting(codes):
        seen.append(len(codes))
        return []

    few, many = small.plan(counting, repetitions=2), small.plan(counting, repetitions=3)
    run(few.cells(), tmp_path, n_jobs=1)
    assert len(seen) == 6
    run(many.cells(), tmp_path, n_jobs=1)
    assert len(seen) == 9
    run(many.cells(), tmp_path, n_jobs=1)
    assert len(seen) == 9


def test_all_methods_see_the_same_table():
    (task, *_) = tasks(small.plan(small.by_correlation, small.moody).cells())
    assert [key.rpartition("/")[2] for key in task.keys] == ["by_correlation", "moody"]
    first, second = (list(task.make(task.keys[:1])) for _ in range(2))
    assert first[0]["settings"] == second[0]["settings"]


def test_a_failure_is_recorded_with_its_reason_and_tried_again(tmp_path):
    plan = small.plan(small.moody)
    records = run(plan.cells(), tmp_path, n_jobs=1)
    reasons = [record["failed"] for record in records.values() if "failed" in record]
    assert set(reasons) == {"ValueError: an odd table"}
    assert 0 < len(reasons) < len(records) == 24
    (method,) = plan.methods
    mended = Plan(plan.designs, [Method(method.name, lambda codes: [])], plan.repetitions)
    assert not any("failed" in r for r in run(mended.cells(), tmp_path, n_jobs=1).values())


def test_a_table_that_cannot_be_made_is_a_failure_of_all_its_cells(tmp_path):
    def broken(n, seed):
        raise MemoryError("too wide")

    design = small.Design("broken/p=5", 5, 2, broken, (1.0,))
    plan = Plan([design], small.plan(small.moody, small.by_correlation).methods, 2)
    records = run(plan.cells(), tmp_path, n_jobs=1)
    assert [record["failed"] for record in records.values()] == ["MemoryError: too wide"] * 4


@pytest.mark.long
def test_a_process_that_dies_costs_its_own_cells_only(tmp_path):
    plan = small.plan(small.by_correlation, small.deadly, repetitions=1)
    records = run(plan.cells(), tmp_path, n_jobs=2)
    assert len(records) == 6
    died = {key: record["failed"] for key, record in records.items() if "failed" in record}
    assert list(died) == ["chain/p=5/beta=2/rep=0/deadly"]
    assert "the process died" in died["chain/p=5/beta=2/rep=0/deadly"]


def test_warnings_are_kept_beside_the_times(tmp_path):
    def warner(codes):
        import warnings

        warnings.warn("poor mixing", stacklevel=1)
        return []

    plan = small.plan(warner, repetitions=1)
    records = run(plan.cells(), tmp_path, n_jobs=1)
    assert times_csv(plan.cells(), records).count(b"poor mixing") == 3
    assert b"poor mixing" not in results_csv(plan.cells(), records)


def test_a_line_that_is_no_record_is_passed_over(tmp_path):
    plan = small.plan(small.by_correlation)
    whole = csv_of(plan, tmp_path)
    path = tmp_path / RECORDS
    lines = path.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3][:20] + lines[4]  # a piece, and another process's line behind it
    del lines[4]
    path.write_bytes(b"".join(lines))
    with pytest.warns(DamagedRecords, match="one line is damaged"):
        assert csv_of(plan, tmp_path) == whole


def test_progress_counts_cells(tmp_path):
    plan = small.plan(small.by_correlation, small.moody, repetitions=2)
    calls = []
    run(plan.cells(), tmp_path, n_jobs=1, progress=lambda *call: calls.append(call))
    assert calls[0] == (0, 12)
    assert calls[-1] == (12, 12)


def test_the_estimate_needs_one_cell_of_each_kind(tmp_path):
    plan = small.plan(small.slow_nothing, small.moody, repetitions=5)
    cells = list(plan.cells())
    first = pilot(cells, {})
    assert [cell.key for cell in first] == [
        "chain/p=5/beta=1/rep=0/slow_nothing",
        "chain/p=5/beta=1/rep=0/moody",
    ]
    records = {cell.key: {"settings": {}, "seconds": 64.0, "sampling": 0.0} for cell in first[:1]}
    assert pilot(cells, records) == first[1:]
    per_row = 64.0 / first[0].draw.n
    rows = sum(cell.draw.n for cell in cells if cell.method.name == "slow_nothing")
    left = per_row * (rows - first[0].draw.n)
    assert seconds_left(cells, records, n_jobs=2) == pytest.approx(left / 2)


def test_records_are_lines_of_json(tmp_path):
    plan = small.plan(small.by_correlation, repetitions=1)
    run(plan.cells(), tmp_path, n_jobs=1)
    head, *lines = (tmp_path / RECORDS).read_text().splitlines()
    assert json.loads(head)["work"] == "an experiment"
    for line in lines:
        record = json.loads(line)
        assert record["true"] == 4
        assert list(record["settings"]) == ["cut=0.2", "cut=0.35", "cut=0.5"]
