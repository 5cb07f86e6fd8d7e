"""The page: a summary as one HTML file that needs nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import SettingError
from isinglass.graph import trend_of
from isinglass.report.layout import page_positions
from isinglass.wording import one_line, whole

SCRIPTS = (
    "numbers.js",
    "names.js",
    "elements.js",
    "forms.js",
    "graph.js",
    "picture.js",
    "network.js",
    "scope.js",
    "panel.js",
    "tables.js",
    "main.js",
)
#: With more columns than this there is no page: nobody could see them, and it would be huge.
MOST_COLUMNS = 2000
#: With more links than this the page begins with the strongest, and sets groups apart.
CROWDED = 200
#: How many those are.
FIRST = 150

#: What kinds of oddities mean, in plain words.
MEANINGS = {
    "constant": "These columns never vary, so nothing can depend on them.",
    "rare level": (
        "Some states occur so rarely that tests about them are rough. Consider merging each with a "
        "similar state."
    ),
    "equal columns": "Two columns are equal in every row. Keep one of them.",
    "determined by others": (
        "Other columns determine these without error, as parts determine their total. Such links "
        "are true by construction."
    ),
    "few rows per cell": (
        "These pairs have many combinations of states for the number of rows. Each line says what "
        "their links were compared with."
    ),
    "unbounded link": (
        "Some combination of states never occurs in the table. The link is there, but the rows do "
        "not say how strong it is."
    ),
    "search cut short": "The search stopped at the number of neighbours that was allowed.",
    "clusters": "Rows come in clusters, within which they may depend on each other.",
    "missing values": "Some values are missing. Each line says how they were treated.",
    "fewer rows than columns": "With few rows, only strong links can be found.",
    "bins merged": "Values repeat too often to make the requested number of bins.",
    "required link": "A required link could not be drawn.",
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

    Gains and stops keep all their digits, since they decide which links are drawn. Where small
    groups are hidden there is no search, so the page is made from the links that are listed.
    """
    names = [node["name"] for node in summary["nodes"]]
    number = {name: i for i, name in enumerate(names)}
    chosen = [(number[edge["source"]], number[edge["target"]]) for edge in summary["edges"]]
    as_they_are = (
        *("title", "rows", "rule", "selector", "diagnostics"),
        *("settings", "version", "suppress", "texts"),
    )
    data = {key: summary[key] for key in as_they_are} | {
        "names": names,
        "nodes": [
            {key: value for key, value in node.items() if key not in ("name", "degree")}
            for node in summary["nodes"]
        ],
        "edges": [
            {"a": a, "b": b}
            | {key: edge[key] for key in ("strength", "weight", "sign") if key in edge}
            for (a, b), edge in zip(chosen, summary["edges"], strict=True)
        ],
        "groups": [
            {**group, "columns": [number[name] for name in group["columns"]]}
            for group in summary["groups"]
        ],
        "at": _at(summary, chosen).round(2).tolist(),
        "first": FIRST if len(chosen) > CROWDED else None,
        "meanings": MEANINGS,
        "paths": None,
    }
    return data if summary["suppress"] else data | _search_data(summary)


def _search_data(summary: Mapping[str, Any]) -> dict[str, Any]:
    """What the slider needs, and what is known of each pair."""
    as_they_are = (
        *("threshold", "floor", "stops", "stop", "fingerprint", "dropped", "selectors", "tiers"),
        *("kept_fewer", "explanations", "frequencies", "information_lost", "filled"),
        "found_alone",
    )
    return {key: summary[key] for key in as_they_are} | {
        "paths": list(map(_path, summary["paths"])),
        "values": {pair: _rounded(value) for pair, value in summary["values"].items()},
        "pairs": _pairs(summary["pairs"], summary["rows"]),
        "link_tables": _link_tables(summary["link_tables"]),
        "levels": summary["tiers"],
        "tentative": len(summary["tentative"]),
        "verdicts": _verdicts(summary["verdicts"]),
    }


def _at(summary: Mapping[str, Any], chosen: list[tuple[int, int]]) -> NDArray[np.float64]:
    """Where columns are drawn: by their links, and where these are many, group by group."""
    groups = [node.get("community") for node in summary["nodes"]]
    if len(chosen) > CROWDED and any(groups):
        return page_positions(len(groups), chosen, (), groups)
    return page_positions(len(groups), chosen, [] if summary["suppress"] else _faint(summary))


@cache
def _read(name: str) -> str:
    return (files("isinglass.report") / "page" / name).read_text(encoding="utf-8").strip("\n")


def _faint(summary: Mapping[str, Any]) -> list[tuple[int, int]]:
    """Pairs that are linked at some threshold."""
    ends = ((r, step["variable"]) for r, p in enumerate(summary["paths"]) for step in p["steps"])
    return sorted({(min(pair), max(pair)) for pair in ends})


def _path(path: Mapping[str, Any]) -> dict[str, Any]:
    steps = list(map(_step, path["steps"]))
    return {"status": path["status"], "start": _fit(path["start"]), "steps": steps}


def _step(step: Mapping[str, Any]) -> dict[str, Any]:
    short = {"gain": step["gain"]} if step["kind"] == "add" else {"cost": _rounded(step["cost"])}
    return {"kind": step["kind"], "variable": step["variable"], **short, **_fit(step)}


def _fit(fit: Mapping[str, Any]) -> dict[str, Any]:
    """A table of log-odds is sent as one number: which way it goes, and how far."""
    short = {"support": fit["support"], "loss": _rounded(fit["loss"])}
    short["trends"] = [_rounded(trend_of(np.array(table))) for table in fit["tables"]]
    if fit["unbounded"]:
        short["unbounded"] = fit["unbounded"]
    if any(form != "table" for form in fit["forms"]):
        short["forms"], short["steps"] = fit["forms"], _rounded(fit["steps"])
    return short


def _link_tables(tables: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Rows to a hundredth."""
    if tables is None:
        return None
    return {
        pair: {
            key: [[whole(round(rows, 2)) for rows in line] for line in table[key]]
            for key in ("observed", "expected")
        }
        for pair, table in tables.items()
    }


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
    keys = ("odds_ratio", "rows_needed", "state_odds_ratio")
    numbers = {key: _rounded(verdicts.get(key), 3) for key in keys}
    return {"verdict": "".join(word[0] for word in verdicts["verdict"]), **numbers}


def _rounded(value: Any, digits: int = 7) -> Any:
    """A number, None, or a list of these, to so many digits."""
    if isinstance(value, list):
        return [_rounded(one, digits) for one in value]
    return None if value is None else float(f"{value:.{digits}g}")
