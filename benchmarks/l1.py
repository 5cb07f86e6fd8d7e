"""How fast L1Graph is beside other l1 solvers, measured in one run on the same table.

    python benchmarks/l1.py [--quick]

    a  10 x 10 grid, n = 2000: a path of 20 penalties down to 0.01 of the largest, against adelie's
       as it comes (stops at 1e-7) and tight (1e-12); ours stops at 1e-9 of the penalty
    b  the same table at one penalty, against skglm and scikit-learn's liblinear as they come

Ours is the whole `fit`, from an int8 array to `graph_`. Peers run node by node in environments that
`make benchmark` makes, with as many processes as we have threads; one that is not there is named.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import tables
from measure import HEADING, NotRun, Row, TimesFaster, machine, medians, options, print_rows
from run_peers import PeerFailed, time_peer

from isinglass import L1Graph

#: Key, name, variant and words of each peer.
PEERS = [
    ("a", "adelie", "", "adelie, path of 20 penalties"),
    ("a", "adelie", "tight", "adelie, path of 20 penalties, to 1e-12"),
    ("b", "skglm", "", "skglm at one penalty"),
    ("b", "liblinear", "", "scikit-learn liblinear at one penalty"),
]


def main() -> None:
    """Print one line for each comparison, as soon as it is measured."""
    chosen = options(__doc__).parse_args()
    print(machine(chosen))
    print(HEADING)
    print_rows(rows(chosen), chosen.quick)


def rows(chosen: argparse.Namespace) -> Iterator[Row | NotRun]:
    side, n = (5, 500) if chosen.quick else (10, 2000)
    table = tables.grid(side, n)
    # The peers' penalty is sqrt(log(p)/n) on log odds, which are twice theta.
    ours = {
        "a": L1Graph(n_lambdas=20, n_jobs=chosen.threads),
        "b": L1Graph("rate:2", n_jobs=chosen.threads),
    }
    times: dict[str, float] = {}
    for key, name, variant, words in PEERS:
        against = f"{side} x {side} grid Ising, n = {n} / {words}"
        if key not in times:
            times[key] = medians([lambda key=key: ours[key].fit(table)], 3)[0]
        try:
            peer = time_peer(name, table, chosen.threads, variant=variant, budget=20)
        except PeerFailed as failure:
            yield NotRun(key, str(failure), against)
            continue
        yield Row(key, TimesFaster(), times[key], peer.seconds, f"{against} ({peer})")


if __name__ == "__main__":
    main()
