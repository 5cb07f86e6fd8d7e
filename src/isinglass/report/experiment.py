"""Experiments and comparisons for people: Markdown, plain data, CSV; pictures are in `plots`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isinglass.experiments.compare import Comparison
from isinglass.experiments.curves import mean
from isinglass.experiments.plan import Design
from isinglass.experiments.study import Outcome
from isinglass.experiments.tuning import WAYS, Tuned
from isinglass.exports.tables import as_csv, harmless
from isinglass.report.markdown import markdown_table
from isinglass.wording import json_value

WAY_WORDS = {
    "own": "own rule",
    "all": "one constant for all",
    "other": "constant from other graphs",
    "hindsight": "hindsight",
}


def report_markdown(outcomes: Sequence[Outcome]) -> str:
    """Every table of an experiment, on one page."""
    parts = []
    for outcome in outcomes:
        parts += [f"## {outcome.study.title}", "Smallest beta with 95 % of the graphs recovered:"]
        parts += [needs_table(outcome), "At the beta where greedy first reaches 95 %:"]
        parts += [quality_table(outcome)]
    return "\n\n".join(parts) + "\n"


def needs_table(outcome: Outcome) -> str:
    """Markdown: the smallest beta with 95 % recovered, for each way to choose the constant.

    The ratios are to the first line, with 95 % intervals of the paired bootstrap: constants
    chosen on other graphs of the same design, and each one's own rule.
    """
    first = outcome.study.lines[0].label
    ratios = (f"times {first}, {WAY_WORDS[way]}" for way in ("other", "own"))
    heads = ["graph", "p", "d", "method", *(WAY_WORDS[way] for way in WAYS), *ratios, "graphs"]
    rows = []
    for design in outcome.study.designs:
        for line in outcome.study.lines:
            panel = outcome.panels[design.name, line.label]
            rows.append(
                [
                    *(words_of(design, outcome), str(design.p), str(design.degree), line.label),
                    *(_need(outcome.tuned(design, line.label, way)) for way in WAYS),
                    *(_ratio(outcome, design, line.label, way) for way in ("other", "own")),
                    str(min((len(tries) for tries in panel.failed), default=0)),
                ]
            )
    return markdown_table(heads, rows)


def short_table(outcome: Outcome) -> tuple[list[str], list[list[str]]]:
    """Heads and rows for the terminal: smallest betas, one column per method."""
    heads = ["graph", "p", *(line.label for line in outcome.study.lines)]
    rows = []
    for design in outcome.study.designs:
        found = (_tuned(outcome, design, line.label) for line in outcome.study.lines)
        needs = (str(tuned.need) if tuned else "" for tuned in found)
        rows.append([words_of(design, outcome), str(design.p), *needs])
    return heads, rows


def quality_table(outcome: Outcome) -> str:
    """Markdown: what the graphs are like at the beta where the first line first reaches 95 %."""
    heads = ["graph", "p", "beta", "n", "method", "recovered", "F1", "false", "missed", "AUPR"]
    rows = []
    for design in outcome.study.designs:
        at = _telling_point(outcome, design)
        beta = design.betas[at]
        start = [words_of(design, outcome), str(design.p), f"{beta:g}", str(design.rows(beta))]
        for line in outcome.study.lines:
            tuned = _tuned(outcome, design, line.label)
            if tuned is None:
                continue
            panel = tuned.panel
            f1, false, missed = (
                mean(tuned.of(values)[at]) for values in (panel.f1, panel.false, panel.missed)
            )
            shown = [f"{mean(tuned.exact[at]):.0%}", f"{f1:.3f}", f"{false:.2f}", f"{missed:.2f}"]
            rows.append([*start, line.label, *shown, _number(mean(panel.aupr[at]))])
    return markdown_table(heads, rows)


def _tuned(outcome: Outcome, design: Design, label: str) -> Tuned | None:
    """With the constant chosen on other graphs, or, where there is none to choose, its own rule."""
    return outcome.tuned(design, label, "other") or outcome.tuned(design, label, "own")


def _telling_point(outcome: Outcome, design: Design) -> int:
    tuned = outcome.tuned(design, outcome.study.lines[0].label, "other")
    need = tuned.need.beta if tuned else design.betas[-1]
    return int(np.argmax(np.asarray(design.betas) >= need - 1e-9))


def _need(tuned: Tuned | None) -> str:
    if tuned is None:
        return ""
    constant = tuned.words.replace("or ", "").replace("and ", "")
    return f"{tuned.need}" + (f" ({constant})" if "=" in constant else "")


def _ratio(outcome: Outcome, design: Design, label: str, way: str) -> str:
    if label == outcome.study.lines[0].label:
        return "1"
    ratio = outcome.ratio(design, label, way)
    return "" if ratio is None else str(ratio)


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.3f}"


def words_of(design: Design, outcome: Outcome) -> str:
    """The family, and what of its model is not the same in the whole study."""
    names = [other.name.split("/") for other in outcome.study.designs]
    shared = set.intersection(*(set(parts) for parts in names))
    parts = design.name.split("/")
    own = [part for part in parts[1:] if part not in shared and part[:2] not in ("p=", "d=")]
    return ", ".join([parts[0], *own])


def comparison_dict(comparison: Comparison) -> dict[str, Any]:
    """A comparison as plain data."""
    names = [entry.name for entry in comparison.entries]
    methods = comparison.to_frame("polars").to_dicts()
    return {
        "rows": comparison.rows,
        "folds": comparison.folds,
        "left_out": comparison.left_out,
        "score_without_edges": json_value(comparison.baseline),
        "methods": [
            {key: json_value(value) for key, value in method.items()}
            | {"failed": method["failed"] or None}
            for method in methods
        ],
        "common": {
            name: dict(zip(names, row, strict=True))
            for name, row in zip(names, comparison.common().tolist(), strict=True)
        },
    }


def comparison_csv(comparison: Comparison) -> bytes:
    """One row per method."""
    methods = comparison_dict(comparison)["methods"]
    return as_csv(list(methods[0]), (list(method.values()) for method in methods))


def edges_csv(comparison: Comparison) -> bytes:
    """One row for each edge that some method found: its ends, and who found it."""
    entries = [entry for entry in comparison.entries if entry.graph is not None]
    names = entries[0].graph.names if entries and entries[0].graph else ()
    rows = (
        harmless([names[a], names[b], *(int((a, b) in entry.edges) for entry in entries)])
        for a, b in sorted(frozenset().union(*(entry.edges for entry in entries)))
    )
    return as_csv(["source", "target", *(entry.name for entry in entries)], rows)
