"""The theorem on an instance: a model and its rows, a fitted graph, or a regression."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.engine import Progress, Runs, learn_neighbourhoods, pairs_at
from isinglass.engine.readable import node_loss
from isinglass.errors import SettingError
from isinglass.estimators import GreedyGraph
from isinglass.losses.forms import table_df
from isinglass.losses.linear import LinearLoss
from isinglass.losses.protocol import Block
from isinglass.model import MarkovField
from isinglass.parameters import checked
from isinglass.selection import FalseCoefficients, FalseEdges
from isinglass.solvers.blocks import Blocks
from isinglass.solvers.foba import blocks_of, named_groups
from isinglass.table import Table
from isinglass.theorem.column import column_theory
from isinglass.theorem.conditions import Asked
from isinglass.theorem.curvature import column_instance, contrasts, loss_instance
from isinglass.theorem.noise import draw, largest_slopes, noise_level, signed_slopes
from isinglass.theorem.results import ColumnTheory, Conclusions, LinkTheory, Theory
from isinglass.theorem.source import Source, table_of
from isinglass.theorem.working import by_either_end, last_gain, rows_to_find, smallest_margin

Array = NDArray[np.float64]
Pair = tuple[int, int]

#: The threshold of the search whose needs are told: the default one.
RULE = FalseEdges(0.05)


@checked
def theory(
    model: GreedyGraph | MarkovField | LinearLoss,
    X: Any = None,
    *,
    coef: ArrayLike | None = None,
    groups: Sequence[Iterable[int]] | ArrayLike | None = None,
    rows: int | None = None,
    further: int = 1,
    draws: int = 100,
    population: int = 50_000,
    seed: int = 0,
    progress: Progress | None = None,
) -> Theory:
    """Say what the paper's theorem asks for on an instance, and what the search itself needs.

    Parameters
    ----------
    model : GreedyGraph, MarkovField or a loss of `isinglass.losses`
        A fitted graph, whose table and ``model_`` are taken; a model that is the truth of a
        simulation; or the loss of a regression.
    X : array or data frame, optional
        With a MarkovField: a table drawn from it. Curvatures are then those of its rows, and
        the theorem's conclusions are checked on it.
    coef : array, optional
        With a loss: the coefficients, (p,) or (p, q), zero outside the support.
    groups : optional
        With a loss: coordinates that enter together, as in `foba`.
    rows : int, optional
        With a MarkovField and no table: how many rows there are to be.
    further : int
        Columns beyond the support for which extreme eigenvalues are listed.
    draws : int
        Tables drawn for the noise level.
    population : int
        Rows of the large draw that the working numbers come from.
    seed : int
        Of all draws.
    progress : function of (steps done, steps in all), optional

    Returns
    -------
    Theory

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(4), coupling=0.5, seed=0)
    >>> result = ig.theory(field, rows=500, draws=20, population=5000)
    >>> result.rows_asked > 1000 * result.rows_sufficient
    True
    >>> print(result.sentences[2])
    A search on 5,000 rows drawn from the model returns its graph; the best true candidate ...
    """
    if isinstance(model, LinearLoss):
        if X is not None or rows is not None:
            raise SettingError("a loss has its rows; leave out X and rows.")
        return _of_loss(model, coef, groups, further=further, draws=draws, seed=seed)
    if coef is not None or groups is not None:
        raise SettingError("coef and groups are for the loss of a regression; leave them out.")
    if isinstance(model, MarkovField):
        source = Source.of_truth(model, X, rows)
    elif isinstance(model, GreedyGraph):
        if X is not None or rows is not None:
            raise SettingError("a fitted GreedyGraph has its table; leave out X and rows.")
        source = Source.of_fit(model)
    else:
        raise SettingError(
            "theory needs a fitted GreedyGraph, a MarkovField or a loss of isinglass.losses, not a "
            f"{type(model).__name__}."
        )
    return _Work(source, further, draws, population, seed, progress).result()


@dataclass(frozen=True, eq=False)
class _Work:
    """One call of `theory` for a model."""

    source: Source
    further: int
    draws: int
    population: int
    seed: int
    progress: Progress | None

    def result(self) -> Theory:
        source, field = self.source, self.source.field
        columns, needs, gains = [], [], dict[Pair, float]()
        for r in self._varying:
            column, need = self._column(r)
            columns.append(column)
            needs.append((r, column, need))
            gains |= self._gains(r)
            self._report(self.draws + r + 1)
        pairs = pairs_at(self._searched, self._threshold, "or")
        return Theory(
            tuple(columns),
            _links(field, by_either_end(gains)),
            source.n,
            self.population,
            pairs == frozenset(field.couplings),
            self._conclusions(needs) if source.truth else None,
            source.library,
        )

    @property
    def _varying(self) -> list[int]:
        return [r for r, m in enumerate(self.source.field.n_states) if m > 1]

    @cached_property
    def _large(self) -> Table:
        field = self.source.field
        return table_of(field, draw(field, self.population, self.seed, 0))

    @cached_property
    def _threshold(self) -> float:
        return RULE.threshold(self._large.n, len(self.source.field.names))

    @cached_property
    def _searched(self) -> Runs:
        return learn_neighbourhoods(self._large, self._threshold, intercept=self.source.intercept)

    @cached_property
    def _noise(self) -> Array:
        source = self.source
        return noise_level(
            largest_slopes(
                source.noisy,
                source.n,
                self.draws,
                self.seed,
                intercept=source.intercept,
                progress=lambda done, _: self._report(done),
            )
        )

    @cached_property
    def _rows(self) -> Table:
        return self._large if self.source.table is None else self.source.table

    @cached_property
    def _design(self) -> tuple[Array, tuple[Block, ...]]:
        return contrasts(self._rows.codes, self.source.field.n_states)

    def _tables(self, r: int) -> dict[int, Array]:
        return {t: table.T for t, table in self.source.field.tables_of(r).items()}

    def _blocks(self, r: int) -> Blocks:
        loss = node_loss(self._large, r, intercept=self.source.intercept)
        return Blocks(loss, {t: (t,) for t in loss.candidates}, standardise=False)

    def _column(self, r: int) -> tuple[ColumnTheory, Asked]:
        source, tables = self.source, self._tables(r)
        noise = float(self._noise[r])
        instance = column_instance(
            self._rows.codes,
            self._rows.weights,
            source.field.n_states,
            r,
            tables,
            intercept=source.intercept,
            prepared=self._design,
        )
        margin = smallest_margin(self._blocks(r), self._searched.path(r), tuple(tables))
        name = source.field.names[r]
        return column_theory(
            name, instance, noise=noise, n=source.n, further=self.further, margin=margin
        )

    def _gains(self, r: int) -> dict[Pair, float]:
        tables, blocks = self._tables(r), self._blocks(r)
        return {(r, t): last_gain(blocks, tuple(tables), t) for t in tables}

    def _conclusions(self, needs: Sequence[tuple[int, ColumnTheory, Asked]]) -> Conclusions:
        """What the default search does on the table, beside what the theorem concludes."""
        n, p = self._rows.n, len(self.source.field.names)
        threshold = RULE.threshold(n, p)
        runs = learn_neighbourhoods(self._rows, threshold, intercept=self.source.intercept)
        missed = wrong = far = held = 0
        for r, column, need in needs:
            true, found = self._tables(r), runs.path(r).final.coef
            missed += bool(true.keys() - found.keys())
            wrong += bool(found.keys() - true.keys())
            bound = need.error_at(threshold, len(true.keys() - found.keys()), column.noise)
            far += distance(true, found) > bound
            held += need.holds_at(threshold, column.smallest, column.neighbours, column.noise)
        return Conclusions(len(needs), missed, wrong, far, held)

    def _report(self, done: int) -> None:
        if self.progress is not None:
            self.progress(done, self.draws + len(self.source.field.names))


def distance(one: Mapping[int, Array], other: Mapping[int, Array]) -> float:
    """The distance of two sets of tables, zero where there is none."""
    squares = [np.sum((one.get(t, 0.0) - other.get(t, 0.0)) ** 2) for t in one.keys() | other]
    return float(np.sqrt(np.sum(squares)))


def _links(field: MarkovField, gains: Mapping[Pair, float]) -> tuple[LinkTheory, ...]:
    needed = 2 * RULE.threshold(1.0, len(field.names))
    links = []
    for (i, j), gain in sorted(gains.items()):
        table = field.couplings[i, j]
        rows = rows_to_find(gain, table_df(*table.shape), needed)
        size = float(np.linalg.norm(table))
        links.append(LinkTheory(field.names[i], field.names[j], size, gain, rows))
    return tuple(links)


def _of_loss(
    loss: LinearLoss, coef: ArrayLike | None, groups: Any, *, further: int, draws: int, seed: int
) -> Theory:
    if coef is None:
        raise SettingError("a loss needs coef, its coefficients: the truth, or an estimate.")
    values = np.asarray(coef, dtype=np.float64)
    if values.size != loss.size * loss.width or not np.isfinite(values).all():
        raise SettingError(
            f"coef must be {loss.size * loss.width} finite numbers; got shape {values.shape}."
        )
    members = named_groups(groups, loss.size)
    instance = loss_instance(loss, values, list(members.values()))
    noise = float(noise_level(signed_slopes(instance, draws, seed)))
    blocks = blocks_of(loss, members, likelihood=True)
    needed = 2 * FalseCoefficients(0.05).threshold(1.0, len(members))
    links = []
    for at in instance.support:
        gain = last_gain(blocks, instance.support, at)
        found = rows_to_find(gain, loss.df(members[at]), needed)
        links.append(LinkTheory("y", f"x{at}", float(instance.sizes[at]), gain, found))
    no_path = float("inf")
    column, _ = column_theory("y", instance, noise=noise, n=loss.n, further=further, margin=no_path)
    return Theory((column,), tuple(links), loss.n, regression=True)
