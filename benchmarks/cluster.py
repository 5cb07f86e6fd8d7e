"""What a fit on a Dask cluster costs beside the same fit in one process.

    python benchmarks/cluster.py [--only columns,rows] [--quick]

    columns  every worker has the whole table and takes blocks of columns
    rows     every worker has some of eight shards of the rows, and counts

Two workers of one thread each, beside a fit with two threads; Ising models on random 3-regular
graphs, n = 10,000. Times are CPU time of all processes together, with the values of all edges, of
the fastest of some runs, in turns. A cluster takes CPU time when it does nothing; "less idle" is
the ratio without what it would have taken in the same seconds, which are many on a machine that is
busy otherwise. Of fits by rows: rounds of questions, bytes that workers sent back, and
milliseconds per round, in which a machine of few cores also counts. Fits are compared, number by
number.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import tables
from measure import machine, options

from isinglass import GreedyGraph
from isinglass.cluster import collections

ROWS = 10_000
SIZES = {"columns": ([1000, 3000], [100]), "rows": ([300, 1000], [100])}
SHARDS = 8
REPEATS = 3
#: The most CPU time by columns, beside one process, by number of columns.
LIMITS = {3000: 1.1}


def main() -> None:
    """Print a line per size."""
    from distributed import Client, LocalCluster

    parser = options(__doc__)
    parser.add_argument("--only", default="columns,rows")
    chosen = parser.parse_args()
    print(machine(chosen))
    shape = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(processes=True, **shape) as cluster, Client(cluster) as client:
        GreedyGraph().fit(tables.regular(100, 1000), client=client)  # what is imported on first use
        for way in chosen.only.split(","):
            print(f"\n{way:>10} {'here':>10} {'cluster':>10} {'ratio':>7} less idle")
            full, quick = SIZES[way]
            for p in quick if chosen.quick else full:
                WAYS[way](client, p, chosen)


def used(work: Callable[[], Any], client: Any) -> tuple[float, float, Any]:
    """CPU seconds of all processes and wall-clock seconds of a call, and what it returns."""

    def own() -> float:
        return time.process_time()

    there, here, wall = client.run(own), own(), time.perf_counter()
    found = work()
    wall, here = time.perf_counter() - wall, own() - here
    return here + sum(now - there[at] for at, now in client.run(own).items()), wall, found


def compare(client: Any, p: int, chosen: argparse.Namespace, fit: Callable[[], GreedyGraph]) -> Any:
    """Time both, print, and check that nothing differs."""
    table = tables.regular(p, ROWS)

    def local() -> GreedyGraph:
        est = GreedyGraph(n_jobs=chosen.threads).fit(table)
        est.graph_.links  # noqa: B018 (values of edges)
        return est

    idle, seconds, _ = used(lambda: time.sleep(3), client)
    rate = idle / seconds
    turns = [(used(local, client), used(fit, client)) for _ in range(REPEATS)]
    here = min(one[0] - rate * one[1] for one, _ in turns)
    there, wall, two = min((other for _, other in turns), key=lambda found: found[0])
    least = min(other[0] - rate * other[1] for _, other in turns)
    assert two.graph_.links == turns[0][0][2].graph_.links
    print(
        f"{p:>10} {here:>8.3g} s {there:>8.3g} s {there / here:>7.2f} {least / here:>9.2f}", end=""
    )
    return two, wall, least / here, LIMITS.get(p)


def by_columns(client: Any, p: int, chosen: argparse.Namespace) -> None:
    """Blocks of columns."""
    table = tables.regular(p, ROWS)
    _, _, ratio, limit = compare(client, p, chosen, lambda: GreedyGraph().fit(table, client=client))
    met = "" if limit is None else f"  at most {limit:g}: {'met' if ratio <= limit else 'MISSED'}"
    print(met, flush=True)


def by_rows(client: Any, p: int, chosen: argparse.Namespace) -> None:
    """Shards of rows, as if they did not fit in one place."""
    import dask.array as da

    collections.SHARE_HERE = 0.0
    array = da.from_array(tables.regular(p, ROWS), chunks=(ROWS // SHARDS, p))
    est, wall, _, _ = compare(client, p, chosen, lambda: GreedyGraph().fit(array, client=client))
    holder = est.table_.elsewhere.answer.__self__
    per_round = f"{1000 * wall / holder.rounds:.3g} ms per round"
    print(f"  {holder.rounds} rounds, {holder.sent / 1e6:.3g} MB back, {per_round}", flush=True)


WAYS = {"columns": by_columns, "rows": by_rows}

if __name__ == "__main__":
    main()
