"""How the benchmarks measure and say what they measured: clocks, targets, machine, options."""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol, TypeVar

from threadpoolctl import ThreadpoolController

from isinglass.core import instructions

Work = Callable[[], Any]
T = TypeVar("T")

LIBRARIES = ("isinglass", "numpy", "scipy", "scikit-learn")
DATA = Path(__file__).parent.parent.parent / "shared" / "data"
GIGABYTE = 1e9
#: Seconds that repeats may take.
PATIENCE = 30.0
#: The share of the cores that other processes may use before verdicts are withheld.
TOLERATED = 0.1


class Target(Protocol):
    """How our time is compared with another, and what the ratio should be."""

    def ratio(self, ours: float, theirs: float) -> float: ...
    def verdict(self, ratio: float) -> str: ...


@dataclass(frozen=True)
class AtMost:
    """Our time as a multiple of the other."""

    limit: float
    aim: float | None = None

    def ratio(self, ours: float, theirs: float) -> float:
        return ours / theirs

    def verdict(self, ratio: float) -> str:
        return "met" if ratio <= self.limit else "MISSED"

    def __str__(self) -> str:
        return f"<= {self.limit:g}" + (f", aim {self.aim:g}" if self.aim else "")


@dataclass(frozen=True)
class TimesFaster:
    """The other time as a multiple of ours; without a number nothing is asked."""

    least: float | None = None

    def ratio(self, ours: float, theirs: float) -> float:
        return theirs / ours

    def verdict(self, ratio: float) -> str:
        return "" if self.least is None else "met" if ratio >= self.least else "MISSED"

    def __str__(self) -> str:
        return "" if self.least is None else f">= {self.least:g} faster"


HEADING = f"{'':3}{'ratio':>8}  {'target':<24} {'ours':>10} {'theirs':>10}  what / against what"


@dataclass(frozen=True)
class Row:
    """One comparison of a table of ratios."""

    key: str
    target: Target
    ours: float
    theirs: float
    words: str

    def line(self, judge: bool) -> str:
        """The comparison in a line; without a verdict when the measurement cannot bear one."""
        ratio = self.target.ratio(self.ours, self.theirs)
        verdict = self.target.verdict(ratio) if judge else ""
        return (
            f"{self.key:3}{ratio:8.3g}  {self.target!s:<14} {verdict:<9} "
            f"{self.ours:8.4g} s {self.theirs:8.4g} s  {self.words}"
        )


@dataclass(frozen=True)
class NotRun:
    """The line of what could not be measured, with the reason."""

    key: str
    reason: str
    words: str

    def line(self, judge: bool) -> str:
        """The same, judged or not."""
        return f"{self.key:3}{'not run':>8}  {self.words}: {self.reason}"


def print_rows(rows: Iterable[Row | NotRun], quick: bool) -> None:
    """Print each row when it is measured; judge it if the machine was ours and the size full.

    Threads of BLAS wait for each other, so other work slows them by far more than it slows
    ours: a ratio measured on a busy machine flatters us.
    """
    watch = OthersBusy()
    for row in rows:
        share = watch.share()
        busy = share is not None and share > TOLERATED
        print(row.line(judge=not quick and not busy), flush=True)
        if busy:
            print(f"{'':13}^ no verdict: other processes used {share:.0%} of the cores", flush=True)
        watch = OthersBusy()


class OthersBusy:
    """How much of the cores processes other than ours have used since this was made."""

    def __init__(self) -> None:
        self._start = self._now()

    def share(self) -> float | None:
        """The share, or None where the system does not tell."""
        if self._start is None:
            return None
        wall, busy, ours = (b - a for a, b in zip(self._start, self._now(), strict=True))
        return max(busy - ours, 0.0) / max(wall * os.cpu_count(), 0.01)

    @staticmethod
    def _now() -> tuple[float, float, float] | None:
        counters = Path("/proc/stat")
        if not counters.exists():
            return None
        user, nice, system, _, _, irq, softirq, steal = map(
            int, counters.read_text().split("\n")[0].split()[1:9]
        )
        busy = (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
        return time.perf_counter(), busy, sum(os.times()[:4])


def seconds(work: Work) -> float:
    """Time of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def medians(works: list[Work], repeats: int) -> list[float]:
    """Median time of each, after one call that does not count; the works take turns."""
    for work in works:
        work()
    rounds = repeated(lambda: [seconds(work) for work in works], repeats)
    return [statistics.median(column) for column in zip(*rounds, strict=True)]


def repeated(measure: Callable[[], T], repeats: int) -> list[T]:
    """What is measured so many times, or fewer when that takes longer than `PATIENCE`."""
    start = time.perf_counter()
    results = [measure()]
    while len(results) < repeats and time.perf_counter() - start < PATIENCE:
        results.append(measure())
    return results


def with_threads(work: Work, threads: int) -> Work:
    """The same work, with so many threads for BLAS and OpenMP."""
    controller = ThreadpoolController()

    def limited() -> None:
        with controller.limit(limits=threads):
            work()

    return limited


def against_threaded(ours: Work, theirs: Work, threads: int, repeats: int) -> tuple[float, float]:
    """Medians of two works in turns; theirs with one thread or with all, whichever is faster."""
    kinds = [with_threads(theirs, count) for count in sorted({1, threads})]
    time, *other_times = medians([ours, *kinds], repeats)
    return time, min(other_times)


def peak_bytes() -> int:
    """The most memory this process has held."""
    status = Path("/proc/self/status")
    if status.exists():  # ru_maxrss may count what the parent held before exec
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    import resource

    unit = 1 if platform.system() == "Darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def machine(chosen: argparse.Namespace) -> str:
    """Versions, processor and threads."""
    versions = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return (
        f"Python {platform.python_version()}, {versions}\n"
        f"{_processor()}, {os.cpu_count()} cores, {chosen.threads} threads used; "
        f"bits counted by {instructions()}"
        + ("\nquick: small tables, for which no target was set" if chosen.quick else "")
    )


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    lines = described.read_text().splitlines() if described.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def options(description: str | None) -> argparse.ArgumentParser:
    """What every benchmark can be told."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small tables: does it run at all?")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="all cores by default")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("ISINGLASS_DATA", DATA)),
        help="folder of the real tables (default: ISINGLASS_DATA)",
    )
    return parser
