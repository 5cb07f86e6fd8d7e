"""Algorithm 1: the forward-backward greedy search, for any loss."""

from isinglass.solvers.foba import foba
from isinglass.solvers.path import Path, Step

__all__ = ["Path", "Step", "foba"]
