"""Results that people paste into their own documents: sheets, Word tables, figures, paragraphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from isinglass.cli.figures import check_figures
from isinglass.errors import SettingError
from isinglass.exports.tables import edge_rows
from isinglass.exports.word import word_document
from isinglass.exports.workbook import workbook
from isinglass.model import FitRecord
from isinglass.report.markdown import edge_cells

#: Options that ask for one more file.
PASTED = ("excel", "word", "methods")
_HEADS = ("strength", "sign", "log-odds", "evidence", "tier")


def to_paste(
    asked: Mapping[str, Any], record: FitRecord, summary: Mapping[str, Any]
) -> dict[str, bytes]:
    """The files that were asked for, by name."""
    files = {}
    if asked["excel"]:
        files["edges.xlsx"] = _workbook(record, summary)
    if asked["word"]:
        files["edges.docx"] = _document(summary)
    if asked["methods"]:
        files["methods.txt"] = _paragraphs(summary).encode()
    return files


def _workbook(record: FitRecord, summary: Mapping[str, Any]) -> bytes:
    labels = {node["name"]: node["label"] for node in summary["nodes"] if node["label"]}
    heads = ("name", "label", "states", "degree", "missing", "explained")
    columns = (
        [
            *(node["name"], node["label"], ", ".join(map(str, node["states"]))),
            *(node[key] for key in heads[3:]),
        ]
        for node in summary["nodes"]
    )
    return workbook(
        {"edges": edge_rows(record.with_tentative, labels), "columns": (heads, columns)}
    )


def _document(summary: Mapping[str, Any]) -> bytes:
    texts = summary["texts"]
    rows = (
        [edge["source"], edge["target"], *(edge_cells(edge)[head] for head in _HEADS)]
        for edge in summary["edges"]
    )
    title = f"Direct links in {summary['title']}" if summary["title"] else "Direct links"
    paragraphs = ["# Results", texts["results"], "# Methods", *texts["methods"].split("\n\n")]
    return word_document(
        title, ("Column", "Column", *map(str.capitalize, _HEADS)), rows, paragraphs
    )


def _paragraphs(summary: Mapping[str, Any]) -> str:
    texts = summary["texts"]
    return f"Methods\n\n{texts['methods']}\n\nResults\n\n{texts['results']}\n"


def check_pasting(asked: Mapping[str, Any], figures: Sequence[str], suppress: float) -> None:
    """Raise before the work begins if a file cannot be written, or a library is missing."""
    if asked["excel"]:
        workbook({})
    check_figures(figures)
    if figures and suppress:
        raise SettingError("--figure draws exact strengths, which --suppress is to hide.")
