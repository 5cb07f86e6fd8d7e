"""A table and some paragraphs as a Word document, in the form that journals ask for.

A .docx file is a ZIP file of XML; what little of it is needed here is written by hand.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from isinglass.wording import one_line

_TYPES = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">\
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>\
<Default Extension="xml" ContentType="application/xml"/>\
<Override PartName="/word/document.xml" ContentType=\
"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"""
_RELATIONS = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">\
<Relationship Id="rId1" Type=\
"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" \
Target="word/document.xml"/></Relationships>"""
_HEAD = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>"""
_TAIL = (
    '<w:sectPr><w:pgSz w:w="11906" w:h="16838"/>'
    '<w:pgMar w:top="1134" w:right="1134" w:bottom="1134" w:left="1134"/></w:sectPr>'
    "</w:body></w:document>"
)
#: When every part was written, so that equal documents are equal files.
_WHEN = (1980, 1, 1, 0, 0, 0)


def word_document(
    title: str, heads: Sequence[str], rows: Iterable[Sequence[Any]], paragraphs: Sequence[str]
) -> bytes:
    """The content of a .docx file: a title, a table with three rules, and paragraphs.

    A paragraph that begins with "# " is a heading.

    >>> word_document("Links", ["source", "target"], [["a", "b"]], ["# Methods", "We ..."])[:2]
    b'PK'
    """
    body = [_paragraph(title, bold=True), _table(heads, list(rows)), _paragraph("")]
    for text in paragraphs:
        body.append(_paragraph(text.removeprefix("# "), bold=text.startswith("# ")))
    parts = {
        "[Content_Types].xml": _TYPES,
        "_rels/.rels": _RELATIONS,
        "word/document.xml": "".join([_HEAD, *body, _TAIL]),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in parts.items():
            file.writestr(zipfile.ZipInfo(name, _WHEN), text, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _paragraph(text: str, *, bold: bool = False, right: bool = False) -> str:
    side = '<w:pPr><w:jc w:val="right"/></w:pPr>' if right else ""
    heavy = "<w:rPr><w:b/></w:rPr>" if bold else ""
    said = escape(one_line(text), quote=False) if text else ""
    return f'<w:p>{side}<w:r>{heavy}<w:t xml:space="preserve">{said}</w:t></w:r></w:p>'


def _table(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    rule = '<w:{} w:val="single" w:sz="8" w:space="0" w:color="000000"/>'
    borders = f"<w:tblBorders>{rule.format('top')}{rule.format('bottom')}</w:tblBorders>"
    below = f"<w:tcPr><w:tcBorders>{rule.format('bottom')}</w:tcBorders></w:tcPr>"
    head = "".join(f"<w:tc>{below}{_paragraph(cell, bold=True)}</w:tc>" for cell in heads)
    repeat = "<w:trPr><w:tblHeader/></w:trPr>"
    lines = [
        "".join(f"<w:tc>{_paragraph(text, right=right)}</w:tc>" for text, right in map(_cell, row))
        for row in rows
    ]
    grid = "<w:gridCol/>" * len(heads)
    return (
        f'<w:tbl><w:tblPr><w:tblW w:w="0" w:type="auto"/>{borders}</w:tblPr>'
        f"<w:tblGrid>{grid}</w:tblGrid><w:tr>{repeat}{head}</w:tr>"
        + "".join(f"<w:tr>{line}</w:tr>" for line in lines)
        + "</w:tbl>"
    )


def _cell(cell: Any) -> tuple[str, bool]:
    """The text of a cell, and whether it stands at the right, as numbers do."""
    return ("" if cell is None else str(cell)), isinstance(cell, int | float)
