"""What is to be done: designs and methods, crossed into cells that have readable keys.

A *design* is where tables come from, a *draw* is one table of it, a *cell* is one method on one
draw. A cell is known by its key alone, ``chain/p=36/coupling=0.5/beta=1.5/rep=7/greedy``; the
seed of the draw comes from the part of the key that names the draw, so every method sees the
same table, and a table is the same whoever asks for it, in whatever order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import SettingError

Codes = NDArray[np.uint8]
Edges = Collection[tuple[int, int]]


@dataclass(frozen=True)
class Design:
    """Where tables come from: a family of graphs, a model on them, and how many rows.

    `sample`, a function of (n, seed), returns a table of codes, shape (n, p), and the true edges,
    pairs of columns.

    Examples
    --------
    >>> def coins(n, seed):
    ...     return np.random.default_rng(seed).integers(0, 2, (n, 36), dtype=np.uint8), []
    >>> design = Design("coins/p=36", p=36, degree=2, sample=coins, betas=(0.5, 1.0))
    >>> [design.rows(beta) for beta in design.betas]
    [72, 143]
    """

    name: str  #: how its keys begin: parts separated by slashes, the family of the graph first
    p: int
    degree: int  #: the d of beta = n / (20 d log p)
    sample: Callable[[int, int], tuple[Codes, Edges]]
    betas: tuple[float, ...]  #: the numbers of rows to try
    unit: str = "beta"  #: "beta": in the paper's units; or "n": as they are

    def rows(self, beta: float) -> int:
        """Return n = 20 beta d log p, rounded; or beta itself, if it is a number of rows."""
        if self.unit == "n":
            return max(1, round(beta))
        return max(1, round(20 * beta * self.degree * float(np.log(self.p))))

    @property
    def family(self) -> str:
        """The first part of the name."""
        return self.name.partition("/")[0]


@dataclass(frozen=True)
class Draw:
    """One table of a design."""

    design: Design
    beta: float
    repetition: int

    @cached_property
    def key(self) -> str:
        """The part of a cell's key that all methods share."""
        size = f"n={self.n}" if self.design.unit == "n" else f"beta={self.beta:g}"
        return f"{self.design.name}/{size}/rep={self.repetition}"

    @property
    def n(self) -> int:
        """The number of rows."""
        return self.design.rows(self.beta)

    def sample(self) -> tuple[Codes, Edges]:
        """Make the table; the seed is a hash of the key."""
        return self.design.sample(self.n, hashed(self.key))


@dataclass(frozen=True)
class Method:
    """An estimator under test.

    `learn` takes a table of codes and returns what it found: pairs of columns, a `Graph`, a dict
    of these by setting if one fit serves many settings, or a `Found`.
    """

    name: str  #: how its keys end
    learn: Callable[[Codes], Any]
    repetitions: int | None = None  #: the first so many tables only, for a slow method
    ours: bool = False  #: whether its time counts as ours


@dataclass(frozen=True)
class Line:
    """A curve to draw: a method, or some of the settings that one fit of it serves."""

    label: str
    method: Method
    starts: str = ""  #: how the settings begin that it may choose from; all by default
    own: str | None = None  #: the setting that needs no knowledge of the truth, if there is one


@dataclass(frozen=True)
class Cell:
    """One method on one draw."""

    draw: Draw
    method: Method

    @cached_property
    def key(self) -> str:
        """What a record of it is known by."""
        return f"{self.draw.key}/{self.method.name}"


@dataclass(frozen=True)
class Plan:
    """Every method on so many tables of every design.

    Examples
    --------
    >>> coins = Design("coins/p=3", 3, 1, lambda n, seed: (np.zeros((n, 3), np.uint8), []), (1, 2))
    >>> none = Method("none", lambda table: [])
    >>> [cell.key for cell in Plan([coins], [none], repetitions=1).cells()]
    ['coins/p=3/beta=1/rep=0/none', 'coins/p=3/beta=2/rep=0/none']
    """

    designs: Sequence[Design]
    methods: Sequence[Method]
    repetitions: int

    def __post_init__(self) -> None:
        for kind, names in (
            ("designs", [design.name for design in self.designs]),
            ("methods", [method.name for method in self.methods]),
        ):
            twice = {name for name in names if names.count(name) > 1}
            if twice:
                raise SettingError(f"two {kind} have the name {twice.pop()!r}; keys would clash.")

    def cells(self) -> Iterator[Cell]:
        """Every cell: by designs, betas and repetitions, the methods of a table together."""
        for design in self.designs:
            for beta, repetition in product(design.betas, range(self.repetitions)):
                for method in self.methods:
                    if method.repetitions is None or repetition < method.repetitions:
                        yield Cell(Draw(design, beta, repetition), method)


def hashed(key: str) -> int:
    """A number below 2**63 that depends on the key alone, on any machine.

    >>> hashed("chain/p=36/coupling=0.5/beta=1.5/rep=7")
    6120486324628744196
    """
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") >> 1
