"""How long starting takes, beside importing the libraries that are needed for it.

    python benchmarks/import_time.py [repeats]

Printed is the ratio of the medians of whole processes, ours to theirs. The processes take turns,
so that a busy machine slows all alike.
"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import time
from importlib.metadata import version

LIBRARIES = ("isinglass", "click", "numpy", "scipy", "scikit-learn", "narwhals")
COMMAND = "import sys; from isinglass.cli import main; sys.argv = ['isinglass', '{}']; main()"
#: What is measured: its name, the code, what it is compared with, the most the ratio may be.
ROWS = (
    ("isinglass --version", COMMAND.format("--version"), "import click, numpy", 1.5),
    ("isinglass --help", COMMAND.format("--help"), "import click, numpy", 1.5),
    (
        "from isinglass import GreedyGraph",
        "from isinglass import GreedyGraph",
        "import numpy, scipy, sklearn.base, narwhals",
        1.3,
    ),
)


def main() -> None:
    """Print the medians, their ratios and where they were measured."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    versions = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    print(f"Python {platform.python_version()}, {versions}; {os.cpu_count()} cores")
    print(f"medians of {repeats} processes: ours, theirs; their ratio, and the most it may be")
    times = measure(repeats)
    for name, ours, theirs, most in ROWS:
        ratio = times[ours] / times[theirs]
        print(
            f"{times[ours]:7.3f} s  {times[theirs]:7.3f} s {ratio:7.2f} {most:7.2f}  "
            f"{name}  :  {theirs}"
        )


def measure(repeats: int) -> dict[str, float]:
    """The median time of a process for every piece of code."""
    pieces = list(dict.fromkeys(code for _, ours, theirs, _ in ROWS for code in (ours, theirs)))
    for code in pieces:
        seconds(code)  # files come into the disk cache
    rounds = [[seconds(code) for code in pieces] for _ in range(repeats)]
    return dict(zip(pieces, map(statistics.median, zip(*rounds, strict=True)), strict=True))


def seconds(code: str) -> float:
    """The time of one process, from its start to its end."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
