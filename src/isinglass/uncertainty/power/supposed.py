"""What a table to come may look like: a guess in a few numbers, or what a pilot table says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.core.gate import MAX_STATES
from isinglass.errors import Setting, SettingError
from isinglass.estimators import GreedyGraph
from isinglass.estimators.folds import (
    as_written,
    coded_scores,
    held_out_weights,
    unordered_columns,
    with_weights,
)
from isinglass.experiments.plan import Codes
from isinglass.graph import Graph
from isinglass.losses.forms import TABLE
from isinglass.model import MarkovField, fit_model
from isinglass.parameters import check
from isinglass.simulate import erdos_renyi, ising, ordinal, potts, random_regular
from isinglass.table import Table
from isinglass.uncertainty.power.smallest_link import typical_log_odds


@dataclass(frozen=True)
class Guess:
    """Random graphs of some degree, all couplings of one size, half of them negative.

    Columns of more than two states are ordered, and links products of scores, unless all edges are
    to be whole tables: then these are random.

    A whole degree gives random regular graphs (every column has so many neighbours), where p
    times d is even; otherwise every edge is drawn by itself.
    """

    columns: int
    degree: float
    coupling: float
    states: int = 2
    intercept: float = 0.0
    edges: str = TABLE
    library: None = None

    def __post_init__(self) -> None:
        check("degree", self.degree, most=self.columns - 1)
        check("coupling", self.coupling)

    @property
    def key(self) -> str:
        """All settings, as the beginning of a record's key."""
        return (
            f"p={self.columns}/d={self.degree:g}/coupling={self.coupling:g}/"
            f"states={self.states}/intercept={self.intercept:g}"
            f"{'' if self.edges == TABLE else '/ordered'}"
        )

    def learn(self, codes: Codes, threshold: Any, rule: str) -> Graph:
        """The graph of a drawn table."""
        found = GreedyGraph(threshold, rule=rule, n_jobs=1, max_states=256, edges=self.edges)
        return found.fit(codes).graph_

    @property
    def strongest(self) -> float:
        """The log odds ratio of every edge: with too few rows for it, none is found."""
        return log_odds_of(self.coupling, self.states)

    def words(self, factor: float) -> str:
        """The coupling, and the odds ratio it means."""
        ratio = np.exp(log_odds_of(factor * self.coupling, self.states))
        return f"the couplings are {factor * self.coupling:.3g} (odds ratios of {ratio:.3g})"

    def field(self, factor: float, seed: int) -> MarkovField:
        """A model on a new graph."""
        of_graph, of_model = (int(s) for s in np.random.SeedSequence(seed).generate_state(2))
        p, d = self.columns, self.degree
        regular = float(d).is_integer() and p * int(d) % 2 == 0
        graph = random_regular(p, int(d), of_graph) if regular else erdos_renyi(p, d, of_graph)
        size = factor * self.coupling
        if self.states == 2:
            h = (-self.intercept, self.intercept)
            return ising(graph, coupling=size, intercept=h, seed=of_model)
        h = (0.0, self.intercept)
        if self.edges != TABLE:
            return ordinal(graph, self.states, coupling=size, intercept=h, seed=of_model)
        return potts(graph, self.states, coupling=size, intercept=h, seed=of_model)


def log_odds_of(coupling: float, states: int) -> float:
    """The log of the typical odds ratio of an edge whose table has this root mean square.

    >>> log_odds_of(0.25, states=2), round(log_odds_of(0.25, states=4), 3)
    (1.0, 0.667)
    """
    return 2.0 * coupling * states / (states - 1)


def coupling_of(odds_ratio: float, states: int) -> float:
    """The coupling of an edge with this typical odds ratio, or its inverse.

    >>> round(coupling_of(float(np.exp(1.0)), states=2), 6)
    0.25
    """
    if not (0 < odds_ratio < np.inf and odds_ratio != 1):
        raise SettingError(
            Setting("odds_ratio"), f" must be a positive number other than 1, got {odds_ratio!r}."
        )
    return float(abs(np.log(odds_ratio))) * (states - 1) / (2.0 * states)


@dataclass(frozen=True, eq=False)
class Pilot:
    """The graph that one half of a pilot table shows, with couplings fitted to the other half.

    Couplings from the rows that chose the graph would be too large: a link is chosen because it
    looks strong.
    """

    table: Table
    seed: int = 0
    edges: str = TABLE

    @property
    def columns(self) -> int:
        """Number of columns."""
        return len(self.table.columns)

    @property
    def library(self) -> str | None:
        """That of the pilot table."""
        return self.table.library

    @property
    def key(self) -> str:
        """The content of the table, in short, and which half is which."""
        forms = "" if self.edges == TABLE else f"/edges={self.edges}"
        return f"pilot={self.table.fingerprint.partition(':')[2][:16]}/split={self.seed}{forms}"

    def learn(self, codes: Codes, threshold: Any, rule: str) -> Graph:
        """The graph of a drawn table, whose columns are ordered as those of the pilot table are."""
        found = GreedyGraph(threshold, rule=rule, n_jobs=1, max_states=256)
        found.set_params(**self._forms(codes))
        return found.fit(self._written(codes)).graph_

    def _forms(self, codes: NDArray[Any]) -> dict[str, Any]:
        scores = None if self.edges == TABLE else coded_scores(self._nameless, codes)
        return {"edges": self.edges, "scores": scores}

    def _written(self, codes: NDArray[Any]) -> Any:
        unordered = () if self.edges == TABLE else unordered_columns(self.table)
        return as_written(codes, None, None, unordered)

    @property
    def _nameless(self) -> Table:
        return replace(self.table, library=None)

    @property
    def strongest(self) -> float:
        """The log of the largest typical odds ratio."""
        return max(map(typical_log_odds, self._model.couplings.values()))

    def words(self, factor: float) -> str:
        """As in the pilot table, or by how much less."""
        if factor == 1:
            return "the links are those of the pilot table"
        return f"the links are {factor:g} times those of the pilot table"

    def field(self, factor: float, seed: int) -> MarkovField:
        """The fitted model, its couplings scaled and its intercepts as they are."""
        model = self._model
        scaled = {pair: factor * table for pair, table in model.couplings.items()}
        return MarkovField(model.names, model.states, model.intercepts, scaled)

    @cached_property
    def _model(self) -> MarkovField:
        table = self.table
        halves = held_out_weights(table.weights, 2, self.seed, table.clusters).T
        first, second = (with_weights(table, weights) for weights in halves)
        found: Any = GreedyGraph(n_eff="design" if first.design else first.n, max_states=MAX_STATES)
        found.set_params(**self._forms(first.codes))
        cells = self._written(first.codes)
        found.fit(cells, sample_weight=first.weights, clusters=first.clusters)
        model = fit_model(second, Graph(table.names, found.graph_.links))
        if not model.couplings:
            raise SettingError(
                "one half of the pilot table shows no link at all; give a coupling or an odds "
                "ratio instead, or a larger pilot table."
            )
        return model


#: Where models come from, with couplings as supposed or all smaller by one factor.
Supposition = Guess | Pilot
