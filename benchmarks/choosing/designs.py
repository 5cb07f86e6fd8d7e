"""Designs of the study beyond the paper's.

The first ones are named by their graphs and take the betas of a curve. The last four are named
by what is hard about them, and take numbers of rows: what a rule promises about false edges is
measured on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx
import numpy as np

from isinglass.experiments.designs import Range, grid_design, ising_design, potts_design
from isinglass.experiments.plan import Design
from isinglass.simulate import erdos_renyi, small_world, star, tree


def tree_design(p: int, betas: tuple[float, ...], **model: Any) -> Design:
    """Random trees, a new one for every table; d = 2."""
    return ising_design("tree", lambda seed: tree(p, seed), p=p, degree=2, betas=betas, **model)


def erdos_renyi_design(p: int, d: int, betas: tuple[float, ...], **model: Any) -> Design:
    """Random graphs with d neighbours on average, a new one for every table."""
    return ising_design(
        "erdos-renyi", lambda seed: erdos_renyi(p, d, seed), p=p, degree=d, betas=betas, **model
    )


def small_world_design(
    p: int, k: int, betas: tuple[float, ...], rewire: float = 0.1, **model: Any
) -> Design:
    """Rings of k neighbours with a tenth of the edges moved, a new one for every table."""
    return ising_design(
        "small-world",
        lambda seed: small_world(p, k, rewire, seed),
        p=p,
        degree=k,
        betas=betas,
        **model,
    )


def no_links(
    p: int,
    *rows: int,
    states: int | Sequence[int] = 2,
    intercept: float | Range = 0.0,
    seed: int = 0,
) -> Design:
    """Columns without a link; every edge found is false.

    >>> design = no_links(30, 100, 1000)
    >>> [design.rows(beta) for beta in design.betas]
    [100, 1000]
    """

    def nothing(seed: int) -> networkx.Graph:
        return star(p, 0)

    common: dict[str, Any] = {"p": p, "degree": 1, "intercept": intercept, "seed": seed}
    betas = betas_of(p, 1, rows)
    if states == 2:
        return ising_design("empty", nothing, betas=betas, **common)
    return potts_design("empty", nothing, states, betas=betas, **common)


def strong_links(p: int, *rows: int, seed: int = 0) -> Design:
    """Square grids, couplings +-0.5: every link is found once there are rows enough."""
    return grid_design(p, betas_of(p, 4, rows), seed=seed)


def weak_links(*rows: int, seed: int = 0) -> Design:
    """30 columns, 6 neighbours on average, couplings 0.05 to 0.3, intercepts up to +-0.5.

    Many of its 90 links are too weak to be found, and leak their effect to other pairs.
    """
    betas = betas_of(30, 6, rows)
    return erdos_renyi_design(30, 6, betas, coupling=(0.05, 0.3), intercept=(-0.5, 0.5), seed=seed)


def weak_links_of_many_states(*rows: int, seed: int = 0) -> Design:
    """The same with 20 columns of 2, 3 and 4 states, 3 neighbours on average."""
    return potts_design(
        "erdos-renyi",
        lambda seed: erdos_renyi(20, 3, seed),
        (2, 3, 4),
        p=20,
        degree=3,
        betas=betas_of(20, 3, rows),
        coupling=(0.05, 0.3),
        intercept=(0.0, 0.5),
        seed=seed,
    )


def betas_of(p: int, degree: int, rows: Sequence[int]) -> tuple[float, ...]:
    """Numbers of rows in the paper's units, n / (20 d log p).

    >>> design = strong_links(36, 300)
    >>> [design.rows(beta) for beta in design.betas]
    [300]
    """
    return tuple(n / (20 * degree * float(np.log(p))) for n in rows)
