"""Which penalty: by rate, by EBIC, by cross-validation, or a number.

The penalty of an edge is lambda times the size of its coupling: |theta| on the -1/+1 scale for
two columns of two states. For more states the size is the root mean square of the edge's table of
log-potentials in the zero-sum gauge, times the root of its number of parameters; for two states
that is |theta| again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from isinglass.errors import Setting, SettingError
from isinglass.estimators.folds import held_out_weights, with_weights
from isinglass.parameters import CheckedFields
from isinglass.rivals.paths import Array, L1Paths
from isinglass.selection.ebic import extended_bic
from isinglass.selection.rules import Checked
from isinglass.table import Table

#: Penalties of a path that are solved for at a time, where few may do.
FEW = 5

Learn = Callable[[Table, Array], L1Paths]
"""Learns the paths of a table at penalties that fall."""


@runtime_checkable
class Penalty(Protocol):
    """A way to choose the penalty."""

    def value(self, n: float, p: int) -> float | None:
        """Return the penalty for n rows and p columns, or None if it depends on the data."""
        return None

    def choose(self, paths: L1Paths, table: Table, learn: Learn) -> NDArray[np.intp]:
        """Return for each column the number of the penalty on the path that it takes."""
        return np.full(len(paths), paths.lambdas.tolist().index(self.value(table.n, len(paths))))


@dataclass(frozen=True, repr=False)
class FixedPenalty(CheckedFields, Penalty):
    """One number, whatever the table.

    >>> FixedPenalty(0.1)
    FixedPenalty(0.1)
    """

    penalty: float

    def value(self, n: float, p: int) -> float:
        return float(self.penalty)

    def __repr__(self) -> str:
        return f"FixedPenalty({self.penalty:g})"


@dataclass(frozen=True, repr=False)
class Rate(Checked, Penalty):
    """c sqrt(log(p) / n), the rate of Ravikumar, Wainwright and Lafferty (2010).

    >>> Rate(0.5)
    Rate(c=0.5): lambda = 0.5 sqrt(log(p)/n)
    >>> round(Rate(1.0).value(n=1000, p=64), 4)
    0.0645
    """

    c: float = 1.0
    words = "lambda = {c:g} sqrt(log(p)/n)"

    def value(self, n: float, p: int) -> float:
        return self.c * float(np.sqrt(np.log(max(p, 2)) / n))


@dataclass(frozen=True, repr=False)
class EBIC(Checked, Penalty):
    """Each column the penalty of its own that makes the extended BIC smallest, as IsingFit does.

    For a column with k neighbours that hold f parameters and a mean loss l,
    EBIC = 2 n l + f log(n) + 2 gamma k log(p - 1)  (Chen and Chen 2008; Foygel Barber and Drton
    2015; van Borkulo et al. 2014). The loss is that of the penalised fit. Of equal values the
    largest penalty wins.

    >>> EBIC()
    EBIC(gamma=0.25): the smallest 2nl + f log(n) + 0.5 k log(p-1) of each column
    """

    gamma: float = 0.25

    def choose(self, paths: L1Paths, table: Table, learn: Learn) -> NDArray[np.intp]:
        return np.asarray(np.argmin(self.values(paths, table.n), axis=1))

    def first_piece(self, table: Table, intercept: bool, whole: int) -> int:
        """How much of a path to solve for at first: one, a few, or all of its penalties.

        A loss is never negative, so the criterion of a fit is at least what its parameters cost.
        If one edge costs more than it could gain, none can be chosen; if all edges of every column
        would, the path may end early.
        """
        free = np.asarray(table.n_states) - 1.0
        varying = np.flatnonzero(free > 0)
        none = all_edges = True
        for r in varying:
            others = free[varying[varying != r]]
            most = 2 * table.n * loss_alone(table, int(r), intercept)
            costs = extended_bic(0.0, free[r] * others, 1, n=table.n, p=len(free), gamma=self.gamma)
            none &= bool(costs.min(initial=np.inf) >= most)
            all_edges &= bool(costs.sum() > most)
        return 1 if none else min(FEW, whole) if all_edges else whole

    def has_chosen(self, paths: L1Paths, n: float, refitted: Array) -> bool:
        """Whether no column can choose anything in the rest of the path, as far as edges stay in.

        With the edges of the last penalty the loss is at least `refitted`, that of the fit without
        penalty; with one edge more it is at least zero.
        """
        values = self.values(paths, n)
        best = values.min(axis=1)
        cost = values[:, -1] - 2 * n * paths.losses[:, -1]
        free = np.asarray(paths.n_states) - 1.0
        varying = np.flatnonzero(free > 0)
        cheapest = free * free[varying].min(initial=np.inf)
        another = extended_bic(0.0, cheapest, 1, n=n, p=len(paths), gamma=self.gamma)
        over = (2 * n * refitted + cost >= best) & (cost + another >= best)
        return bool(over[varying].all())

    def values(self, paths: L1Paths, n: float) -> Array:
        """Return the criterion of each column at each penalty, (p, k)."""
        counts = paths.parameter_counts(), paths.edge_counts()
        return extended_bic(paths.losses, *counts, n=n, p=len(paths), gamma=self.gamma)

    @property
    def words(self) -> str:
        """The rule, in words."""
        return f"the smallest 2nl + f log(n) + {2 * self.gamma:g} k log(p-1) of each column"


def loss_alone(table: Table, r: int, intercept: bool) -> float:
    """Return the mean loss of a column without neighbours: its entropy, if it has a field.

    >>> from isinglass.table import encode
    >>> round(loss_alone(encode([[0], [1]]), 0, True), 4)
    0.6931
    """
    m = table.n_states[r]
    if not intercept:
        return float(np.log(m))
    shares = np.bincount(table.codes[:, r], table.weights, minlength=m) / table.weights.sum()
    return float(entr(shares).sum())


@dataclass(frozen=True, repr=False)
class CrossValidated(Checked, Penalty):
    """The one constant c that predicts held-out rows best, with lambda = c sqrt(log(p) / n).

    Rows are dealt to folds at random, each copy of a row by itself. For every c on the path the
    loss of the held-out rows under the penalised fits is summed over columns and folds.

    >>> CrossValidated()
    CrossValidated(folds=5, seed=0): the constant that predicts held-out rows best
    """

    folds: int = 5
    seed: int = 0
    words = "the constant that predicts held-out rows best"

    def choose(self, paths: L1Paths, table: Table, learn: Learn) -> NDArray[np.intp]:
        return np.full(len(paths), np.argmin(self.losses(paths, table, learn)))

    def losses(self, paths: L1Paths, table: Table, learn: Learn) -> Array:
        """Return the mean held-out loss, summed over columns, at each penalty."""
        total = np.zeros(len(paths.lambdas))
        for held in held_out_weights(table.weights, self.folds, self.seed).T:
            kept = table.weights - held
            train, test = with_weights(table, kept), with_weights(table, held)
            # The same constant stands for a larger penalty where there are fewer rows.
            smaller = learn(train, paths.lambdas * np.sqrt(table.n / train.n))
            total += [float(held_out_losses(smaller, k, test).sum()) for k in range(len(total))]
        return total / table.n


def held_out_losses(paths: L1Paths, k: int, rows: Table) -> Array:
    """Sum over rows of each column's loss under the fits at the k-th penalty."""
    first = np.concatenate([[0], np.cumsum(paths.n_states)])
    onehot = np.zeros((len(rows.codes), first[-1]))
    states = rows.codes.astype(np.intp) + first[:-1]
    np.put_along_axis(onehot, states, 1.0, axis=1)
    potentials, fields = np.zeros((first[-1], first[-1])), np.zeros(first[-1])
    for r in range(len(paths)):
        own = slice(first[r], first[r + 1])
        fields[own], tables = paths.fit(r, k)
        for t, table in tables.items():
            potentials[first[t] : first[t + 1], own] = table.T
    scores = onehot @ potentials + fields
    totals = np.logaddexp.reduceat(scores, first[:-1], axis=1)
    losses = totals - np.take_along_axis(scores, states, axis=1)
    return np.asarray(rows.weights @ losses)


def read_penalty(penalty: float | str | Penalty) -> Penalty:
    """Read a penalty in any of its forms: a number, an object of this module, or its name.

    >>> read_penalty("rate:0.3")
    Rate(c=0.3): lambda = 0.3 sqrt(log(p)/n)
    >>> read_penalty("cv"), read_penalty(0.02)
    (CrossValidated(folds=5, seed=0): the constant that predicts held-out rows best,
     FixedPenalty(0.02))
    """
    if isinstance(penalty, Penalty):
        return penalty
    if not isinstance(penalty, str):
        return FixedPenalty(penalty)
    name, _, argument = penalty.strip().lower().partition(":")
    rules: dict[str, Callable[..., Penalty]] = {"ebic": EBIC, "rate": Rate, "cv": CrossValidated}
    try:
        if name not in rules:
            return FixedPenalty(float(penalty))
        number = int if name == "cv" else float
        return rules[name](number(argument)) if argument else rules[name]()
    except ValueError as error:
        if isinstance(error, SettingError):
            raise
        raise SettingError(
            Setting("penalty"),
            " must be a positive number, 'ebic', 'ebic:0.5', 'cv', 'rate', 'rate:0.3' "
            f"or an object of isinglass.rivals.penalties, not {penalty!r}.",
        ) from None
