"""What every public parameter may be, in one table, and one form of error for what came instead.

A function says ``@checked``, an estimator calls `check_settings`, a frozen class `check_fields`;
what they allow stands here. A name means the same everywhere; where it does not, the table has it
with its function or class in front, as "resample.n".
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import wraps
from numbers import Integral
from typing import Any, ParamSpec, Protocol, TypeVar

import numpy as np

from isinglass.errors import SettingError

Seed = int | np.random.SeedSequence | np.random.Generator | None

P = ParamSpec("P")
R = TypeVar("R")

#: No number of rows, columns or draws is larger.
MANY = 10**12
#: Longer texts of what came are cut.
LONGEST = 60


class Kind(Protocol):
    """What a parameter may be; its text goes on after "must be"."""

    def admits(self, value: Any) -> bool:
        """Whether a value is allowed."""
        ...

    def __str__(self) -> str: ...


@dataclass(frozen=True)
class Whole:
    """A whole number in a range; numpy's are as good as Python's."""

    least: int = 0
    most: int = MANY
    even: bool = False

    def admits(self, value: Any) -> bool:
        """Whether a value is allowed."""
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        return whole and self.least <= value <= self.most and not (self.even and value % 2)

    def __str__(self) -> str:
        what = "an even number" if self.even else "a whole number"
        return f"{what} from {self.least:,} to {_large(self.most)}"


@dataclass(frozen=True)
class Number:
    """A finite number in a range, whose ends may be left out."""

    least: float = -math.inf
    most: float = math.inf
    above: float = -math.inf
    below: float = math.inf

    def admits(self, value: Any) -> bool:
        """Whether a value is allowed."""
        number = as_float(value)
        return self.least <= number <= self.most and self.above < number < self.below

    def __str__(self) -> str:
        if self.least > -math.inf and self.most < math.inf:
            return f"a number from {self.least:g} to {self.most:g}"
        if self.above > -math.inf and self.below < math.inf:
            return f"a number strictly between {self.above:g} and {self.below:g}"
        if self.least > -math.inf:
            return f"a number, {self.least:g} or more"
        if self.above == -math.inf:
            return "a finite number"
        lowest = "a positive number" if self.above == 0 else f"a number above {self.above:g}"
        return lowest if self.most == math.inf else f"{lowest}, at most {self.most:g}"


@dataclass(frozen=True)
class Bytes:
    """An amount of memory: a positive number, also without end."""

    def admits(self, value: Any) -> bool:
        """Whether a value is allowed."""
        return as_float(value) > 0 or (isinstance(value, float) and value == math.inf)

    def __str__(self) -> str:
        return "a positive number of bytes"


class Word:
    """One of some words."""

    def __init__(self, *words: str) -> None:
        self.words = words

    def admits(self, value: Any) -> bool:
        """Whether a value is allowed."""
        return isinstance(value, str) and value in self.words

    def __str__(self) -> str:
        *first, last = map(repr, self.words)
        return f"{', '.join(first)} or {last}" if first else last


@dataclass(frozen=True)
class Of:
    """A value of one of some types."""

    types: type | tuple[type, ...]
    words: str

    def admits(self, value: Any) -> bool:
        """Whether a value is allowed."""
        return isinstance(value, self.types)

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True)
class Flag:
    """True or False; 0 and 1 will do."""

    def admits(self, value: Any) -> bool:
        """Whether a value is allowed."""
        return isinstance(value, np.bool_) or (isinstance(value, Integral) and value in (0, 1))

    def __str__(self) -> str:
        return "True or False"


@dataclass(frozen=True)
class Place:
    """The path of a file or folder."""

    def admits(self, value: Any) -> bool:
        """Whether a value is allowed."""
        try:
            text = os.fspath(value) if isinstance(value, str | os.PathLike) else ""
            return isinstance(text, str) and text != "" and b"\0" not in os.fsencode(text)
        except UnicodeError:
            return False

    def __str__(self) -> str:
        return "the path of a file or folder"


@dataclass(frozen=True)
class Call:
    """A function."""

    def admits(self, value: Any) -> bool:
        """Whether a value is allowed."""
        return callable(value)

    def __str__(self) -> str:
        return "a function"


@dataclass(frozen=True)
class Several:
    """Some values of one kind, at least one of them."""

    each: Kind

    def admits(self, value: Any) -> bool:
        """Whether a value is allowed."""
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
            return False
        if isinstance(value, np.ndarray) and value.ndim == 0:
            return False
        values = list(value)
        return bool(values) and all(self.each.admits(one) for one in values)

    def __str__(self) -> str:
        return f"a list of at least one value, each {self.each}"


@dataclass(frozen=True)
class Anything:
    """A value that is read, and judged, elsewhere: a threshold has many forms."""

    def admits(self, value: Any) -> bool:
        """Whether a value is allowed."""
        return True

    def __str__(self) -> str:
        return "anything"


class Either:
    """A value of any of some kinds; None is one of them if it is named."""

    def __init__(self, *kinds: Kind | None) -> None:
        self.kinds = [kind for kind in kinds if kind is not None]
        self.optional = None in kinds

    def admits(self, value: Any) -> bool:
        """Whether a value is allowed."""
        if value is None:
            return self.optional
        return any(kind.admits(value) for kind in self.kinds)

    def __str__(self) -> str:
        return ", or ".join([*map(str, self.kinds), *(["None"] if self.optional else [])])


@dataclass(frozen=True)
class Range:
    """A number, or two of them, the lower first."""

    each: Number

    def admits(self, value: Any) -> bool:
        """Whether a value is allowed."""
        ends = value.tolist() if isinstance(value, np.ndarray) else value
        if not isinstance(ends, list | tuple):
            return self.each.admits(value)
        two = len(ends) == 2 and all(self.each.admits(end) for end in ends)
        return two and bool(ends[0] <= ends[1])

    def __str__(self) -> str:
        return f"{self.each}, or a range (low, high) of such"


TEXT = Of(str, "text")
POSITIVE = Number(above=0)
SHARE = Number(above=0, below=1)
THREADS = Either(Whole(1, 4096), Whole(-4096, -1), None)
PROCESSES = Either(Whole(1, 4096), None)
#: As large as those that numpy draws for itself.
SEED = Whole(0, 2**128 - 1)
GENERATOR = Of((np.random.Generator, np.random.SeedSequence), "a Generator or SeedSequence")
OPTIONAL_PLACE = Either(Place(), None)
COMPLETE = Word("error", "drop", "state")

#: What takes any kind of seed.
FAMILIES = ("erdos_renyi", "ising", "potts", "random_regular", "small_world", "tree")
QUESTIONS = (
    *("sample", "sample_codes", "ask"),
    *("marginals", "pair_marginals", "conditional", "odds_shift"),
)

#: What a parameter of this name may be.
PARAMETERS: dict[str, Kind] = {
    "a": TEXT,
    "across": TEXT,
    "aim": Either(Word("graph", "edges"), None),
    "b": TEXT,
    "beyond": Flag(),
    "burn_in": Whole(0, 10**9),
    "c": POSITIVE,
    "certainty": Number(0, 1),
    "chains": Whole(2, 10**6),
    "coding": Word("ising", "01", "reference"),
    "cols": Whole(1, 10**6),
    "column": TEXT,
    "correlation": Number(-1, 1),
    "coupling": POSITIVE,
    "criterion": Word("gic", "bic", "ebic", "aic"),
    "d": Whole(0, 10**6),
    "degree": Number(0),
    "dpi": Whole(1, 2400),
    "draws": Whole(1, 10**8),
    "expected": POSITIVE,
    "factors": Several(POSITIVE),
    "floor": Either(POSITIVE, None),
    "folder": OPTIONAL_PLACE,
    "folds": Whole(2, 10**6),
    "gamma": Number(0),
    "graphs": Whole(1, 10**6),
    "header": Flag(),
    "height": Number(above=0, most=1000),
    "instability": Number(above=0, below=0.5),
    "intercept": Flag(),
    "jobs": PROCESSES,
    "joint": Flag(),
    "k": Whole(0, 10**6, even=True),
    "labels": Flag(),
    "lambdas": Either(Several(POSITIVE), None),
    "level": SHARE,
    "library": Either(Word("pandas", "polars", "pyarrow"), None),
    "matters": Number(above=1),
    "max_degree": Either(Whole(0, 10**6), None),
    "max_states": Whole(2),
    "max_steps": Either(Whole(0), None),
    "memory": Bytes(),
    "method": Anything(),
    "missing": Word("error", "drop", "state", "available"),
    "most": Whole(1),
    "most_likely": Flag(),
    "most_rows": Whole(1),
    "n": Whole(1),
    "n_eff": Either(Word("sum", "kish"), Number(above=0, most=MANY)),
    "n_jobs": THREADS,
    "n_lambdas": Whole(1, 10**5),
    "name": TEXT,
    "node_size": Number(0, 1e4),
    "nu": SHARE,
    "objective": Word("rise", "logrise", "rple"),
    "odds_ratio": Either(POSITIVE, None),
    "overwrite": Flag(),
    "p": Whole(1, 10**6),
    "pairs": Whole(1, 10**6),
    "path": Place(),
    "paths": Flag(),
    "penalties": Several(POSITIVE),
    "penalty": POSITIVE,
    "power": Number(above=0.5, below=1),
    "progress": Either(Call(), None),
    "refit": Word("pseudolikelihood", "likelihood"),
    "resolution": Number(0, 1e9),
    "rewire": Number(0, 1),
    "ridge": Number(0),
    "rule": Word("or", "and"),
    "samples": Whole(2, 10**6),
    "seed": SEED,
    "share": Number(above=0.5, most=1),
    "shares": Several(SHARE),
    "signs": Word("mixed", "positive"),
    "smallest": Number(above=0, most=1),
    "splits": Whole(1, 10**6),
    "standardise": Flag(),
    "starts": Whole(1, 10**6),
    "states": Whole(2, 256),
    "statistic": Word("edge", "strength", "overlap"),
    "suppress": Number(0, 1e5),
    "target": SHARE,
    "thin": Whole(1, 10**6),
    "threshold": POSITIVE,
    "title": Either(TEXT, None),
    "use": Word("display", "inference"),
    "width": Number(above=0, most=1000),
    # Methods of estimators and selectors that call it so.
    "ChowLiuTree.threshold": Anything(),
    "GreedyGraph.threshold": Anything(),
    "InteractionScreening.adjacency_at.threshold": Number(0),
    "InteractionScreening.at.threshold": Number(0),
    "InteractionScreening.c": Either(POSITIVE, None),
    "InteractionScreening.penalty": Either(POSITIVE, None),
    "InteractionScreening.threshold": Either(Word("gap"), Number(0)),
    "L0Graph.max_degree": Whole(0, 10**6),
    "L1Graph.adjacency_at.rule": Either(Word("or", "and"), None),
    "L1Graph.penalty": Anything(),
    "L1Graph.refit": Flag(),
    "L1Graph.threshold": Number(0),
    "LookBelow.share": Number(above=0, most=1),
    "Rival.missing": COMPLETE,
    "Theorem.degree": POSITIVE,
    # Functions that mean something else by it.
    "ask.of": Either(Several(TEXT), None),
    "audit.n": Whole(1, 10**6),
    "bootstrap.n": Whole(1, 10**6),
    "case_dropping.n": Whole(1, 10**6),
    "compare.missing": COMPLETE,
    "conditional.of": Either(TEXT, Several(TEXT)),
    "grid.rows": Whole(1, 10**6),
    "impute.draws": Whole(1, 10**5),
    "ising.coupling": Range(POSITIVE),
    "ising.intercept": Range(Number()),
    "nodes.folds": Either(Whole(2, 10**6), None),
    "plan.columns": Either(Whole(2, 10**6), None),
    "plan.coupling": Either(Number(), None),
    "plan.degree": Either(Number(0), None),
    "plan.intercept": Number(0, 100),
    "plan.missing": COMPLETE,
    "plan.rows": Either(Several(Whole(1)), None),
    "plan.threshold": Anything(),
    "potts.coupling": Range(POSITIVE),
    "potts.intercept": Range(Number()),
    "potts.states": Either(Whole(2, 256), Several(Whole(2, 256))),
    "resample.n": Whole(2, 10**6, even=True),
    "stable.share": Number(0, 1),
    "verdict.columns": Either(Several(TEXT), None),
    **dict.fromkeys(
        (f"{name}.path" for name in ("resample", "case_dropping", "bootstrap", "split_test")),
        OPTIONAL_PLACE,
    ),
    **dict.fromkeys(
        (f"{name}.seed" for name in (*FAMILIES, *QUESTIONS)), Either(SEED, GENERATOR, None)
    ),
}


def kind_of(name: str, *owners: str) -> Kind | None:
    """What a parameter may be, of the first of some owners that says so; None if nobody does."""
    for key in (*(f"{owner}.{name}" for owner in owners), name):
        if key in PARAMETERS:
            return PARAMETERS[key]
    return None


def check(name: str, value: Any, *owners: str, most: int | None = None) -> None:
    """Raise SettingError unless a parameter may have this value.

    `most` is a bound that depends on other arguments.

    >>> check("nu", 1.5)
    Traceback (most recent call last):
        ...
    isinglass.errors.SettingError: nu must be a number strictly between 0 and 1, not 1.5.
    """
    kind = kind_of(name, *owners)
    if most is not None and isinstance(kind, Whole | Number):
        kind = replace(kind, most=most)
    if kind is not None:
        check_value(name, value, kind)


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Check the arguments of a function by the table before it runs."""
    signature = inspect.signature(function)
    owners = function.__qualname__, function.__name__
    found = {name: kind_of(name, *owners) for name in signature.parameters}
    kinds = {name: kind for name, kind in found.items() if kind is not None}

    @wraps(function)
    def with_checks(*args: P.args, **kwargs: P.kwargs) -> R:
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            if name in kinds:
                check_value(name, value, kinds[name])
        return function(*args, **kwargs)

    return with_checks


def check_settings(estimator: Any) -> None:
    """Check all settings of an estimator by the table."""
    owners = [cls.__name__ for cls in type(estimator).__mro__]
    for name, value in estimator.get_params(deep=False).items():
        check(name, value, *owners)


def check_fields(instance: Any) -> None:
    """Check all fields of a dataclass by the table."""
    for field in fields(instance):
        check(field.name, getattr(instance, field.name), type(instance).__name__)


def as_float(value: Any) -> float:
    """A finite number as a float; NaN if it is none."""
    if type(value) is bool or not isinstance(value, int | float | np.integer | np.floating):
        return math.nan
    try:
        number = float(value)
    except OverflowError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def shown(value: Any, most: int = LONGEST) -> str:
    """A value as Python writes it, on one line and not too long.

    >>> shown(np.zeros((2, 2))), shown("x" * 100)
    ('array([[0., 0.], [0., 0.]])', "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...")
    """
    try:
        text = repr(value)
    except Exception:  # an object of any kind may have any repr
        text = f"an object of type {type(value).__name__}"
    line = " ".join(text.split()) if "\n" in text else text
    return line if len(line) <= most else line[: most - 3] + "..."


def check_value(name: str, value: Any, kind: Kind) -> None:
    """Raise SettingError unless a value is of a kind, in the table or not."""
    if not kind.admits(value):
        raise SettingError(f"{name} must be {kind}, not {shown(value)}.")


def _large(number: int) -> str:
    """A bound as people read it.

    >>> _large(4096), _large(10**12), _large(2**128 - 1)
    ('4,096', '10^12', '2^128 - 1')
    """
    if number < 10**10:
        return f"{number:,}"
    return "2^128 - 1" if number == 2**128 - 1 else f"10^{round(math.log10(number))}"
