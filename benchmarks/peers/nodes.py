"""What all peers share: the clock around their regressions, and how they report.

Peers run in their own interpreters, with numpy and no isinglass.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np

Prepare = Callable[[np.ndarray], Any]
Solve = Callable[[Any, int], Any]

WARM_UP_ROWS = 500


def report_nodes(package: str, prepare: Prepare, variants: dict[str, Solve]) -> None:
    """Time this process's share of the nodes and print it; `run_peers` says what to do."""
    told = json.loads(sys.argv[1])
    warnings.simplefilter("ignore")
    solve = variants[told["variant"]]
    table = np.load(told["path"])
    solve(prepare(table[:WARM_UP_ROWS]), told["nodes"][0])
    prepared = prepare(table)
    timed, seconds = 0, 0.0
    for node in told["nodes"]:
        start = time.perf_counter()
        solve(prepared, node)
        seconds += time.perf_counter() - start
        timed += 1
        if seconds > told["budget"]:
            break
    print(json.dumps({"seconds": seconds, "timed": timed, "version": version(package)}))


def others(X: np.ndarray, node: int) -> np.ndarray:
    """All columns but one."""
    return np.delete(X, node, axis=1)


def plus_minus(table: np.ndarray) -> np.ndarray:
    """Two states as -1.0 and 1.0, columns contiguous."""
    return np.asfortranarray(np.where(table > 0, 1.0, -1.0))


def one_penalty(X: np.ndarray) -> float:
    """The usual size of an l1 penalty on the mean loss: sqrt(log(p) / n)."""
    n, p = X.shape
    return float(np.sqrt(np.log(p) / n))
