"""Questions as people ask them: against enumeration, and against sampling."""

import numpy as np
import pytest

import enumeration
from isinglass import Exact, Gibbs, simulate
from isinglass.errors import SettingError
from isinglass.model import ask
from small_models import MODELS


def probabilities(field, of: list[str], given: dict) -> np.ndarray:
    """By adding up all rows."""
    rows, weights = enumeration.all_rows(field), enumeration.probabilities(field)
    kept = np.ones(len(rows), dtype=bool)
    for name, label in given.items():
        v = field.names.index(name)
        kept &= rows[:, v] == field.states[v].index(label)
    columns = [field.names.index(name) for name in of]
    shape = [len(field.states[v]) for v in columns]
    cells = np.ravel_multi_index([rows[kept, v] for v in columns], shape)
    sums = np.bincount(cells, weights[kept], minlength=int(np.prod(shape)))
    return (sums / sums.sum()).reshape(shape)


def evidence(field) -> dict:
    return {field.names[0]: field.states[0][-1]}


@pytest.mark.parametrize("name", [name for name in MODELS if name != "one column"])
def test_exact(name):
    field = MODELS[name]
    answers = ask(field, given=evidence(field), method="exact")
    assert [answer.table.names for answer in answers.answers] == [(n,) for n in field.names[1:]]
    for answer in answers.answers:
        now = probabilities(field, list(answer.table.names), evidence(field))
        before = probabilities(field, list(answer.table.names), {})
        np.testing.assert_allclose(answer.table.values, now, rtol=0, atol=1e-9)
        np.testing.assert_allclose(answer.before.values, before, rtol=0, atol=1e-9)
        if len(now) > 1:
            ratios = now / (1 - now) / (before / (1 - before))
            np.testing.assert_allclose(answer.odds_ratios, ratios, rtol=1e-7)
    assert answers.most_likely == field.most_likely(evidence(field))


def test_joint():
    field = MODELS["Potts, grid"]
    of = list(field.names[3:0:-1])
    (answer,) = ask(field, of, evidence(field), joint=True).answers
    assert answer.table.names == tuple(of)
    np.testing.assert_allclose(
        answer.table.values, probabilities(field, of, evidence(field)), atol=1e-9
    )


def test_sampled_answers_have_errors_that_hold():
    field = MODELS["Potts, grid"]
    exact = ask(field, given=evidence(field), method="exact").answers
    sampled = ask(field, given=evidence(field), method="gibbs", seed=1).answers
    for a, b in zip(exact, sampled, strict=True):
        assert (np.abs(a.table.values - b.table.values) < 5 * b.table.error + 1e-9).all()
        assert (np.abs(a.odds_ratios - b.odds_ratios) < 5 * b.odds_errors + 1e-9).all()
        assert a.odds_errors is None
    again = ask(field, given=evidence(field), method="gibbs", seed=1).answers
    assert again[0].rows() == sampled[0].rows()


def test_sampling_takes_over_where_memory_ends():
    field = simulate.ising(simulate.grid(6, 6), coupling=0.2)
    method = Exact(memory=2000), Gibbs(draws=320, burn_in=50)
    answers = ask(field, ["x35"], {"x0": 1}, method=method, seed=0)
    assert (answers.method, answers.most_likely) == ("gibbs", None)
    assert answers.answers[0].table.error is not None


def test_without_evidence_nothing_is_compared():
    answers = ask(MODELS["one column"])
    assert answers.answers[0].odds_ratios is None
    assert {row["odds_ratio"] for row in answers.answers[0].rows()} == {None}


@pytest.mark.parametrize(
    ("of", "given", "words"),
    [
        (["nobody"], {}, "there is no column 'nobody'; the columns are 'x0', "),
        (["x1"], {"x1": 1}, "'x1' is given already"),
        (None, {f"x{j}": 1 for j in range(8)}, "all columns are given"),
        (["x1"], {"x0": 5}, "no state 5"),
    ],
)
def test_what_is_wrong_is_said(of, given, words):
    with pytest.raises(ValueError, match=words):
        ask(MODELS["positive grid"], of, given)


def test_settings():
    with pytest.raises(SettingError, match="method must be"):
        ask(MODELS["one column"], method="guess")
    with pytest.raises(SettingError, match="draws must be"):
        ask(MODELS["one column"], draws=0)
