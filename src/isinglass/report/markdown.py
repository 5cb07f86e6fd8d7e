"""A summary as Markdown, for a notebook, a wiki or an appendix."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from isinglass.wording import one_line

SIGNS = {1: "+", -1: "−", 0: "none", None: "hidden"}


def to_markdown(summary: Mapping[str, Any]) -> str:
    """Return a summary as Markdown: what was found, the edges, the columns, the paragraphs.

    Examples
    --------
    >>> import isinglass as ig
    >>> x = ig.simulate.ising(ig.simulate.chain(3), coupling=1.0).sample(300, seed=0)
    >>> print(to_markdown(ig.summarise(ig.GreedyGraph().fit(x), title="a chain"))[:76])
    # a chain
    <BLANKLINE>
    2 direct links among 3 pairs of 3 columns, learned from 300 rows.
    """
    texts = summary["texts"]
    title = summary["title"] or "What is linked with what"
    parts = [
        f"# {escaped(title)}",
        texts["lead"],
        "## Links",
        _edges(summary),
        "## Columns",
        _nodes(summary),
        "## What was odd in the table",
        _bullets(map(_note, summary["diagnostics"])) or "Nothing.",
        "## How to read this",
        "\n\n".join(texts["how_to_read"]),
        "## What this cannot tell",
        _bullets(texts["limits"]),
        "## Methods",
        "\n\n".join(map(escaped, texts["methods"].split("\n\n"))),
        "## Results",
        escaped(texts["results"]),
        "## Settings",
        _table(("setting", "value"), _settings(summary)),
    ]
    return "\n\n".join(parts) + "\n"


def escaped(text: Any) -> str:
    r"""Text that Markdown shows as it is.

    >>> escaped("<b> a_b | [x](y)")
    '\\<b\\> a\\_b \\| \\[x\\](y)'
    """
    return re.sub(r"([\\`*_{}\[\]<>|#~&!$])", r"\\\1", one_line(str(text)))


def _edges(summary: Mapping[str, Any]) -> str:
    if not summary["edges"]:
        return "None."
    heads: tuple[str, ...] = ("column", "column", "strength", "sign")
    if summary["suppress"]:
        return _table(heads, (_coarse_edge(edge) for edge in summary["edges"]))
    heads += ("log-odds", "evidence", "chosen by", "tier")
    return _table(heads, (_exact_edge(edge) for edge in summary["edges"]))


def _coarse_edge(edge: Mapping[str, Any]) -> tuple[str, ...]:
    strength = "hidden" if edge["strength"] is None else f"{edge['strength']:.1f}"
    return edge["source"], edge["target"], strength, SIGNS[edge["sign"]]


def _exact_edge(edge: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        edge["source"],
        edge["target"],
        "" if edge["strength"] is None else f"{edge['strength']:.3f}",
        SIGNS[edge["sign"]],
        _log_odds(edge),
        "" if edge["evidence"] is None else f"{edge['evidence']:.1f}",
        edge["selected_by"],
        edge["tier"],
    )


def _log_odds(edge: Mapping[str, Any]) -> str:
    if edge["unbounded"]:
        return "unbounded"
    return "" if edge["log_odds"] is None else f"{edge['log_odds']:+.2f}"


def _nodes(summary: Mapping[str, Any]) -> str:
    heads: tuple[str, ...] = ("column", "links", "states")
    if summary["suppress"]:
        return _table(
            (*heads, "share of each"),
            ((*_node(node), ", ".join(map(band, node["shares"]))) for node in summary["nodes"]),
        )
    return _table(
        (*heads, "rows of each", "missing", "explained"),
        (
            (
                *_node(node),
                ", ".join(f"{count:,}" for count in node["counts"] or ()),
                "" if node["missing"] is None else f"{node['missing']:,}",
                "" if node["explained"] is None else f"{node['explained']:.0%}",
            )
            for node in summary["nodes"]
        ),
    )


def _node(node: Mapping[str, Any]) -> tuple[Any, ...]:
    states = ", ".join(one_line(str(state)) for state in node["states"])
    return node["name"], node["degree"], states


def band(ends: Sequence[float]) -> str:
    """A band of shares in words.

    >>> band([0.2, 0.25])
    '20 to 25 %'
    """
    low, high = ends
    return f"{100 * low:g} to {100 * high:g} %"


def _note(note: Mapping[str, Any]) -> str:
    where = "" if note["column"] is None else f"{escaped(note['column'])}: "
    return f"{where}{escaped(note['what'])}: {escaped(note['done'])}"


def _settings(summary: Mapping[str, Any]) -> list[tuple[str, Any]]:
    shown = [
        ("rows", summary["rows"]),
        ("how the threshold was chosen", summary["selector"]),
        *((key, value) for key, value in summary["settings"].items() if key != "threshold"),
        ("isinglass", summary["version"]),
    ]
    if summary["suppress"]:
        return [*shown, ("groups hidden below", f"{summary['suppress']:g} rows")]
    return [
        *shown,
        ("threshold", f"{summary['threshold']:.6g}"),
        ("searched down to", f"{summary['floor']:.6g}"),
        ("fingerprint of the table", summary["fingerprint"]),
    ]


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    return markdown_table(heads, ([escaped(cell) for cell in row] for row in rows))


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown, its cells as they are.

    >>> print(markdown_table(["a", "b"], [["1", "2"]]))
    | a | b |
    | --- | --- |
    | 1 | 2 |
    """
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
