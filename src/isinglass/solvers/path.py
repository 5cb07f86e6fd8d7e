"""What a greedy search did, step by step; and, exactly, what it would have done with any
larger threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import narwhals as nw

from isinglass.errors import BelowFloor
from isinglass.frames import frame
from isinglass.losses.forms import Form
from isinglass.losses.protocol import Fit
from isinglass.parameters import checked
from isinglass.solvers.cuts import steps_at
from isinglass.wording import counted


@dataclass(frozen=True, eq=False)
class Step:
    """One step of a search.

    Attributes
    ----------
    kind : "add" or "drop"
    variable : int
        What was added or dropped: a coordinate, a group, or a column of a table.
    gain : float or None
        What an "add" gained before the refit; None for a "drop".
    cost : float or None
        What a "drop" cost before the refit; None for an "add".
    support : tuple of int
        The variables in the model after the step, in increasing order.
    fit : Fit
        The refitted minimiser after the step.
    form : "product", "trend", "table" or None
        The form of the column's edge after the step; None once it is gone, and for losses whose
        variables have no forms. An "add" of a column that was in already makes its edge larger,
        and a "drop" of a column that stays in makes it smaller again.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
    >>> step = est.paths_[0].steps[0]
    >>> step.kind, step.variable, step.support
    ('add', 1, (1,))
    """

    kind: Literal["add", "drop"]
    variable: int
    gain: float | None
    cost: float | None
    support: tuple[int, ...]
    fit: Fit
    form: Form | None = None

    @property
    def loss(self) -> float:
        """Plain mean loss after the step."""
        return self.fit.loss

    @property
    def coef(self) -> Any:
        """Coefficients after the step."""
        return self.fit.coef

    @property
    def intercept(self) -> Any:
        """The always-active part after the step."""
        return self.fit.intercept

    def __repr__(self) -> str:
        change = f"gain={self.gain:.6g}" if self.kind == "add" else f"cost={self.cost:.6g}"
        return f"Step({self.kind} {self.variable}, {change}, loss={self.loss:.6g})"


@dataclass(frozen=True, eq=False, repr=False)
class Path:
    """The whole run of a greedy search down to its threshold.

    Attributes
    ----------
    steps : tuple of Step
    start : Fit
        The fit before the first step: on what is required, or on nothing.
    threshold : float
        What the search ran to.
    status : str
        Why it stopped, in a sentence.
    names : tuple of str or None
        Names of the variables, for printing.
    required : tuple of int
        Variables that were in the support from the start and could not be dropped.
    library : str, optional
        The data-frame library that `to_frame` answers in.

    Examples
    --------
    >>> from isinglass import foba, losses
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> path = foba(losses.SquaredLoss(X, X[:, 2] + 0.1 * X[:, 0]), threshold=1e-4)
    >>> path.support, path.at(0.01).support
    ((0, 2), (2,))
    """

    steps: tuple[Step, ...]
    start: Fit
    threshold: float
    status: str
    names: tuple[str, ...] | None = None
    required: tuple[int, ...] = ()
    library: str | None = None

    @property
    def final(self) -> Fit:
        """The fit after the last step."""
        return self.steps[-1].fit if self.steps else self.start

    @property
    def support(self) -> tuple[int, ...]:
        """The variables in the model at the end, in increasing order."""
        return self.steps[-1].support if self.steps else self.required

    @property
    def coef(self) -> Any:
        """Coefficients at the end."""
        return self.final.coef

    @property
    def intercept(self) -> Any:
        """The always-active part at the end."""
        return self.final.intercept

    @property
    def loss(self) -> float:
        """Plain mean loss at the end."""
        return self.final.loss

    @checked
    def at(self, threshold: float) -> Path:
        """Return the path of a fresh run with a larger threshold.

        The path is cut before the first forward step whose gain is not above `threshold`;
        later, larger gains do not count, because a fresh run would never have seen them.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
        >>> est.paths_[1].at(10.0).support
        ()
        """
        if threshold < self.threshold:
            raise BelowFloor(
                f"the search ran to {self.threshold:.6g}, so {threshold:.6g} is out of reach; "
                "run it again with a smaller threshold.",
                threshold=threshold,
                floor=self.threshold,
            )
        steps = self.steps[: steps_at((step.gain for step in self.steps), threshold)]
        ran_out = self.status == stopped_at_threshold(self.threshold)
        if len(steps) < len(self.steps) or ran_out:
            status = stopped_at_threshold(threshold)
            return replace(self, steps=steps, threshold=threshold, status=status)
        return replace(self, threshold=threshold)

    @checked
    def to_frame(self, library: str | None = None) -> Any:
        """Return the steps as a data frame, in the library of the table unless another is named.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
        >>> len(est.paths_[1].to_frame()) == len(est.paths_[1].steps)
        True
        """
        return frame(
            {
                "step": list(range(1, len(self.steps) + 1)),
                "kind": [step.kind for step in self.steps],
                "variable": [name(step.variable, self.names) for step in self.steps],
                "gain": [step.gain for step in self.steps],
                "cost": [step.cost for step in self.steps],
                "size": [len(step.support) for step in self.steps],
                "loss": [step.loss for step in self.steps],
            },
            library or self.library,
            {"gain": nw.Float64, "cost": nw.Float64},
        )

    def __len__(self) -> int:
        return len(self.steps)

    def __repr__(self) -> str:
        support = ", ".join(name(j, self.names) for j in self.support) or "nothing"
        return (
            f"Path({counted(len(self.steps), 'step')} to {support}; loss {self.start.loss:.6g} -> "
            f"{self.loss:.6g}; {self.status})"
        )


def name(variable: int, names: Sequence[str] | None) -> str:
    """The name of a variable, or its number."""
    return str(variable) if names is None else names[variable]


def stopped_at_threshold(threshold: float) -> str:
    """Why a search stopped whose best candidate gained too little."""
    return f"stopped: no candidate gains more than the threshold {threshold:.6g}"


def stopped_at_size(size: int, setting: str = "max_degree") -> str:
    """Why a search stopped whose support may not grow, by which setting."""
    return f"stopped: the support has {setting} = {size} members"


ALL_IN = "stopped: every candidate is in the model"
