import json
import webbrowser
from itertools import combinations

import pytest

from isinglass import FitRecord, GreedyGraph, read_table, summarise
from isinglass.errors import FileError, SettingError
from isinglass.report import to_html
from isinglass.selection import Auto, LookBelow
from isinglass.uncertainty.explaining.explain import explain
from isinglass.uncertainty.explaining.verdict import verdict
from isinglass.uncertainty.resampling.resample import resample

KEPT = ["a", "b", "c", "alone"]


@pytest.fixture
def model(survey, tmp_path):
    path = tmp_path / "votes_2006" / "model.json"
    est = GreedyGraph(LookBelow(Auto())).fit(read_table(survey).select(KEPT))
    est.record().save(path)
    return path


@pytest.fixture
def opened(monkeypatch):
    pages = []
    monkeypatch.setattr(webbrowser, "open", lambda page: pages.append(page) or True)
    return pages


def test_beside_the_model(invoke, model, opened):
    outcome = invoke("report", model)
    page = model.parent / "report.html"
    assert outcome.out == f"wrote {page}\n"
    record = FitRecord.load(model)
    expected = to_html(summarise(record, title="votes 2006"))
    assert page.read_text() == expected
    assert opened == []


@pytest.mark.parametrize(
    "options", [(), ("--predictability", "--verdicts", "--half-samples", 4)], ids=["plain", "all"]
)
def test_it_is_the_page_that_fit_writes(invoke, survey, tmp_path, options):
    drop = [word for name in ("id", "age", "count", "share") for word in ("--drop", name)]
    invoke("fit", survey, *drop, "--out", tmp_path / "out", *options)
    written = tmp_path / "out" / "model.json"
    invoke("report", written, "--out", tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == (tmp_path / "out/report.html").read_bytes()
    found = FitRecord.load(written).findings
    assert found.title == "survey"
    assert (found.verdicts is None) == (found.frequencies is None) == (not options)
    invoke("report", written, "--out", tmp_path / "other.md", "--title", "Other")
    assert (tmp_path / "other.md").read_text().startswith("# Other\n")


def test_suppress_writes_nothing_exact(invoke, survey, tmp_path):
    drop = [word for name in ("id", "age", "count", "share") for word in ("--drop", name)]
    out = tmp_path / "out"
    outcome = invoke("fit", survey, *drop, "--out", out, "--suppress", 5)
    assert sorted(path.name for path in out.iterdir()) == ["report.html"]
    assert "model.json, graph.png are not written with --suppress" in outcome.out
    assert "do not share" not in outcome.out
    again = invoke("fit", survey, *drop, "--json", "--suppress", 5)
    est = GreedyGraph(LookBelow(Auto())).fit(read_table(survey).select(KEPT))
    expected = summarise(est, title="survey", suppress=5)
    said = json.loads(again.out)
    assert {key: said[key] for key in said if key not in ("settings", "selector", "texts")} == {
        key: expected[key] for key in said if key not in ("settings", "selector", "texts")
    }
    (out / "model.json").write_text("{}")
    outcome = invoke("fit", survey, *drop, "--out", out, "--suppress", 5)
    assert f"do not share model.json, left in {out} by an earlier run" in outcome.out
    with pytest.raises(SettingError, match="Use either --suppress or the others"):
        invoke("fit", survey, *drop, "--out", out, "--suppress", 5, "--verdicts")


def test_open(invoke, survey, model, tmp_path, opened):
    invoke("report", model, "--out", tmp_path / "x.html", "--open")
    drop = [word for name in ("id", "age", "count", "share") for word in ("--drop", name)]
    invoke("fit", survey, *drop, "--out", tmp_path / "out", "--open")
    assert opened == [(tmp_path / "x.html").as_uri(), (tmp_path / "out/report.html").as_uri()]
    with pytest.raises(SettingError, match="name a folder with --out"):
        invoke("fit", survey, *drop, "--open")


def test_verdicts(invoke, survey, tmp_path):
    drop = [word for name in ("id", "age", "count", "share") for word in ("--drop", name)]
    invoke("fit", survey, *drop, "--out", tmp_path / "out", "--verdicts")
    page = (tmp_path / "out" / "report.html").read_text()
    est = GreedyGraph(LookBelow(Auto())).fit(read_table(survey).select(KEPT))
    words = "".join(pair.verdict[0] for pair in verdict(est))
    assert f'"verdict":"{words}"' in page
    pair = next(pair for pair in combinations(KEPT, 2) if pair not in est.graph_.edges)
    assert json.dumps(explain(est, *pair).sentence, ensure_ascii=False) in page
    with pytest.raises(SettingError, match="--verdicts go to report"):
        invoke("fit", survey, *drop, "--verdicts")


def test_half_samples(invoke, survey, tmp_path):
    drop = [word for name in ("id", "age", "count", "share") for word in ("--drop", name)]
    invoke("fit", survey, *drop, "--out", tmp_path / "out", "--half-samples", "6")
    est = GreedyGraph(LookBelow(Auto())).fit(read_table(survey).select(KEPT))
    chosen = summarise(est.record(), frequencies=resample(est, n=6).frequency)["frequencies"]
    page = (tmp_path / "out" / "report.html").read_text()
    assert f'"frequencies":{json.dumps(chosen, separators=(",", ":"))}' in page
    with pytest.raises(SettingError, match="--half-samples go to report"):
        invoke("fit", survey, *drop, "--half-samples", "6")


def test_no_browser(invoke, model, monkeypatch):
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    assert "no browser was found" in invoke("report", model, "--open").err


def test_other_faces(invoke, model, tmp_path):
    invoke("report", model, "--out", tmp_path / "r.md", "--title", "Votes")
    assert (tmp_path / "r.md").read_text().startswith("# Votes\n")
    invoke("report", model, "--out", tmp_path / "r.json", "--suppress", 5)
    summary = json.loads((tmp_path / "r.json").read_text())
    record = FitRecord.load(model)
    expected = summarise(record, title="votes 2006", suppress=5.0)
    assert summary == expected


def test_errors(invoke, model, tmp_path):
    with pytest.raises(SettingError, match=r"must end in one of \.html, \.md, \.json"):
        invoke("report", model, "--out", tmp_path / "r.pdf")
    with pytest.raises(FileError):
        invoke("report", tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(FileError, match="not a model file"):
        invoke("report", tmp_path / "bad.json")
