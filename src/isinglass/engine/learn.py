"""Which solver runs: the native one; tests ask for the readable one as well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from isinglass.core import cores
from isinglass.engine.available import learn_available
from isinglass.engine.constraints import FREE, Constraints
from isinglass.engine.native import learn_native
from isinglass.engine.readable import learn_readable
from isinglass.engine.runs import Progress, Runs
from isinglass.table import Table


def learn_neighbourhoods(
    table: Table,
    floor: float,
    *,
    nu: float = 0.5,
    intercept: bool = True,
    max_degree: int | None = None,
    constraints: Constraints = FREE,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    solver: str = "native",
    **forms: Any,
) -> Runs:
    """Run Algorithm 1 for every column down to `floor`.

    `forms`, `edge` and `adjust`, are for the readable solver: the core knows whole tables only.
    """
    solve: Callable[..., Runs] = learn_native if solver == "native" else learn_readable
    learn = learn_available if table.available else solve
    return learn(
        table,
        floor,
        nu=nu,
        intercept=intercept,
        max_degree=max_degree,
        constraints=constraints,
        threads=threads_for(n_jobs, len(table.columns)),
        progress=progress,
        **forms,
    )


def threads_for(n_jobs: int | None, columns: int) -> int:
    """Threads to use: None means all cores; -1 all, -2 all but one, as in scikit-learn."""
    if n_jobs is not None and n_jobs > 0:
        return max(1, min(n_jobs, columns))
    wanted = cores() + (0 if n_jobs is None else 1 + n_jobs)
    return max(1, min(wanted, columns))
