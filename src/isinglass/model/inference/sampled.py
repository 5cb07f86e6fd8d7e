"""Chances by sampling, with error bars, for models too tangled for elimination."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from isinglass.engine.learn import threads_for
from isinglass.model.inference.gibbs import Schedule, run_chains, warn_if_poor

if TYPE_CHECKING:
    from isinglass.model.potentials import Potentials

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Shares:
    """Rows drawn from a model, and the shares of states among them.

    Chains are independent of each other, draws within one are not: the error of a share is that
    of the mean of as many numbers as there are chains.
    """

    field: Potentials
    codes: NDArray[np.uint8]
    chains: int

    def by_chain(self, columns: Sequence[int]) -> Array:
        """Shares of all combinations of states of some columns, one table a chain."""
        shape = [self.field.n_states[v] for v in columns]
        cell = np.ravel_multi_index([self.codes[:, v] for v in columns], shape)
        chain = np.arange(len(cell)) % self.chains
        size = int(np.prod(shape))
        counts = np.bincount(chain * size + cell, minlength=self.chains * size)
        tables = counts.reshape(self.chains, *shape)
        shares: Array = np.multiply(tables, self.chains / len(cell), dtype=np.float64)
        return shares

    def joint(self, columns: Sequence[int]) -> tuple[Array, Array]:
        """Shares of all combinations of states of some columns, and their standard errors."""
        shares = self.by_chain(columns)
        return np.asarray(shares.mean(axis=0)), shares.std(axis=0, ddof=1) / np.sqrt(self.chains)

    def error_of(self, number: Callable[[Array], float], columns: Sequence[int]) -> float:
        """The standard error of a number made of shares, by leaving out one chain at a time."""
        shares = self.by_chain(columns)
        others = (shares.sum(axis=0) - shares) / (self.chains - 1)
        left_out = np.array([number(table) for table in others])
        return float(np.sqrt((self.chains - 1) * left_out.var()))


def sampled_shares(
    field: Potentials, draws: int, schedule: Schedule, rng: np.random.Generator
) -> Shares:
    """Draw at least so many rows; a `PoorMixing` warning says where they cannot be trusted."""
    seed = int(rng.integers(2**64, dtype=np.uint64))
    run = run_chains(field, draws, schedule, seed=seed, threads=threads_for(None, schedule.chains))
    warn_if_poor(run.mixing, schedule)
    return Shares(field, run.codes, schedule.chains)
