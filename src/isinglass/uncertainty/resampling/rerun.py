"""A fitted search, run again on rows drawn from its table.

Nothing is read or encoded again: a draw is a few whole numbers on the distinct rows of the fitted
table. Each draw has a seed of its own, so that any of them can be done at any time, by anyone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any

from isinglass.engine import Joined, RefittedValues, Runs, join
from isinglass.errors import SettingError
from isinglass.estimators import GreedyGraph
from isinglass.estimators.base import GraphEstimator
from isinglass.graph import Graph
from isinglass.repeating import Record, Task, as_recorded, repeat, that_matter
from isinglass.selection import Fixed, LookBelow, Selector, selector
from isinglass.table import Drawer, Table
from isinglass.table.clusters import strata_of_rows
from isinglass.table.draws import Counts


@dataclass(frozen=True, eq=False)
class Rerun:
    """A fitted estimator and its table, ready to be run on other rows."""

    estimator: GreedyGraph
    drawer: Drawer

    @classmethod
    def of(
        cls,
        estimator: GreedyGraph,
        X: Any,
        sample_weight: Any,
        clusters: Any = None,
        strata: Any = None,
    ) -> Rerun:
        """Take the table the estimator was fitted to; X, if given, must be that table."""
        if not hasattr(estimator, "search_"):
            if X is None:
                raise SettingError("the estimator is not fitted; fit it first, or give X.")
            estimator = GreedyGraph(**estimator.get_params(deep=False))
            estimator.fit(X, sample_weight=sample_weight, clusters=clusters)
        elif X is not None:
            given = estimator.encode(X, sample_weight, clusters)
            if given.fingerprint != estimator.search_.rows.fingerprint:
                raise SettingError(
                    "X is not the table the estimator was fitted to, or its weights or clusters "
                    "differ; leave X out (the fitted table is kept), or fit again."
                )
        table, numbers = estimator.search_.rows, None
        if strata is not None:
            numbers = strata_of_rows(strata, table.weights, table.kept, table.clusters)
        return cls(estimator, Drawer.of(table, numbers))

    @property
    def table(self) -> Table:
        """The whole table."""
        return self.estimator.search_.rows

    def threshold(self, n: float) -> float:
        """The threshold for n rows: by the rule, or as surprising as that of the whole table."""
        rule = selector(self.estimator.threshold)
        rule = rule.rule if isinstance(rule, LookBelow) else rule
        if isinstance(rule, Selector) and not isinstance(rule, Fixed):
            return rule.threshold(n, len(self.table.columns))
        return self.estimator.threshold_ * self.table.n / n

    def run(self, counts: Counts) -> tuple[Table, Runs, float]:
        """Search some rows, down to their threshold."""
        table, _ = self.drawer.table_of(counts)
        threshold = self.threshold(table.n)
        learn = self.estimator.search_.learn
        return table, learn(table, threshold, n_jobs=1), threshold

    def graph(self, counts: Counts) -> Graph:
        """The graph of some rows, with its numbers."""
        table, runs, threshold = self.run(counts)
        values = RefittedValues(table, bool(self.estimator.intercept), 1)
        return join(Joined(runs, threshold, self.estimator.rule, table, values))

    def repeat(
        self,
        kind: str,
        draws: Iterable[tuple[Any, ...]],
        one: Callable[..., Record],
        *,
        seed: int,
        sound: Callable[[Rerun, Record], bool],
        **how: Any,
    ) -> dict[str, Record]:
        """Do ``one(rerun, seed, *draw)`` for every draw that has no record yet; records by key.

        `how` is that of `isinglass.repeating.repeat`. A key ends with the numbers of its draw.
        """
        key = self.key(kind, seed)
        tasks = [
            Task.single(
                "/".join([key, *(f"{number:g}" for number in draw)]),
                partial(one, self, seed, *draw),
            )
            for draw in draws
        ]
        return repeat(tasks, sound=partial(sound, self), **how)

    def key(self, kind: str, seed: int) -> str:
        """A name for the results of this search on this table, whatever draws they are of."""
        content = [self.table.fingerprint]
        if self.drawer.stratum is not None:
            content.append(f"strata={self.drawer.stratum.tolist()}")
        return key_of(kind, self.estimator, seed, *content)


def failures_of(records: Iterable[Record]) -> dict[int, str]:
    """The reasons why draws failed, by their number."""
    return {at: record["failed"] for at, record in enumerate(records) if "failed" in record}


def key_of(kind: str, estimator: GraphEstimator, seed: int, *content: str) -> str:
    """A name for results that depend on an estimator's settings, a seed, and some content."""
    settings = that_matter(estimator.get_params(deep=False))
    known = {name: as_recorded(settings[name]) for name in sorted(settings)}
    digest = sha256(repr((*content, known)).encode("utf-8", "backslashreplace"))
    return f"{kind}/{digest.hexdigest()[:16]}/seed={seed}"
