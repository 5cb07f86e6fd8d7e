"""Chances by sampling, with error bars, for models too tangled for elimination."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from isinglass.engine.learn import threads_for
from isinglass.model.gibbs import Schedule, run_chains, warn_if_poor

if TYPE_CHECKING:
    from isinglass.model.field import MarkovField

Array = NDArray[np.float64]


def sampled_joints(
    field: MarkovField,
    groups: Sequence[Sequence[int]],
    draws: int,
    schedule: Schedule,
    rng: np.random.Generator,
) -> list[tuple[Array, Array]]:
    """Shares of all combinations of states of some columns, and their standard errors.

    One answer for each group of columns, all from the same draws.

    Chains are independent of each other, draws within one are not: the error is that of the mean
    of as many numbers as there are chains.
    """
    seed = int(rng.integers(2**64, dtype=np.uint64))
    run = run_chains(field, draws, schedule, seed=seed, threads=threads_for(None, schedule.chains))
    warn_if_poor(run.mixing, schedule)
    return [_shares(field, columns, run.codes, schedule.chains) for columns in groups]


def _shares(
    field: MarkovField, columns: Sequence[int], codes: NDArray[np.uint8], chains: int
) -> tuple[Array, Array]:
    shape = [field.n_states[v] for v in columns]
    cell = np.ravel_multi_index([codes[:, v] for v in columns], shape)
    chain = np.arange(len(cell)) % chains
    size = int(np.prod(shape))
    counts = np.bincount(chain * size + cell, minlength=chains * size)
    shares = counts.reshape(chains, *shape) * (chains / len(cell))
    return shares.mean(axis=0), shares.std(axis=0, ddof=1) / np.sqrt(chains)
