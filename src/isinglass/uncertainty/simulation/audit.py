"""What does this analysis do on such a table? Draw such tables, repeat the analysis, count."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from isinglass.engine import Progress
from isinglass.errors import SettingError
from isinglass.estimators import GreedyGraph
from isinglass.estimators.adjusting import refuse_adjusted
from isinglass.estimators.folds import as_written, coded_scores, unordered_columns
from isinglass.experiments import Cell, Design, Draw, Found, Method, run
from isinglass.experiments.plan import Codes, hashed
from isinglass.frames import by_column, by_field, frame
from isinglass.losses.forms import TABLE
from isinglass.parameters import checked
from isinglass.repeating import Record, are_pairs, as_recorded, formerly, that_matter, warn_renamed
from isinglass.selection import tier_levels
from isinglass.table import Table
from isinglass.uncertainty.power.smallest_link import typical_log_odds
from isinglass.uncertainty.simulation.clustered import ClusteredModel, clustered_model
from isinglass.uncertainty.simulation.denser import DenserModel, Pair, band_ends, denser_model

#: The graph of the estimator's own threshold, where that is neither of the tiers'.
CHOSEN = "chosen"
#: Typical odds ratios between which links are counted together.
SIZES = (1.0, 1.25, 1.5, 2.0, 3.0, 5.0, float("inf"))

Array = NDArray[np.float64]
Seen = tuple[Sequence[Pair], Record]
"""The links of a drawn table that had to be found, and its record."""


@dataclass(frozen=True)
class Tier:
    """What the graph of one threshold is like."""

    name: str  #: "firm", "tentative" or "chosen"
    threshold: float  #: on the table itself
    edges: int  #: of the table's own graph
    false: float  #: mean number of false edges in the graphs of drawn tables
    error: float  #: its standard error
    #: Mean share of the links of drawn tables that were found; NaN if there are none. These are
    #: links of the model learned from the table, which lacks what was missed there, so that more of
    #: them are found than of all links that there are: see `Audit.detection` for the power.
    found_again: float

    @property
    def found(self) -> float:
        """The former name of `found_again`, for one release."""
        warn_renamed("found", "found_again")
        return self.found_again


@dataclass(frozen=True)
class Detection:
    """The probability of finding links of one size."""

    low: float  #: typical odds ratios (or their inverses) are above this
    high: float  #: and up to this
    links: int  #: how often such a link was to be found
    found: Mapping[str, float]  #: by tier, the share that was

    @property
    def words(self) -> str:
        """The range of odds ratios."""
        return f"{self.low:g} to {self.high:g}" if self.high < np.inf else f"above {self.low:g}"


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """What `audit` returns.

    Attributes
    ----------
    detection : tuple of Detection
        The power: the probability of finding a link, by its size, for sizes that occur.
    tiers : tuple of Tier
        False edges of the firm and the tentative graph, and the share of the links of the learned
        model that are found again.
    tables, failed : int
        Tables drawn and learned from; tables that could not be.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> result = ig.audit(ig.GreedyGraph(), field.sample(200, seed=0), n=3, n_jobs=1)
    >>> [tier.name for tier in result.tiers], result.tables
    (['firm', 'tentative'], 3)
    """

    tiers: tuple[Tier, ...]
    detection: tuple[Detection, ...]
    tables: int
    failed: int
    sentence: str
    library: str | None = None

    @checked
    def tier(self, name: str) -> Tier:
        """One tier, by its name."""
        by_name = {tier.name: tier for tier in self.tiers}
        if name not in by_name:
            raise SettingError(f"there is no tier {name!r}; there are {list(by_name)}.")
        return by_name[name]

    @checked
    def to_frame(self, library: str | None = None) -> Any:
        """One row per tier."""
        return frame(by_field(Tier, self.tiers), library or self.library)

    @checked
    def detection_frame(self, library: str | None = None) -> Any:
        """One row per size of link, one column per tier."""
        tiers = [tier.name for tier in self.tiers]
        rows = ((s.words, s.links, *(s.found[tier] for tier in tiers)) for s in self.detection)
        columns = by_column(("odds_ratio", "links", *tiers), rows)
        return frame(columns, library or self.library)

    @property
    def chances(self) -> tuple[Detection, ...]:
        """The former name of `detection`, for one release."""
        warn_renamed("chances", "detection")
        return self.detection

    def chances_frame(self, library: str | None = None) -> Any:
        """The former name of `detection_frame`, for one release."""
        warn_renamed("chances_frame", "detection_frame")
        return self.detection_frame(library)

    def __str__(self) -> str:
        return self.sentence

    def __repr__(self) -> str:
        tiers = ", ".join(f"{tier.name}: {tier.false:.2f} false edges" for tier in self.tiers)
        return f"Audit({tiers}; {self.tables} tables)"


@formerly
@checked
def audit(
    estimator: GreedyGraph,
    X: Any,
    n: int = 100,
    *,
    sample_weight: ArrayLike | str | None = None,
    clusters: ArrayLike | str | None = None,
    seed: int = 0,
    path: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    client: Any = None,
) -> Audit:
    """Say what an analysis does on tables like this one.

    Tables are drawn from a model that is like the table but deliberately denser than its graph,
    with the table's own number of rows, weights, clusters and missing values. The whole analysis
    is repeated on each, and what it finds is compared with what was there; links that were required
    are in every table and not counted. All numbers are about such tables: they say nothing about
    columns that were not measured, nor about links that are not pairwise.

    Parameters
    ----------
    estimator : GreedyGraph
        Its settings are taken; whether it is fitted does not matter.
    X, sample_weight, clusters
        The table, as for `GreedyGraph.fit`.
    n : int
        Tables to draw.
    seed, path, n_jobs, progress, client
        As for `resample`; the file has one line per table, and jobs are processes.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(6), coupling=0.4, seed=0)
    >>> result = ig.audit(ig.GreedyGraph(), field.sample(300, seed=0), n=20, n_jobs=1)
    >>> result
    Audit(firm: ... false edges, tentative: ... false edges; 20 tables)
    >>> result.tier("tentative").false >= result.tier("firm").false
    True
    """
    fitted = _fitted(estimator, X, sample_weight=sample_weight, clusters=clusters)
    again = Again.of(fitted)
    model = denser_model(fitted)
    drawn = again.drawn_from(model, fitted.table_)
    design = Design(_key(fitted, seed), len(again.names), 1, drawn.sample, (again.rows,), "n")
    cells = [Cell(Draw(design, again.rows, i), Method("audit", again.learn)) for i in range(n)]
    records = run(
        cells,
        path,
        work="an audit",
        sound=again.sound,
        n_jobs=n_jobs,
        progress=progress,
        client=client,
    )
    good = {cell: records[cell.key] for cell in cells if "kept" in records[cell.key]}
    if not good:
        reason = next(record["failed"] for record in records.values() if "failed" in record)
        raise SettingError(f"no drawn table could be learned from: {reason}")
    tables = [(again.sought(model, cell), record) for cell, record in good.items()]
    tiers = tuple(_tier(name, fitted, again, tables) for name in again.thresholds)
    detection = tuple(_detection(model, tables, again.thresholds))
    sentence = _sentence(tiers, detection, len(tables))
    return Audit(tiers, detection, len(tables), n - len(tables), sentence, fitted.table_.library)


def _fitted(estimator: GreedyGraph, X: Any, **about_rows: Any) -> GreedyGraph:
    """The analysis of the table itself, its search run on far below the threshold."""
    if not isinstance(estimator, GreedyGraph):
        raise SettingError(f"audit needs a GreedyGraph, not a {type(estimator).__name__}.")
    refuse_adjusted(estimator, "audit")
    fitted: GreedyGraph = clone(estimator).fit(X, **about_rows)
    floor = min(*band_ends(fitted.table_).values(), fitted.floor_)
    if floor < fitted.floor_:
        fitted = clone(estimator).set_params(floor=floor).fit(X, **about_rows)
    return fitted


@dataclass(frozen=True, eq=False)
class Again:
    """How the analysis is repeated on a drawn table."""

    #: Not fitted, with all settings that do not depend on how the table is written.
    estimator: GreedyGraph
    names: tuple[str, ...]
    #: Whether the table has names of its own: a frame, not an array.
    named: bool
    #: Rows to draw. A row that counts w times is w rows; a sampling weight is not.
    rows: int
    #: Of the drawn rows, where they are not counts.
    weights: Array | None
    #: How often each row of the table is drawn, and the clusters of the drawn rows.
    copies: NDArray[np.intp]
    clusters: NDArray[np.intp] | None
    #: Cells that are missing in the table, and stay so in a drawn one.
    missing: NDArray[np.bool_] | None
    thresholds: Mapping[str, float]
    #: Links of every drawn table and every graph, which are neither found nor false.
    required: frozenset[Pair]
    #: The table, where links have forms, so that it matters which columns are ordered.
    scored: Table | None = None

    @classmethod
    def of(cls, fitted: GreedyGraph) -> Again:
        """What a fit has to be repeated with."""
        table = fitted.search_.rows
        counts = fitted.n_eff == "sum"
        copies = table.weights.astype(np.intp) if counts else np.ones(len(table.codes), np.intp)
        thresholds = tier_levels(table.n, len(table.names))
        if not np.isclose(fitted.threshold_, list(thresholds.values())).any():
            thresholds[CHOSEN] = fitted.threshold_
        missing = None
        if table.available:
            missing = np.repeat(table.codes >= np.asarray(table.n_answers), copies, axis=0)
        settings = {
            "floor": min(thresholds.values()),
            "bins": None,
            "high": None,
            "max_states": 256,
            "n_jobs": 1,
            "n_eff": fitted.n_eff if counts or table.design else table.n,
            "missing": "error" if missing is None else fitted.missing,
        }
        return cls(
            clone(fitted).set_params(**settings),
            table.names,
            table.library is not None,
            int(copies.sum()),
            None if counts else table.weights,
            copies,
            None if table.clusters is None else np.repeat(table.clusters, copies),
            missing,
            thresholds,
            fitted.search_.required,
            None if fitted.search_.edges == TABLE else table,
        )

    def drawn_from(self, model: DenserModel, table: Table) -> DenserModel | ClusteredModel:
        """Where tables are drawn from: rows in clusters, if the table's are."""
        return model if self.clusters is None else clustered_model(model, table, self.copies)

    def learn(self, codes: Codes) -> Found:
        """The whole analysis of a drawn table."""
        about_rows = {"sample_weight": self.weights, "clusters": self.clusters}
        estimator = clone(self.estimator)
        if self.scored is not None:
            estimator.set_params(ordered=None, scores=coded_scores(self.scored, codes))
        estimator.fit(self.table(codes), **about_rows)
        graphs = {
            name: estimator.graph_ if name == CHOSEN else estimator.at(threshold)
            for name, threshold in self.thresholds.items()
        }
        kept = {name: list(map(list, graph.pairs)) for name, graph in graphs.items()}
        return Found(graphs, kept=kept)

    def sound(self, record: Record) -> bool:
        """Whether a record that was read holds what `learn` finds."""
        kept = record["kept"]
        tiers = kept.keys() == record["settings"].keys() == self.thresholds.keys()
        return tiers and all(are_pairs(pairs, len(self.names)) for pairs in kept.values())

    def sought(self, model: DenserModel, cell: Cell) -> list[Pair]:
        """The links of a drawn table that a search had to find: all but required ones."""
        links = model.links_of(hashed(cell.draw.key))
        return [pair for pair in links if pair not in self.required]

    def table(self, codes: Codes) -> Any:
        """A drawn table in the form of the user's: an array, or a frame with names."""
        unordered = () if self.scored is None else unordered_columns(self.scored)
        return as_written(codes, self.missing, self.names if self.named else None, unordered)


def _key(fitted: GreedyGraph, seed: int) -> str:
    """Table and settings in short; tables drawn for one audit are not those of another."""
    settings = that_matter(fitted.get_params(deep=False))
    content = f"{fitted.table_.fingerprint} {as_recorded(sorted(settings.items(), key=str))}"
    return f"audit/{sha256(content.encode()).hexdigest()[:16]}/seed={seed}"


def _tier(name: str, fitted: GreedyGraph, again: Again, tables: Sequence[Seen]) -> Tier:
    threshold = again.thresholds[name]
    false = np.array([record["settings"][name][0] for _, record in tables], dtype=float)
    shares = [1 - record["settings"][name][1] / len(links) for links, record in tables if links]
    error = float(false.std(ddof=1) / np.sqrt(len(false))) if len(false) > 1 else float("nan")
    return Tier(
        name,
        threshold,
        len(fitted.graph_ if name == CHOSEN else fitted.at(threshold)),
        float(false.mean()),
        error,
        float(np.mean(shares)) if shares else float("nan"),
    )


def _detection(
    model: DenserModel, tables: Sequence[Seen], tiers: Iterable[str]
) -> Iterator[Detection]:
    """Shares of the links found, by size; sizes that no link has are left out."""
    size = {pair: typical_log_odds(table) for pair, table in model.field.couplings.items()}
    sizes = np.array([size[pair] for links, _ in tables for pair in links])
    hits: dict[str, list[bool]] = {tier: [] for tier in tiers}
    for links, record in tables:
        for tier, found in record["kept"].items():
            kept = set(map(tuple, found))
            hits[tier] += [pair in kept for pair in links]
    for low, high in pairwise(SIZES):
        here = (np.log(low) < sizes) & (sizes <= np.log(high))
        if here.any():
            shares = {tier: float(np.mean(np.array(hit)[here])) for tier, hit in hits.items()}
            yield Detection(low, high, int(here.sum()), shares)


def _sentence(tiers: Sequence[Tier], detection: Sequence[Detection], tables: int) -> str:
    """Power by the size of a link first, then false edges."""
    said, firm = f"On {tables} tables like this one, ", tiers[0].name
    open_ = [size for size in detection if size.links >= 10]
    if open_:
        shares = ", ".join(f"{size.found[firm]:.2f} ({size.words})" for size in open_)
        said += f"the probability that a link is {firm}, by its odds ratio, was {shares}; "
    parts = [f"{tier.false:.2f} (+-{tier.error:.2f}) in the {tier.name} graph" for tier in tiers]
    return f"{said}the mean number of false edges was {', '.join(parts)}."
