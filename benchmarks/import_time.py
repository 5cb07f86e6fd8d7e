"""How long `import isinglass` takes beside the libraries it cannot do without.

    python benchmarks/import_time.py [repeats]

Each import runs in a fresh process; the two kinds take turns, so that a busy machine slows
both alike. Printed is the ratio of the medians; it should be at most 1.3.
"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
from importlib.metadata import version

OURS = "import isinglass"
THEIRS = "import numpy, scipy, sklearn.base, narwhals"
TARGET = 1.3
LIBRARIES = ("isinglass", "numpy", "scipy", "scikit-learn", "narwhals")

CLOCK = """
import time
start = time.perf_counter()
{statement}
print(time.perf_counter() - start)
"""


def main() -> None:
    """Print the medians, their ratio and where they were measured."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    for statement in (OURS, THEIRS):
        seconds(statement)  # files come into the disk cache
    times = [(seconds(OURS), seconds(THEIRS)) for _ in range(repeats)]
    ours, theirs = (statistics.median(column) for column in zip(*times, strict=True))
    versions = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    print(f"Python {platform.python_version()}, {versions}; {os.cpu_count()} cores")
    print(f"{ours:7.3f} s  {OURS}")
    print(f"{theirs:7.3f} s  {THEIRS}")
    print(f"{ours / theirs:7.2f}    ratio (median of {repeats}); target: at most {TARGET}")


def seconds(statement: str) -> float:
    """Time of one statement in a process of its own."""
    command = [sys.executable, "-c", CLOCK.format(statement=statement)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    main()
