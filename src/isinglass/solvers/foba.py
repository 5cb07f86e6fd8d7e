"""Algorithm 1: forward-backward greedy search for a sparse minimiser of any loss.

:func:`search` is the algorithm, on one screen. It knows neither values nor derivatives: a
:class:`Blocks` object answers what a candidate gains and what a removal costs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.errors import SettingError
from isinglass.losses.protocol import Block, Fit, Loss
from isinglass.parameters import checked
from isinglass.solvers.equivalent import one_parameter_gain
from isinglass.solvers.path import (
    ALL_IN,
    Path,
    Step,
    stopped_at_size,
    stopped_at_threshold,
)

TIE = 1e-9  # gains and costs this close to the best are equal to it
ZERO = 1e-12  # a smaller gain counts as none
ROUNDING = 1e-11  # losses this close are equal: the same support, refitted


@checked
def foba(
    loss: Loss[Any],
    threshold: float,
    *,
    nu: float = 0.5,
    groups: Sequence[Iterable[int]] | ArrayLike | None = None,
    standardise: bool = False,
    max_steps: int | None = None,
) -> Path:
    """Greedy forward-backward search for a sparse minimiser of a loss (Algorithm 1).

    A forward step adds the variable that lowers the loss most while the others are held; a
    backward step removes one that has become cheap. Both refit exactly. The gain of a
    candidate is an exact minimum over it (and the intercept), not a gradient score.

    Parameters
    ----------
    loss : Loss
        One of :mod:`isinglass.losses`, or an object with the same six members.
    threshold : float
        Stop when the best gain is not above it (the paper's epsilon_S).
    nu : float
        A variable is dropped when that costs at most nu times the gain recorded for the
        present support size; strictly between 0 and 1.
    groups : list of lists of int, or one label for each coordinate, optional
        Coordinates that enter and leave together. Variable j of the path is then group j
        (labels: in increasing order).
    standardise : bool
        Compare groups of unequal sizes by the gain of a one-parameter group that would be
        as surprising; the threshold is then quoted for one parameter.
    max_steps : int, optional
        Stop after that many steps, forward and backward together.

    Returns
    -------
    Path

    Examples
    --------
    >>> import numpy as np
    >>> from isinglass import foba, losses
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 20))
    >>> y = X[:, 3] - X[:, 7] + rng.normal(size=300) > 0
    >>> path = foba(losses.LogisticLoss(X, y), threshold=0.02)
    >>> path.support
    (3, 7)
    >>> path.steps[0]
    Step(add 3, gain=..., loss=...)
    """
    blocks = Blocks(loss, named_groups(groups, loss.size), standardise=standardise)
    return search(blocks, float(threshold), float(nu), max_steps=max_steps)


def search(
    blocks: Blocks,
    threshold: float,
    nu: float,
    *,
    max_size: int | None = None,
    max_steps: int | None = None,
    names: tuple[str, ...] | None = None,
    required: tuple[int, ...] = (),
) -> Path:
    """Algorithm 1, read as docs/paper.md says; `required` variables are in from the start."""
    support = required
    fit = start = blocks.fit(support)
    steps: list[Step] = []
    recorded: dict[int, float] = {}  # delta[k]: gain of the forward step that led to size k
    left_at: dict[int, float] = {}  # loss when a forward step last left size k

    def full() -> bool:
        return max_steps is not None and len(steps) >= max_steps

    while True:
        outside = [j for j in blocks.candidates if j not in support]
        if not outside:
            status = ALL_IN
            break
        if max_size is not None and len(support) >= max_size:
            status = stopped_at_size(max_size)
            break
        if full():
            status = f"stopped after max_steps = {max_steps} steps; allow more to continue"
            break

        j, gain = first_within_tie(outside, -blocks.gains(fit, outside))  # forward
        gain = -gain
        if not gain > threshold:
            status = stopped_at_threshold(threshold)
            break
        left_at[len(support)] = fit.loss
        support = tuple(sorted((*support, j)))
        fit = blocks.fit(support, fit)
        recorded[len(support)] = gain
        steps.append(Step("add", j, gain, None, support, fit))

        while not full():
            free = [i for i in support if i not in required]
            j, cost = first_within_tie(free, blocks.costs(fit, free))  # backward
            if cost > nu * recorded[len(support)]:
                break
            fewer = tuple(i for i in support if i != j)
            refit = blocks.fit(fewer, fit)
            # Costs of unequal blocks can run in circles; a loss that falls cannot.
            if not refit.loss < left_at[len(fewer)] - ROUNDING:
                break
            support, fit = fewer, refit
            steps.append(Step("drop", j, None, cost, support, fit))

    return Path(tuple(steps), start, threshold, status, names, required)


def first_within_tie(variables: Sequence[int], values: NDArray[np.float64]) -> tuple[int, float]:
    """The first variable whose value is within a tie of the least one."""
    i = int(np.argmax(values <= values.min() + TIE))
    return variables[i], float(values[i])


class Blocks:
    """A loss seen variable by variable: which blocks exist, and their gains on one scale.

    `scales` says for each variable how many times a chi-square its gains are without effect.
    """

    def __init__(
        self,
        loss: Loss[Any],
        blocks: Mapping[int, Block],
        *,
        standardise: bool,
        scales: NDArray[np.float64] | None = None,
    ) -> None:
        self.loss = loss
        self.blocks = blocks
        self.standardise = standardise
        self.scales = scales
        self.candidates = tuple(sorted(blocks))

    def fit(self, support: Sequence[int], start: Fit | None = None) -> Any:
        return self.loss.fit([i for j in support for i in self.blocks[j]], start)

    def gains(self, fit: Fit, variables: Sequence[int]) -> NDArray[np.float64]:
        return self._on_one_scale(variables, self.loss.gains(fit, self._of(variables)))

    def costs(self, fit: Fit, variables: Sequence[int]) -> NDArray[np.float64]:
        return self._on_one_scale(variables, self.loss.costs(fit, self._of(variables)))

    def _of(self, variables: Sequence[int]) -> list[Block]:
        return [self.blocks[j] for j in variables]

    def _on_one_scale(self, variables: Sequence[int], raw: ArrayLike) -> NDArray[np.float64]:
        values = np.asarray(raw, dtype=np.float64)
        values = np.where(values < ZERO, 0.0, values)
        if not self.standardise:
            return values
        if self.scales is not None:
            values = values / self.scales[list(variables)]
        df = [self.loss.df(self.blocks[j]) for j in variables]
        return one_parameter_gain(values, df, self.loss.n)


def named_groups(groups: Sequence[Iterable[int]] | ArrayLike | None, size: int) -> dict[int, Block]:
    """Read `groups` in any of its three forms, and check it."""
    if groups is None:
        return {j: (j,) for j in range(size)}
    members = _members(groups, size)
    blocks = {j: tuple(int(i) for i in group) for j, group in enumerate(members)}
    flat = sorted(i for block in blocks.values() for i in block)
    if any(not block for block in blocks.values()):
        raise SettingError("a group must hold at least one coordinate.")
    if len(set(flat)) < len(flat) or (flat and not 0 <= flat[0] <= flat[-1] < size):
        raise SettingError(f"groups must hold coordinates 0 to {size - 1}, each at most once.")
    return blocks


def _members(groups: Any, size: int) -> list[Iterable[int]]:
    listed = list(groups)
    if all(isinstance(group, Iterable) and not isinstance(group, str) for group in listed):
        return listed
    if len(listed) != size:
        raise SettingError(
            f"groups must be lists of coordinates, or {size} labels, one for each coordinate."
        )
    labels = np.asarray(listed)
    return [np.flatnonzero(labels == label) for label in np.unique(labels)]
