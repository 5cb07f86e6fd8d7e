"""Run studies, and write what came of them: tables for programs, with times kept apart."""

from __future__ import annotations

import json
import os
import platform
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from isinglass.engine import Progress
from isinglass.experiments.plan import Cell
from isinglass.experiments.run import records_of, run, without_record
from isinglass.experiments.study import Outcome, Study, points_csv, results_csv, times_csv
from isinglass.repeating import RECORDS, Record

LIBRARIES = ("isinglass", "numpy", "scipy", "scikit-learn", "networkx", "joblib")


@dataclass(frozen=True)
class Shares:
    """Where the time of a run went: parts of one."""

    ours: float
    rivals: float
    tables: float
    overhead: float

    def __str__(self) -> str:
        return (
            f"{self.rivals:.0%} in the rivals, {self.ours:.0%} in greedy, {self.tables:.0%} in "
            f"making tables, {self.overhead:.0%} in starting, writing and waiting"
        )


class Reproduction:
    """Studies that share a folder of records."""

    def __init__(
        self,
        studies: Sequence[Study],
        folder: str | os.PathLike[str],
        n_jobs: int | None = None,
        client: Any = None,
    ) -> None:
        self.client = client
        if client is not None:  # tables are drawn in processes of their own
            n_jobs = max(len(client.nthreads()), 1)
        self.studies = studies
        self.folder = Path(folder)
        self.path = self.folder / RECORDS
        self.n_jobs = n_jobs or os.cpu_count() or 1
        self.cells = list({cell.key: cell for study in studies for cell in study.cells()}.values())

    def records(self) -> dict[str, Record]:
        """What is there already."""
        return records_of(self.cells, self.path)

    def missing(self) -> int:
        """How many cells are still to be done."""
        return len(without_record(self.cells, self.records()))

    def estimate(self, progress: Progress | None = None) -> float:
        """Seconds that are left; a small part is done first for what nothing is known of."""
        first = pilot(self.cells, self.records())
        if first:
            self._run(first, progress)
        return seconds_left(self.cells, self.records(), self.n_jobs)

    def run(self, progress: Progress | None = None) -> Shares:
        """Do what is missing; say where the time went."""
        before = {key for key, record in self.records().items() if "settings" in record}
        started = perf_counter()
        records = self._run(self.cells, progress)
        seconds = perf_counter() - started
        new = {key: record for key, record in records.items() if key not in before}
        if new:
            self._note_run(seconds, len(new))
        return shares(self.cells, new, seconds * self.n_jobs)

    def _run(self, cells: Sequence[Cell], progress: Progress | None) -> dict[str, Record]:
        jobs = {"n_jobs": self.n_jobs, "client": self.client}
        return run(cells, self.path, progress=progress, **jobs)

    def outcomes(self) -> list[Outcome]:
        """Each study with its records."""
        records = self.records()
        return [Outcome(study, records) for study in self.studies]

    def tables(self) -> dict[str, bytes]:
        """The files for programs; all but the times are the same for the same plan."""
        records = self.records()
        return {
            "results.csv": results_csv(self.cells, records),
            "points.csv": points_csv(self.outcomes()),
            "times.csv": times_csv(self.cells, records),
        }

    def _note_run(self, seconds: float, cells: int) -> None:
        """One line for each run: versions, machine, time."""
        line = {
            "ended": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": round(seconds, 1),
            "cells": cells,
            "jobs": self.n_jobs,
            "python": platform.python_version(),
            "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
            "versions": {name: _version(name) for name in LIBRARIES},
        }
        with (self.folder / "runs.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")


def shares(cells: Iterable[Cell], records: Mapping[str, Record], capacity: float) -> Shares:
    """Where the time went, of so many seconds that all processes had together."""
    spent = np.zeros(3)  # in ours, in the rivals, in tables
    for cell in cells:
        record = records.get(cell.key, {})
        spent[0 if cell.method.ours else 1] += record.get("seconds", 0.0)
        spent[2] += record.get("sampling", 0.0)
    total = max(capacity, spent.sum(), 1e-9)
    ours, rivals, tables = (spent / total).tolist()
    return Shares(ours, rivals, tables, 1 - ours - rivals - tables)


def pilot(cells: Sequence[Cell], records: Mapping[str, Record]) -> list[Cell]:
    """One cell for each design and method of which nothing is known: that of middle size."""
    known = {_kind(cell) for cell in cells if cell.key in records}
    unknown: dict[tuple[str, str], list[Cell]] = defaultdict(list)
    for cell in cells:
        if _kind(cell) not in known and cell.draw.repetition == 0:
            unknown[_kind(cell)].append(cell)
    return [
        sorted(group, key=lambda cell: cell.draw.n)[len(group) // 2] for group in unknown.values()
    ]


def seconds_left(cells: Sequence[Cell], records: Mapping[str, Record], n_jobs: int) -> float:
    """Return the time the missing cells will take, if time goes with rows.

    Each cell is taken to cost, per row, what its method has cost on its design so far.
    """
    seconds: dict[tuple[str, str], float] = defaultdict(float)
    rows: dict[tuple[str, str], float] = defaultdict(float)
    for cell in cells:
        record = records.get(cell.key, {})
        seconds[_kind(cell)] += record.get("seconds", 0.0) + record.get("sampling", 0.0)
        rows[_kind(cell)] += cell.draw.n if record else 0
    left = sum(
        cell.draw.n * seconds[_kind(cell)] / rows[_kind(cell)]
        for cell in without_record(cells, records)
        if rows[_kind(cell)]
    )
    return left / n_jobs


def _kind(cell: Cell) -> tuple[str, str]:
    return cell.draw.design.name, cell.method.name


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"
