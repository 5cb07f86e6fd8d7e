"""A fit as one plain dict: what terminal, JSON, Markdown and the page are made from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite, isnan
from typing import Any

import narwhals as nw
import numpy as np

from isinglass.engine.runs import answers_only
from isinglass.errors import SettingError
from isinglass.estimators import GreedyGraph
from isinglass.graph import NUMBERS, Graph
from isinglass.model import FitRecord
from isinglass.parameters import checked
from isinglass.report import slider, texts
from isinglass.report.suppression import suppressed
from isinglass.selection import FIRM, TENTATIVE, Paper, tier_levels

Pair = tuple[str, str]


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

    A record read from a file does as well as the fitted estimator.

    Parameters
    ----------
    fit : GreedyGraph or FitRecord
    title : str, optional
        What to call the table.
    paths : bool
        Whether every step of the searches, and every pair of columns, come along. The page's
        slider needs them; a short summary does not.
    suppress : float
        Cells with fewer rows are hidden, and the numbers that would give them away.
    frequencies : dict of (name, name) to float, optional
        The share of half-samples that choose an edge.
    measures : data frame, optional
        What :func:`isinglass.measures.nodes` says of the columns.
    explanations : dict of (name, name) to str, optional
        Sentences on pairs: why there is an edge, or none.
    verdicts : data frame, optional
        One row a pair, in column order: ``verdict`` ("linked", "not linked", "cannot tell"),
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
    summary: dict[str, Any] = {
        "title": title,
        "rows": _whole(record.rows),
        "columns": len(record.names),
        "states": {
            name: [_plain(state) for state in labels]
            for name, labels in zip(record.names, record.states, strict=True)
        },
        "rule": str(record.settings.get("rule")),
        "selector": record.selector,
        "threshold": record.threshold,
        "floor": record.floor,
        "selectors": _selectors(record),
        "tiers": tier_levels(record.rows, len(record.names)),
        "edges": _edges(record, frequencies or {}),
        "tentative": _tentative(record, frequencies or {}),
        "nodes": _nodes(record, _measured(measures)),
        "diagnostics": [
            {"column": note.column, "what": note.what, "done": note.done}
            for note in record.diagnostics
        ],
        "settings": dict(record.settings),
        "version": record.version,
        "fingerprint": record.fingerprint,
        "suppress": _whole(suppress),
    }
    if paths:
        summary |= _whole_run(record)
        for rule in summary["selectors"]:
            rule["stop"] = slider.stop_of(rule["threshold"], summary["stops"], record.paths)
        summary["explanations"] = _by_number(record, explanations or {})
        summary["verdicts"] = None if verdicts is None else _verdicts(record, verdicts)
        summary["frequencies"] = _by_number(record, frequencies or {})
    if suppress:
        summary = suppressed(summary, record)
    summary["texts"] = {
        "lead": texts.lead(summary),
        "how_to_read": list(texts.HOW_TO_READ),
        "methods": texts.methods(summary),
        "results": texts.results(summary),
        "limits": list(texts.LIMITS),
        "citation": texts.CITATION,
    }
    return summary


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


def _edges(record: FitRecord, frequencies: Mapping[Pair, float]) -> list[dict[str, Any]]:
    """The edges of the graph, strongest first."""
    return _listed(record.graph, frequencies)


def _tentative(record: FitRecord, frequencies: Mapping[Pair, float]) -> list[dict[str, Any]]:
    """The edges of the tentative tier that the graph lacks, strongest first."""
    chosen = set(record.graph.pairs)
    more = [e for e in record.with_tentative.links if (e.source, e.target) not in chosen]
    return _listed(Graph(record.names, more), frequencies)


def _listed(graph: Graph, frequencies: Mapping[Pair, float]) -> list[dict[str, Any]]:
    edges = [
        {"source": source, "target": target}
        | {key: _plain(getattr(link, key)) for key in NUMBERS}
        | {"frequency": _either(frequencies, source, target), "weight": link.weight}
        for link, (source, target) in zip(graph.links, graph.edges, strict=True)
    ]
    return sorted(edges, key=lambda row: -row["weight"])


def _selectors(record: FitRecord) -> list[dict[str, Any]]:
    """Where the chosen threshold and the rules by n and p sit, as far down as the search ran."""
    n, p = record.rows, len(record.names)
    known: list[tuple[str, str, float]] = [("chosen", record.selector, record.threshold)]
    for name, rule in (
        ("firm", FIRM),
        ("tentative", TENTATIVE),
        ("paper", Paper()),
    ):
        known.append((name, repr(rule), rule.threshold(n, p)))
    return [
        {
            "name": name,
            "words": words,
            "threshold": threshold,
            "edges": len(record.graph)
            if name == "chosen"
            else len(slider.edges_at(record.paths, threshold, _rule(record))),
        }
        for name, words, threshold in known
        if threshold >= record.floor
    ]


def _measured(measures: Any) -> dict[str, dict[str, Any]]:
    """The rows of a data frame of measures, by name."""
    if measures is None:
        return {}
    rows = nw.from_native(measures, eager_only=True).rows(named=True)
    return {row["name"]: row for row in rows}


def _nodes(record: FitRecord, measured: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
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
                "states": [_plain(label) for label in labels[:answers]],
                "ordered": record.ordered[r],
                "high": record.high[r],
                "counts": None if counts is None else [_whole(some) for some in counts[:answers]],
                "missing": None if counts is None else _whole(sum(counts[answers:])),
                "degree": int(degree[r]),
                "explained": _explained(path.start.loss, path.at(record.threshold).loss),
                "community": _plain(measured.get(name, {}).get("community")),
                "predictability": _plain(measured.get(name, {}).get("predictability")),
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
        < len(slider.edges_at(record.paths, record.threshold, _rule(record))),
        "paths": [_path(record, r) for r in range(len(record.names))],
        "values": {f"{a},{b}": list(value) for (a, b), value in record.values.items()},
        "pairs": None
        if pairs is None
        else {"information": pairs.information.tolist(), "sign": pairs.sign.tolist()},
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
    return {
        "support": support,
        "loss": fit.loss,
        "unbounded": sorted(fit.unbounded),
        "tables": [
            answers_only(np.asarray(fit.coef[t]), record.n_answers[t]).tolist() for t in support
        ],
    }


def _verdicts(record: FitRecord, verdicts: Any) -> dict[str, list[Any]]:
    """The columns of a data frame of verdicts, one member a pair of columns."""
    found = nw.from_native(verdicts, eager_only=True)
    p = len(record.names)
    if len(found) != p * (p - 1) // 2:
        raise SettingError(
            f"verdicts must have one row for each of {p * (p - 1) // 2} pairs, not {len(found)}."
        )
    return {
        "verdict": found["verdict"].to_list(),
        **{
            key: [value if value is not None and isfinite(value) else None for value in found[key]]
            for key in ("odds_ratio", "rows_needed")
        },
    }


def _by_number(record: FitRecord, of_pairs: Mapping[Pair, Any]) -> dict[str, Any]:
    place = {name: i for i, name in enumerate(record.names)}
    numbered = {
        (min(place[a], place[b]), max(place[a], place[b])): value
        for (a, b), value in of_pairs.items()
    }
    return {f"{a},{b}": numbered[a, b] for a, b in sorted(numbered)}


def _rule(record: FitRecord) -> str:
    return "and" if record.settings.get("rule") == "and" else "or"


def _either(of_pairs: Mapping[Pair, float], a: str, b: str) -> float | None:
    return of_pairs.get((a, b), of_pairs.get((b, a)))


def _plain(value: Any) -> Any:
    """A scalar that JSON knows; NaN, as pandas writes gaps, becomes None."""
    if isinstance(value, float) and isnan(value):
        return None
    return value if isinstance(value, bool | int | float | str) or value is None else str(value)


def _whole(number: float) -> int | float:
    return int(number) if float(number).is_integer() else float(number)
