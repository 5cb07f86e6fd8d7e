"""Do chains agree, and what is the effective sample size of their draws?

Split R-hat and effective sample size as in Vehtari, Gelman, Simpson, Carpenter and Bürkner,
"Rank-normalization, folding, and localization: an improved R-hat for assessing convergence of
MCMC", Bayesian Analysis 16 (2021), sections 2 and 3; without ranks, since indicators of states
have no tails.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from isinglass.model.field import MarkovField

Array = NDArray[np.float64]

#: The whole row's log-potential, looked at beside the states of each column.
ENERGY = "log-potential"


@dataclass(frozen=True)
class Mixing:
    """The worst that was found among all quantities: columns, and the "log-potential"."""

    r_hat: float  # 1 where chains agree; how much wider all are than each
    r_hat_at: str
    effective: float  # the smallest effective sample size of all draws
    effective_at: str
    draws: int  # of all chains together

    @property
    def disagree(self) -> bool:
        """Whether some chains have another distribution than others."""
        return self.r_hat > 1.05

    @property
    def is_poor(self) -> bool:
        """Whether chains disagree, or the effective sample size is below half the draws."""
        return self.disagree or self.effective < self.draws / 2

    def in_words(self) -> str:
        """One sentence with both numbers."""
        return (
            f"R-hat is {self.r_hat:.2f} at {self.r_hat_at!r} (1.05 or less where chains agree), "
            f"and the effective sample size of {self.draws:,} draws is about "
            f"{self.effective:,.0f} at {self.effective_at!r}"
        )


def diagnose_mixing(field: MarkovField, codes: NDArray[np.uint8], chains: int) -> Mixing:
    """Look at every state of every column, and at the log-potential; codes as in `Chains`."""
    found = []
    for name, quantity in _quantities(field, codes):
        halves = split(quantity.reshape(-1, chains).T)
        found.append((name, r_hat(halves), effective_size(halves)))
    r_hat_at, worst, _ = max(found, key=lambda entry: entry[1])
    effective_at, _, fewest = min(found, key=lambda entry: entry[2])
    return Mixing(worst, r_hat_at, fewest, effective_at, len(codes))


def _quantities(field: MarkovField, codes: NDArray[np.uint8]) -> Iterator[tuple[str, Array]]:
    for j, name in enumerate(field.names):
        for state in range(1 if field.n_states[j] == 2 else 0, field.n_states[j]):
            yield name, (codes[:, j] == state).astype(np.float64)
    yield ENERGY, field.log_potential(codes)


def split(draws: Array) -> Array:
    """Each chain's first and second half as two chains; (chains, draws) in, the same out."""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def r_hat(draws: Array) -> float:
    """Spread of all draws over that within chains; draws of shape (chains, draws).

    >>> r_hat(np.array([[0.0, 1, 0, 1], [1, 0, 1, 0]])) < 1, r_hat(np.array([[0.0, 0], [1, 1]]))
    (True, inf)
    """
    within, pooled = _variances(draws)
    if pooled <= 0:
        return 1.0
    return float(np.sqrt(pooled / within)) if within > 0 else np.inf


def effective_size(draws: Array) -> float:
    """How many independent draws would give means as good as these; (chains, draws) in.

    Autocorrelations are summed as long as sums of two neighbours are positive, made decreasing
    (Geyer's initial monotone sequence).
    """
    length = draws.shape[1]
    within, pooled = _variances(draws)
    if pooled <= 0:
        return float(draws.size)
    correlation = 1.0 - (within - _autocovariance(draws) * length / (length - 1)) / pooled
    correlation[0] = 1.0
    pairs = correlation[: length // 2 * 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs <= 0)
    pairs = pairs[: negative[0] if len(negative) else None]
    time = -1.0 + 2.0 * np.minimum.accumulate(pairs).sum()
    return float(draws.size / max(time, 1.0))


def _variances(draws: Array) -> tuple[float, float]:
    """The mean variance within chains, and the pooled estimate."""
    length = draws.shape[1]
    within = float(draws.var(axis=1, ddof=1).mean())
    between = float(draws.mean(axis=1).var(ddof=1))
    return within, within * (length - 1) / length + between


def _autocovariance(draws: Array) -> Array:
    """Mean over chains of the autocovariance at each lag, by Fourier transform."""
    length = draws.shape[1]
    centred = draws - draws.mean(axis=1, keepdims=True)
    spectrum = np.abs(np.fft.rfft(centred, n=2 * length, axis=1)) ** 2
    return np.asarray(np.fft.irfft(spectrum.mean(axis=0), n=2 * length)[:length] / length)
