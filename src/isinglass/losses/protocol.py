"""What the greedy search asks of a loss, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from numpy.typing import ArrayLike

Block = tuple[int, ...]
"""Coordinates that enter and leave the model together."""


@dataclass(frozen=True, eq=False)
class Fit:
    """The minimiser of a loss over some coordinates.

    Parameters
    ----------
    coef : array or dict
        Coefficients, zero (or absent) outside the support.
    intercept : float or array
        The always-active part.
    loss : float
        The plain mean loss there.
    """

    coef: Any
    intercept: Any
    loss: float


FitT = TypeVar("FitT", bound=Fit)


class Loss(Protocol[FitT]):
    """A loss for :func:`isinglass.foba`.

    Any object with these six members will do. A loss of one linear predictor per row
    needs far less: see :class:`isinglass.losses.LinearLoss`.

    Attributes
    ----------
    n : float
        Number of rows (the sum of their weights); scales gains into chi-squares.
    size : int
        Number of coordinates.
    """

    @property
    def n(self) -> float: ...

    @property
    def size(self) -> int: ...

    def fit(self, active: Sequence[int], start: FitT | None = None) -> FitT:
        """Minimise the loss over the coordinates in `active`; `start` is a nearby fit."""
        ...

    def gains(self, fit: FitT, blocks: Sequence[Block]) -> ArrayLike:
        """How far each block alone can lower the loss, all other coordinates held."""
        ...

    def costs(self, fit: FitT, blocks: Sequence[Block]) -> ArrayLike:
        """How much the loss rises when a block is set to zero, all others held."""
        ...

    def df(self, block: Block) -> int:
        """Free parameters of a block."""
        ...
