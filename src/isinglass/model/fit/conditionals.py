"""One column given its neighbours: a softmax regression on the cells that its rows fall into.

The pairwise counts say all that the rows say of the coefficients; beside them a conditional keeps
the combinations of its neighbours' states that occur, and how many rows each has. The rest is made
in blocks of cells when it is needed, or kept where memory allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.model.fit.layout import Layout, Positions
from isinglass.table import Table

Array = NDArray[np.float64]

#: Numbers in one block of cells.
BLOCK = 2_000_000


@dataclass(frozen=True, eq=False)
class Look:
    """A conditional at some coefficients: its loss, its slope, and the probabilities there."""

    value: float
    gradient: Array
    tables: Array
    probabilities: tuple[Array, ...] | None


@dataclass(frozen=True, eq=False)
class Conditional:
    """One column given its neighbours; its k features are a one for the field, then contrasts."""

    codes: NDArray[np.integer[Any]]  # (cells, neighbours): combinations of states that occur
    rows: Array  # (cells,): the share of all rows in each
    observed: Array  # (k, m - 1): mean over rows of features times contrasts of the own state
    shares: Array  # (m,): the share of all rows with each state of the column
    positions: Positions  # (k, m - 1): which of all parameters the coefficients are
    bases: tuple[Array, ...]  # the contrasts of each neighbour, (m_t, m_t - 1)
    basis: Array  # those of the column
    intercept: bool
    kept: bool = False  # whether the design and the probabilities stay in memory

    @property
    def bytes_kept(self) -> int:
        """What the design and the probabilities take."""
        return 8 * len(self.rows) * (len(self.positions) + len(self.basis))

    def keep(self) -> Conditional:
        """The same, with its design and probabilities kept."""
        return replace(self, kept=True)

    def look(self, parameters: Array) -> Look:
        """Loss and slope, and what products with the curvature need."""
        coefficients = parameters[self.positions]
        tables = coefficients @ self.basis.T
        value = -float(np.sum(self.observed * coefficients))
        expected = np.zeros(tables.shape)
        found = []
        for at, design in self._blocks():
            probability, log_total = _softmax(design @ tables)
            value += float(self.rows[at] @ log_total)
            expected += design.T @ (self.rows[at, None] * probability)
            if self.kept:
                found.append(probability)
        gradient = expected @ self.basis - self.observed
        return Look(value, gradient, tables, tuple(found) if self.kept else None)

    def product(self, look: Look, direction: Array) -> Array:
        """The curvature times a direction over all parameters, (k, m - 1)."""
        moved = direction[self.positions] @ self.basis.T
        out = np.zeros(moved.shape)
        for at, design, probability in self._looked(look):
            shift = design @ moved
            shift -= np.einsum("sa,sa->s", probability, shift)[:, None]
            shift *= probability
            shift *= self.rows[at, None]
            out += design.T @ shift
        return out @ self.basis

    def hessian(self, look: Look) -> Array:
        """The whole curvature over the flattened coefficients."""
        k, q = self.positions.shape
        hessian = np.zeros((k, q, k, q))
        for at, design, probability in self._looked(look):
            weights = self._curvature(self.rows[at], probability)
            for a in range(q):
                for b in range(a + 1):
                    hessian[:, a, :, b] += (design * weights[:, a, b, None]).T @ design
        for a in range(q):
            for b in range(a):
                hessian[:, b, :, a] = hessian[:, a, :, b]
        return hessian.reshape(k * q, k * q)

    def _curvature(self, rows: Array, probability: Array) -> Array:
        """The curvature of each cell between the column's contrasts."""
        curvature = -probability[:, :, None] * probability[:, None, :]
        at = np.arange(probability.shape[1])
        curvature[:, at, at] += probability
        return rows[:, None, None] * (self.basis.T @ curvature @ self.basis)

    def spreads(self, look: Look) -> Iterator[tuple[slice, Array]]:
        """Blocks of cells, and rows times p(1 - p) of each state there."""
        for at, _, probability in self._looked(look):
            yield at, self.rows[at, None] * probability * (1.0 - probability)

    def indicators(self, at: slice) -> Array:
        """A one, and a one for the state of each neighbour, in some cells."""
        ends = np.cumsum([1, *map(len, self.bases)])
        features = np.zeros((at.stop - at.start, ends[-1]))
        features[:, 0] = 1.0
        np.put_along_axis(features, ends[:-1] + self.codes[at], 1.0, axis=1)
        return features

    def _looked(self, look: Look) -> Iterator[tuple[slice, Array, Array]]:
        for number, (at, design) in enumerate(self._blocks()):
            if look.probabilities is not None:
                yield at, design, look.probabilities[number]
            else:
                yield at, design, _softmax(design @ look.tables)[0]

    def _blocks(self) -> Iterator[tuple[slice, Array]]:
        yield from self._kept_blocks if self.kept else self._made_blocks()

    @cached_property
    def _kept_blocks(self) -> list[tuple[slice, Array]]:
        return list(self._made_blocks())

    def _made_blocks(self) -> Iterator[tuple[slice, Array]]:
        k, m = self.positions.shape[0], len(self.basis)
        step = max(1, BLOCK // (k + m * m))
        for start in range(0, len(self.rows), step):
            at = slice(start, min(start + step, len(self.rows)))
            yield at, self._design(at)

    def _design(self, at: slice) -> Array:
        parts = [np.ones((at.stop - at.start, int(self.intercept)))]
        parts += [basis[self.codes[at, t]] for t, basis in enumerate(self.bases)]
        return np.hstack(parts)


def _softmax(scores: Array) -> tuple[Array, Array]:
    """Probabilities of each row's states, and the logarithm of what they were divided by."""
    top = scores.max(axis=1, keepdims=True)
    probability = np.exp(scores - top)
    total = probability.sum(axis=1, keepdims=True)
    probability /= total
    return probability, (top + np.log(total))[:, 0]


def conditional_of(layout: Layout, table: Table, r: int) -> Conditional:
    """Column r given its neighbours in a layout, on the rows where all of them are seen."""
    columns = [r, *layout.neighbours[r]]
    codes, weights = rows_that_count(layout, table, columns)
    m, weights = layout.n_states[r], weights / table.n
    others = {t: positions for t, positions in layout.neighbours[r].items() if positions.size}
    codes = codes[:, [columns.index(v) for v in (r, *others)]]  # a constant one says nothing
    cell, cells = cells_of(codes[:, 1:], [layout.n_states[t] for t in others])
    own = layout.bases[r]
    shares = _sums(codes[:, 0], weights, m)
    observed = [shares @ own] if layout.intercept else []
    for at, t in enumerate(others, start=1):
        pair = codes[:, at].astype(np.intp) * m + codes[:, 0]
        pairs = _sums(pair, weights, layout.n_states[t] * m).reshape(-1, m)
        observed.append(layout.bases[t].T @ pairs @ own)
    positions = [layout.fields[r].reshape(-1, m - 1), *others.values()]
    return Conditional(
        cells,
        _sums(cell, weights, len(cells)),
        np.vstack([np.empty((0, m - 1)), *observed]),
        shares,
        np.vstack(positions),
        tuple(layout.bases[t] for t in others),
        own,
        layout.intercept,
    )


def _sums(number: NDArray[np.integer[Any]], weights: Array, count: int) -> Array:
    return np.bincount(number, weights, minlength=count).astype(np.float64)


def rows_that_count(
    layout: Layout, table: Table, columns: Sequence[int]
) -> tuple[NDArray[np.integer[Any]], Array]:
    """Codes of some columns, and weights, of the rows where all of them are seen."""
    codes = table.codes[:, list(columns)]
    if not table.available:
        return codes, table.weights
    seen = (codes < np.array([layout.n_states[v] for v in columns])).all(axis=1)
    return codes[seen], table.weights[seen]


def cells_of(
    codes: NDArray[np.integer[Any]], n_states: Sequence[int]
) -> tuple[Positions, NDArray[np.integer[Any]]]:
    """The cell of each row, and the combination of states that each cell stands for.

    >>> cell, cells = cells_of(np.array([[0, 2], [1, 0], [0, 2]]), [2, 3])
    >>> cell.tolist(), cells.tolist()
    ([0, 1, 0], [[0, 2], [1, 0]])
    """
    cell = np.zeros(len(codes), dtype=np.intp)
    first = np.zeros(min(len(codes), 1), dtype=np.intp)  # a row of each cell
    for at, m in enumerate(n_states):
        key = cell * m + codes[:, at]
        if len(first) * m <= 4 * len(codes):
            occurs = np.bincount(key, minlength=len(first) * m) > 0
            cell = (np.cumsum(occurs) - 1)[key]
        else:
            cell = np.unique(key, return_inverse=True)[1]
        first = np.zeros(int(cell.max(initial=-1)) + 1, dtype=np.intp)
        first[cell] = np.arange(len(cell))
    return cell, codes[first]
