"""A fit as one plain dict: what terminal, JSON, Markdown and the page are made from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from isinglass.engine.runs import answers_only
from isinglass.estimators import GreedyGraph
from isinglass.graph import NUMBERS, Graph
from isinglass.losses.forms import table_df
from isinglass.measures import communities
from isinglass.model import FitRecord
from isinglass.parameters import checked
from isinglass.record.findings import Findings, findings_of
from isinglass.record.tables import LinkTables
from isinglass.report import slider, texts
from isinglass.report.suppression import suppressed
from isinglass.selection import FIRM, TENTATIVE, Paper, tier_levels
from isinglass.solvers.cuts import edges_at
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
) -> dict[str, Any]:
    """Return what there is to say about a fit: plain numbers, strings, lists and dicts.

    A record read from a file does as well as the fitted estimator. What a record keeps of title,
    frequencies, measures, explanations and verdicts is used unless it is given here.

    Parameters
    ----------
    fit : GreedyGraph or FitRecord
    title : str, optional
        What to call the table.
    paths : bool
        Whether every step of the searches, and every pair of columns, are included. The page's
        slider needs them; a short summary does not.
    suppress : float
        Combinations of states with fewer rows are hidden: the summary holds only what does not
        give them away.
    frequencies : dict of (name, name) to float, optional
        The share of half-samples that choose an edge.
    measures : data frame, optional
        What :func:`isinglass.measures.nodes` says of the columns. By default, their groups.
    explanations : dict of (name, name) to str, optional
        Sentences on pairs: why there is an edge, or none.
    verdicts : data frame, optional
        One row per pair, in column order: ``verdict`` ("linked", "not linked", "cannot tell"),
        ``odds_ratio`` (a link with a larger one would have been found) and ``rows_needed``.

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
    )
    found = (record.findings or Findings()).updated(given)
    if suppress:
        return suppressed(record, found.title, whole(suppress))
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
        "edges": _listed(record.graph, found.frequencies or {}),
        "tentative": _tentative(record, found.frequencies or {}),
        "nodes": _nodes(record, _measures(record, found, grouped=paths)),
        "diagnostics": [
            {"column": note.column, "what": note.what, "done": note.done}
            for note in record.diagnostics
        ],
        "settings": dict(record.settings),
        "version": record.version,
        "fingerprint": record.fingerprint,
        "dropped": record.dropped,
        "suppress": 0,
    }
    if paths:
        summary |= _whole_run(record)
        for rule in summary["selectors"]:
            rule["stop"] = slider.stop_of(rule["threshold"], summary["stops"], record.paths)
        summary |= _about_pairs(found)
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


def _tentative(record: FitRecord, frequencies: Mapping[ColumnPair, float]) -> list[dict[str, Any]]:
    """The edges of the tentative tier that the graph lacks, strongest first."""
    chosen = set(record.graph.pairs)
    more = [e for e in record.with_tentative.links if (e.source, e.target) not in chosen]
    return _listed(Graph(record.names, more), frequencies)


def _listed(graph: Graph, frequencies: Mapping[ColumnPair, float]) -> list[dict[str, Any]]:
    """The edges of a graph, strongest first."""
    edges = [
        {"source": source, "target": target}
        | {key: json_value(getattr(link, key)) for key in NUMBERS}
        | {"frequency": frequencies.get((link.source, link.target)), "weight": link.weight}
        for link, (source, target) in zip(graph.links, graph.edges, strict=True)
    ]
    return sorted(edges, key=lambda row: -row["weight"])


def _selectors(record: FitRecord) -> list[dict[str, Any]]:
    """Where the chosen threshold and the rules by n and p sit, as far down as the search ran."""
    n, p = record.rows, len(record.names)
    known: list[tuple[str, str, float]] = [("chosen", record.selector, record.threshold)]
    for name, rule in (("firm", FIRM), ("tentative", TENTATIVE), ("paper", Paper())):
        known.append((name, repr(rule), rule.threshold(n, p)))
    return [
        {
            "name": name,
            "words": words,
            "threshold": threshold,
            "edges": len(record.graph)
            if name == "chosen"
            else len(edges_at(record.paths, threshold, _rule(record))),
        }
        for name, words, threshold in known
        if threshold >= record.floor
    ]


def _measures(record: FitRecord, found: Findings, *, grouped: bool) -> Mapping[str, Sequence[Any]]:
    """What is known of each column; its group, at least, if it is wanted."""
    if found.measures is not None or not grouped:
        return found.measures or {}
    starts = min(20, 1 + 2000 // (len(record.graph) + 1))  # a second at most
    number = communities(record.graph, starts=starts).number
    return {"community": [number.get(name) for name in record.names]}


def _nodes(record: FitRecord, measures: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
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
                "states": [json_value(label) for label in labels[:answers]],
                "ordered": record.ordered[r],
                "high": record.high[r],
                "counts": None if counts is None else [whole(some) for some in counts[:answers]],
                "missing": None if counts is None else whole(sum(counts[answers:])),
                "degree": int(degree[r]),
                "explained": _explained(path.start.loss, path.at(record.threshold).loss),
                **{
                    key: measures[key][r] if key in measures else None
                    for key in ("community", "predictability")
                },
            }
        )
    return nodes


def _explained(before: float, after: float) -> float | None:
    """The share of a column's uncertainty that its neighbours take away, on the same rows."""
    return max(0.0, 1.0 - after / before) if before > 1e-12 else None


def _whole_run(record: FitRecord) -> dict[str, Any]:
    """Every step of every search, every stop of the slider, every pair."""
    some = slider.stops(record.paths, record.floor, record.threshold)
    pairs = None if record.tally is None else record.tally.pairs
    return {
        "stops": some,
        "stop": slider.stop_of(record.threshold, some, record.paths),
        "kept_fewer": len(record.graph)
        < len(edges_at(record.paths, record.threshold, _rule(record))),
        "paths": [_path(record, r) for r in range(len(record.names))],
        "values": {f"{a},{b}": list(value) for (a, b), value in record.values.items()},
        "pairs": None
        if pairs is None
        else {"information": pairs.information.tolist(), "sign": pairs.sign.tolist()},
        "link_tables": _link_tables(record.link_tables),
    }


def _link_tables(tables: LinkTables | None) -> dict[str, dict[str, Any]] | None:
    """Rows observed and expected in each combination of states, by the numbers of two columns."""
    if tables is None:
        return None
    return {
        f"{i},{j}": {"observed": table.observed.tolist(), "expected": table.expected.tolist()}
        for (i, j), table in tables.items()
    }


def _path(record: FitRecord, r: int) -> dict[str, Any]:
    path = record.paths[r]
    return {
        "status": path.status,
        "start": _fit(record, path.start),
        "steps": [
            {
                "kind": step.kind,
                "variable": step.variable,
                "gain": step.gain,
                "cost": step.cost,
                **_fit(record, step.fit),
            }
            for step in path.steps
        ],
    }


def _fit(record: FitRecord, fit: Any) -> dict[str, Any]:
    """What a search knows after a step: its neighbours, and their tables of log-odds."""
    support = sorted(fit.coef)
    tables = [answers_only(np.asarray(fit.coef[t]), record.n_answers[t]) for t in support]
    return {
        "support": support,
        "loss": fit.loss,
        "unbounded": sorted(fit.unbounded),
        "tables": [table.tolist() for table in tables],
        "df": [
            table_df(*table.shape) if fit.parameters is None else fit.parameters[t]
            for t, table in zip(support, tables, strict=True)
        ],
    }


def _about_pairs(found: Findings) -> dict[str, Any]:
    """What was found out about pairs, by the numbers of two columns."""
    verdicts = found.verdicts
    return {
        "explanations": _by_number(found.explanations),
        "verdicts": None
        if verdicts is None
        else {field.name: list(getattr(verdicts, field.name)) for field in fields(verdicts)},
        "frequencies": _by_number(found.frequencies),
    }


def _by_number(of_pairs: Mapping[ColumnPair, Any] | None) -> dict[str, Any]:
    return {f"{i},{j}": value for (i, j), value in (of_pairs or {}).items()}


def _rule(record: FitRecord) -> str:
    return "and" if record.settings.get("rule") == "and" else "or"
