"""What `theory` returns: numbers per column and per link, and sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isinglass.frames import by_field, frame
from isinglass.parameters import checked
from isinglass.wording import counted, listing


@dataclass(frozen=True)
class ColumnTheory:
    """The theorem at one column, and beside it what the search needs there.

    Coefficients and slopes are in orthonormal zero-sum contrasts: for two columns of two states
    the size of a link is twice its coupling.
    """

    name: str
    neighbours: int  #: s*, members of the true support
    candidates: int  #: columns that could be neighbours
    further: int  #: columns beyond the support that the next two eigenvalues allow for
    smallest_eigenvalue: float  #: of the curvature on the support and `further` columns
    largest_eigenvalue: float
    exact: bool  #: whether these two are exact; else at most and at least so much
    kappa_l: float  #: restricted strong convexity that the theorem can use
    kappa_u: float  #: restricted strong smoothness
    condition: float  #: rho = kappa_u / kappa_l
    eta: float  #: multiple of s* that the theorem starts from
    noise: float  #: lambda_n, the 95 % quantile of the largest slope at the generating parameters
    threshold: float  #: the least that the theorem allows
    coefficient: float  #: what it asks every link to exceed
    smallest: float  #: the smallest link there is
    radius: float  #: the distance from the truth within which kappa_l holds
    error: float  #: the bound on the distance of the estimate
    rows: float  #: rows that the theorem would need
    irrepresentability: float  #: below 1 for l1 regression to find the neighbours
    margin: float  #: true over false gains in the population search, at the least

    @property
    def holds(self) -> bool:
        """Whether the theorem's conditions hold with the rows there are."""
        return self.coefficient < self.smallest and self.error <= self.radius


@dataclass(frozen=True)
class LinkTheory:
    """One link: what it gains if it comes last, and the rows with which it would be found."""

    source: str
    target: str
    size: float  #: norm of its coefficients
    gain: float  #: per row, in log-likelihood
    rows: float  #: with which it is found with probability 0.95


@dataclass(frozen=True)
class Conclusions:
    """Whether what the theorem concludes is so on a table whose truth is known."""

    columns: int
    missed: int  #: columns with a false exclusion
    wrong: int  #: columns with a false inclusion
    far: int  #: columns whose estimate is beyond the error bound
    conditions: int  #: columns at which the theorem's conditions hold


@dataclass(frozen=True, eq=False, repr=False)
class Theory:
    """What `theory` returns.

    Attributes
    ----------
    columns : tuple of ColumnTheory
    links : tuple of LinkTheory
    rows : float
        Rows that the noise is of.
    population : int
        Rows of the large draw; 0 if there was none.
    recovered : bool or None
        Whether the search on the large draw returns the graph.
    conclusions : Conclusions or None
        On a table, if the truth was given with one.
    regression : bool
        Whether this is about one regression: its links are the coefficients of y.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(4), coupling=0.5, seed=0)
    >>> result = ig.theory(field, rows=500, draws=20, population=5000)
    >>> result
    Theory(4 columns, 3 links; the theorem needs ... rows, the weakest link about ...)
    >>> result.to_frame("pandas").columns[:3].tolist()
    ['name', 'neighbours', 'candidates']
    """

    columns: tuple[ColumnTheory, ...]
    links: tuple[LinkTheory, ...]
    rows: float
    population: int = 0
    recovered: bool | None = None
    conclusions: Conclusions | None = None
    library: str | None = None
    regression: bool = False

    @property
    def rows_asked(self) -> float:
        """Rows with which the theorem's conditions would hold at every column."""
        return max((column.rows for column in self.columns), default=0.0)

    @property
    def rows_sufficient(self) -> float:
        """Rows with which the weakest link is found with probability 0.95."""
        return max((link.rows for link in self.links), default=0.0)

    @property
    def margin(self) -> float:
        """The smallest ratio of a true to a false gain in the population search."""
        return min((column.margin for column in self.columns), default=float("inf"))

    @checked
    def to_frame(self, library: str | None = None) -> Any:
        """One row per column."""
        return frame(by_field(ColumnTheory, self.columns), library or self.library)

    @checked
    def links_frame(self, library: str | None = None) -> Any:
        """One row per link."""
        return frame(by_field(LinkTheory, self.links), library or self.library)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The result in words."""
        said = [self._asked(), self._sufficient(), self._path(), self._l1(), self._held()]
        return tuple(sentence for sentence in said if sentence)

    def __str__(self) -> str:
        return " ".join(self.sentences)

    def __repr__(self) -> str:
        columns = "" if self.regression else f"{counted(len(self.columns), 'column')}, "
        return (
            f"Theory({columns}{counted(len(self.links), self._noun)}; the theorem needs "
            f"{number(self.rows_asked)} rows, the weakest {self._noun} about "
            f"{number(self.rows_sufficient)})"
        )

    @property
    def _noun(self) -> str:
        return "coefficient" if self.regression else "link"

    def _asked(self) -> str:
        if not self.columns:
            return "There is no column to look at."
        worst = max(self.columns, key=lambda column: column.rows)
        if not np.isfinite(worst.rows):
            where = "" if self.regression else f"at {worst.name!r} "
            return (
                f"Theorem 1 cannot be invoked with any number of rows: {where}the loss "
                "has no curvature in some direction, or none that holds near the truth."
            )
        times = worst.rows / self.rows
        if times <= 1:
            where = "" if self.regression else " at every column"
            return f"Theorem 1 holds{where}: it asks for {number(worst.rows)} rows."
        most = "" if self.regression else f", most at {worst.name!r}"
        sizes = ""
        if worst.neighbours:
            sizes = (
                f", its {self._noun}s must exceed {worst.coefficient:.3g} and the smallest is "
                f"{worst.smallest:.3g}"
            )
        return (
            f"Theorem 1 asks for {number(worst.rows)} rows, {number(times)} times the "
            f"{number(self.rows)} there are{most}: its condition number is "
            f"{worst.condition:.3g}{sizes}. So it cannot be invoked here."
        )

    def _sufficient(self) -> str:
        if not self.links:
            return ""
        weakest = max(self.links, key=lambda link: link.rows)
        enough = sum(link.rows <= self.rows for link in self.links)
        ends = f"{weakest.source} - {weakest.target}"
        ends = f"that of {weakest.target}" if self.regression else ends
        return (
            f"The search itself finds the weakest {self._noun}, {ends}, with about "
            f"{number(weakest.rows)} rows (with probability 0.95); {number(self.rows)} rows "
            f"suffice for {enough} of {counted(len(self.links), self._noun)}."
        )

    def _path(self) -> str:
        if self.recovered is None:
            return ""
        returns = "returns" if self.recovered else "does not return"
        said = f"A search on {self.population:,} rows drawn from the model {returns} its graph"
        if not np.isfinite(self.margin):
            return f"{said}."
        return (
            f"{said}; the best true candidate gained at least {self.margin:.3g} times as much as "
            "the best false one."
        )

    def _l1(self) -> str:
        bad = [column.name for column in self.columns if column.irrepresentability >= 1]
        largest = max((column.irrepresentability for column in self.columns), default=0.0)
        said = "Irrepresentability, which l1 regression needs below 1,"
        if not bad:
            return f"{said} is at most {largest:.2f}."
        return f"{said} fails at {listing(bad, 6)} (largest: {largest:.2f})."

    def _held(self) -> str:
        seen = self.conclusions
        if seen is None:
            return ""
        missed = counted(seen.missed, "column")
        return (
            f"On the table itself, the search misses a true neighbour at {missed} of "
            f"{seen.columns}, takes a false one at {seen.wrong}, and is beyond the theorem's error "
            f"bound at {seen.far}; the theorem's conditions hold at {seen.conditions}."
        )


def number(value: float) -> str:
    """A number of rows: whole if it is small, rounded if it is large.

    >>> number(312.4), number(48211.0), number(5.12e8)
    ('312', '48,200', '5.1e+08')
    """
    if not np.isfinite(value):
        return "infinitely many"
    if value >= 1e6:
        return f"{value:.2g}"
    rounded = round(value) if value < 1000 else round(value, 2 - int(np.floor(np.log10(value))))
    return f"{rounded:,.0f}" if value >= 10 else f"{value:.3g}"
