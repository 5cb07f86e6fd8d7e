"""The record of a fit: what was asked, what was found, and every step on the way."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from isinglass.documents.parts import load_part, save_parts
from isinglass.engine import FoundAlone, Joined, KeptRuns, Value, join, kept_values
from isinglass.errors import BelowFloor, SettingError
from isinglass.graph import Graph
from isinglass.losses.forms import Scores
from isinglass.parameters import checked
from isinglass.record.files import members_from_json, record_to_json
from isinglass.record.filled import Filled
from isinglass.record.findings import Findings
from isinglass.record.tables import LinkTables, Tally
from isinglass.selection import TENTATIVE, tier_levels
from isinglass.solvers.path import Path
from isinglass.table import Note
from isinglass.table.column import high_states

Pair = tuple[int, int]


@dataclass(frozen=True, eq=False, repr=False)
class FitRecord:
    """What a fit left behind, without its table; ``GreedyGraph.record`` makes one.

    Attributes
    ----------
    names, states, ordered : tuple
        The columns, the labels of their states, and whether these are ordered.
    n_answers : tuple of int
        States of each column, without the state of missing values where these are left out.
    graph, paths, threshold, floor, settings
        As the estimator had them; settings are plain values.
    values : dict from pairs of columns to Value
        Strength, relative strength and evidence of every edge that the run has at any threshold:
        in `graph`, or else in the first of these that has it, the graph of the tentative tier, the
        graph at `floor`, the graph of all of them. Files of older schemas have none.
    selector : str
        How the threshold was chosen, in words.
    diagnostics : tuple of Note
        What was unusual in which column, and what was done about it.
    rows, fingerprint : float, str
        Rows that the weights stand for; a hash, the same for equal tables of any library.
    version : str
        The version of isinglass that made the fit.
    tally : Tally or None
        How often each state was observed, and the association of each pair with nothing held fixed.
    link_tables, dropped : dict of (int, int) to LinkTable, int; or None in older files
        Rows observed and expected in each combination of states, by link; and how many rows were
        dropped because of missing values.
    findings : Findings or None
        What was found out about the fit afterwards: measures, half-samples, verdicts.
    filled : Filled or None
        Where missing values were filled: how many, how often, and how much information they cost.
        The counts of `tally` and `link_tables` are then those of filled tables, on average.
    scores : tuple
        Of each column the scores of its states, NaN for a missing value; None where they have no
        order.
    adjusted : tuple of str
        Columns that were adjusted for: in every conditional, and not among `names`.
    found_alone : dict of (int, int) to float, or None
        With ``rule="joint"``: which columns found which neighbours by their own searches, and
        below which threshold these have them. Other rules, and older files, have none.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
    >>> record = est.record()
    >>> record.graph == est.graph_, record.rows
    (True, 1000.0)
    """

    names: tuple[str, ...]
    states: tuple[tuple[Hashable, ...], ...]
    ordered: tuple[bool, ...]
    n_answers: tuple[int, ...]
    graph: Graph
    paths: tuple[Path, ...]
    values: Mapping[Pair, Value]
    threshold: float
    floor: float
    selector: str
    diagnostics: tuple[Note, ...]
    settings: Mapping[str, Any]
    rows: float
    fingerprint: str
    version: str
    tally: Tally | None = None
    link_tables: LinkTables | None = None
    dropped: int | None = None
    findings: Findings | None = None
    filled: Filled | None = None
    scores: tuple[Scores | None, ...] = ()
    adjusted: tuple[str, ...] = ()
    found_alone: FoundAlone | None = None

    def __post_init__(self) -> None:
        # Older files have none, and their edges are tables.
        object.__setattr__(self, "scores", self.scores or (None,) * len(self.names))

    @checked
    def at(self, threshold: float) -> Graph:
        """Return the graph at any threshold down to `floor`, as ``GreedyGraph.at`` did.

        Strength and evidence are those of `values`: those of an edge of `graph` stay the same
        whatever the threshold, where ``GreedyGraph.at`` finds them again in the graph it returns.

        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(5))
        >>> est = ig.GreedyGraph(floor=1e-4).fit(field.sample(300, seed=0))
        >>> record = est.record()
        >>> record.at(0.001) == est.at(0.001), record.at(est.threshold_).links == est.graph_.links
        (True, True)
        """
        if threshold < self.floor:
            raise BelowFloor(
                f"the search ran to floor = {self.floor:.6g}, so {threshold:.6g} is out of reach; "
                f"fit the table again with GreedyGraph(floor={threshold:.6g}).",
                threshold=threshold,
                floor=self.floor,
            )
        required = frozenset(
            (min(r, t), max(r, t)) for r, path in enumerate(self.paths) for t in path.required
        )
        levels = tier_levels(self.rows, len(self.names))
        values = kept_values(self.values)
        return join(Joined(self._runs, threshold, self._rule, self, values, levels, required))

    @property
    def n(self) -> float:
        """The number of rows, as a table calls it."""
        return self.rows

    @property
    def library(self) -> str | None:
        """The library of data frames that results come in."""
        return self.graph.library

    @cached_property
    def high(self) -> tuple[str | None, ...]:
        """The high state of each column as text; None for columns without two states."""
        return high_states(self.states, self.n_answers)

    @cached_property
    def with_tentative(self) -> Graph:
        """The graph, and the edges of the tentative tier that it lacks."""
        level = max(TENTATIVE.threshold(self.rows, len(self.names)), self.floor)
        known = set(self.graph.pairs)
        more = [link for link in self.at(level).links if (link.source, link.target) not in known]
        return Graph(self.names, sorted([*self.graph.links, *more]), self.graph.library)

    @cached_property
    def _runs(self) -> KeptRuns:
        left_out = self.n_answers != tuple(map(len, self.states))
        return KeptRuns(self.paths, self.n_answers if left_out else None, self.found_alone)

    @property
    def _rule(self) -> str:
        rule = self.settings.get("rule")
        if rule not in ("or", "and", "joint"):
            raise SettingError(
                f"the record names the rule {rule!r}; it must be 'or', 'and' or 'joint'."
            )
        return str(rule)

    @checked
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the record alone; ``MarkovField.save(path, fit=record)`` writes both.

        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
        >>> est.record().save("fit.json")
        >>> ig.FitRecord.load("fit.json").threshold == est.threshold_
        True
        """
        save_parts(path, fit=self.to_json())

    @classmethod
    @checked
    def load(cls, path: str | os.PathLike[str]) -> FitRecord:
        """Read the record in a model file; FileError if there is none, or it is damaged.

        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
        >>> est.model_.save("model.json", fit=est.record())
        >>> ig.FitRecord.load("model.json").graph.edges
        [('x0', 'x1'), ('x1', 'x2')]
        """
        return load_part(path, "fit", lambda fit: cls(**members_from_json(fit)))

    to_json = record_to_json

    def __repr__(self) -> str:
        return (
            f"FitRecord({len(self.names)} columns, {len(self.graph)} edges, "
            f"{sum(map(len, self.paths))} steps, isinglass {self.version})"
        )
