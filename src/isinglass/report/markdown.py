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
        "## What was unusual in the table",
        _bullets(map(_note, summary["diagnostics"])) or "Nothing.",
        "## How to read this",
        "\n\n".join(texts["how_to_read"]),
        "## What this cannot show",
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


def edge_cells(edge: Mapping[str, Any]) -> dict[str, str]:
    """What is shown of an edge, by the head of its column; nothing where a number is not known.

    >>> cells = edge_cells({"strength": 0.5, "sign": -1, "log_odds": -2.0, "evidence": 40.0})
    >>> {head: cell for head, cell in cells.items() if cell}
    {'strength': '0.500', 'sign': '−', 'log-odds': '-2.00', 'evidence': '40.0', 'chosen by': 'both'}
    """
    coarse = "evidence" not in edge  # where small groups are hidden
    cells = {
        "strength": _number(edge["strength"], ".1f" if coarse else ".3f"),
        "relative": _number(edge.get("relative_strength"), ".3f"),
        "sign": SIGNS[edge["sign"]],
        "log-odds": "unbounded" if edge.get("unbounded") else _number(edge.get("log_odds"), "+.2f"),
        "form": edge.get("form", ""),
        "per step": _per_step(edge),
        "evidence": _number(edge.get("evidence"), ".1f"),
        "entry": _number(edge.get("entry_evidence"), ".1f"),
        "chosen by": edge.get("selected_by", "both"),
        "tier": edge.get("tier", ""),
        "information lost": _number(edge.get("information_lost"), ".0%"),
    }
    return cells | ({"strength": "hidden"} if coarse and edge["strength"] is None else {})


def _number(value: float | None, digits: str) -> str:
    return "" if value is None else f"{value:{digits}}"


def _per_step(edge: Mapping[str, Any]) -> str:
    """The log odds ratio per step of a product of scores."""
    number = _number(edge.get("step_log_odds"), "+.2f")
    return "unbounded" if number and edge.get("unbounded") else number


def have_forms(edges: Iterable[Mapping[str, Any]]) -> bool:
    """Whether some edges are something else than whole tables."""
    return any(edge.get("form", "table") != "table" for edge in edges)


def _edges(summary: Mapping[str, Any]) -> str:
    if not summary["edges"]:
        return "None."
    forms = ("form", "per step") if have_forms(summary["edges"]) else ()
    exact = () if summary["suppress"] else ("log-odds", *forms, "evidence", "chosen by", "tier")
    lost = ("information lost",) if exact and summary.get("filled") else ()
    heads = ("strength", "sign", *exact, *lost)
    rows = (
        [
            *(escaped(edge[end]) for end in ("source", "target")),
            *(cell and escaped(cell) for cell in map(edge_cells(edge).__getitem__, heads)),
        ]
        for edge in summary["edges"]
    )
    return markdown_table(("column", "column", *heads), rows)


def _nodes(summary: Mapping[str, Any]) -> str:
    coarse = summary["suppress"]
    labelled = any(node["label"] for node in summary["nodes"])
    heads = ["share of each"] if coarse else ["rows of each", "missing", "explained"]
    rows = (
        [
            *([node["name"], node["label"] or ""] if labelled else [node["name"]]),
            node["degree"],
            ", ".join(one_line(str(state)) for state in node["states"]),
            *([", ".join(map(band, node["shares"]))] if coarse else _exact_node(node)),
        ]
        for node in summary["nodes"]
    )
    first = ["column", "label"] if labelled else ["column"]
    return _table([*first, "links", "states", *heads], rows)


def _exact_node(node: Mapping[str, Any]) -> list[str]:
    counts = ", ".join(f"{count:,}" for count in node["counts"] or ())
    return [counts, _number(node["missing"], ","), _number(node["explained"], ".0%")]


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
