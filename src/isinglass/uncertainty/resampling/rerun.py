"""A fitted search, run again on rows drawn from its table: in threads, recorded, resumable.

Nothing is read or encoded again: a draw is a few whole numbers on the distinct rows of the fitted
table. Each draw has a seed of its own, so that any of them can be done at any time, by anyone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from isinglass.engine import Progress, Runs, threads_for
from isinglass.errors import SettingError
from isinglass.estimators import GreedyGraph
from isinglass.estimators.base import GraphEstimator
from isinglass.experiments.store import Record, Store
from isinglass.selection import Fixed, LookBelow, Selector, selector
from isinglass.table import Drawer, Table
from isinglass.table.draws import Counts
from isinglass.table.fingerprint import fingerprint

Draw = Callable[[], Sequence[Record]]
"""Does one piece of work, and returns its records, each with a key."""


@dataclass(frozen=True, eq=False)
class Rerun:
    """A fitted estimator and its table, ready to be run on other rows."""

    estimator: GreedyGraph
    drawer: Drawer

    @classmethod
    def of(cls, estimator: GreedyGraph, X: Any, sample_weight: Any) -> Rerun:
        """Take the table the estimator was fitted to; X, if given, must be that table."""
        if not hasattr(estimator, "search_"):
            if X is None:
                raise SettingError("the estimator is not fitted; fit it first, or give X.")
            estimator = GreedyGraph(**estimator.get_params(deep=False))
            estimator.fit(X, sample_weight=sample_weight)
        elif X is not None:
            _check_same(estimator, X, sample_weight)
        return cls(estimator, Drawer.of(estimator.table_))

    @property
    def table(self) -> Table:
        """The whole table."""
        return self.estimator.table_

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

    def key(self, kind: str, seed: int) -> str:
        """A name for the results of this search on this table, whatever draws they are of."""
        return key_of(kind, self.estimator, seed, fingerprint(self.table))


def key_of(kind: str, estimator: GraphEstimator, seed: int, *content: str) -> str:
    """A name for results that depend on an estimator's settings, a seed, and some content."""
    settings = estimator.get_params(deep=False)
    told = {name: repr(settings[name]) for name in sorted(settings) if name != "n_jobs"}
    digest = sha256(repr((*content, told)).encode("utf-8", "backslashreplace"))
    return f"{kind}/{digest.hexdigest()[:16]}/seed={seed}"


def gather(
    work: Mapping[str, Draw],
    store: Store | None,
    sound: Callable[[list[Record]], bool],
    n_jobs: int | None,
    progress: Progress | None,
) -> dict[str, list[Record]]:
    """Do all work that has no records yet, and return the records of all, by its key.

    A record of a piece of work that failed has its reason under "failed"; it is tried again when
    the records are read by a later run. Records that are not `sound` are damaged.
    """
    records = {} if store is None else _stored(store, work, sound)
    todo = [key for key in work if key not in records]
    report = progress or (lambda done, total: None)
    report(len(records), len(work))
    for key, made in _in_threads({key: work[key] for key in todo}, threads_for(n_jobs, len(work))):
        records[key] = made
        if store is not None:
            store.append({"key": key, "records": made})
        report(len(records), len(work))
    return records


def _stored(
    store: Store, work: Mapping[str, Draw], sound: Callable[[list[Record]], bool]
) -> dict[str, list[Record]]:
    """Stored records of the work at hand; not of what failed."""

    def has_failed(stored: Record) -> bool:
        return any("failed" in record for record in stored["records"])

    def is_sound(stored: Record) -> bool:
        return stored["key"] not in work or has_failed(stored) or sound(stored["records"])

    store.prepare()
    found = store.read(is_sound)
    good = [key for key in work if key in found and not has_failed(found[key])]
    return {key: found[key]["records"] for key in good}


def _in_threads(work: Mapping[str, Draw], threads: int) -> Iterator[tuple[str, list[Record]]]:
    """Each piece of work when it is done; few are in hand at a time, so that stopping is quick."""
    todo = iter(work.items())
    waiting: dict[Future[list[Record]], str] = {}
    with ThreadPoolExecutor(threads) as pool:
        try:
            while True:
                for key, draw in todo:
                    waiting[pool.submit(_tried, draw)] = key
                    if len(waiting) >= 2 * threads:
                        break
                if not waiting:
                    return
                done, _ = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    yield waiting.pop(future), future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _tried(draw: Draw) -> list[Record]:
    try:
        return list(draw())
    except Exception as error:  # a draw may fail in any way; the others go on
        lines = str(error).splitlines() or [""]
        return [{"failed": f"{type(error).__name__}: {lines[0]}"}]


def _check_same(estimator: GreedyGraph, X: Any, sample_weight: Any) -> None:
    if fingerprint(estimator.encode(X, sample_weight)) != fingerprint(estimator.table_):
        raise SettingError(
            "X is not the table the estimator was fitted to, or its weights are others; leave X "
            "out (the fitted table is kept), or fit again."
        )
