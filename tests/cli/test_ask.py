"""`isinglass ask`: what the model says, in words, in JSON, or one line that says why not."""

import datetime as dt
import json
import re

import numpy as np
import pytest

from isinglass import MarkovField, simulate
from isinglass.cli.ask import command, read_evidence
from odd_names import ODD_NAMES


@pytest.fixture
def model(tmp_path):
    """Fever makes a cough likely; the age is alone."""
    field = MarkovField.from_potentials(
        ("fever", "cough", "age"),
        [("no", "yes"), ("no", "yes"), (20, 40, 60)],
        [[0.5, -0.5], [0.2, -0.2], [0.0, 0.1, 0.3]],
        {(0, 1): [[0.6, -0.6], [-0.6, 0.6]]},
    )
    field.save(tmp_path / "model.json")
    return tmp_path / "model.json"


def test_in_words(invoke, model):
    outcome = invoke("ask", model, "--given", "fever=yes", "--of", "cough")
    field = MarkovField.load(model)
    now = field.conditional("cough", {"fever": "yes"})["yes"]
    before = field.conditional("cough")["yes"]
    ratio = now / (1 - now) / (before / (1 - before))
    assert outcome.status == 0
    assert "given fever = yes" in outcome.out
    assert re.search(rf"{now:.4f} +{before:.4f} +x {ratio:.3g} +yes", outcome.out)
    assert "\nexact\n" in outcome.out
    assert "Most likely row with this evidence\n  cough = yes, age = 60" in outcome.out


def test_all_columns_without_evidence(invoke, model):
    out = invoke("ask", model).out
    assert all(name in out for name in ("fever", "cough", "age", "20", "40", "60"))
    assert "odds" not in out


def test_json(invoke, model):
    outcome = invoke(
        *("ask", model, "--given", "fever=yes", "--given", "age=40"),
        *("--of", "cough", "--json"),
    )
    result = json.loads(outcome.out)
    field = MarkovField.load(model)
    expected = field.conditional("cough", {"fever": "yes", "age": 40})
    assert result["given"] == {"fever": "yes", "age": 40}
    assert result["method"] == "exact"
    (answer,) = result["answers"]
    assert answer["of"] == ["cough"]
    for row in answer["states"]:
        assert row["probability"] == pytest.approx(expected[row["labels"]["cough"]])
        assert row["error"] is None
    assert result["most_likely"] == {"fever": "yes", "cough": "yes", "age": 40}


def test_joint_and_sampled(invoke, model):
    words = ("ask", model, "--of", "cough", "--of", "age", "--joint", "--method", "gibbs")
    result = json.loads(invoke(*words, "--json", "--seed", 3).out)
    assert result["method"] == "gibbs"
    assert len(result["answers"][0]["states"]) == 6
    assert all(row["error"] > 0 for row in result["answers"][0]["states"])
    assert re.search(r"0\.\d{4} ± 0\.\d{4}", invoke(*words).out)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--given", "fevr=yes"), "there is no column 'fevr'; did you mean 'fever'?"),
        (("--given", "fever=yess"), "no state 'yess'; did you mean 'yes'?"),
        (("--given", "age=35"), "column 'age' has no state '35'; it has 20, 40, 60."),
        (("--given", "fever"), "--given takes NAME=LABEL, such as fever=yes, not 'fever'."),
        (("--given", "fever=yes", "--given", "fever=no"), "names 'fever' twice"),
        (("--given", "fever=yes", "--of", "fever"), "'fever' is given already"),
        (("--of", "couch"), "there is no column 'couch'; did you mean 'cough'?"),
        (("--of", "zzz"), "there is no column 'zzz'; the columns are 'fever', 'cough', 'age'."),
        (("--method", "exact", "--memory", "1"), "Raise --memory"),
    ],
)
def test_one_line_says_what_is_wrong(run_main, model, words, said):
    outcome = run_main("ask", model, *words)
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err.startswith("isinglass: ")
    assert said in outcome.err
    assert outcome.err.count("\n") == 1


def test_no_model(run_main, tmp_path):
    outcome = run_main("ask", tmp_path / "none.json")
    assert outcome.status == 2
    assert outcome.err.startswith("isinglass: cannot read ")


def test_poor_mixing_is_said(run_main, tmp_path):
    simulate.ising(simulate.grid(4, 4), coupling=1.5, signs="positive").save(tmp_path / "m.json")
    outcome = run_main(
        *("ask", tmp_path / "m.json", "--of", "x3", "--method", "gibbs"),
        *("--draws", 100, "--burn-in", 10, "--thin", 1),
    )
    assert outcome.status == 0
    assert "raise --burn-in (now 10)" in outcome.err


def test_labels_of_all_kinds_as_typed():
    states = [(False, True), (1.0, 2.5), (dt.date(2020, 2, 29), "x"), ("No", "no"), (None, "a")]
    names = ("a", "b", "c=d", "e", "f=")
    field = MarkovField.from_potentials(names, states, [[0, 0]] * 5, {})
    typed = ["a=true", "b=1", "c=d=2020-02-29", "e=no", "f=="]
    assert read_evidence(field, typed) == {
        "a": True, "b": 1.0, "c=d": dt.date(2020, 2, 29), "e": "no", "f=": None,
    }  # fmt: skip


def test_odd_names(invoke, tmp_path):
    states = [("yes\n", "\x1b[31mno"), *[(0, 1)] * (len(ODD_NAMES) - 1)]
    field = MarkovField.from_potentials(ODD_NAMES, states, [[0, 0]] * len(ODD_NAMES), {})
    field.save(tmp_path / "model.json")
    out = invoke("ask", tmp_path / "model.json").out
    assert "\x1b" not in out


def test_more_states_than_are_shown(invoke, tmp_path):
    field = MarkovField.from_potentials("a", [range(30)], [np.arange(30.0) / 10], {})
    field.save(tmp_path / "model.json")
    out = invoke("ask", tmp_path / "model.json").out
    assert "and 6 less likely; --json lists all" in out
    (answer,) = json.loads(invoke("ask", tmp_path / "model.json", "--json").out)["answers"]
    assert len(answer["states"]) == 30


def test_the_example_of_the_help_works(invoke, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "isinglass ask result/model.json" in invoke("ask", "--help").out
    lines = [
        line.split()[1:] for line in command.epilog.splitlines() if line.startswith("  isinglass")
    ]
    assert len(lines) == 3
    for words in lines:
        assert invoke(*words).status == 0


DROP = ("--drop", "id", "--drop", "share", "--drop", "count")


def test_a_number_is_known_by_its_bin(invoke, run_main, survey, tmp_path):
    out = tmp_path / "out"
    invoke("fit", survey, *DROP, "--bin", "age=25,45", "--out", out)
    field = MarkovField.load(out / "model.json")
    name = field.names.index("age")
    labels = field.states[name]
    for value, label in zip(("20", "25", "25.5", "60"), (0, 0, 1, 2), strict=True):
        answer = invoke("ask", out / "model.json", "--given", f"age={value}", "--json")
        assert json.loads(answer.out)["given"] == {"age": labels[label]}
        by_number = field.conditional("a", given={"age": float(value)})
        by_label = field.conditional("a", given={"age": labels[label]})
        assert by_number.values.tolist() == by_label.values.tolist()
    outcome = run_main("ask", out / "model.json", "--given", "age=old")
    assert "column 'age' has no state 'old'" in outcome.err
