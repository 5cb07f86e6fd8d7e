"""Selectors by name, and the choice of any selector."""

from __future__ import annotations

from collections.abc import Callable

from isinglass.errors import Setting, SettingError
from isinglass.selection.choice import Look, Looking, Selection
from isinglass.selection.cross import CrossValidated
from isinglass.selection.ebic import EBIC
from isinglass.selection.rules import Auto, FalseEdges, Fixed, LookBelow, Paper, Selector
from isinglass.selection.stability import Stability, StARS

AnySelector = Selector | Looking

#: What a name stands for; all but "auto" may have a number after a colon.
NAMED: dict[str, Callable[..., AnySelector]] = {
    "auto": Auto,
    "false-edges": FalseEdges,
    "paper": Paper,
    "ebic": EBIC,
    "cv": lambda folds=5: CrossValidated(_whole(folds)),
    "stability": Stability,
    "stars": StARS,
}


def selector(threshold: float | str | AnySelector) -> AnySelector:
    """Read a threshold in any of its forms: a number, a selector, or a selector's name.

    >>> selector("paper:0.9")
    Paper(c=0.9): an edge must gain more than 0.9 log(np)/n
    >>> selector("ebic:0.25")
    EBIC(gamma=0.25): the smallest 2nl + f log(n) + 0.5 k log(p-1), summed over columns
    >>> selector("0.01").threshold(n=100, p=5)
    0.01
    """
    if isinstance(threshold, Selector | Looking):
        return threshold
    if not isinstance(threshold, str):
        return Fixed(threshold)
    name, colon, argument = threshold.strip().lower().partition(":")
    if name in NAMED and not colon:
        return NAMED[name]()
    try:
        numbered = name in NAMED and name != "auto"
        return NAMED[name](float(argument)) if numbered else Fixed(float(threshold))
    except ValueError as error:
        if isinstance(error, SettingError):
            raise
        raise SettingError(
            Setting("threshold"),
            " must be a positive number, 'auto', 'paper', 'paper:0.9', 'false-edges:1', "
            "'ebic:0.25', 'cv:5', 'stability:1', 'stars:0.05' or a selector of "
            f"isinglass.selection, not {threshold!r}.",
        ) from None


def by_numbers(threshold: float | str | AnySelector) -> Selector:
    """Read a threshold that must not need a greedy search: for methods that run none.

    >>> by_numbers("cv")
    Traceback (most recent call last):
        ...
    isinglass.errors.SettingError: CrossValidated chooses the threshold from a greedy search, and
    this method runs none; give a number, 'auto', 'paper' or 'false-edges:1'.
    """
    rule = selector(threshold)
    if isinstance(rule, Selector):
        return rule
    raise SettingError(
        f"{type(rule).__name__} chooses the threshold from a greedy search, and this method "
        "runs none; give a number, 'auto', 'paper' or 'false-edges:1'."
    )


def look_below(threshold: str) -> AnySelector:
    """A selector by its name, with the search run on below the threshold; some do so anyway."""
    rule = selector(threshold)
    return LookBelow(rule) if isinstance(rule, Selector) else rule


def choose(rule: AnySelector, look: Look) -> Selection:
    """The choice of a selector, whether it looks at the run or not."""
    if isinstance(rule, Looking):
        return rule.select(look)
    n, p = look.table.n, len(look.table.columns)
    threshold = rule.threshold(n, p)
    return Selection(
        how_chosen(rule),
        threshold,
        None,
        f"with {n:,g} rows and {p:,} columns the rule gives {threshold:.6g}.",
    )


def how_chosen(threshold: float | str | AnySelector) -> str:
    """How a threshold was chosen; how far below it the search ran is said by the floor."""
    rule = selector(threshold)
    return repr(rule.rule if isinstance(rule, LookBelow) else rule)


def _whole(number: float) -> int:
    if number != int(number):
        raise SettingError(f"the number of folds must be a whole number, not {number:g}.")
    return int(number)
