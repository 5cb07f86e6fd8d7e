"""What enters the predictor of a column: always, and with each neighbour.

The one place that knows the design of an edge and its degrees of freedom. An edge has one of a few
forms: a product of scores, a trend for each state, or a whole table of log-potentials. Columns to
adjust for are neighbours that are required, and always whole tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Form = Literal["product", "trend", "table"]
Scores = tuple[float, ...]

PRODUCT: Form = "product"
TREND: Form = "trend"
TABLE: Form = "table"
#: By size; a pair of columns has at most one of the first two.
FORMS: tuple[Form, ...] = (PRODUCT, TREND, TABLE)
#: What a probability is multiplied by where two forms compete: that of the smaller one, of a table.
#: The two looks at a pair then pass 1/1.25 + 1/1.5 < 1.5 times as often as one would.
LOOKS = (1.25, 1.5)


@cache
def zero_sum_basis(m: int) -> Array:
    """Orthonormal basis (m, m-1) of the vectors of length m that sum to zero.

    A table of effects is ``basis_r @ B @ basis_t.T``; its squared entries sum to those of B,
    so a ridge on B does not depend on how the states are coded.

    >>> zero_sum_basis(2).round(4).tolist()
    [[-0.7071], [0.7071]]
    """
    basis = np.zeros((m, max(m - 1, 0)))
    for k in range(1, m):
        basis[:k, k - 1] = -1.0
        basis[k, k - 1] = k
        basis[:, k - 1] /= np.sqrt(k * (k + 1))
    basis.setflags(write=False)
    return basis


def table_df(states: int, neighbour_states: int) -> int:
    """Free parameters of a whole table of log-potentials.

    >>> table_df(3, 4)
    6
    """
    return (states - 1) * (neighbour_states - 1)


def score_basis(scores: Sequence[float]) -> Array:
    """Orthonormal columns (m, k), each summing to zero, that scores span.

    Centred and scaled, so that neither their location nor their unit matters. A state whose score
    is NaN, such as a missing value, has a level of its own.

    >>> score_basis([18, 30, 42]).round(4).ravel().tolist()
    [-0.7071, 0.0, 0.7071]
    >>> score_basis([0, 1, np.nan]).shape
    (3, 2)
    """
    given = np.asarray(scores, dtype=np.float64)
    scored = np.isfinite(given)
    columns = []
    if scored.any():
        centred = np.where(scored, given - given[scored].mean(), 0.0)
        columns.append(centred / np.abs(centred).max(initial=1e-300))
    columns += [np.where(np.arange(len(given)) == b, 1.0, 0.0) for b in np.flatnonzero(~scored)]
    basis = np.empty((len(given), 0))
    for column in columns:
        left = column - column.mean()
        left = left - basis @ (basis.T @ left)
        if (length := np.linalg.norm(left)) > 1e-9:
            basis = np.column_stack([basis, left / length])
    return basis


@dataclass(frozen=True)
class Forms:
    """Which forms the edge between two columns may have, and the design of each.

    An edge is a combination of tables ``outer(a, b)``, with a of the score matrix of one column
    and b of that of the other. Between two ordered columns both matrices are the scores: a
    "product", one parameter. Between an ordered and an unordered one only one is: a "trend" for
    each state. A "table" may be anything.

    Parameters
    ----------
    n_states : tuple of int
        States of each column.
    scores : tuple
        Of each column the scores of its states, rising; None where they have no order. Two states
        need none: they are ordered here.
    edges : "auto", "table" or "scores"
        Whether forms compete, or an edge is always a whole table, or the smallest form there is.
    own : int, optional
        Columns from this one on are adjusted for, always by whole tables.

    Examples
    --------
    >>> forms = Forms((4, 3, 3), ((0, 1, 2, 3), (0, 1, 2), None))
    >>> forms.allowed(0, 1), forms.allowed(0, 2), forms.allowed(2, 2)
    (('product', 'table'), ('trend', 'table'), ('table',))
    >>> forms.df(0, 1, "product"), forms.df(0, 2, "trend"), forms.df(0, 1, "table")
    (1, 2, 6)
    """

    n_states: tuple[int, ...]
    scores: tuple[Scores | None, ...] = ()
    edges: str = "auto"
    own: int | None = None

    def allowed(self, r: int, t: int) -> tuple[Form, ...]:
        """Return the forms that an edge of column r to t may have, the smallest first."""
        small = PRODUCT if self._ordered(r) and self._ordered(t) else TREND
        if self.own is not None and max(r, t) >= self.own:
            return (TABLE,)
        if self.edges == "table" or not (self._ordered(r) or self._ordered(t)):
            return (TABLE,)
        if not 0 < self.df(r, t, small) < self.df(r, t, TABLE):
            return (TABLE,)
        return (small,) if self.edges == "scores" else (small, TABLE)

    def looks(self, r: int, t: int, form: Form) -> float:
        """Return what the probability of an edge in some form is multiplied by: for two looks.

        >>> Forms((4, 3, 3), ((0, 1, 2, 3), (0, 1, 2), None)).looks(0, 1, "product")
        1.25
        """
        return 1.0 if len(self.allowed(r, t)) == 1 else LOOKS[form == TABLE]

    def df(self, r: int, t: int, form: Form) -> int:
        """Return the free parameters of an edge of some form."""
        a, b = self.sides(r, t, form)
        return int(a.shape[1] * b.shape[1])

    def sides(self, r: int, t: int, form: Form) -> tuple[Array, Array]:
        """Return the score matrices of both columns, (m, k): orthonormal, summing to zero."""
        return self._basis(r, form), self._basis(t, form)

    def design(self, r: int, t: int, form: Form) -> Array | None:
        """Return the tables that an edge of column r to t is a combination of; None for any table.

        A (df, m_r, m_t) array: orthonormal tables, whose rows and columns sum to zero.
        """
        if form == TABLE:
            return None
        a, b = self.sides(r, t, form)
        tables: Array = np.einsum("xi,yj->ijxy", a, b).reshape(-1, len(a), len(b))
        return tables

    def scores_of(self, column: int) -> tuple[Array, int]:
        """Return the score matrix of a column in a smaller form, and how much is about answers.

        The last columns of the matrix are levels of states without a score, missing values.
        """
        matrix, scores = self._basis(column, PRODUCT), self._scores(column)
        unscored = 0 if scores is None else int(np.isnan(scores).sum())
        return matrix, matrix.shape[1] - min(unscored, matrix.shape[1] - 1)

    def _ordered(self, column: int) -> bool:
        return self.n_states[column] == 2 or self._scores(column) is not None

    def _scores(self, column: int) -> Scores | None:
        return self.scores[column] if self.scores else None

    def _basis(self, column: int, form: Form) -> Array:
        scores = None if form == TABLE else self._scores(column)
        return zero_sum_basis(self.n_states[column]) if scores is None else _score_basis(scores)


@cache
def _score_basis(scores: Scores) -> Array:
    basis = score_basis(scores)
    basis.setflags(write=False)
    return basis


def larger_form(one: Form, other: Form) -> Form:
    """The larger of two forms of one pair.

    >>> larger_form("product", "table")
    'table'
    """
    return max(one, other, key=FORMS.index)


@dataclass(frozen=True)
class Always:
    """What is in the predictor whatever the support; never a candidate, never dropped.

    It is optimised again in every gain, every removal and every refit.

    Parameters
    ----------
    level : bool
        Whether each state of the column has a free level, the intercept.
    """

    level: bool = True
