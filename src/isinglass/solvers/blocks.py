"""A loss seen variable by variable: which blocks exist, and their gains on one scale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.losses.nulls import Null
from isinglass.losses.protocol import Block, Fit, Loss
from isinglass.solvers.equivalent import calibrated_gain, one_parameter_gain

Array = NDArray[np.float64]
Variables = Sequence[int] | NDArray[np.intp]

TIE = 1e-9  # gains and costs this close to the best are equal to it
ZERO = 1e-12  # a smaller gain counts as none


def first_within_tie(variables: Variables, values: Array) -> tuple[int, float]:
    """The first variable whose value is within a tie of the least one."""
    i = int(np.argmax(values <= values.min() + TIE))
    return int(variables[i]), float(values[i])


class Singles(Mapping[int, Block]):
    """Blocks of one coordinate each: (0,), (1,), ...; there may be very many."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __getitem__(self, at: int) -> Block:
        if not 0 <= at < self.size:
            raise KeyError(at)
        return (int(at),)

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.size))

    def __len__(self) -> int:
        return self.size


class Blocks:
    """The definition: every candidate is asked for its gain, every member for its cost.

    Parameters
    ----------
    loss : Loss
    blocks : mapping of variables to their coordinates
    standardise : bool
        Compare blocks by the gain of one parameter that would be as surprising.
    likelihood : bool
        Count gains and costs in log-likelihood, by ``loss.in_likelihood(fit, change)`` where a
        loss has it: its own unit is that of y.
    nulls : mapping of variables to Null, optional
        What the deviance of each variable is without effect, if not a chi-square.
    """

    def __init__(
        self,
        loss: Loss[Any],
        blocks: Mapping[int, Block],
        *,
        standardise: bool,
        likelihood: bool = False,
        nulls: Mapping[int, Null] | None = None,
    ) -> None:
        self.loss = loss
        self.blocks = blocks
        self.standardise = standardise
        self.nulls = nulls
        self.candidates: Sequence[int] = (
            range(len(blocks)) if isinstance(blocks, Singles) else tuple(sorted(blocks))
        )
        self._in_likelihood = getattr(loss, "in_likelihood", None) if likelihood else None

    def fit(self, support: Sequence[int], start: Fit | None = None) -> Any:
        """The minimiser over some variables."""
        return self.loss.fit([i for j in support for i in self.blocks[j]], start)

    def begin(self, required: Sequence[int]) -> tuple[int, ...]:
        """The support that a search begins with."""
        return tuple(required)

    def columns(self, support: tuple[int, ...]) -> tuple[int, ...]:
        """The support as steps name it."""
        return support

    def change(self, variable: int, support: tuple[int, ...]) -> tuple[int, None]:
        """The name of a variable, and its form, of which there is none here."""
        return variable, None

    def outside(self, support: Sequence[int]) -> list[int]:
        """The candidates that may be added."""
        return [j for j in self.candidates if j not in support]

    def has_all(self, support: tuple[int, ...]) -> bool:
        """Whether there is nothing left to add."""
        return not self.outside(support)

    def inside(self, support: Sequence[int], required: Sequence[int]) -> list[int]:
        """The members that may be dropped."""
        return [j for j in support if j not in required]

    def with_variable(self, support: tuple[int, ...], variable: int) -> tuple[int, ...]:
        """The support with one variable more."""
        return tuple(sorted((*support, variable)))

    def without(self, support: tuple[int, ...], variable: int) -> tuple[int, ...]:
        """The support with one variable less."""
        return tuple(j for j in support if j != variable)

    def best(self, fit: Fit, support: Sequence[int], threshold: float) -> tuple[int, float]:
        """The candidate outside the support that gains most, and its gain.

        Where nothing gains more than the threshold, any candidate will do.
        """
        outside = self.outside(support)
        j, gain = first_within_tie(outside, -self.gains(fit, outside))
        return j, -gain

    def cheapest(self, fit: Fit, free: Sequence[int], limit: float) -> tuple[int, float]:
        """The member that costs least to remove, and its cost; any if all exceed `limit`."""
        return first_within_tie(free, self.costs(fit, free))

    def gains(self, fit: Fit, variables: Sequence[int]) -> Array:
        """What each variable gains, on the scale that is compared."""
        raw = self.loss.gains(fit, [self.blocks[j] for j in variables])
        return self.scaled_gains(fit, variables, raw)

    def costs(self, fit: Fit, variables: Sequence[int]) -> Array:
        """What the removal of each variable costs, on the same scale."""
        raw = self.loss.costs(fit, [self.blocks[j] for j in variables])
        return self.scaled_costs(fit, variables, raw)

    def scaled_gains(self, fit: Fit, variables: Variables, raw: ArrayLike) -> Array:
        """Falls of the loss on the scale that is compared; it rises with each of them."""
        fall = np.asarray(raw, dtype=np.float64)
        if self._in_likelihood is not None:
            fall = -self._in_likelihood(fit, -fall)
        return self._for_one_parameter(variables, np.where(fall < ZERO, 0.0, fall))

    def scaled_costs(self, fit: Fit, variables: Variables, raw: ArrayLike) -> Array:
        """Rises of the loss on the scale that is compared."""
        rise = np.asarray(raw, dtype=np.float64)
        if self._in_likelihood is not None:
            rise = self._in_likelihood(fit, rise)
        return self._for_one_parameter(variables, np.where(rise < ZERO, 0.0, rise))

    def _for_one_parameter(self, variables: Variables, values: Array) -> Array:
        if not self.standardise:
            return values
        if self.nulls is not None:
            return calibrated_gain(values, [self.nulls[int(j)] for j in variables], self.loss.n)
        df = [self.loss.df(self.blocks[j]) for j in variables]
        return one_parameter_gain(values, df, self.loss.n)
