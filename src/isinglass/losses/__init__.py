"""Losses for :func:`isinglass.foba`, and the protocol for a loss of your own."""

from isinglass.losses.families import (
    HuberLoss,
    LogisticLoss,
    MultinomialLoss,
    PoissonLoss,
    SquaredLoss,
)
from isinglass.losses.linear import LinearLoss
from isinglass.losses.protocol import Fit, Loss

__all__ = [
    "Fit",
    "HuberLoss",
    "LinearLoss",
    "LogisticLoss",
    "Loss",
    "MultinomialLoss",
    "PoissonLoss",
    "SquaredLoss",
]
