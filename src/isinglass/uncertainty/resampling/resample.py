"""How often an edge comes back in half of the rows."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isinglass.engine import Progress
from isinglass.engine.join import pairs_at
from isinglass.errors import SettingError
from isinglass.estimators import GreedyGraph
from isinglass.frames import frame
from isinglass.graph import Graph
from isinglass.parameters import checked
from isinglass.repeating import Record, Task, are_pairs, repeat
from isinglass.uncertainty.resampling.rerun import Rerun

Names = tuple[str, str]


@dataclass(frozen=True, eq=False, repr=False)
class Resamples:
    """Graphs of half-samples; `resample` makes them.

    Attributes
    ----------
    graph : Graph
        The graph of the whole table.
    halves : tuple of frozenset of pairs of names
        The edges of each half-sample that did not fail; two halves that make up the table stand
        side by side.
    rows : int
        How many a half-sample has.
    failures : dict of int to str
        For each pair of half-samples that failed, its number and the reason.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
    >>> ig.resample(est, n=4).stable()
    [('x0', 'x1'), ('x1', 'x2')]
    """

    graph: Graph
    halves: tuple[frozenset[Names], ...]
    rows: int
    failures: dict[int, str]

    @cached_property
    def frequency(self) -> dict[Names, float]:
        """The share of half-samples that choose a pair; pairs that none chooses are left out.

        Edges of the graph are in it, even those that no half-sample chooses.
        """
        counts = Counter(dict.fromkeys(self.graph.edges, 0))
        for edges in self.halves:
            counts.update(edges)
        return {pair: counts[pair] / max(len(self.halves), 1) for pair in self._in_order(counts)}

    @cached_property
    def simultaneous(self) -> dict[Names, float]:
        """The share of complementary pairs of which both halves choose a pair of columns."""
        both = [one & other for one, other in zip(self.halves[::2], self.halves[1::2], strict=True)]
        counts = Counter(pair for pairs in both for pair in pairs)
        return {pair: counts[pair] / max(len(both), 1) for pair in self.frequency}

    @property
    def mean_edges(self) -> float:
        """How many edges a half-sample has, on average."""
        return float(np.mean([len(edges) for edges in self.halves])) if self.halves else 0.0

    @checked
    def stable(self, share: float = 0.75) -> list[Names]:
        """Pairs that at least that share of the half-samples choose, in column order."""
        return [pair for pair, often in self.frequency.items() if often >= share - 1e-12]

    @checked
    def bound(self, share: float = 0.75) -> float:
        """Bound on the expected number of wrong pairs among the `stable` ones.

        q^2 / ((2 share - 1) N), with q the mean number of edges of a half-sample and N the number
        of pairs of columns. With nothing assumed, "wrong" are pairs that a half-sample chooses
        with a probability of at most q/N; see :class:`isinglass.selection.Stability`.
        """
        p = len(self.graph.names)
        return self.mean_edges**2 / ((2 * share - 1) * max(p * (p - 1) / 2, 1))

    @checked
    def to_frame(self, library: str | None = None) -> Any:
        """Return a data frame, one row per pair that was ever chosen, in column order."""
        tiers = dict(zip(self.graph.edges, (link.tier for link in self.graph.links), strict=True))
        pairs = list(self.frequency)
        return frame(
            {
                "source": [a for a, _ in pairs],
                "target": [b for _, b in pairs],
                "frequency": list(self.frequency.values()),
                "simultaneous": [self.simultaneous[pair] for pair in pairs],
                "in_graph": [pair in tiers for pair in pairs],
                "tier": [tiers.get(pair, "") for pair in pairs],
            },
            library or self.graph.library,
        )

    def _in_order(self, pairs: Counter[Names]) -> list[Names]:
        place = {name: at for at, name in enumerate(self.graph.names)}
        return sorted(pairs, key=lambda pair: (place[pair[0]], place[pair[1]]))

    def __repr__(self) -> str:
        failed = f", {len(self.failures)} pairs failed" if self.failures else ""
        return (
            f"Resamples({len(self.halves)} half-samples of {self.rows} rows, "
            f"{self.mean_edges:.1f} edges on average{failed})"
        )


@checked
def resample(
    estimator: GreedyGraph,
    X: Any = None,
    n: int = 100,
    seed: int = 0,
    *,
    sample_weight: ArrayLike | str | None = None,
    path: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Resamples:
    """Learn the graphs of half-samples, drawn without replacement in complementary pairs.

    The threshold is recomputed for half of the rows: by the rule, if it needs numbers of rows and
    columns only; else (a number, a selector that looked at the run) it stands for the same
    evidence, 2 n times itself. So weak links are chosen less often than by the whole table: a
    frequency says how often a link would be found with half of the rows. It is not the probability
    that the link is there.

    Never are graphs learned from bootstrap resamples: those repeat the sample's own noise, and hold
    20 to 50 times as many false edges as the fit.

    Parameters
    ----------
    estimator : GreedyGraph
        Fitted, or to be fitted to `X`.
    X : array or data frame, optional
        The table, if the estimator is not fitted; else it may be left out.
    n : int
        Half-samples; an even number.
    seed : int
    sample_weight : optional
        The weights of the rows of `X`.
    path : str or path, optional
        A file that results are added to, one line per pair of half-samples; what is in it is not
        done again, so that work goes on where it was stopped, or with a larger `n`.
    n_jobs : int, optional
        Threads; None means all cores.
    progress : function of (pairs done, pairs in all), optional

    Returns
    -------
    Resamples

    Examples
    --------
    >>> import numpy as np
    >>> import isinglass as ig
    >>> rng = np.random.default_rng(0)
    >>> a = rng.integers(0, 2, 400)
    >>> b = np.where(rng.random(400) < 0.8, a, 1 - a)
    >>> est = ig.GreedyGraph().fit(np.column_stack([a, b, rng.integers(0, 2, 400)]))
    >>> found = ig.resample(est, n=20)
    >>> found
    Resamples(20 half-samples of 200 rows, ... edges on average)
    >>> found.frequency["x0", "x1"]
    1.0
    """
    rerun = Rerun.of(estimator, X, sample_weight)
    if rerun.drawer.size < 2:
        raise SettingError("one row cannot be split in halves.")
    key = rerun.key("halves", seed)
    records = repeat(
        (Task.single(f"{key}/{i}", partial(_halves, rerun, seed, i)) for i in range(int(n) // 2)),
        work="half-samples",
        path=path,
        sound=partial(_sound, rerun),
        n_jobs=n_jobs,
        progress=progress,
    )
    return _collected(rerun, list(records.values()))


def _halves(rerun: Rerun, seed: int, number: int) -> Record:
    rng = np.random.default_rng([seed, number])
    return {"records": [_edges(rerun, half) for half in rerun.drawer.halves(rng)]}


def _sound(rerun: Rerun, record: Record) -> bool:
    p, halves = len(rerun.table.columns), record["records"]
    return len(halves) == 2 and all(are_pairs(half["edges"], p) for half in halves)


def _edges(rerun: Rerun, half: Any) -> Record:
    _, runs, threshold = rerun.run(half)
    pairs = pairs_at(runs, threshold, rerun.estimator.rule)
    return {"edges": sorted(map(list, pairs))}


def _collected(rerun: Rerun, records: Sequence[Record]) -> Resamples:
    names = rerun.table.names
    failures = {at: record["failed"] for at, record in enumerate(records) if "failed" in record}
    halves = [
        frozenset((names[a], names[b]) for a, b in half["edges"])
        for record in records
        for half in record.get("records", ())
    ]
    return Resamples(rerun.estimator.graph_, tuple(halves), rerun.drawer.size // 2, failures)
