"""Runs a peer's node-by-node regressions in interpreters of its own.

The nodes are shared among as many processes as threads are used, one thread each, so that a
peer has the cores that we have. A slow peer is timed on as many nodes as its budget of seconds
allows, in random order, and the rest is reckoned at the same price.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tables import Codes

HERE = Path(__file__).parent
ENVIRONMENTS = HERE.parent / ".venv-peers"
#: Peers that need nothing beyond what isinglass itself needs.
AT_HOME = ("liblinear", "unpenalised")
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
) | {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"}


class PeerFailed(Exception):
    """A peer is not installed, or did not run; the message says why."""


@dataclass(frozen=True)
class PeerTime:
    """What a peer needed for all nodes."""

    seconds: float
    version: str
    timed: int
    nodes: int

    def __str__(self) -> str:
        if self.timed == self.nodes:
            return self.version
        return f"{self.version}; {self.timed} of {self.nodes} nodes timed, the rest reckoned"


def time_peer(
    name: str,
    table: Codes,
    threads: int,
    *,
    variant: str = "",
    budget: float = math.inf,
    nodes: int | None = None,
) -> PeerTime:
    """Time the regressions of the nodes of a table, or of some, each on all other columns."""
    p = table.shape[1]
    order = np.random.default_rng(0).permutation(p)[:nodes].tolist()
    shares = [order[i::threads] for i in range(threads) if order[i::threads]]
    command = [str(_interpreter(name)), "-m", f"peers.{name}"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npy"
        np.save(path, table)
        told = {"path": str(path), "budget": budget, "variant": variant}
        processes = [_start([*command, json.dumps(told | {"nodes": share})]) for share in shares]
        reports = [_report(process) for process in processes]
    timed = sum(report["timed"] for report in reports)
    a_node = sum(report["seconds"] for report in reports) / timed
    return PeerTime(a_node * p / threads, reports[0]["version"], timed, p)


def _interpreter(name: str) -> Path:
    if name in AT_HOME:
        return Path(sys.executable)
    if (ENVIRONMENTS / name / "ready").exists():
        return ENVIRONMENTS / name / "bin" / "python"
    log = ENVIRONMENTS / f"{name}.log"
    said = log.read_text().split("\n") if log.exists() else []
    errors = [line for line in said if line.startswith("ERROR")]
    raise PeerFailed(errors[-1] if errors else "not installed; `make benchmark` installs it")


def _start(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command,
        cwd=HERE,
        env=os.environ | ONE_THREAD,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _report(process: subprocess.Popen[str]) -> dict:
    out, err = process.communicate()
    if process.returncode:
        raise PeerFailed(err.strip().split("\n")[-1])
    return json.loads(out.strip().split("\n")[-1])
