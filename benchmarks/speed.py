"""How fast a whole fit is beside other work on the same table, measured in turns in one run.

    python benchmarks/speed.py [--only a,b] [--quick]

    a  Ising on a random 3-regular graph, p = 1000, n = 10,000: one float32 X.T @ X (at most 2)
    b  the same on a 32 x 32 grid (at most 3)
    c  10 x 10 grid, n = 2000: regressions node by node, by liblinear (50 times faster), skglm,
       adelie, abess (500 times) and skscope's FobaSolver (1000 times)
    d  star with a hub of 30, p = 300, n = 20,000: the hub's search against one regression of
       the hub on its 30 neighbours (at most 10)
    e  the questionnaire dass, 4 states: regressions without penalty, node by node (10 times)
    f  a floor at a quarter of the threshold: a step below the threshold against one above (at
       most 3)
    g  the rule "joint", from the table to the edges, against OR, both with the default threshold:
       3-regular Ising with p = 1000, and dass, with edges of either form and with whole tables
       (at most 3)
    h  dass with edges of either form against whole tables (at most 1.5)

Ours is always the whole `fit` with the threshold "paper", from an int8 array to `graph_`, except
in d and g. Products and regressions in this process take one thread or all, whichever is faster.
Peers live in environments that `make benchmark` makes; `run_peers` says how they are timed.
Verdicts are withheld when other processes are busy.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Iterator

import numpy as np
import tables
from measure import (
    HEADING,
    AtMost,
    NotRun,
    Row,
    Target,
    TimesFaster,
    against_threaded,
    machine,
    medians,
    options,
    print_rows,
    repeated,
    seconds,
)
from run_peers import PeerFailed, time_peer
from sklearn.linear_model import LogisticRegression

from isinglass import GreedyGraph
from isinglass.core import search_columns
from isinglass.selection import LookBelow, Paper

Case = Callable[[argparse.Namespace], Iterator[Row | NotRun]]

#: Name, variant, target and words of each peer in row c.
PEERS: list[tuple[str, str, Target, str]] = [
    ("liblinear", "", TimesFaster(50), "scikit-learn liblinear, l1 at one penalty"),
    ("skglm", "", TimesFaster(), "skglm, l1 at one penalty"),
    ("adelie", "", TimesFaster(), "adelie, l1 path of 20 penalties"),
    ("abess", "sizes 0 to 10", TimesFaster(500), "abess, sizes 0 to 10"),
    ("abess", "any size", TimesFaster(500), "abess as it comes"),
    ("skscope", "every candidate", TimesFaster(1000), "skscope FobaSolver, every candidate"),
    ("skscope", "largest gradient", TimesFaster(1000), "skscope FobaSolver, largest gradient"),
]


def main() -> None:
    """Print one line for each comparison, as soon as it is measured."""
    parser = options(__doc__)
    parser.add_argument("--only", default=",".join(CASES), help="rows, as in a,c")
    chosen = parser.parse_args()
    print(machine(chosen))
    print(HEADING)
    rows = (row for key in chosen.only.split(",") for row in CASES[key](chosen))
    print_rows(rows, chosen.quick)


def regular(chosen: argparse.Namespace) -> Iterator[Row | NotRun]:
    p, n = (200, 2000) if chosen.quick else (1000, 10_000)
    words = f"3-regular Ising, p = {p}, n = {n} / one float32 X.T @ X"
    yield _against_product("a", tables.regular(p, n), AtMost(2, aim=1), words, chosen)


def grid(chosen: argparse.Namespace) -> Iterator[Row | NotRun]:
    side, n = (14, 2000) if chosen.quick else (32, 10_000)
    words = f"{side} x {side} grid Ising, n = {n} / one float32 X.T @ X"
    yield _against_product("b", tables.grid(side, n), AtMost(3, aim=1.5), words, chosen)


def peers(chosen: argparse.Namespace) -> Iterator[Row | NotRun]:
    side, n = (5, 500) if chosen.quick else (10, 2000)
    table = tables.grid(side, n)
    for name, variant, target, words in PEERS:
        against = f"{side} x {side} grid Ising, n = {n} / {words}"
        yield _against_peer(
            "c", table, chosen, name=name, variant=variant, target=target, words=against
        )


def hub(chosen: argparse.Namespace) -> Iterator[Row | NotRun]:
    p, n, degree = (60, 4000, 12) if chosen.quick else (300, 20_000, 30)
    table = tables.star(p, n, degree, strength=0.3)
    codes = np.asfortranarray((table > 0).astype(np.uint8))
    neighbours, node = table[:, 1 : degree + 1].astype(float), table[:, 0]

    def search() -> None:
        search_columns(
            codes,
            np.ones(n),
            [2] * p,
            Paper().threshold(n, p),
            nu=0.5,
            intercept=True,
            max_degree=None,
            threads=chosen.threads,
            targets=[0],
        )

    def regress() -> None:
        LogisticRegression(C=np.inf, solver="newton-cholesky").fit(neighbours, node)

    ours, theirs = against_threaded(search, regress, chosen.threads, _repeats(chosen))
    words = f"search of a hub of {degree}, p = {p}, n = {n} / one newton-cholesky fit of the hub"
    yield Row("d", AtMost(10), ours, theirs, words)


def questionnaire(chosen: argparse.Namespace) -> Iterator[Row | NotRun]:
    words = "dass, 42 items of 4 states / scikit-learn without penalty, node by node"
    table = tables.dass(chosen.data)
    if table is None:
        yield NotRun("e", "no such table; --data names its folder", words)
        return
    if chosen.quick:
        table = np.ascontiguousarray(table[:1000, :8])
    yield _against_peer("e", table, chosen, name="unpenalised", target=TimesFaster(10), words=words)


def below_the_threshold(chosen: argparse.Namespace) -> Iterator[Row | NotRun]:
    p, n = (200, 2000) if chosen.quick else (1000, 10_000)
    yield _step_below(tables.regular(p, n), f"3-regular Ising, p = {p}, n = {n}", chosen)
    side, n = (5, 500) if chosen.quick else (10, 2000)
    yield _step_below(tables.grid(side, n), f"{side} x {side} grid Ising, n = {n}", chosen)
    table = tables.dass(chosen.data)
    if table is not None and not chosen.quick:
        yield _step_below(table, "dass", chosen)


def both_ends(chosen: argparse.Namespace) -> Iterator[Row | NotRun]:
    p, n = (200, 2000) if chosen.quick else (1000, 10_000)
    yield _joint(tables.regular(p, n), f"3-regular Ising, p = {p}, n = {n}", chosen)
    table = tables.dass(chosen.data)
    if table is not None and not chosen.quick:
        yield _joint(table, "dass", chosen)
        yield _joint(table, "dass, whole tables", chosen, edges="table")


def either_form(chosen: argparse.Namespace) -> Iterator[Row | NotRun]:
    table, words = tables.dass(chosen.data), "dass, edges of either form / whole tables"
    if table is None:
        yield NotRun("h", "no such table; --data names its folder", words)
        return
    fits = [_fit(table, 1, GreedyGraph("paper", edges=edges)) for edges in ("auto", "table")]
    ours, theirs = medians(fits, _repeats(chosen))
    yield Row("h", AtMost(1.5), ours, theirs, words)


CASES: dict[str, Case] = {
    "a": regular,
    "b": grid,
    "c": peers,
    "d": hub,
    "e": questionnaire,
    "f": below_the_threshold,
    "g": both_ends,
    "h": either_form,
}


def _against_product(
    key: str, table: tables.Codes, target: Target, words: str, chosen: argparse.Namespace
) -> Row:
    X = table.astype(np.float32)
    fit = _fit(table, chosen.threads)
    ours, theirs = against_threaded(fit, lambda: X.T @ X, chosen.threads, _repeats(chosen))
    return Row(key, target, ours, theirs, words)


def _against_peer(
    key: str,
    table: tables.Codes,
    chosen: argparse.Namespace,
    *,
    name: str,
    variant: str = "",
    target: Target,
    words: str,
) -> Row | NotRun:
    """Our fits run before and after the peer, which is too slow, or too far away, for turns."""
    fit = _fit(table, chosen.threads)
    fit()
    times = repeated(lambda: seconds(fit), _repeats(chosen))
    budget = 1.0 if chosen.quick else 30.0
    try:
        theirs = time_peer(name, table, chosen.threads, variant=variant, budget=budget)
    except PeerFailed as failure:
        return NotRun(key, str(failure), words)
    times += repeated(lambda: seconds(fit), _repeats(chosen))
    return Row(key, target, statistics.median(times), theirs.seconds, f"{words}, {theirs}")


def _step_below(table: tables.Codes, words: str, chosen: argparse.Namespace) -> Row:
    above, below = GreedyGraph("paper"), GreedyGraph(LookBelow(Paper(), share=0.25))
    fits = [_fit(table, chosen.threads, graph) for graph in (above, below)]
    to_threshold, to_floor = medians(fits, _repeats(chosen))
    steps, more_steps = (sum(map(len, graph.paths_)) for graph in (above, below))
    a_step_above = to_threshold / steps
    a_step_below = (to_floor - to_threshold) / max(more_steps - steps, 1)
    words = f"{words}: a step below the threshold / one above ({more_steps - steps} and {steps})"
    return Row("f", AtMost(3), a_step_below, a_step_above, words)


def _joint(table: tables.Codes, words: str, chosen: argparse.Namespace, edges: str = "auto") -> Row:
    def find(rule: str) -> Callable[[], object]:
        fit = _fit(table, chosen.threads, GreedyGraph(rule=rule, edges=edges))
        return lambda: fit().graph_.pairs

    joint, by_or = medians([find("joint"), find("or")], _repeats(chosen))
    return Row("g", AtMost(3), joint, by_or, f'{words}: rule="joint" / rule="or"')


def _fit(
    table: tables.Codes, threads: int, graph: GreedyGraph | None = None
) -> Callable[[], GreedyGraph]:
    graph = GreedyGraph("paper") if graph is None else graph
    graph.set_params(n_jobs=threads)
    return lambda: graph.fit(table)


def _repeats(chosen: argparse.Namespace) -> int:
    return 3 if chosen.quick else 11


if __name__ == "__main__":
    main()
