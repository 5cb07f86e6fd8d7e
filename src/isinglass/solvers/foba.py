"""Algorithm 1: forward-backward greedy search for a sparse minimiser of any loss.

:func:`foba` reads the user's settings. The losses of the package that see a row through a linear
predictor go by the quick way of :mod:`isinglass.solvers.linear`, which takes the same steps; any
other loss is asked for every gain and every cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isinglass.errors import SettingError
from isinglass.losses.protocol import Block, Loss
from isinglass.parameters import checked
from isinglass.solvers.blocks import Blocks, Singles
from isinglass.solvers.linear import LinearBlocks, has_quick_way
from isinglass.solvers.path import Path
from isinglass.solvers.search import search


@checked
def foba(
    loss: Loss[Any],
    threshold: float,
    *,
    nu: float = 0.5,
    groups: Sequence[Iterable[int]] | ArrayLike | None = None,
    standardise: bool = False,
    max_steps: int | None = None,
    progress: Callable[[int, int], None] | None = None,
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
    progress : function of (variables in the model, variables in all), optional
        Told after every forward step.

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
    blocks = blocks_of(loss, named_groups(groups, loss.size), standardise=standardise)
    return search(blocks, float(threshold), float(nu), max_steps=max_steps, progress=progress)


def blocks_of(
    loss: Loss[Any],
    blocks: Mapping[int, Block],
    *,
    standardise: bool = False,
    likelihood: bool = False,
) -> Blocks:
    """The blocks of a loss, by the quick way if there is one for it."""
    kind: Any = LinearBlocks if has_quick_way(loss) else Blocks
    made: Blocks = kind(loss, blocks, standardise=standardise, likelihood=likelihood)
    return made


def named_groups(
    groups: Sequence[Iterable[int]] | ArrayLike | None, size: int
) -> Mapping[int, Block]:
    """Read `groups` in any of its three forms, and check it."""
    if groups is None:
        return Singles(size)
    members = _members(groups, size)
    try:
        blocks = {j: tuple(int(i) for i in group) for j, group in enumerate(members)}
    except (TypeError, ValueError) as error:
        raise SettingError("groups must be lists of whole numbers, or one label each.") from error
    flat = sorted(i for block in blocks.values() for i in block)
    if any(not block for block in blocks.values()):
        raise SettingError("a group must hold at least one coordinate.")
    if len(set(flat)) < len(flat) or (flat and not 0 <= flat[0] <= flat[-1] < size):
        raise SettingError(f"groups must hold coordinates 0 to {size - 1}, each at most once.")
    return blocks


def _members(groups: Any, size: int) -> list[Iterable[int]]:
    listed = list(groups)
    if not listed:
        raise SettingError("groups must hold at least one group.")
    if all(isinstance(group, Iterable) and not isinstance(group, str) for group in listed):
        return listed
    if len(listed) != size:
        raise SettingError(
            f"groups must be lists of coordinates, or {size} labels, one for each coordinate."
        )
    labels = np.asarray(listed)
    return [np.flatnonzero(labels == label) for label in np.unique(labels)]
