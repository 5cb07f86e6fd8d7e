"""How fast sparse regression is beside the products with X that any method needs, and others.

    python benchmarks/regression.py [--quick] [--parts acm] [--peers none] [--limit 12]

    a  squared loss and logistic, n x p = 1000 x 2000, k = 10 and 50, dense
    b  10,000 x 10,000, k = 10 and 50: 800 MB; others take minutes
    c  a sparse 20,000 x 50,000, density 0.2 %, k = 10 and 50
    d  beside skscope's FobaSolver, which tries every candidate: ten columns at 200 x 300, the first
       step at 1000 x 2000 (`make .venv-peers/skscope/ready` installs it)
    m  memory beyond X, as a share of X, at 2000 x 5000 in both orders and a sparse 20,000 x 50,000
       by row and by column, float64 and float32 (on Linux)

Ours is the whole search to k columns, from arrays to the path: checks, set-up, gains, removals and
refits. It is compared with k + 1 times `X.T @ v`; with abess on the sizes 0 to k; with
scikit-learn's OMP to k columns and l1 logistic regression at one penalty. Times are CPU seconds
with one thread, so that other work on the machine hardly matters. A method that is not done within
`--limit` CPU minutes is ended, and the ratio is what it would be had it been done then. Targets: 3
times the products for the squared loss, 6 for logistic, and never slower than abess.
"""

from __future__ import annotations

import os

os.environ["LOKY_MAX_CPU_COUNT"] = "1"  # the core's threads: before it is asked for them

import argparse
import json
import multiprocessing
import pickle
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from abess.linear import LinearRegression as AbessLinear
from abess.linear import LogisticRegression as AbessLogistic
from measure import (
    HEADING,
    AtMost,
    NotRun,
    Row,
    TimesFaster,
    Work,
    machine,
    options,
    peak_bytes,
    with_threads,
)
from run_peers import ENVIRONMENTS, HERE, ONE_THREAD
from scipy import sparse
from sklearn.linear_model import LogisticRegression, OrthogonalMatchingPursuit

from isinglass import losses
from isinglass.solvers.foba import blocks_of, named_groups
from isinglass.solvers.search import search

#: Times the products that any method needs.
TARGETS = {"squared": 3.0, "logistic": 6.0}
#: Calls of fewer seconds are repeated: the first one may have to set something up.
SHORT = 5.0
#: Calls of ours and of the products, in turns; the least counts.
REPEATS = {"a": 10, "b": 1, "c": 3}
KINDS: dict[str, Callable[..., Any]] = {
    "squared": losses.SquaredLoss,
    "logistic": losses.LogisticLoss,
}


def dense(n: int, p: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, p))


def thin(n: int, p: int) -> sparse.csr_array:
    """Density 0.2 %, entries from 1 to 2."""
    rng = np.random.default_rng(0)
    m = int(0.002 * n * p)
    where = tuple(rng.integers(0, size, m).astype(np.int32) for size in (n, p))
    return sparse.csr_array((1 + rng.random(m), where), shape=(n, p))


def answers(X: Any, k: int, kind: str) -> np.ndarray:
    """K effects of equal size, half of each sign."""
    rng = np.random.default_rng(1)
    effects = np.zeros(X.shape[1])
    size = 5.0 if sparse.issparse(X) else 1.0 if k < 20 else 0.5
    effects[rng.choice(X.shape[1], k, replace=False)] = rng.choice([-size, size], k)
    eta = X @ effects
    if kind == "squared":
        return eta + rng.normal(size=len(eta))
    return (eta + rng.logistic(size=len(eta)) > 0).astype(int)


def greedy(X: Any, y: np.ndarray, k: int, kind: str) -> tuple[int, ...]:
    """The whole search to k columns."""
    blocks = blocks_of(KINDS[kind](X, y), named_groups(None, X.shape[1]))
    return search(blocks, 1e-12, 0.5, max_size=k).support


def cpu_seconds(work: Work, repeats: int) -> float:
    """The least CPU time of some calls, with one thread."""
    work = with_threads(work, 1)
    return min(one_call(work) for _ in range(repeats))


def cpu_seconds_in_turns(ours: Work, theirs: Work, repeats: int) -> tuple[float, float]:
    """The least CPU times of two works that take turns, with one thread."""
    works = with_threads(ours, 1), with_threads(theirs, 1)
    times = [[one_call(work) for work in works] for _ in range(repeats)]
    return min(time[0] for time in times), min(time[1] for time in times)


def one_call(work: Work) -> float:
    """CPU seconds of a call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def in_a_process(work: Callable[[], float], limit: float | None = None) -> float | None:
    """What a call in a process of its own returns; None if it took more CPU seconds than that."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)

    def told() -> None:
        if limit is not None:
            used = int(time.process_time()) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (used + int(limit), used + int(limit) + 5))
        theirs.send(work())

    process = context.Process(target=told)
    process.start()
    theirs.close()
    try:
        return float(ours.recv())
    except EOFError:
        return None
    finally:
        process.join()


def their_seconds(work: Work) -> float:
    """CPU time of another method."""
    seconds = cpu_seconds(work, 1)
    return min(seconds, cpu_seconds(work, 2)) if seconds < SHORT else seconds


def peers(X: Any, y: np.ndarray, k: int, kind: str) -> dict[str, Work]:
    """Other methods, as they come."""
    if kind == "squared":
        found: dict[str, Work] = {
            f"abess, sizes 0 to {k}": lambda: AbessLinear(support_size=range(k + 1)).fit(X, y),
        }
        if not sparse.issparse(X):  # which it refuses
            found[f"scikit-learn OMP, {k} columns"] = lambda: OrthogonalMatchingPursuit(
                n_nonzero_coefs=k
            ).fit(X, y)
        return found
    penalty = LogisticRegression(l1_ratio=1.0, solver="liblinear", C=0.1)
    return {
        f"abess, sizes 0 to {k}": lambda: AbessLogistic(support_size=range(k + 1)).fit(X, y),
        "scikit-learn l1 logistic, one penalty": lambda: penalty.fit(X, y),
    }


@dataclass(frozen=True)
class NotDone(Row):
    """A comparison with a method that was ended when it had taken as long as `theirs`."""

    def line(self, judge: bool) -> str:
        return f"{super().line(judge)}: not done by then"


def compare(
    key: str, X: Any, k: int, *, repeats: int, beside: str, limit: float
) -> Iterator[Row | NotRun]:
    n, p = X.shape
    v = np.random.default_rng(2).normal(size=n)
    for kind, target in TARGETS.items():
        y = answers(X, k, kind)
        where = f"{kind}, {'sparse ' if sparse.issparse(X) else ''}{n} x {p}, k = {k}"
        ours, products = cpu_seconds_in_turns(
            lambda y=y, kind=kind: greedy(X, y, k, kind),
            lambda: [X.T @ v for _ in range(k + 1)],
            repeats,
        )
        yield Row(key, AtMost(target), ours, products, f"{where} / {k + 1} products")
        for words, work in peers(X, y, k, kind).items():
            if not words.startswith(beside):
                continue
            aim = TimesFaster(1.0 if words.startswith("abess") else None)
            theirs = in_a_process(lambda work=work: their_seconds(work), limit)
            kind_of_row = Row if theirs is not None else NotDone
            yield kind_of_row(key, aim, ours, theirs or limit, f"{where} / {words}")


def beside_skscope(X: np.ndarray, k: int, limit: float) -> Iterator[Row | NotRun]:
    """The search to k columns of both."""
    used = int(limit), int(limit) + 5
    python = ENVIRONMENTS / "skscope" / "bin" / "python"
    for kind in TARGETS:
        where = f"{kind}, {X.shape[0]} x {X.shape[1]}, k = {k} / skscope's FobaSolver"
        if not python.exists():
            yield NotRun("d", "not installed", where)
            continue
        y = answers(X, 10, kind)
        ours = cpu_seconds(lambda y=y, kind=kind: greedy(X, y, k, kind), 3)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.npz"
            np.savez(path, X=X, y=y)
            command = [str(python), "-m", "peers.foba_regression", str(path), kind, str(k)]
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                check=False,
                cwd=HERE,
                env=os.environ | ONE_THREAD,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, used),
            )
        if done.returncode == -signal.SIGXCPU:
            yield NotDone("d", TimesFaster(100.0), ours, limit, where)
            continue
        if done.returncode:
            yield NotRun("d", done.stderr.strip().split("\n")[-1], where)
            continue
        seconds = json.loads(done.stdout.strip().split("\n")[-1])["seconds"]
        yield Row("d", TimesFaster(100.0), ours, seconds, where)


def memory(n: int, p: int) -> Iterator[str]:
    """The most memory that a search to ten columns has beyond X, as a share of X."""
    whole = dense(n, p)
    for dtype in (np.float64, np.float32):
        forms = {f"order {order}": np.asarray(whole, dtype=dtype, order=order) for order in "CF"}
        stored = thin(10 * n, 10 * p).astype(dtype)
        forms |= {"by row": stored, "by column": stored.tocsc()}
        for words, X in forms.items():
            parts = (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,)
            size = sum(part.nbytes for part in parts)
            for kind in TARGETS:
                share = most_memory(X, answers(X, 10, kind), kind) / size
                shape = f"{'sparse ' * sparse.issparse(X)}{X.shape[0]} x {X.shape[1]}"
                yield f"m   {share:6.3f} of X beyond X: {kind}, {shape}, {X.dtype}, {words}"


def most_memory(X: Any, y: np.ndarray, kind: str) -> int:
    """The most bytes that a search to ten columns adds to a new process, the core's included."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "regression"
        path.write_bytes(pickle.dumps((X, y, kind)))
        command = [sys.executable, __file__, "--memory", str(path)]
        settings = {"MALLOC_MMAP_THRESHOLD_": "65536"}  # what is freed is given back
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, env=os.environ | settings
        )
    return int(done.stdout)


def measure_memory(path: Path) -> int:
    """What `most_memory` asks of its new process."""
    X, y, kind = pickle.loads(path.read_bytes())
    greedy(X[:50], y[:50], 2, kind)  # what is set up once
    Path("/proc/self/clear_refs").write_text("5")  # forget the most so far
    before = peak_bytes()
    greedy(X, y, 10, kind)
    return peak_bytes() - before


def main() -> None:
    """Print one line for each comparison, as soon as it is measured."""
    parser = options(__doc__)
    parser.add_argument("--parts", default="acm", help="which of a, b, c, d and m (default: acm)")
    parser.add_argument(
        "--peers", default="", help="how the names of the others begin (default: all of them)"
    )
    parser.add_argument(
        "--limit", type=float, default=12.0, help="CPU minutes of another method (default: 12)"
    )
    parser.add_argument("--memory", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    if chosen.memory:
        print(measure_memory(chosen.memory))
        return
    print(machine(chosen))
    print(HEADING)
    n, p = (200, 300) if chosen.quick else (1000, 2000)
    made = {
        "a": lambda: dense(n, p),
        "b": lambda: dense(10 * n, 5 * p),
        "c": lambda: thin(20 * n, 25 * p),
    }
    for key in chosen.parts:
        if key == "m":
            print("\n".join(memory(2 * n, 5 * p // 2)), flush=True)
            continue
        if key == "d":
            for size in [(200, 300, 10)] + [(n, p, 1)] * (not chosen.quick):
                for row in beside_skscope(dense(*size[:2]), size[2], 60 * chosen.limit):
                    print(row.line(judge=not chosen.quick), flush=True)
            continue
        X = made[key]()
        for k in (10, 50):
            rows = compare(
                key,
                X,
                k,
                repeats=REPEATS[key],
                beside=chosen.peers,
                limit=60 * chosen.limit,
            )
            for row in rows:
                print(row.line(judge=not chosen.quick), flush=True)


if __name__ == "__main__":
    main()
