"""A fit as one plain dict: what terminal, JSON, Markdown and the page are made from."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from isinglass.engine.runs import answers_only
from isinglass.estimators import GreedyGraph
from isinglass.graph import NUMBERS, Graph
from isinglass.losses.forms import TABLE, table_df
from isinglass.losses.steps import per_step
from isinglass.measures import communities
from isinglass.model import FitRecord
from isinglass.parameters import checked
from isinglass.record.findings import Findings, findings_of
from isinglass.report import slider, texts
from isinglass.report.suppression import groups_of, suppressed
from isinglass.selection import FIRM, TENTATIVE, Paper, tier_levels
from isinglass.solvers.cuts import edges_at
from isinglass.solvers.path import Path
from isinglass.wording import json_value, whole

Pair = tuple[str, str]
ColumnPair = tuple[int, int]


@checked
def summarise(
    fit: GreedyGraph | FitRecord,
    *,
    title: str | None = None,
    paths: bool = True,
    suppress: float = 0,
    frequencies: Mapping[Pair, float] | None = None,
    measures: Any = None,
    explanations: Mapping[Pair, str] | None = None,
    verdicts: Any = None,
    column_labels: Mapping[str, str] | None = None,
    groups: Iterable[tuple[str, Sequence[str], str | None]] = (),
) -> dict[str, Any]:
    """Return what there is to say about a fit: plain numbers, strings, lists and dicts.

    A record read from a file can be given instead of the fitted estimator. What it keeps of
    `title`, `frequencies`, `measures`, `explanations`, `verdicts` and `column_labels` is used
    unless it is given here.

    Parameters
    ----------
    fit : GreedyGraph or FitRecord
    title : str, optional
        What to call the table.
    paths : bool
        Whether to include every step of the searches and every pair of columns, as the page's
        slider needs them.
    suppress : float
        Combinations of states with fewer rows are hidden: the summary holds only what does not
        give them away.
    frequencies : dict of (name, name) to float, optional
        The share of half-samples that choose an edge.
    measures : data frame, optional
        As :func:`isinglass.measures.nodes` returns it. By default, the groups of columns.
    explanations : dict of (name, name) to str, optional
        Sentences on pairs: why there is an edge, or none.
    verdicts : data frame, optional
        One row per pair, in column order: ``verdict`` ("linked", "not linked", "cannot tell"),
        ``odds_ratio`` (a link with a larger one would have been found), ``rows_needed``, and, if
        there is one, ``state_odds_ratio`` (the same for a link in one state of each column only).
    column_labels : dict of str to str, optional
        Labels of columns, such as the questions that were asked, by name.
    groups : list of (name, list of columns, colour), optional
        Columns that belong together; the page draws their dots in the colour, such as "#0072b2",
        or in one of its own for None.

    Returns
    -------
    dict
        Edges come strongest first, nodes in column order.

    Examples
    --------
    >>> import numpy as np
    >>> from isinglass import GreedyGraph
    >>> x = np.random.default_rng(0).integers(0, 2, (50, 3))
    >>> summary = summarise(GreedyGraph().fit(np.column_stack([x, x[:, 0]])))
    >>> summary["rows"], summary["columns"], [e["target"] for e in summary["edges"]]
    (50, 4, ['x3'])
    >>> summary["texts"]["lead"]
    '1 direct link among 6 pairs of 4 columns, learned from 50 rows.'
    """
    record = fit if isinstance(fit, FitRecord) else fit.record()
    given = findings_of(
        record.names,
        title=title,
        measures=measures,
        frequencies=frequencies,
        explanations=explanations,
        verdicts=verdicts,
        column_labels=column_labels,
        groups=groups,
    )
    found = (record.findings or Findings()).updated(given)
    if suppress:
        return suppressed(record, found, whole(suppress))
    shares, chosen = found.frequencies or {}, set(record.graph.pairs)
    more = [e for e in record.with_tentative.links if (e.source, e.target) not in chosen]
    summary: dict[str, Any] = {
        "title": found.title,
        "rows": whole(record.rows),
        "columns": len(record.names),
        "states": {
            name: [json_value(state) for state in labels]
            for name, labels in zip(record.names, record.states, strict=True)
        },
        "rule": str(record.settings.get("rule")),
        "selector": record.selector,
        "threshold": record.threshold,
        "floor": record.floor,
        "selectors": _selectors(record),
        "tiers": tier_levels(record.rows, len(record.names)),
        "edges": _listed(record, record.graph, shares),
        "tentative": _listed(record, Graph(record.names, more), shares),
        "nodes": _nodes(record, _measures(record, found, grouped=paths), found.labels),
        "groups": groups_of(record, found),
        "diagnostics": [asdict(note) for note in record.diagnostics],
        "settings": dict(record.settings),
        "version": record.version,
        "fingerprint": record.fingerprint,
        "dropped": record.dropped,
        "adjusted": list(record.adjusted),
        "filled": None if record.filled is None else record.filled.how(),
        "suppress": 0,
    }
    if paths:
        summary |= _whole_run(record, found)
        for rule in summary["selectors"]:
            rule["stop"] = slider.stop_of(rule["threshold"], summary["stops"], record.paths)
    return summary | {"texts": texts.all_texts(summary)}


def to_json(summary: Mapping[str, Any]) -> str:
    """Return a summary as JSON, for programs.

    >>> import json
    >>> import isinglass as ig
    >>> x = ig.simulate.ising(ig.simulate.chain(3)).sample(50, seed=0)
    >>> summary = summarise(ig.GreedyGraph().fit(x), title="a chain")
    >>> json.loads(to_json(summary)) == summary
    True
    """
    return json.dumps(summary, indent=2, allow_nan=False)


def _listed(
    record: FitRecord, graph: Graph, frequencies: Mapping[ColumnPair, float]
) -> list[dict[str, Any]]:
    """The edges of a graph, strongest first."""
    lost = {} if record.filled is None else record.filled.lost
    edges = [
        {"source": source, "target": target}
        | {key: json_value(getattr(link, key)) for key in NUMBERS}
        | {"frequency": frequencies.get((link.source, link.target)), "weight": link.weight}
        | {"information_lost": lost.get((link.source, link.target))}
        for link, (source, target) in zip(graph.links, graph.edges, strict=True)
    ]
    return sorted(edges, key=lambda row: -row["weight"])


def _selectors(record: FitRecord) -> list[dict[str, Any]]:
    """Where the chosen threshold and the rules by n and p sit, as far down as the search ran."""
    n, p = record.rows, len(record.names)
    rules = {"firm": FIRM, "tentative": TENTATIVE, "paper": Paper()}
    known = [("chosen", record.selector, record.threshold, len(record.graph))]
    for name, rule in rules.items():
        threshold = rule.threshold(n, p)
        if threshold >= record.floor:
            edges = edges_at(record.paths, threshold, _rule(record))
            known.append((name, repr(rule), threshold, len(edges)))
    return [dict(zip(("name", "words", "threshold", "edges"), one, strict=True)) for one in known]


def _measures(record: FitRecord, found: Findings, *, grouped: bool) -> Mapping[str, Sequence[Any]]:
    """What is known of each column; its group, at least, if it is wanted."""
    if found.measures is not None or not grouped:
        return found.measures or {}
    starts = min(20, 1 + 2000 // (len(record.graph) + 1))  # a second at most
    number = communities(record.graph, starts=starts).number
    return {"community": [number.get(name) for name in record.names]}


def _nodes(
    record: FitRecord, measures: Mapping[str, Sequence[Any]], about: Sequence[str | None] | None
) -> list[dict[str, Any]]:
    degree = np.zeros(len(record.names), dtype=int)
    for link in record.graph:
        degree[[link.source, link.target]] += 1
    nodes = []
    for r, (name, labels, answers) in enumerate(
        zip(record.names, record.states, record.n_answers, strict=True)
    ):
        counts = None if record.tally is None else record.tally.counts[r]
        path = record.paths[r]
        nodes.append(
            {
                "name": name,
                "label": None if about is None else about[r],
                "states": [json_value(label) for label in labels[:answers]],
                "ordered": record.ordered[r],
                "scores": _scores(record, r),
                "high": record.high[r],
                "counts": None if counts is None else [whole(some) for some in counts[:answers]],
                "missing": _missing(record, r),
                "degree": int(degree[r]),
                "explained": _explained(path.start.loss, path.at(record.threshold).loss),
                **{
                    key: measures[key][r] if key in measures else None
                    for key in ("community", "predictability")
                },
            }
        )
    return nodes


def _scores(record: FitRecord, r: int) -> list[float | int] | None:
    """The scores of a column's answers."""
    scores = record.scores[r]
    return None if scores is None else [whole(x) for x in scores[: record.n_answers[r]]]


def _missing(record: FitRecord, r: int) -> float | int | None:
    """Missing cells of a column, where they are known."""
    if record.filled is not None:
        return record.filled.missing[r]
    if record.tally is None:
        return None
    return whole(sum(record.tally.counts[r][record.n_answers[r] :]))


def _explained(before: float, after: float) -> float | None:
    """The share of a column's uncertainty that its neighbours take away, on the same rows."""
    return max(0.0, 1.0 - after / before) if before > 1e-12 else None


def _whole_run(record: FitRecord, found: Findings) -> dict[str, Any]:
    """Every step of every search, every stop of the slider, every pair by its numbers."""
    some = slider.stops(record.paths, record.floor, record.threshold)
    at_threshold = edges_at(record.paths, record.threshold, _rule(record))
    pairs = None if record.tally is None else record.tally.pairs
    tables, verdicts = record.link_tables, found.verdicts
    return {
        "stops": some,
        "stop": slider.stop_of(record.threshold, some, record.paths),
        "kept_fewer": len(record.graph) < len(at_threshold),
        "paths": [_path(record, r, path) for r, path in enumerate(record.paths)],
        "found_alone": None
        if record.found_alone is None
        else _by_number(record.found_alone, lambda high: high if math.isfinite(high) else None),
        "values": _by_number(record.values, list),
        "pairs": None if pairs is None else _lists(pairs, "information", "sign"),
        "link_tables": None
        if tables is None
        else _by_number(tables, lambda table: _lists(table, "observed", "expected")),
        "explanations": _by_number(found.explanations or {}),
        "verdicts": None
        if verdicts is None
        else {
            field.name: None if values is None else list(values)
            for field in fields(verdicts)
            for values in [getattr(verdicts, field.name)]
        },
        "frequencies": _by_number(found.frequencies or {}),
        "information_lost": _by_number({} if record.filled is None else record.filled.lost),
    }


def _by_number(
    of_pairs: Mapping[ColumnPair, Any], plain: Callable[[Any], Any] = lambda value: value
) -> dict[str, Any]:
    return {f"{i},{j}": plain(value) for (i, j), value in of_pairs.items()}


def _lists(arrays: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(arrays, name).tolist() for name in names}


def _path(record: FitRecord, r: int, path: Path) -> dict[str, Any]:
    return {
        "status": path.status,
        "start": _fit(record, r, path.start),
        "steps": [
            {key: getattr(step, key) for key in ("kind", "variable", "gain", "cost")}
            | _fit(record, r, step.fit)
            for step in path.steps
        ],
    }


def _fit(record: FitRecord, r: int, fit: Any) -> dict[str, Any]:
    """What a search knows after a step: its neighbours, and their tables of log-odds."""
    support = sorted(fit.coef)
    tables = [answers_only(np.asarray(fit.coef[t]), record.n_answers[t]) for t in support]
    return {
        "support": support,
        "loss": fit.loss,
        "unbounded": sorted(fit.unbounded),
        "tables": [table.tolist() for table in tables],
        "forms": [fit.form(t) for t in support],
        "steps": [_step(record, r, t, fit) for t in support],
        "df": [
            table_df(*table.shape) if fit.parameters is None else fit.parameters[t]
            for t, table in zip(support, tables, strict=True)
        ],
    }


def _step(record: FitRecord, r: int, t: int, fit: Any) -> float | list[float] | None:
    """Log odds ratios per step: one of a product of scores, one per unordered state of a trend."""
    if fit.form(t) == TABLE:
        return None
    table = answers_only(np.asarray(fit.coef[t]), record.n_answers[t])
    numbers: float | list[float] = per_step(
        table, (record.scores[r], record.scores[t]), fit.form(t)
    ).tolist()
    return numbers


def _rule(record: FitRecord) -> str:
    return "and" if record.settings.get("rule") == "and" else "or"
