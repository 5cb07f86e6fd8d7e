"""What Theorem 1 asks for, given its constants.

The letters are the paper's. Three readings make the theorem easier to satisfy, and no proof longer:
the union of true and found support has at most as many members as there are candidates, which
may take the place of eta s* and of the lemma on the stopping size; the smoothness is then needed
along single candidates only; and the convexity within the distance that the error bound allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

#: Shares of the curvature at the truth that are tried as the restricted strong convexity.
KEPT = tuple(np.linspace(0.05, 0.99, 48).tolist())


@dataclass(frozen=True)
class Asked:
    """What the theorem asks of one column or regression.

    Attributes
    ----------
    kappa_l, kappa_u : float
        Restricted strong convexity and smoothness.
    eta : float
        The least multiple of s* that the theorem allows.
    members : float
        Of the union of true and found support, at most: eta s*, or all candidates.
    threshold : float
        The least stopping threshold.
    coefficient : float
        What every true coefficient must exceed.
    error : float
        The bound on the distance of the estimate from the truth.
    radius : float
        The distance within which kappa_l holds.
    rows : float
        With which coefficient and radius are large enough.
    """

    kappa_l: float
    kappa_u: float
    eta: float
    members: float
    threshold: float
    coefficient: float
    error: float
    radius: float
    rows: float

    @property
    def rho(self) -> float:
        """The condition number."""
        return self.kappa_u / self.kappa_l if self.kappa_l > 0 else float("inf")

    def error_at(self, threshold: float, missed: int, noise: float) -> float:
        """The bound on the distance of an estimate that was stopped at a threshold."""
        if not self.kappa_l > 0:
            return float("inf")
        beyond = np.sqrt(2 * missed * self.kappa_u * threshold)
        return float(2 / self.kappa_l * (noise * np.sqrt(self.members) + beyond))

    def holds_at(self, threshold: float, smallest: float, s: int, noise: float) -> bool:
        """Whether all conditions hold for a search that is stopped at a threshold."""
        if not self.kappa_l > 0 or threshold < self.threshold:
            return False
        large = s == 0 or smallest > np.sqrt(32 * self.rho * threshold / self.kappa_l)
        return bool(large and self.error_at(threshold, s, noise) <= self.radius)


def least_eta(rho: float, s: int) -> float:
    """The paper's 2 + 4 rho^2 (sqrt((rho^2 - rho)/s*) + sqrt 2)^2.

    >>> round(least_eta(1.0, 3), 9)
    10.0
    """
    inner = np.sqrt((rho**2 - rho) / max(s, 1)) + np.sqrt(2.0)
    return float(2 + 4 * rho**2 * inner**2)


def stopping_size_threshold(eta: float, rho: float, s: int, kappa_u: float, noise: float) -> float:
    """What the threshold must exceed so that at most (eta - 1) s* variables are ever taken in.

    The condition of the lemma "Stopping Size", in the form of the appendix, with gamma = eta - 2.
    """
    gamma = eta - 2
    part = (np.sqrt(gamma) / (2 * rho) - np.sqrt((rho**2 - rho) / s)) / np.sqrt(1 + gamma)
    left = part - np.sqrt(2 / (2 + gamma))
    return float(noise**2 / kappa_u / left**2) if left > 0 else float("inf")


def remaining_curvature(change: float) -> float:
    """The share of a curvature that a Taylor remainder keeps when log odds change so much.

    2 (e^-s + s - 1)/s^2: the mean of e^(-st) over the segment, as a remainder weighs it.

    >>> remaining_curvature(0.0), round(remaining_curvature(1.0), 4)
    (1.0, 0.7358)
    """
    if change < 1e-4:
        return 1.0 - change / 3
    return float(2 * (np.expm1(-change) + change) / change**2)


@cache
def change_that_leaves(share: float) -> float:
    """The change of log odds at which `remaining_curvature` is a given share, by bisection."""
    low, high = 0.0, 1e6
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if remaining_curvature(middle) > share else (low, middle)
    return low


@dataclass(frozen=True)
class Given:
    """What is known of an instance.

    Attributes
    ----------
    s, candidates : int
        Members of the true support; all candidates.
    curvature : float
        The least eigenvalue of the curvature at the truth.
    single, ceiling : float
        The largest eigenvalue that the curvature has anywhere: of one candidate, and of all.
    reach : float
        By how much log odds change per unit of coefficients.
    noise : float
        lambda_n with n rows; it falls with their root.
    smallest : float
        The smallest true coefficient.
    n : float
    """

    s: int
    candidates: int
    curvature: float
    single: float
    ceiling: float
    reach: float
    noise: float
    smallest: float
    n: float

    @property
    def hopeless(self) -> bool:
        """Whether a constant of the theorem does not exist."""
        known = np.isfinite(self.ceiling) and np.isfinite(self.reach)
        return not known or not self.curvature > 1e-12 * self.ceiling


def asked(given: Given) -> Asked:
    """What the theorem asks for with n rows, and how many rows it would need."""
    if given.hopeless:
        inf = float("inf")
        lower = max(given.curvature, 0.0)
        return Asked(lower, given.single, inf, given.candidates, inf, inf, inf, 0.0, inf)
    shares = (1.0,) if given.reach == 0 else KEPT
    return min((_with_share(given, share) for share in shares), key=lambda option: option.rows)


def _with_share(given: Given, share: float) -> Asked:
    """If so large a share of the curvature at the truth is to be kept."""
    s, noise, lower = given.s, given.noise, share * given.curvature
    upper = max(given.single, lower)
    eta = least_eta(max(given.ceiling / lower, 1.0), s)
    members, threshold = _members_and_threshold(given, eta, upper, lower)
    coefficient = float(np.sqrt(32 * upper * threshold) / lower) if s else 0.0
    error = float(2 / lower * (noise * np.sqrt(members) + np.sqrt(2 * s * upper * threshold)))
    radius = float("inf")
    if given.reach > 0:
        radius = float(change_that_leaves(share) / (given.reach * np.sqrt(members)))
    times = max((coefficient / given.smallest) ** 2 if s else 0.0, (error / radius) ** 2)
    rows = given.n * times
    return Asked(lower, upper, eta, members, threshold, coefficient, error, radius, rows)


def _members_and_threshold(
    given: Given, eta: float, upper: float, lower: float
) -> tuple[float, float]:
    """The members of the union, at most, and the least threshold."""

    def least(members: float) -> float:
        return 8 * upper / lower * members * given.noise**2 / lower

    everyone = float(given.candidates), least(given.candidates)
    # The lemma on the size needs the convexity around all steps, not only around the truth.
    if given.reach > 0 or not 0 < eta * given.s < given.candidates:
        return everyone
    rho = given.ceiling / lower
    size = stopping_size_threshold(eta, rho, given.s, given.ceiling, given.noise)
    fewer = eta * given.s, max(least(eta * given.s), size)
    return min(everyone, fewer, key=lambda option: option[1])
