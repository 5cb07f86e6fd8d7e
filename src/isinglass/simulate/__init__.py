"""Simulated truth: graph families, and random models on them."""

from isinglass.simulate.families import (
    chain,
    erdos_renyi,
    grid,
    random_regular,
    small_world,
    star,
    tree,
)
from isinglass.simulate.models import ising, potts

__all__ = [
    "chain",
    "erdos_renyi",
    "grid",
    "ising",
    "potts",
    "random_regular",
    "small_world",
    "star",
    "tree",
]
