"""How probabilities and rows are computed: exactly, by Gibbs sampling, or what memory allows."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from isinglass.errors import OutOfMemory, SettingError
from isinglass.parameters import CheckedFields, check_value, checked
from isinglass.parameters.kinds import Either, Such, Word

P = ParamSpec("P")
T = TypeVar("T")

#: Bytes that exact inference may take by default.
MEMORY = 1e9


@dataclass(frozen=True)
class Exact(CheckedFields):
    """Exact inference: columns are summed out one by one.

    Parameters
    ----------
    memory : float
        Bytes it may take. A model that needs more is refused, with the number of bytes.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.grid(8, 8), seed=0)
    >>> field.sample(10, method=ig.Exact(memory=1000))
    Traceback (most recent call last):
        ...
    isinglass.errors.OutOfMemory: exact elimination needs about ... bytes...
    """

    memory: float = MEMORY


@dataclass(frozen=True)
class Gibbs(CheckedFields):
    """Gibbs sampling by several chains.

    A `PoorMixing` warning says when the chains disagree or move slowly.

    Parameters
    ----------
    draws : int
        Rows that probabilities are estimated from. `sample` and `impute` draw as many rows as
        they need.
    burn_in : int
        Sweeps of each chain before its first draw; a sweep draws every column once.
    thin : int
        Sweeps from one draw to the next.
    chains : int
        Independent chains; every column starts in a state drawn uniformly.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), signs="positive")
    >>> table = field.conditional("x2", {"x0": 1}, method=ig.Gibbs(draws=4000), seed=0)
    >>> bool(abs(table[1] - 0.6068) < 4 * table.error[1])
    True
    """

    draws: int = 10_000
    burn_in: int = 1000
    thin: int = 10
    chains: int = 32


Method = str | Exact | Gibbs | tuple[Exact, Gibbs]
"""A word, one of the two objects, or both: Gibbs sampling where exact needs too much memory."""


def _is_method(value: Any) -> bool:
    both = isinstance(value, tuple) and [type(part) for part in value] == [Exact, Gibbs]
    return both or isinstance(value, Exact | Gibbs)


METHOD = Either(
    Word("auto", "exact", "gibbs"),
    Such("Exact(...), Gibbs(...) or a tuple of these two", _is_method),
)


def method_of(word: str, **settings: Any) -> Exact | Gibbs | tuple[Exact, Gibbs]:
    """The method of a word, with settings of either kind.

    >>> method_of("gibbs", memory=1e6, thin=5)
    Gibbs(draws=10000, burn_in=1000, thin=5, chains=32)
    >>> method_of("auto")
    (Exact(memory=1000000000.0), Gibbs(draws=10000, burn_in=1000, thin=10, chains=32))
    """
    sampling = {name: value for name, value in settings.items() if name != "memory"}
    exact, gibbs = Exact(settings.get("memory", MEMORY)), Gibbs(**sampling)
    if word == "auto":
        return exact, gibbs
    return exact if word == "exact" else gibbs


def first_that_fits(method: Method, answer: Callable[[Exact | Gibbs], T]) -> T:
    """Answer by one method, or, of two, by the second if the first needs too much memory."""
    method = method_of(method) if isinstance(method, str) else method
    if not isinstance(method, tuple):
        return answer(method)
    try:
        return answer(method[0])
    except OutOfMemory:
        return answer(method[1])


def memory_of(method: Method) -> float:
    """What exact work may take, beside an answer by some method.

    >>> memory_of((Exact(1e6), Gibbs())), memory_of("gibbs")
    (1000000.0, 1000000000.0)
    """
    exact = method[0] if isinstance(method, tuple) else method
    return exact.memory if isinstance(exact, Exact) else MEMORY


#: Arguments that are now part of `method`.
OLD = ("memory", "draws", "burn_in", "thin", "chains")


def takes_method(function: Callable[P, T]) -> Callable[P, T]:
    """Check the arguments of a function, and still take those that `method` has replaced."""
    checks = checked(function)
    parameters = inspect.signature(function).parameters
    old = [name for name in OLD if name not in parameters]

    @wraps(function)
    def with_method(*args: P.args, **kwargs: P.kwargs) -> T:
        method: Any = kwargs.get("method", parameters["method"].default)
        check_value("method", method, METHOD)
        replaced = {name: kwargs.pop(name) for name in old if name in kwargs}
        if replaced:
            kwargs["method"] = _new_spelling(method, replaced)
        return checks(*args, **kwargs)

    return with_method


def _new_spelling(word: Method, replaced: dict[str, Any]) -> Method:
    if not isinstance(word, str):
        raise SettingError(f"{next(iter(replaced))} is part of method; give it there alone.")
    method = method_of(word, **replaced)
    warnings.warn(
        f"{', '.join(f'{name}=' for name in replaced)} will be removed in the next release; "
        f"use method={method!r} of isinglass instead.",
        FutureWarning,
        stacklevel=3,
    )
    return method
