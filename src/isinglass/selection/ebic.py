"""The extended BIC of every graph of a run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.selection.choice import Look, Selection, at_floor, curve_of
from isinglass.selection.rules import LEAST, Checked
from isinglass.solvers.cuts import Cuts

Array = NDArray[np.float64]
#: The search runs to this share of the gain at which an edge of one parameter pays its price.
SHARE = 0.5


def extended_bic(
    loss: ArrayLike, parameters: ArrayLike, neighbours: ArrayLike, *, n: float, p: int, gamma: float
) -> Array:
    """2 n loss + parameters log(n) + 2 gamma neighbours log(p - 1), of one of p columns.

    >>> float(extended_bic(0.5, 1, 1, n=1, p=2, gamma=0.25))
    1.0
    """
    prior = 2 * gamma * np.log(max(p - 1, 1))
    return np.asarray(
        2 * n * np.asarray(loss)
        + np.asarray(parameters) * np.log(n)
        + np.asarray(neighbours) * prior
    )


@dataclass(frozen=True, repr=False)
class EBIC(Checked):
    """The one threshold at which the extended BIC, summed over columns, is smallest.

    A column whose search leaves it k neighbours with f parameters and a mean loss l has
    2 n l + f log(n) + 2 gamma k log(p - 1) (Chen and Chen 2008; for neighbourhoods Foygel Barber
    and Drton 2015). All graphs of one run are compared, down to half the gain at which an edge of
    one parameter pays its price. Losses are those of the column's own search, whichever rule joins
    the graph. Of equal values the largest threshold wins.

    It promises the right graph only as n grows, for graphs that stay sparse. On the chains, grids
    and stars of the paper, of 64 columns, gamma of 0.5 and less was far too generous and admitted
    false edges. Gamma does not say how many to expect; `FalseEdges` does.

    >>> EBIC(0.5)
    EBIC(gamma=0.5): the smallest 2nl + f log(n) + 1 k log(p-1), summed over columns
    """

    gamma: float = 0.25

    def floor(self, n: float, p: int) -> float:
        """Return a share of the gain at which an edge of one parameter pays its price."""
        price = extended_bic(0.0, 1, 1, n=max(n, 2.0), p=p, gamma=self.gamma)
        return max(float(SHARE * price / (2 * n)), LEAST)

    def select(self, look: Look) -> Selection:
        """Compare all graphs of the run."""
        thresholds = look.thresholds
        values = np.zeros(len(thresholds))
        for cuts in look.cuts:
            values += self._of_column(cuts, look.table.n, len(look.cuts))[cuts.at(thresholds)]
        best = int(np.argmax(values <= values.min() + 1e-9 * np.abs(values).max()))
        edges = look.edge_counts(thresholds)
        return Selection(
            repr(self),
            float(thresholds[best]),
            curve_of(thresholds, edges, ebic=values),
            f"of the {len(thresholds)} graphs of the run, the one with {edges[best]} edges has "
            f"the smallest EBIC, {values[best]:.6g}.{at_floor(best, thresholds)}",
            "ebic",
        )

    def _of_column(self, cuts: Cuts, n: float, p: int) -> Array:
        """EBIC of each fit of a column."""
        loss = np.array([fit.loss for fit in cuts.fits])
        parameters = np.array([sum(fit.df.values()) for fit in cuts.fits])
        neighbours = np.array([len(support) for support in cuts.supports])
        return extended_bic(loss, parameters, neighbours, n=n, p=p, gamma=self.gamma)

    @property
    def words(self) -> str:
        """The rule, in words."""
        return f"the smallest 2nl + f log(n) + {2 * self.gamma:g} k log(p-1), summed over columns"
