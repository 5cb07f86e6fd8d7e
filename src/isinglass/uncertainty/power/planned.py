"""The answer of a plan: what happened with each number of rows, and a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from isinglass.frames import by_field, frame
from isinglass.parameters import checked
from isinglass.uncertainty.power.supposed import Supposition


@dataclass(frozen=True)
class Point:
    """What happened with one number of rows."""

    factor: float  #: what the couplings supposed were multiplied by
    rows: int
    graphs: int  #: tables drawn, each from a graph of its own unless a pilot table gave it
    recovered: float  #: share of the tables from which the graph was recovered without error
    low: float  #: of its 95 % interval (Wilson)
    high: float
    found: float  #: mean share of the true edges that were found
    false: float  #: mean number of false edges


@dataclass(frozen=True, eq=False, repr=False)
class Planned:
    """What `plan` returns.

    Attributes
    ----------
    points : tuple of Point
        By factor, then by rows.
    answers : dict of factor to Point
        The number of rows that reaches the target, with what happened there; a factor for which
        no number of rows did is not in it.

    Examples
    --------
    >>> import isinglass as ig
    >>> found = ig.plan(columns=4, degree=2, coupling=0.6, rows=[200], graphs=2, n_jobs=1)
    >>> found.aim, found.target
    ('graph', 0.9)
    """

    points: tuple[Point, ...]
    answers: Mapping[float, Point]
    aim: str
    target: float
    sentence: str
    library: str | None = None

    @checked
    def to_frame(self, library: str | None = None) -> Any:
        """One row per factor and number of rows."""
        return frame(by_field(Point, self.points), library or self.library)

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        needs = ", ".join(f"x{factor:g}: {at.rows:,} rows" for factor, at in self.answers.items())
        return f"Planned({needs or 'no answer'}; {len(self.points)} points)"


def sentence_of(
    supposed: Supposition,
    aim: str,
    target: float,
    points: Sequence[Point],
    answers: Mapping[float, Point],
) -> str:
    """One sentence with the answer: first for the couplings expected, then for the others."""
    first, *others = sorted({at.factor for at in points}, key=lambda at: (at != 1, -at))
    answer = answers.get(first)
    if answer is None:
        most = max(at.rows for at in points)
        said = f"Even {most:,} rows do not reach {target:g} if {supposed.words(first)}"
    else:
        said = f"With {answer.rows:,} rows {_words(answer, aim)} if {supposed.words(first)}"
    for factor in others:
        here = [at for at in points if answer and (at.factor, at.rows) == (factor, answer.rows)]
        own = _also(here[0] if here else None, answers.get(factor), aim)
        said += f"; if {supposed.words(factor)}, {own}"
    return said + "."


def _also(same: Point | None, answer: Point | None, aim: str) -> str:
    """What the same rows find with other couplings, and how many are needed then."""
    parts = [] if same is None else [f"{_words(same, aim, short=True)} with as many rows"]
    if answer is None:
        parts.append("none of the numbers of rows tried is enough")
    elif answer != same:
        parts.append(f"it takes about {answer.rows:,} rows")
    return ", and ".join(parts)


def _words(point: Point, aim: str, *, short: bool = False) -> str:
    if aim == "edges":
        return f"{point.found:.0%} of the edges are found"
    interval = "" if short else f" ({point.low:.2f} to {point.high:.2f}, {point.graphs} graphs)"
    what = "the probability is" if short else "the whole graph is recovered with probability"
    return f"{what} {point.recovered:.2f}{interval}"
