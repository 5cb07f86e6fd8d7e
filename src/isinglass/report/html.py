"""The page: a summary as one HTML file that needs nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from isinglass.errors import SettingError
from isinglass.report.places import places
from isinglass.report.words import one_line

SCRIPTS = (
    "numbers.js",
    "elements.js",
    "graph.js",
    "network.js",
    "panel.js",
    "tables.js",
    "main.js",
)
#: With more columns than this there is no page: nobody could see them, and it would be huge.
MOST_COLUMNS = 2000
#: With more numbers than this in tables of log-odds, only those at the threshold come along.
MOST_NUMBERS = 60_000

#: What kinds of oddities mean, in plain words.
MEANINGS = {
    "constant": "These columns never vary, so nothing can depend on them.",
    "rare level": (
        "Some answers occur so seldom that tests about them are rough. Consider merging them with "
        "a neighbouring answer."
    ),
    "equal columns": "Two columns say the same in every row. Keep one of them.",
    "determined by others": (
        "Other columns tell these without error, as parts tell their total. Such links are true "
        "by construction."
    ),
    "few rows per cell": (
        "These pairs have many combinations of answers for the number of rows, so the threshold "
        "is approximate for them."
    ),
    "unbounded link": (
        "Some combination of answers never occurs in the table. The link is there; how strong it "
        "can get, the rows do not say."
    ),
    "search cut short": "The search was told to stop at a number of neighbours, and did.",
    "missing values": "Some cells are empty; here is what was done about them.",
    "fewer rows than columns": "With few rows only strong links can be found.",
}


def to_html(summary: Mapping[str, Any]) -> str:
    """Return a summary (with its paths) as one HTML page that makes no request of any kind.

    Examples
    --------
    >>> import isinglass as ig
    >>> x = ig.simulate.ising(ig.simulate.chain(4)).sample(200, seed=1)
    >>> page = to_html(ig.summarise(ig.GreedyGraph().fit(x), title="a chain"))
    >>> page.startswith("<!doctype html>"), "<title>a chain" in page
    (True, True)
    """
    if summary["columns"] > MOST_COLUMNS:
        raise SettingError(
            f"{summary['columns']:,} columns are too many for a page; at most {MOST_COLUMNS:,} "
            "can be drawn. Look at the table of edges instead."
        )
    title = one_line(summary["title"]) if summary["title"] else "What is linked with what"
    parts = {
        "title": escape(title),
        "style": _read("style.css"),
        "script": "\n".join(_read(name) for name in SCRIPTS),
        "data": in_script(page_data(summary)),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _read("template.html"))


def in_script(value: Any) -> str:
    r"""JSON that may stand in a script element: nothing in it can end the element.

    >>> in_script(["</script><!--", "\u2028"])
    '["\\u003c/script\\u003e\\u003c!--","\\u2028"]'
    """
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def page_data(summary: Mapping[str, Any]) -> dict[str, Any]:
    """What the scripts read: the summary by numbers of columns, rounded where nobody can see it.

    Gains and stops keep all their digits, since they decide which links are drawn.
    """
    names = [node["name"] for node in summary["nodes"]]
    number = {name: i for i, name in enumerate(names)}
    chosen = [(number[edge["source"]], number[edge["target"]]) for edge in summary["edges"]]
    kept = ("title", "rows", "rule", "selector", "threshold", "floor", "stops", "stop")
    also = ("diagnostics", "settings", "version", "fingerprint", "suppress", "texts")
    return {key: summary[key] for key in (*kept, *also)} | {
        "names": names,
        "nodes": [
            {key: value for key, value in node.items() if key not in ("name", "degree")}
            for node in summary["nodes"]
        ],
        "edges": [
            {"a": a, "b": b, "weight": edge["weight"], "sign": edge["sign"]}
            for (a, b), edge in zip(chosen, summary["edges"], strict=True)
        ],
        "at": places(len(names), chosen, _faint(summary)).round(2).tolist(),
        "selectors": summary["selectors"],
        "paths": _paths(summary),
        "values": {
            pair: [_rounded(number) for number in value]
            for pair, value in summary["values"].items()
        },
        "pairs": _pairs(summary["pairs"], summary["rows"]),
        "levels": summary["tiers"],
        "tentative": len(summary["tentative"]),
        "kept_fewer": summary["kept_fewer"],
        "explanations": summary["explanations"],
        "verdicts": _verdicts(summary["verdicts"]),
        "frequencies": summary["frequencies"],
        "meanings": MEANINGS,
    }


@cache
def _read(name: str) -> str:
    return (files("isinglass.report") / "page" / name).read_text(encoding="utf-8").strip("\n")


def _faint(summary: Mapping[str, Any]) -> list[tuple[int, int]]:
    """Pairs that are linked at some threshold."""
    return sorted(
        {
            (min(r, step["variable"]), max(r, step["variable"]))
            for r, path in enumerate(summary["paths"])
            for step in path["steps"]
        }
    )


def _paths(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    paths = summary["paths"]
    size = sum(
        len(table) * len(table[0])
        for path in paths
        for step in path["steps"]
        for table in step["tables"]
        if table is not None and len(table) * len(table[0]) > 4
    )
    every = size <= MOST_NUMBERS
    return [
        {
            "status": path["status"],
            "start": _fit(path["start"], True),
            "steps": [
                _step(step, every or count == _cut(path, summary["threshold"]))
                for count, step in enumerate(path["steps"], 1)
            ],
        }
        for path in paths
    ]


def _cut(path: Mapping[str, Any], threshold: float) -> int:
    """How many steps a run to the threshold takes."""
    for count, step in enumerate(path["steps"]):
        if step["kind"] == "add" and not step["gain"] > threshold:
            return count
    return len(path["steps"])


def _step(step: Mapping[str, Any], with_tables: bool) -> dict[str, Any]:
    short: dict[str, Any] = {"kind": step["kind"], "variable": step["variable"]}
    short |= {"gain": step["gain"]} if step["kind"] == "add" else {"cost": _rounded(step["cost"])}
    return short | _fit(step, with_tables)


def _fit(fit: Mapping[str, Any], with_tables: bool) -> dict[str, Any]:
    short = {"support": fit["support"], "loss": _rounded(fit["loss"])}
    if with_tables:
        short["tables"] = [_table(table) for table in fit["tables"]]
    if fit["unbounded"]:
        short["unbounded"] = fit["unbounded"]
    return short


def _table(table: list[list[float]] | None) -> Any:
    """Two states each are one number: the others are the same or its opposite."""
    if table is None:
        return None
    if len(table) == 2 and len(table[0]) == 2:
        return _rounded(table[1][1])
    return [[round(value, 4) for value in row] for row in table]


def _pairs(pairs: Mapping[str, list[Any]] | None, n: float) -> list[int | None] | None:
    """Information of each pair with its sign, in tenths of a chi-square (2n nats)."""
    if pairs is None:
        return None
    return [
        None if size is None else round(20.0 * n * size) * (-1 if sign < 0 else 1)
        for size, sign in zip(pairs["information"], pairs["sign"], strict=True)
    ]


def _verdicts(verdicts: Mapping[str, list[Any]] | None) -> dict[str, Any] | None:
    """Words as one letter each, numbers with as many digits as anybody reads."""
    if verdicts is None:
        return None
    return {
        "verdict": "".join(word[0] for word in verdicts["verdict"]),
        **{
            key: [None if value is None else float(f"{value:.3g}") for value in verdicts[key]]
            for key in ("odds_ratio", "rows_needed")
        },
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.7g}")
