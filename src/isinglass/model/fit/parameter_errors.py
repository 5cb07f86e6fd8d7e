"""How sure the parameters of a model are: their covariance, and what follows from it.

All of it holds given the graph: it says how far a coupling would move on other rows if the same
edges were fitted, not whether the edges are the right ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, ndtri

from isinglass.errors import SettingError
from isinglass.frames import by_column, frame
from isinglass.graph import position_of
from isinglass.losses.steps import Ends, per_step
from isinglass.model.codings import table_against
from isinglass.model.fit.layout import Layout, Pair
from isinglass.parameters import check

if TYPE_CHECKING:
    from isinglass.model.field import MarkovField

Array = NDArray[np.float64]

#: What errors of parameters take for granted.
CONDITION = "given this graph"


@dataclass(frozen=True)
class WaldTest:
    """Is the whole table of an edge zero?

    Attributes
    ----------
    statistic : float
        A chi-square under no link, in the model on this graph.
    df : int
    p_value : float
    condition : str
        What the test takes for granted.
    """

    statistic: float
    df: int
    p_value: float
    condition: str = CONDITION


@dataclass(frozen=True, eq=False, repr=False)
class ParameterErrors:
    """The covariance of a model's parameters, given its graph; `with_errors` computes it.

    Attributes
    ----------
    layout : Layout
        Which parameter stands where.
    spread : array (size, size), or callable
        The covariance, zero in directions that the rows leave open; or what computes it when it is
        first asked for: to draw parameters, to save the model, to copy it.
    unbounded : frozenset of (i, j)
        Edges without an error: the rows set no bound to them.
    units : float
        Rows, or clusters, that the covariance is computed from.
    clustered : bool
    chose_graph : bool
        Whether the same rows chose the graph. Then intervals are too narrow and there are no
        p-values: the strongest of many accidental links were picked.
    """

    layout: Layout
    spread: Array | Callable[[], Array]  # the covariance, or what computes it
    unbounded: frozenset[Pair]
    units: float
    clustered: bool = False
    chose_graph: bool = True

    @property
    def covariance(self) -> Array:
        """Of all parameters, zero in directions that the rows leave open."""
        if callable(self.spread):  # which keeps the table
            self.__dict__["spread"] = self.spread()
        assert not callable(self.spread)
        return self.spread

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"spread": self.covariance}

    def of_log_odds(self, ends: tuple[int, int], against: tuple[int, int]) -> Array | None:
        """Standard errors of an edge's log odds ratios against two states; None if unbounded."""
        i, j = ends
        if i > j:
            error = self.of_log_odds((j, i), against[::-1])
            return None if error is None else error.T
        if (i, j) in self.unbounded:
            return None
        tables = self.layout.tables((i, j))
        ratios = np.array([table_against(table, *against) for table in tables])
        shape = tables.shape[1:]
        return self._errors_of((i, j), ratios.reshape(len(tables), -1).T).reshape(shape)

    def of_steps(self, pair: Pair, scores: Ends, form: str) -> Array | None:
        """Standard errors of an edge's numbers per step; None if it is unbounded."""
        if pair in self.unbounded:
            return None
        numbers = per_step(self.layout.tables(pair), scores, form)  # of each table of the design
        error = self._errors_of(pair, numbers.reshape(len(numbers), -1).T)
        return error.reshape(numbers.shape[1:])

    def _errors_of(self, pair: Pair, combinations: Array) -> Array:
        """Standard errors of some linear combinations, in rows, of an edge's parameters."""
        positions = self.layout.edges[pair].ravel()
        block = self.covariance[np.ix_(positions, positions)]
        variance: Array = np.einsum("ab,bc,ac->a", combinations, block, combinations)
        return np.sqrt(np.maximum(variance, 0.0))

    def wald(self, field: MarkovField, a: str, b: str) -> WaldTest:
        """Test whether the table of an edge is zero; an error for unbounded edges."""
        i, j = sorted(position_of(name, field.names) for name in (a, b))
        if self.chose_graph:
            raise SettingError(
                "the rows that chose the graph give no p-value; test on other rows "
                "(with_errors(est, X)), or use split_test."
            )
        if (i, j) not in self.layout.edges:
            raise SettingError(f"there is no edge between {a!r} and {b!r}.")
        if (i, j) in self.unbounded:
            raise SettingError(f"the edge of {a!r} and {b!r} is unbounded and has no Wald test.")
        return self._wald(self.layout.parameters(field), (i, j))

    def _wald(self, parameters: Array, pair: Pair) -> WaldTest:
        positions = self.layout.edges[pair].ravel()
        if not len(positions):
            return WaldTest(0.0, 0, 1.0)
        block = self.covariance[np.ix_(positions, positions)]
        statistic = float(parameters[positions] @ np.linalg.pinv(block) @ parameters[positions])
        return WaldTest(statistic, len(positions), float(chdtrc(len(positions), statistic)))

    def redraw(self, field: MarkovField, rng: np.random.Generator) -> MarkovField:
        """The model with other parameters, as other rows might have given them."""
        shift = self._root @ rng.standard_normal(self._root.shape[1])
        parameters = self.layout.parameters(field) + shift
        intercepts = (
            self.layout.intercepts(parameters) if self.layout.intercept else field.intercepts
        )
        couplings: Mapping[Pair, Array] = self.layout.couplings(parameters)
        return replace(field, intercepts=intercepts, couplings=couplings, errors=None)

    @cached_property
    def _root(self) -> Array:
        values, vectors = np.linalg.eigh(self.covariance)
        kept = values > 0
        root: Array = vectors[:, kept] * np.sqrt(values[kept])
        return root

    def to_frame(self, field: MarkovField, level: float = 0.95) -> Any:
        """One row for each edge and pair of states, the first state of each column left out."""
        check("level", level)
        width = -float(ndtri((1.0 - level) / 2.0))
        rows = (row for pair in self.layout.edges for row in self._rows(field, pair, width))
        return frame(by_column(COLUMNS, rows), field.library)

    def _rows(self, field: MarkovField, pair: Pair, width: float) -> Iterator[tuple[Any, ...]]:
        names = tuple(field.names[v] for v in pair)
        ratios, errors = table_against(field.couplings[pair], 0, 0), self.of_log_odds(pair, (0, 0))
        for codes in product(*(range(1, length) for length in ratios.shape)):
            states = (str(field.states[v][code]) for v, code in zip(pair, codes, strict=True))
            ratio = float(ratios[codes])
            error = None if errors is None else float(errors[codes])
            low, high = (
                (None,) * 2 if error is None else (ratio - width * error, ratio + width * error)
            )
            yield *names, *states, ratio, error, low, high, error is None, CONDITION

    def __repr__(self) -> str:
        of = "clusters" if self.clustered else "rows"
        return f"ParameterErrors({len(self.layout.edges)} edges, {self.units:g} {of}, {CONDITION})"


def errors_of(field: MarkovField) -> ParameterErrors:
    """The errors of a model, or SettingError if it has none."""
    if field.errors is None:
        raise SettingError("the model has no errors; isinglass.with_errors(est) has them.")
    return field.errors


COLUMNS = (
    *("source", "target", "source_state", "target_state", "log_odds", "error", "low", "high"),
    *("unbounded", "condition"),
)
