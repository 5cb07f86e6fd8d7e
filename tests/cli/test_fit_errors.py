"""Bad input of `isinglass fit` is one line, and loses nothing."""

import json
import os

import pytest

from fit_commands import PLAIN, assert_one_line, edges_of
from isinglass import GreedyGraph

BAD_SETTINGS = {
    "threshold": (("--threshold", "nonsense"), "'paper', 'paper:0.9'"),
    "threshold of nothing": (("--threshold", "0"), "must be a positive number"),
    "paper": (("--threshold", "paper:x"), "'paper', 'paper:0.9'"),
    "drop": (("--drop", "nobody"), "--drop: there is no column 'nobody'; the columns are 'a', "),
    "bin": (("--bin", "age"), "--bin takes NAME=K or cut points, as age=4 or age=25,45; not 'age'"),
    "bin without a name": (("--bin", "=4"), "--bin takes NAME=K"),
    "bin of a fraction": (("--bin", "age=2.5"), "--bin takes NAME=K"),
    "bin of a strange digit": (("--bin", "age=²"), "--bin takes NAME=K"),
    "bin unknown": (("--bin", "nobody=4"), "'nobody', which is not a column"),
    "bin words": (("--bin", "c=2"), "which is not a number"),
    "bin beyond the states": (("--bin", "age=1000000000"), "--bin asks for 1000000000 bins of"),
    "bin at falling points": (("--bin", "age=45,25"), "--bin age=45.0,25.0: cut points must be"),
    "bin at a word": (("--bin", "age=25,old"), "--bin takes NAME=K or cut points"),
    "high": (("--high", "a"), "--high takes NAME=STATE, as Vote=yea; not 'a'"),
    "high of nobody": (("--high", "nobody=1"), "--high names 'nobody', which is not a column"),
    "high of no state": (
        ("--drop", "share", "--high", "a=ja"),
        "which is not a state of column 'a'",
    ),
    "high of three": (("--drop", "share", "--high", "alone=x"), "which has 3 states; only columns"),
    "sep": (("--sep", "::"), "--sep must be one character"),
    "encoding": (("--encoding", "klingon"), "--encoding must name an encoding of text"),
    "max-size": (("--max-size", "100"), "the most that may be read"),
    "max-size of nothing": (("--max-size", "0"), "--max-size must be a number of bytes"),
    "weight column": (("--weight-column", "nobody"), "--weight-column names 'nobody'"),
    "cluster column": (("--cluster-column", "nobody"), "--cluster-column names 'nobody'"),
    "weights": (("--weight-column", "share"), "--n-eff kish"),
    "n-eff": (("--n-eff", "many"), "--n-eff must be"),
    "nu": (("--nu", "1"), "--nu must be a number strictly between 0 and 1"),
    "max-degree": (("--max-degree", "-1"), "--max-degree must be a whole number from 0"),
    "max-states": (("--max-states", "1"), "--max-states must be"),
    "too many states": ((), "Bin it (--bin age=4), drop it (--drop)"),
}


@pytest.mark.parametrize("case", BAD_SETTINGS)
def test_bad_settings_are_one_line(run_main, survey, tmp_path, case):
    options, message = BAD_SETTINGS[case]
    drop = () if case.startswith("bin") else ("--drop", "id")
    if case not in ("too many states", "weights"):
        drop = (*drop, "--drop", "age") if "--bin" not in options else drop
    outcome = run_main("fit", survey, *drop, *options, "--out", tmp_path / "out")
    assert_one_line(outcome, message)
    assert not (tmp_path / "out").exists()


BROKEN = {
    "ragged row": ("a,b\n0,1\n1,0\n1,0,1\n", "row 4 (the header is row 1): 3 cells"),
    "open quote": ('a,b\n0,1\n"1,0\n', "row 3"),
    "no rows": ("a,b\n", "no rows"),
    "empty": ("", "is empty"),
    "two columns of one name": ("a,a\n0,1\n", "'a'"),
    "nothing but a mark": ("\ufeff", "is empty"),
    "incomplete": ("a,b\n0,1\n,0\n1,NA\n", "--missing drop uses only complete rows"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_files_are_one_line(run_main, tmp_path, case):
    text, message = BROKEN[case]
    (tmp_path / "broken.csv").write_text(text)
    outcome = run_main("fit", tmp_path / "broken.csv", "--out", tmp_path / "out")
    assert_one_line(outcome, message)
    assert not (tmp_path / "out").exists()


def test_no_such_file_and_no_table(run_main, tmp_path):
    assert_one_line(run_main("fit", tmp_path / "none.csv"), "does not exist")
    assert_one_line(run_main("fit", tmp_path), "is a folder")
    (tmp_path / "paper.pdf").write_bytes(b"%PDF")
    assert_one_line(run_main("fit", tmp_path / "paper.pdf"), "the ending '.pdf' is not known")
    (tmp_path / "fake.parquet").write_bytes(b"not a table")
    assert_one_line(run_main("fit", tmp_path / "fake.parquet"), "is damaged")


def test_all_columns_dropped(run_main, tmp_path, write_csv):
    path = write_csv(tmp_path / "t.csv", {"a": [0, 1]})
    assert_one_line(run_main("fit", path, "--drop", "a"), "--drop leaves no column")


def test_out_is_a_file(run_main, survey, tmp_path):
    (tmp_path / "taken").write_text("mine")
    outcome = run_main("fit", survey, *PLAIN, "--out", tmp_path / "taken")
    assert_one_line(outcome, "'taken' is a file; name a folder")
    assert (tmp_path / "taken").read_text() == "mine"


def test_a_full_disk_leaves_nothing(run_main, survey, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    outcome = run_main("fit", survey, *PLAIN, "--out", tmp_path / "out")
    assert_one_line(outcome, "No space left on device")
    assert os.listdir(tmp_path / "out") == []


def test_a_link_to_no_column_is_one_line(run_main, survey):
    done = run_main("fit", str(survey), *PLAIN, "--forbid", "a", "bb")
    assert done.status == 2
    assert done.err == "isinglass: --forbid: there is no column 'bb'; did you mean 'b'?\n"


def test_interrupted(run_main, survey, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(GreedyGraph, "fit", interrupt)
    outcome = run_main("fit", survey, *PLAIN)
    assert outcome.status == 130
    assert outcome.err.strip() == "isinglass: stopped"


def test_shell_statuses(shell, survey, tmp_path):
    good = shell("fit", survey, *PLAIN, "--json")
    assert good.status == 0
    assert good.err == ""
    assert edges_of(json.loads(good.out)) == [("a", "b"), ("b", "c")]

    assert_one_line(shell("fit", tmp_path / "none.csv"), "does not exist")
    usage = shell("fit", survey, "--rule", "xor")
    assert usage.status == 2
    assert "'or', 'and'" in usage.err


def test_shell_that_cannot_show_a_name(shell, tmp_path, write_csv):
    path = write_csv(tmp_path / "t.csv", {"größe 😀": [0, 1] * 30, "b": [0, 1] * 30})
    outcome = shell("fit", path, env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert outcome.status == 0
    assert "gr??e ? -- b" in outcome.out
    as_json = shell("fit", path, "--json", env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert edges_of(json.loads(as_json.out)) == [("größe 😀", "b")]
