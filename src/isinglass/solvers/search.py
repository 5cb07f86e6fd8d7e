"""Algorithm 1 on one screen. It knows neither values nor derivatives: a
:class:`~isinglass.solvers.blocks.Blocks` object answers what gains most and what costs least, and
what a support is: variables, of which :class:`~isinglass.solvers.edges.EdgeBlocks` has two for an
edge that was upgraded.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from isinglass.solvers.path import (
    ALL_IN,
    Path,
    Step,
    stopped_at_size,
    stopped_at_threshold,
)

ROUNDING = 1e-11  # losses this close are equal: the same support, refitted


def search(
    blocks: Any,
    threshold: float,
    nu: float,
    *,
    max_size: int | None = None,
    max_steps: int | None = None,
    names: tuple[str, ...] | None = None,
    required: tuple[int, ...] = (),
    size_setting: str = "max_degree",
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Algorithm 1, read as docs/paper.md says; `required` variables are in from the start.

    `size_setting` is what the user calls `max_size`. After every step, `progress` is told how many
    variables are in the support, and how many may be.
    """
    support = blocks.begin(required)
    fit = start = blocks.fit(support)
    steps: list[Step] = []
    recorded: dict[int, float] = {}  # delta[k]: gain of the forward step that led to size k
    left_at: dict[int, float] = {}  # loss when a forward step last left size k

    def full() -> bool:
        return max_steps is not None and len(steps) >= max_steps

    while True:
        if blocks.has_all(support):
            status = ALL_IN
            break
        if max_size is not None and len(blocks.columns(support)) >= max_size:
            status = stopped_at_size(max_size, size_setting)
            break
        if full():
            status = f"stopped after max_steps = {max_steps} steps; allow more to continue"
            break

        variable, gain = blocks.best(fit, support, threshold)  # forward
        if not gain > threshold:
            status = stopped_at_threshold(threshold)
            break
        left_at[len(support)] = fit.loss
        support = blocks.with_variable(support, variable)
        recorded[len(support)] = gain
        fit = blocks.fit(support, fit)
        j, form = blocks.change(variable, support)
        steps.append(Step("add", j, gain, None, blocks.columns(support), fit, form))

        if progress is not None:
            most = len(blocks.candidates)
            progress(len(support), most if max_size is None else min(max_size, most))
        while not full():
            limit = nu * recorded[len(support)]
            variable, cost = blocks.cheapest(fit, blocks.inside(support, required), limit)
            if cost > limit:  # backward
                break
            fewer = blocks.without(support, variable)
            refit = blocks.fit(fewer, fit)
            # Costs of unequal blocks can run in circles; a loss that falls cannot.
            if not refit.loss < left_at.get(len(fewer), inf) - ROUNDING:
                break
            support, fit = fewer, refit
            j, form = blocks.change(variable, support)
            steps.append(Step("drop", j, None, cost, blocks.columns(support), fit, form))

    return Path(tuple(steps), start, threshold, status, names, required)
