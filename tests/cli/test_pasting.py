"""Results for other documents: sheets, a Word table, figures, paragraphs."""

import io
import json
import sys
import zipfile
from xml.etree import ElementTree

import openpyxl
import pytest

from isinglass.errors import FileError, MissingExtra, SettingError

OPTIONS = ("--drop", "id", "--bin", "age=3", "--drop", "count", "--drop", "share")
WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def texts(content: bytes, tag: str) -> list[list[str]]:
    """The texts of each element of a kind in a Word document."""
    root = ElementTree.fromstring(zipfile.ZipFile(io.BytesIO(content)).read("word/document.xml"))
    found = root.iter(f"{WORD}{tag}")
    return [["".join(one.itertext()) for one in each.iter(f"{WORD}p")] for each in found]


def test_all_of_them(invoke, survey, tmp_path):
    out, figures = tmp_path / "out", [tmp_path / f"net.{end}" for end in ("pdf", "svg", "png")]
    drawn = [word for path in figures for word in ("--figure", path)]
    files = ("--excel", "--word", "--methods", "--no-model", "--out", out)
    outcome = invoke("fit", survey, *OPTIONS, *files, *drawn, "--json")
    summary = json.loads(outcome.out)
    assert "edges.xlsx, edges.docx, methods.txt" in outcome.err
    book = openpyxl.load_workbook(out / "edges.xlsx")
    edges, columns = (list(book[name].iter_rows(values_only=True)) for name in book.sheetnames)
    assert edges[0][:3] == ("source", "target", "strength")
    found = {(edge["source"], edge["target"]): edge["strength"] for edge in summary["edges"]}
    assert found.items() <= {(row[0], row[1]): row[2] for row in edges[1:]}.items()
    assert [row[0] for row in columns[1:]] == [node["name"] for node in summary["nodes"]]
    rows = texts((out / "edges.docx").read_bytes(), "tr")
    assert rows[0][:2] == ["Column", "Column"]
    assert [row[:2] for row in rows[1:]] == [[e["source"], e["target"]] for e in summary["edges"]]
    methods = (out / "methods.txt").read_text()
    assert summary["texts"]["methods"] in methods
    assert summary["texts"]["results"] in methods
    for path, begins in zip(figures, (b"%PDF", b"<?xml", b"\x89PNG"), strict=True):
        assert path.read_bytes().startswith(begins)


def test_hostile_names_are_only_text(invoke, write_csv, tmp_path):
    names = ["=1+1", "<w:p>&", "a\x0bb"]
    path = write_csv(tmp_path / "t.csv", {name: [0, 1] * 40 for name in names})
    out = tmp_path / "out"
    invoke("fit", path, "--excel", "--word", "--no-model", "--out", out)
    book = openpyxl.load_workbook(out / "edges.xlsx")
    assert book["edges"]["A2"].value == "=1+1"
    assert book["edges"]["A2"].data_type == "s"
    said = {cell for row in texts((out / "edges.docx").read_bytes(), "tr") for cell in row}
    assert {"=1+1", "<w:p>&"} <= said


def test_figures_need_no_folder_of_results(invoke, survey, tmp_path):
    outcome = invoke("fit", survey, *OPTIONS, "--figure", tmp_path / "n.svg")
    assert f"wrote {tmp_path / 'n.svg'}" in outcome.out


@pytest.mark.parametrize("option", ["--excel", "--word", "--methods"])
def test_files_need_a_folder(invoke, survey, option):
    with pytest.raises(SettingError, match=f"{option} writes .*; name a folder with --out"):
        invoke("fit", survey, *OPTIONS, option)


@pytest.mark.parametrize("option", ["--excel", "--word", "--methods"])
def test_nothing_exact_where_small_groups_are_hidden(invoke, survey, tmp_path, option):
    with pytest.raises(SettingError, match="--suppress hides"):
        invoke("fit", survey, *OPTIONS, option, "--suppress", 5, "--out", tmp_path / "out")


def test_figures_that_cannot_be(invoke, survey, tmp_path):
    with pytest.raises(SettingError, match=r"--figure takes a file that ends in \.pdf"):
        invoke("fit", survey, *OPTIONS, "--figure", "network.gif")
    with pytest.raises(SettingError, match="--suppress is to hide"):
        invoke("fit", survey, *OPTIONS, "--figure", "network.pdf", "--suppress", 5)
    with pytest.raises(FileError):
        invoke("fit", survey, *OPTIONS, "--figure", tmp_path / "survey.csv" / "n.pdf")


def test_without_the_libraries(invoke, survey, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(MissingExtra, match=r"pip install 'isinglass\[files\]'"):
        invoke("fit", survey, *OPTIONS, "--excel", "--out", tmp_path / "out")
