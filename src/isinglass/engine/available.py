"""Algorithm 2 where values are missing: each column is explained by the rows where it is seen.

In its conditional a missing neighbour is one more state of that neighbour. So each column has one
fixed loss on one part of the table, and its path keeps all its properties; losses are divided by
the rows of the whole table, so that one threshold serves all columns. Columns that are seen in
the same rows share a part, and are searched in one run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.engine.native import NativeRuns, learn_native
from isinglass.engine.runs import KeptRuns, Progress, progress_from
from isinglass.losses.conditional import NodeFit
from isinglass.solvers.path import Path
from isinglass.table import Table

Kept = Sequence[NDArray[np.intp]]
"""For each column, which of its states a part of the table has."""


@dataclass(frozen=True, eq=False)
class Part:
    """The rows in which some columns are seen."""

    table: Table
    kept: Kept
    targets: tuple[int, ...]
    answers: tuple[int, ...]  # of each column of the wide table, states that are not missing values

    def learn(self, floor: float, **settings: Any) -> NativeRuns:
        """Run Algorithm 1 for the columns that are seen here."""
        return learn_native(
            self.table, floor, targets=self.targets, answers=self.answers, **settings
        )


def parts_of(table: Table) -> list[Part]:
    """Columns that are seen in the same rows, together with those rows."""
    p, states = len(table.columns), table.wide.n_states
    if not table.available:
        kept = [np.arange(m) for m in states]
        return [Part(table, kept, tuple(range(p)), (*table.n_answers, *states[p:]))]
    together: dict[bytes, list[int]] = defaultdict(list)
    for r in range(len(table.columns)):
        together[seen_rows(table, r).tobytes()].append(r)
    parts = []
    for rows, targets in together.items():
        part, kept = table.part(np.frombuffer(rows, dtype=bool))
        answers = tuple(
            int(seen.searchsorted(count))
            for seen, count in zip(kept, (*table.n_answers, *states[p:]), strict=True)
        )
        parts.append(Part(part, kept, tuple(targets), answers))
    return parts


def seen_rows(table: Table, r: int) -> NDArray[np.bool_]:
    """The rows in which a column is not missing."""
    seen: NDArray[np.bool_] = table.codes[:, r] < table.n_answers[r]
    return seen


def learn_available(
    table: Table,
    floor: float,
    *,
    threads: int = 1,
    progress: Progress | None = None,
    **settings: Any,
) -> KeptRuns:
    """Run Algorithm 1 for every column on the rows where it is seen.

    Tables of log-potentials have all states of a neighbour, missing last.
    """
    parts = parts_of(table)
    few = len(parts) < threads or settings.get("workers") is not None
    learn = _one_after_the_other if few else _side_by_side
    paths: dict[int, Path] = {}
    for part, runs in zip(parts, learn(parts, floor, threads, progress, **settings), strict=True):
        for i, r in enumerate(part.targets):
            paths[r] = _widened(runs.path(i), part.kept, table)
    return KeptRuns([paths[r] for r in sorted(paths)], table.n_answers)


def _one_after_the_other(
    parts: Sequence[Part], floor: float, threads: int, progress: Progress | None, **settings: Any
) -> list[NativeRuns]:
    """Few parts, or other workers: threads share the columns of each."""
    p = sum(len(part.targets) for part in parts)
    runs: list[NativeRuns] = []
    for part in parts:
        show = progress_from(progress, sum(map(len, runs)), p)
        runs.append(part.learn(floor, threads=threads, progress=show, **settings))
    return runs


def _side_by_side(
    parts: Sequence[Part], floor: float, threads: int, progress: Progress | None, **settings: Any
) -> list[NativeRuns]:
    """Many parts, most of a single column: each thread takes whole parts."""
    p, done = sum(len(part.targets) for part in parts), 0
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(part.learn, floor, threads=1, **settings) for part in parts]
        try:
            for future in as_completed(futures):
                done += len(future.result())
                if progress is not None:
                    progress(done, p)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return [future.result() for future in futures]


def _widened(path: Path, kept: Kept, table: Table) -> Path:
    steps = tuple(replace(step, fit=widen(step.fit, kept, table)) for step in path.steps)
    return replace(path, steps=steps, start=widen(path.start, kept, table))


def widen(fit: Any, kept: Kept, table: Table) -> NodeFit:
    """A fit on a part of the table, its tables on all states; zero where a state is not seen."""

    def whole(tables: Mapping[int, NDArray[np.float64]]) -> dict[int, NDArray[np.float64]]:
        wide = {t: np.zeros((len(some), table.wide.n_states[t])) for t, some in tables.items()}
        for t, narrow in tables.items():
            wide[t][:, kept[t]] = narrow
        return wide

    widened: NodeFit = replace(fit, coef=whole(fit.coef), always=whole(fit.always))
    return widened
