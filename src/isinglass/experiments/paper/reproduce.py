"""Run studies, and write what came of them: tables for programs, with times kept apart."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any

from isinglass.engine import Progress
from isinglass.experiments.estimate import pilot, seconds_left
from isinglass.experiments.plan import Cell
from isinglass.experiments.results import results_csv, times_csv
from isinglass.experiments.run import records_of, run, without_record
from isinglass.experiments.study import Outcome, Study, points_csv
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
    """Studies that share a folder of records.

    Parameters
    ----------
    studies : sequence of Study
    folder : str or path
    n_jobs : int, optional
        Processes; None means all cores.
    """

    def __init__(
        self, studies: Sequence[Study], folder: str | os.PathLike[str], n_jobs: int | None = None
    ) -> None:
        self.studies = studies
        self.folder = Path(folder)
        self.path = self.folder / RECORDS
        self.n_jobs = n_jobs or os.cpu_count() or 1
        self.cells: list[Cell] = list(_unique(cell for study in studies for cell in study.cells()))

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
            run(first, self.path, n_jobs=self.n_jobs, progress=progress)
        return seconds_left(self.cells, self.records(), self.n_jobs)

    def run(self, progress: Progress | None = None) -> Shares:
        """Do what is missing; say where the time went."""
        before = {key for key, record in self.records().items() if "settings" in record}
        started = perf_counter()
        records = run(self.cells, self.path, n_jobs=self.n_jobs, progress=progress)
        seconds = perf_counter() - started
        new = {key: record for key, record in records.items() if key not in before}
        if new:
            self._note_run(seconds, len(new))
        return shares(self.cells, new, seconds * self.n_jobs)

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
            "versions": versions(),
        }
        with (self.folder / "runs.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")


def shares(cells: Iterable[Cell], records: Mapping[str, Record], capacity: float) -> Shares:
    """Where the time went, of so many seconds that all processes had together."""
    ours = rivals = tables = 0.0
    for cell in cells:
        record = records.get(cell.key)
        if record is None:
            continue
        tables += record.get("sampling", 0.0)
        if cell.method.ours:
            ours += record.get("seconds", 0.0)
        else:
            rivals += record.get("seconds", 0.0)
    total = max(capacity, ours + rivals + tables, 1e-9)
    rest = total - ours - rivals - tables
    return Shares(ours / total, rivals / total, tables / total, rest / total)


def versions() -> dict[str, str]:
    """Of the libraries whose numbers could matter."""
    return {name: _version(name) for name in LIBRARIES}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


def _unique(cells: Iterable[Cell]) -> Iterable[Any]:
    return {cell.key: cell for cell in cells}.values()
