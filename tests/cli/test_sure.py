"""`isinglass plan`, `isinglass explain`, `isinglass audit` and `isinglass theory`."""

import json

SMALL = ["--columns", 6, "--degree", 2, "--coupling", 0.6, "--graphs", 5, "--jobs", 1]


def test_a_table_a_picture_and_a_sentence(invoke, tmp_path):
    done = invoke("plan", *SMALL, "--rows", 100, "--rows", 200, "--out", tmp_path)
    assert done.status == 0
    assert "whole graph" in done.out
    assert "rows" in done.out.splitlines()[-2]
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "plan.csv").read_text().count("\n") == 5
    again = invoke("plan", *SMALL, "--rows", 100, "--rows", 200, "--out", tmp_path, "--json")
    assert json.loads(again.out)["points"][0]["rows"] == 100


def test_a_pilot_table(invoke, survey, tmp_path):
    table = ["--drop", "id", "--drop", "age", "--drop", "share", "--weight-column", "count"]
    rows = ["--rows", 300, "--graphs", 3, "--jobs", 1]
    done = invoke("plan", "--pilot", survey, *table, *rows, "--out", tmp_path / "plan")
    assert "pilot table" in done.out


def test_what_is_missing_is_said(run_main, tmp_path):
    done = run_main("plan", "--columns", 5, "--out", tmp_path)
    assert done.status == 2
    assert "a plan needs --columns, --degree" in done.err
    done = run_main("plan", *SMALL, "--drop", "id", "--out", tmp_path)
    assert "need --pilot FILE" in done.err


DROP = ["--drop", "id", "--drop", "age", "--drop", "share", "--drop", "count"]


def test_explain(invoke, survey):
    done = invoke("explain", survey, "a", "c", *DROP, "--steps")
    first, second, *rest = done.out.splitlines()
    assert "explained by b" in first
    assert "a and c: " in second
    assert "search at a" in rest
    linked = invoke("explain", survey, "a", "b", *DROP, "--json")
    told = json.loads(linked.out)
    assert told["linked"]
    assert told["verdict"]["verdict"] == "linked"


def test_audit(invoke, survey, tmp_path):
    asked = ["audit", survey, *DROP, "--tables", 4, "--jobs", 1, "--out", tmp_path / "audit"]
    done = invoke(*asked)
    assert "4 tables like this one" in done.out
    assert done.out.index("by its odds ratio") < done.out.index("false edges")
    assert "found again" in done.out
    files = {path.name for path in (tmp_path / "audit").iterdir()}
    assert files == {"tiers.csv", "detection.csv", "audit.png", "records.jsonl"}
    again = invoke(*asked, "--json")
    assert json.loads(again.out)["tables"] == 4
    assert "found_again" in json.loads(again.out)["tiers"][0]
    clustered = invoke(*asked, "--cluster-column", "alone", "--json")
    assert json.loads(clustered.out)["tables"] == 4


def test_theory(invoke, survey, tmp_path):
    asked = ["theory", survey, *DROP, "--draws", 5, "--population", 2000]
    done = invoke(*asked, "--out", tmp_path / "theory")
    assert "What Theorem 1 asks for" in done.out
    assert "cannot be invoked" in done.out.replace("\n", " ")
    assert {path.name for path in (tmp_path / "theory").iterdir()} == {
        "columns.csv",
        "links.csv",
    }
    told = json.loads(invoke(*asked, "--json").out)
    assert told["rows_asked"] > told["rows_sufficient"]
    assert told["columns"][0]["name"] == "a"


def test_theory_refuses_a_folder_before_it_works(run_main, survey, tmp_path):
    (tmp_path / "file").write_text("")
    done = run_main("theory", survey, *DROP, "--out", tmp_path / "file")
    assert done.status == 2
