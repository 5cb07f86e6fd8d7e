"""What each row says of the parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.model.fit.layout import Layout, Pair
from isinglass.model.fit.pseudolikelihood import PseudoLikelihood
from isinglass.table import Table

Array = NDArray[np.float64]

#: Numbers in one block of rows' scores.
BLOCK = 4_000_000


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """What each row says of the parameters: the mean over the draws that fill its missing cells.

    Then the covariance is that of what is seen (Louis, "Finding the observed information matrix
    when using the EM algorithm", 1982), and it has the noise of the draws in it.
    """

    joint: PseudoLikelihood
    parameters: Array
    draws: int = 1

    @property
    def weights(self) -> Array:
        """Of the rows as they came."""
        weights = self.joint.table.weights
        return weights[: len(weights) // self.draws] * self.draws

    def scores(self, groups: NDArray[np.intp] | None) -> Iterator[tuple[NDArray[np.intp], Array]]:
        """Rows, and the slopes of each one's pseudo-log-likelihood; by groups if there are any."""
        n = len(self.weights)
        order = np.arange(n) if groups is None else np.argsort(groups, kind="stable")
        for at in self._blocks(order):
            alone = self.draws == 1
            yield at, self._slopes(at) if alone else self._by_draw(at, self._slopes).mean(axis=0)

    def moved(self) -> Array:
        """How slopes go with what the model draws by, within rows: a sum of covariances."""
        total = np.zeros((self.joint.layout.size,) * 2)
        for at in self._blocks(np.arange(len(self.weights))):
            slopes, drawn = (self._by_draw(at, kind) for kind in (self._slopes, self._sufficient))
            slopes = (slopes - slopes.mean(axis=0)) * self.weights[at][:, None]
            drawn = drawn - drawn.mean(axis=0)
            size = total.shape[0]
            total += slopes.reshape(-1, size).T @ drawn.reshape(-1, size)
        return total / (self.draws - 1)

    def _blocks(self, order: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
        step = max(1, BLOCK // max(self.joint.layout.size * self.draws, 1))
        return (order[start : start + step] for start in range(0, len(order), step))

    def _by_draw(self, at: NDArray[np.intp], kind: Callable[[NDArray[np.intp]], Array]) -> Array:
        """Numbers of each draw of some rows: (draws, rows, parameters)."""
        n = len(self.weights)
        return np.stack([kind(draw * n + at) for draw in range(self.draws)])

    def _slopes(self, rows: NDArray[np.intp]) -> Array:
        return row_scores(self.joint.layout, self.joint.table, self.parameters, rows)

    def _sufficient(self, rows: NDArray[np.intp]) -> Array:
        """What the log-potential of each row is a sum of, parameter by parameter."""
        layout, codes = self.joint.layout, self.joint.table.wide.codes[rows]
        own = [basis[codes[:, r]] for r, basis in enumerate(layout.bases)]
        found = np.zeros((len(rows), layout.size))
        for positions, numbers in zip(layout.fields, own, strict=True):
            found[:, positions] = numbers[:, : len(positions)]
        for (i, j), positions in layout.edges.items():
            if (i, j) in layout.designs:
                found[:, positions] = layout.designs[i, j][:, codes[:, i], codes[:, j]].T
                continue
            products = own[i][:, :, None] * own[j][:, None, :]
            found[:, positions.ravel()] = products.reshape(len(rows), -1)
        return found


def row_scores(layout: Layout, table: Table, parameters: Array, rows: NDArray[np.intp]) -> Array:
    """Slopes of the pseudo-log-likelihood of single rows, summed over all columns."""
    last = np.array(layout.n_states)[:, None] - 1
    given = np.ascontiguousarray(table.wide.codes[rows].T)
    seen, codes = given <= last, np.minimum(given, last)
    total = np.zeros((layout.size, len(rows)))  # a row of it is a parameter
    residuals = _residuals(layout, parameters, codes, seen)
    contrasts = [basis.T[:, own] for basis, own in zip(layout.bases, codes, strict=True)]
    for r, residual in residuals.items():
        if layout.intercept:
            total[layout.fields[r]] += residual
    for (i, j), positions in layout.edges.items():
        if not positions.size:
            continue
        if (i, j) in layout.designs:
            total[positions] = _slopes_by_design(layout, (i, j), codes, residuals)
            continue
        of_edge = total[positions[0, 0] : positions[-1, -1] + 1].reshape(*positions.shape, -1)
        if j in residuals:  # else it is adjusted for, and not explained
            of_edge += contrasts[i][:, None] * residuals[j]
        of_edge += residuals[i][:, None] * contrasts[j]
    return total.T


def _slopes_by_design(
    layout: Layout, pair: Pair, codes: NDArray[Any], residuals: Mapping[int, Array]
) -> Array:
    """The same for one edge that is a combination of tables: (tables, rows)."""
    (i, j), tables = pair, layout.designs[pair]
    by_source, by_target = layout.bases[i].T @ tables, tables @ layout.bases[j]
    slopes: Array = np.einsum("kar,ar->kr", by_source[:, :, codes[j]], residuals[i])
    slopes += np.einsum("krb,br->kr", by_target[:, codes[i]], residuals[j])
    return slopes


def _residuals(
    layout: Layout, parameters: Array, codes: NDArray[Any], seen: NDArray[np.bool_]
) -> dict[int, Array]:
    """What each column that varies is, less what its neighbours say of it: contrasts by rows.

    Zero where the column or a neighbour is not seen.
    """
    intercepts, couplings = layout.intercepts(parameters), layout.couplings(parameters)
    residuals = {}
    for r, m in enumerate(layout.n_states[: layout.own]):
        if m == 1:
            continue
        scores = np.repeat(intercepts[r][:, None], codes.shape[1], axis=1)
        for t in layout.neighbours[r]:
            effects = couplings[r, t] if r < t else couplings[t, r].T
            scores += effects[:, codes[t]]
        probability = np.exp(scores - scores.max(axis=0))
        probability /= probability.sum(axis=0)
        own = layout.bases[r].T
        counts = seen[[r, *layout.neighbours[r]]].all(axis=0)
        residuals[r] = (own[:, codes[r]] - own @ probability) * counts
    return residuals
