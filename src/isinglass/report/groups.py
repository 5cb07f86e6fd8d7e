"""A comparison of groups for people: plain data, CSV, and a page of its own."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from isinglass.exports.tables import as_csv, harmless
from isinglass.uncertainty.groups.result import EdgeDifference, GroupComparison
from isinglass.wording import counted, json_value

EXPLORATORY = (
    "Exploratory: each group was searched alone. These edges are firm in some groups and not in "
    "others. That may be a real difference, chance, or due to different numbers of rows; it was "
    "not tested."
)
HOW_TO_READ = (
    "One graph was learned from all rows, with the groups held fixed, so that groups that merely "
    "answer yes more often create no links. Then its links were estimated in each group. The log "
    "odds ratio says how strongly two columns are associated, per step from one state to the next; "
    "0 means no link.",
    "The p-value of an edge says how often a difference as large would occur between groups that "
    "do not differ; the one by Holm's rule is corrected for the number of edges. The test of all "
    "edges together may be significant where no single edge is.",
    "All tests are conditional on this graph. A difference is not a cause. That no difference is "
    "found does not mean that there is none: small groups show only large differences.",
)


def groups_dict(found: GroupComparison) -> dict[str, Any]:
    """A comparison as plain data."""
    return {
        "by": found.by,
        "adjusted": list(found.adjusted),
        "level": found.level,
        "groups": [
            {
                "label": json_value(group.label),
                "rows": json_value(group.rows),
                "strength": group.strength,
                "error": group.error,
            }
            for group in found.groups
        ],
        "omnibus": found.omnibus,
        "strength": found.strength,
        "edges": [_edge_dict(found, edge) for edge in found.edges],
        "exploratory": list(found.exploratory),
        "sentence": found.sentence,
        "paragraph": found.paragraph,
    }


def _edge_dict(found: GroupComparison, edge: EdgeDifference) -> dict[str, Any]:
    low, high = edge.interval() or (None, None)
    return {
        "source": edge.source,
        "target": edge.target,
        "log_odds": list(edge.log_odds),
        "errors": list(edge.errors),
        "difference": edge.difference,
        "error": edge.error,
        "low": low,
        "high": high,
        "statistic": edge.statistic,
        "df": edge.df,
        "p_value": edge.p_value,
        "adjusted": edge.adjusted,
        "differs": edge.adjusted <= found.level,
        "untested": edge.untested or None,
    }


def differences_csv(found: GroupComparison) -> bytes:
    """One row per edge."""
    table = found.to_frame("polars")
    return as_csv(list(table.columns), (harmless(list(row)) for row in table.rows()))


def exploratory_csv(found: GroupComparison) -> bytes:
    """One row per edge that is firm in some groups only."""
    table = found.exploratory_frame("polars")
    return as_csv(list(table.columns), (harmless(list(row)) for row in table.rows()))


def groups_html(found: GroupComparison, title: str, pictures: Mapping[str, bytes]) -> str:
    """A page about a comparison; `pictures` are SVG, by what they show."""
    names = [group.name for group in found.groups]
    sizes = ", ".join(f"{group.name}: {group.rows:,.6g} rows" for group in found.groups)
    parts = [
        f"<h1>{escape(title)}: groups of {escape(found.by)}</h1>",
        f"<p class='lead'>{escape(found.sentence)}</p>",
        f"<p>{escape(sizes)}{escape(_adjusted(found))}.</p>",
        *(_picture(words, svg) for words, svg in pictures.items()),
        "<h2>All edges together</h2>",
        _table(("test", "statistic", "degrees of freedom", "p-value"), _tests(found)),
        "<h2>Edge by edge</h2>",
        _table(_heads(found, names), (_cells(found, edge) for edge in _in_order(found))),
        f"<h2>In some groups only</h2><p>{escape(EXPLORATORY)}</p>",
        _exploratory(found),
        "<h2>How to read it</h2>",
        *(f"<p>{escape(words)}</p>" for words in HOW_TO_READ),
        "<h2>For a paper</h2>",
        f"<p class='paper'>{escape(found.paragraph)}</p>",
    ]
    return PAGE.format(title=escape(f"{title}: groups of {found.by}"), body="\n".join(parts))


def _adjusted(found: GroupComparison) -> str:
    return f"; adjusted for {', '.join(found.adjusted)}" if found.adjusted else ""


def _picture(words: str, svg: bytes) -> str:
    source = f"data:image/svg+xml;base64,{b64encode(svg).decode()}"
    text = escape(words, quote=True)
    return f"<figure><img src='{source}' alt='{text}'><figcaption>{text}</figcaption></figure>"


def _tests(found: GroupComparison) -> list[list[str]]:
    strengths = ", ".join(f"{g.name} {g.strength:.2f} ± {g.error:.2f}" for g in found.groups)
    tests = {
        f"{counted(len(found.edges), 'edge')} together": found.omnibus,
        f"global strength ({strengths})": found.strength,
    }
    return [
        [words, f"{test.statistic:.1f}", f"{test.df:.1f}", f"{test.p_value:.3g}"]
        for words, test in tests.items()
    ]


def _heads(found: GroupComparison, names: Sequence[str]) -> list[str]:
    difference = ["difference", "95 % interval"] if len(names) == 2 else []
    groups = (f"log odds ratio, {name}" for name in names)
    return ["edge", *groups, *difference, "p-value", "by Holm's rule", ""]


def _in_order(found: GroupComparison) -> list[EdgeDifference]:
    """The smallest p-value first, edges without a test last."""
    return sorted(found.edges, key=lambda edge: (bool(edge.untested), edge.p_value))


def _cells(found: GroupComparison, edge: EdgeDifference) -> list[str]:
    values = zip(edge.log_odds, edge.errors, strict=True)
    cells = ["" if v is None else f"{v:.2f} ± {e:.2f}" for v, e in values]
    if len(cells) == 2:
        ends = edge.interval()
        cells.append("" if edge.difference is None else f"{edge.difference:+.2f}")
        cells.append("" if ends is None else f"{ends[0]:+.2f} to {ends[1]:+.2f}")
    p_values = ["", ""] if edge.untested else [f"{edge.p_value:.3g}", f"{edge.adjusted:.3g}"]
    word = "differs" if edge.adjusted <= found.level else edge.untested
    return [f"{edge.source} – {edge.target}", *cells, *p_values, word]


def _exploratory(found: GroupComparison) -> str:
    if not found.exploratory:
        return "<p>There is none.</p>"
    rows = (
        [
            *(f"{e.source} – {e.target}", ", ".join(e.firm_in), ", ".join(e.not_in)),
            "yes" if e.pooled else "no",
        ]
        for e in found.exploratory
    )
    return _table(("edge", "firm in", "not in", "in the graph of all rows"), rows)


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of HTML; all cells are text."""
    head = "".join(f"<th>{escape(word)}</th>" for word in heads)
    body = "\n".join(
        f"<tr{' class=differs' if cells[-1] == 'differs' else ''}>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for cells in map(list, rows)
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div class='wide'>{table}</div>"


PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 60rem; margin: 2rem auto;
  padding: 0 1rem; }}
h1 {{ font-size: 1.5rem; }} h2 {{ font-size: 1.15rem; margin-top: 2rem; }}
.lead {{ font-size: 1.1rem; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: 0.9rem; }}
th, td {{ text-align: right; padding: 0.25rem 0.7rem; border-bottom: 1px solid #ddd;
  vertical-align: bottom; }}
th:first-child, td:first-child {{ text-align: left; }} td {{ white-space: nowrap; }}
tr.differs td {{ font-weight: 600; }}
figure {{ margin: 1.5rem 0; }} img {{ max-width: 100%; }} figcaption {{ color: #555; }}
.paper {{ border-left: 3px solid #bbb; padding-left: 1rem; }}
@media (prefers-color-scheme: dark) {{ body {{ background: #fff; }} }}
</style>
</head>
<body>
{body}
</body>
</html>
"""
