"""Algorithm 1 at every column of a table, and what each edge is worth along the way.

Nothing here reads rows: a column's loss does, through counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from joblib import cpu_count

from isinglass.losses.conditional import ConditionalLoss, NodeFit
from isinglass.losses.forms import Intercept, NoIntercept
from isinglass.solvers.foba import Blocks, search
from isinglass.solvers.path import Path
from isinglass.table import Table

Progress = Callable[[int, int], None]
"""Called with the columns done and the columns in all."""

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """One column's search, and the worth of its edges wherever the search can be cut.

    Parameters
    ----------
    path : Path
    worth : dict
        For each number of steps at which `Path.at` may cut: for each column of interest, the
        loss per row when the edge is removed (if it is in the support there), or what adding
        it would gain. Raw, not standardised.
    """

    path: Path
    worth: dict[int, dict[int, float]]

    def at(self, threshold: float) -> Path:
        """Return the path cut at a threshold."""
        return self.path.at(threshold)


def learn_neighbourhoods(
    table: Table,
    floor: float,
    *,
    nu: float = 0.5,
    intercept: bool = True,
    max_degree: int | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> list[Neighbourhood]:
    """Run Algorithm 1 for every column down to `floor`, in column order."""
    p = len(table.columns)
    losses = [node_loss(table, r, intercept=intercept) for r in range(p)]

    def run(r: int) -> Path:
        loss = losses[r]
        blocks = Blocks(loss, {t: (t,) for t in loss.candidates}, standardise=True)
        return search(blocks, floor, nu, max_size=max_degree, names=table.names)

    paths = list(_in_threads(run, p, n_jobs, progress))
    admirers = _admirers(paths)
    return [
        Neighbourhood(path, worth)
        for path, worth in zip(
            paths,
            _in_threads(lambda r: _worth(losses[r], paths[r], admirers[r]), p, n_jobs),
            strict=True,
        )
    ]


def node_loss(table: Table, r: int, *, intercept: bool = True) -> ConditionalLoss:
    """The conditional likelihood of column r, as a loss."""
    return ConditionalLoss(
        table.codes,
        table.weights,
        r,
        table.n_states,
        always=Intercept() if intercept else NoIntercept(),
    )


def _admirers(paths: list[Path]) -> list[set[int]]:
    """For each column, those that had it in their support at some step."""
    admirers: list[set[int]] = [set() for _ in paths]
    for r, path in enumerate(paths):
        for step in path.steps:
            if step.kind == "add":
                admirers[step.variable].add(r)
    return admirers


def _worth(loss: ConditionalLoss, path: Path, admirers: set[int]) -> dict[int, dict[int, float]]:
    worth = {}
    for count, fit in _cuts(path):
        inside = sorted(fit.coef)
        outside = sorted(admirers - fit.coef.keys())
        values: dict[int, float] = {}
        if inside:
            values.update(zip(inside, loss.costs(fit, [(t,) for t in inside]), strict=True))
        if outside:
            values.update(zip(outside, loss.gains(fit, [(t,) for t in outside]), strict=True))
        worth[count] = {t: max(float(value), 0.0) for t, value in values.items()}
    return worth


def _cuts(path: Path) -> Iterator[tuple[int, NodeFit]]:
    """Where a path may be cut: before each forward step, and at its end."""
    fits = [path.start, *(step.fit for step in path.steps)]
    for count, fit in enumerate(fits):
        if count == len(path.steps) or path.steps[count].kind == "add":
            assert isinstance(fit, NodeFit)
            yield count, fit


def _in_threads(
    work: Callable[[int], T], count: int, n_jobs: int | None, progress: Progress | None = None
) -> Iterator[T]:
    """Results of ``work(0), work(1), ...`` in order, computed side by side."""
    workers = _workers(n_jobs, count)
    if workers == 1:
        for i in range(count):
            yield work(i)
            if progress is not None:
                progress(i + 1, count)
        return
    with ThreadPoolExecutor(workers) as pool:
        try:
            for i, result in enumerate(pool.map(work, range(count))):
                yield result
                if progress is not None:
                    progress(i + 1, count)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _workers(n_jobs: int | None, count: int) -> int:
    """Threads to use: None means all cores, -1 all, -2 all but one, as in scikit-learn."""
    cores = cpu_count()
    wanted = cores if n_jobs is None else n_jobs if n_jobs > 0 else cores + 1 + n_jobs
    return max(1, min(wanted, count))
