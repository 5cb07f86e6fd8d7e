"""Chances by sampling, with error bars, for models too tangled for elimination."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from isinglass.engine.learn import threads_for
from isinglass.model.gibbs import Schedule, run_chains, warn_if_poor

if TYPE_CHECKING:
    from isinglass.model.potentials import Potentials

Array = NDArray[np.float64]


def sampled_joint(
    field: Potentials,
    columns: Sequence[int],
    draws: int,
    schedule: Schedule,
    rng: np.random.Generator,
) -> tuple[Array, Array]:
    """Shares of all combinations of states of some columns, and their standard errors.

    Chains are independent of each other, draws within one are not: the error is that of the mean
    of as many numbers as there are chains.
    """
    seed = int(rng.integers(2**64, dtype=np.uint64))
    run = run_chains(field, draws, schedule, seed=seed, threads=threads_for(None, schedule.chains))
    warn_if_poor(run.mixing, schedule)
    shape = [field.n_states[v] for v in columns]
    cell = np.ravel_multi_index([run.codes[:, v] for v in columns], shape)
    chain = np.arange(len(cell)) % schedule.chains
    size = int(np.prod(shape))
    counts = np.bincount(chain * size + cell, minlength=schedule.chains * size)
    shares = counts.reshape(schedule.chains, *shape) * (schedule.chains / len(cell))
    return shares.mean(axis=0), shares.std(axis=0, ddof=1) / np.sqrt(schedule.chains)
