from isinglass import summarise
from isinglass.report import to_markdown
from report.pages import HOSTILE, binary, fitted, hostile


def test_sections_and_edges():
    est = fitted(binary())
    text = to_markdown(summarise(est, title="votes"))
    assert text.startswith("# votes\n")
    heads = [line for line in text.splitlines() if line.startswith("## ")]
    assert heads[:3] == ["## Links", "## Columns", "## What was unusual in the table"]
    rows = text.split("## Links")[1].split("## Columns")[0].strip().splitlines()[2:]
    strongest = max(est.graph_.links, key=lambda link: link.strength)
    assert len(rows) == len(est.graph_)
    assert f"{strongest.strength:.3f}" in rows[0]


def test_names_cannot_break_a_table():
    text = to_markdown(summarise(fitted(hostile()), title=HOSTILE[0]))
    rows = text.split("## Links")[1].split("## Columns")[0].strip().splitlines()
    bars = {row.replace("\\|", "").count("|") for row in rows}
    assert bars == {9}
    assert "<script" not in text.replace("\\<", "")
