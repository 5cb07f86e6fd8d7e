"""Selectors of the threshold of a regression: the same rules, on one path instead of a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import Setting, SettingError
from isinglass.selection.choice import Selection, at_floor
from isinglass.selection.cross import CrossValidated
from isinglass.selection.ebic import EBIC, extended_bic
from isinglass.selection.rules import (
    Auto,
    FalseCoefficients,
    FalseEdges,
    Fixed,
    LookBelow,
    Selector,
)
from isinglass.solvers.cuts import Cuts, one_threshold_per_graph
from isinglass.solvers.path import Path
from isinglass.wording import shown

Array = NDArray[np.float64]
CoefficientSelector = Selector | EBIC | CrossValidated

#: What a name stands for; all but "auto" and "bic" may have a number after a colon.
NAMED: dict[str, Callable[..., CoefficientSelector]] = {
    "auto": FalseCoefficients,
    "false-coefficients": FalseCoefficients,
    "bic": lambda: EBIC(0.0),
    "ebic": lambda gamma=1.0: EBIC(gamma),
    "cv": lambda folds=5: CrossValidated(int(folds) if folds == int(folds) else folds),
}


def coefficient_selector(threshold: float | str | CoefficientSelector) -> CoefficientSelector:
    """Read the threshold of a regression: a number, a selector, or a selector's name.

    Selectors of graphs carry over by their meaning: so many false edges are so many false
    coefficients.

    >>> coefficient_selector("false-coefficients:1")
    FalseCoefficients(expected=1): a coefficient without effect passes with probability 1/p
    >>> coefficient_selector(FalseEdges(2))
    FalseCoefficients(expected=2): a coefficient without effect passes with probability 2/p
    """
    if isinstance(threshold, Auto):
        return FalseCoefficients()
    if isinstance(threshold, FalseEdges):
        return FalseCoefficients(threshold.expected)
    if isinstance(threshold, LookBelow):
        rule = coefficient_selector(threshold.rule)
        return LookBelow(rule, threshold.share) if isinstance(rule, Selector) else rule
    if isinstance(threshold, Selector | EBIC | CrossValidated):
        return threshold
    if not isinstance(threshold, str):
        return Fixed(threshold) if _is_number(threshold) else _refuse(threshold)
    name, colon, argument = threshold.strip().lower().partition(":")
    if name in NAMED and not colon:
        return NAMED[name]()
    try:
        numbered = name in NAMED and name not in ("auto", "bic")
        return NAMED[name](float(argument)) if numbered else Fixed(float(threshold))
    except ValueError as error:
        if isinstance(error, SettingError):
            raise
        return _refuse(threshold)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating)


def _refuse(threshold: object) -> CoefficientSelector:
    raise SettingError(
        Setting("threshold"),
        " of a regression must be a positive number, 'auto', 'false-coefficients:1', 'bic', "
        "'ebic:1', 'cv:5', or FalseCoefficients, EBIC, CrossValidated, Paper or Theorem of "
        f"isinglass.selection, not {shown(threshold)}.",
    )


@dataclass(frozen=True, eq=False)
class PathLook:
    """What a selector may look at: the path of a regression, and how it predicts held-out rows.

    Attributes
    ----------
    path : Path
    n : float
    p : int
        Rows, and candidates.
    losses : (k,) array
        The negative log-likelihood per row of each fit of the path at which it may be cut.
    parameters : (k,) array
        The free parameters of these fits.
    held_out : function of (selector, thresholds)
        The mean score of each fold at each threshold.
    """

    path: Path
    n: float
    p: int
    losses: Array
    parameters: Array
    held_out: Callable[[CrossValidated, Array], Array]

    @cached_property
    def cuts(self) -> Cuts:
        """Where the path may be cut."""
        return Cuts.of(self.path)

    @cached_property
    def thresholds(self) -> Array:
        """One threshold for each model of the path, falling."""
        return one_threshold_per_graph([self.cuts], self.path.threshold)

    @cached_property
    def sizes(self) -> list[int]:
        """How many candidates each of these models has."""
        return [len(self.cuts.supports[at]) for at in self.cuts.at(self.thresholds)]

    def curve(self, **numbers: Array) -> dict[str, list[float]]:
        """A curve of plain lists."""
        lists = {name: [float(v) for v in values] for name, values in numbers.items()}
        return {"threshold": self.thresholds.tolist(), "coefficients": list(self.sizes), **lists}


def choose_coefficients(rule: CoefficientSelector, look: PathLook) -> Selection:
    """The choice of a selector on the path of a regression."""
    if isinstance(rule, EBIC):
        return _by_ebic(rule, look)
    if isinstance(rule, CrossValidated):
        return _by_folds(rule, look)
    threshold = rule.threshold(look.n, look.p)
    why = f"with {look.n:,g} rows and {look.p:,} candidates the rule gives {threshold:.6g}."
    return Selection(repr(rule), threshold, None, why)


def _by_ebic(rule: EBIC, look: PathLook) -> Selection:
    sizes = np.array([len(support) for support in look.cuts.supports])
    at = look.cuts.at(look.thresholds)
    # A column of a graph has p - 1 candidates.
    values = extended_bic(
        look.losses, look.parameters, sizes, n=look.n, p=look.p + 1, gamma=rule.gamma
    )[at]
    best = int(np.argmax(values <= values.min() + 1e-9 * np.abs(values).max()))
    name = "EBIC" if rule.gamma else "BIC"
    words = "BIC: the smallest 2nl + f log(n)"
    if rule.gamma:
        words = f"EBIC(gamma={rule.gamma:g}): the smallest 2nl + f log(n) + "
        words += f"{2 * rule.gamma:g} k log(p)"
    return Selection(
        words,
        float(look.thresholds[best]),
        look.curve(ebic=values),
        f"of the {len(values)} models of the path, the one with {look.sizes[best]} coefficients "
        f"has the smallest {name}, {values[best]:.6g}.{at_floor(best, look.thresholds, 'model')}",
        "ebic",
    )


def _by_folds(rule: CrossValidated, look: PathLook) -> Selection:
    scores = look.held_out(rule, look.thresholds)
    mean, error = scores.mean(axis=0), scores.std(axis=0, ddof=1) / np.sqrt(len(scores))
    best = int(np.argmax(mean))
    chosen = int(np.argmax(mean >= mean[best] - error[best]))
    return Selection(
        f"CrossValidated(folds={rule.folds}, seed={rule.seed}): the sparsest model within one "
        "standard error of the best predictor of held-out rows",
        float(look.thresholds[chosen]),
        look.curve(score=mean, error=error),
        f"the model with {look.sizes[best]} coefficients predicts held-out rows best (score "
        f"{mean[best]:.6g}, standard error {error[best]:.2g}); the one with {look.sizes[chosen]} "
        f"is the sparsest within one standard error.{at_floor(chosen, look.thresholds, 'model')}",
        "score",
    )
