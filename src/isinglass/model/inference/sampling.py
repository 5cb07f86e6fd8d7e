"""Rows drawn from a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from isinglass.model.inference import elimination
from isinglass.model.inference.evidence import Evidence, known_codes, reduced
from isinglass.model.inference.gibbs import run_chains, warn_if_poor
from isinglass.model.inference.methods import Exact, Gibbs, Method, first_that_fits

if TYPE_CHECKING:
    from isinglass.model.field import MarkovField
    from isinglass.parameters import Seed

Codes = NDArray[np.uint8]


def sample_codes(
    field: MarkovField,
    n: int,
    *,
    given: Evidence | None,
    seed: Seed,
    method: Method,
    n_jobs: int | None,
    progress: Callable[[int, int], None] | None,
) -> Codes:
    """Draw codes of n rows; what is given is the same in all of them."""
    rng = np.random.default_rng(seed)
    known = known_codes(field, given)
    free = [v for v in range(len(field.names)) if v not in known]
    rest = reduced(field, known) if free else field

    def draw(how: Exact | Gibbs) -> Codes:
        if isinstance(how, Exact):
            order = elimination.plan_within(rest, how.memory, elimination.GIBBS_INSTEAD, rows=n)
            return elimination.draw(rest, order, n, rng)
        run = run_chains(rest, n, how, rng, n_jobs=n_jobs, progress=progress)
        warn_if_poor(run.mixing, how)
        return run.codes[:n]

    drawn = first_that_fits(method, draw) if free else np.empty((n, 0), dtype=np.uint8)
    if not known:
        return drawn
    codes = np.empty((n, len(field.names)), dtype=np.uint8, order="F")
    codes[:, free] = drawn
    for v, code in known.items():
        codes[:, v] = code
    return codes
