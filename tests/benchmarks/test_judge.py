"""The default is judged on the graphs that its rival, the best constant, was not chosen on."""

import numpy as np
import pytest
from benchmarks.choosing.judge import against_best, found_at, judge, mean_and_error

from isinglass.experiments import Cell, Design, Draw, Line, Method
from isinglass.experiments.study import Outcome, Study

METHOD = Method("m", lambda codes: [])
DESIGN = Design("d/p=3", 3, 1, lambda n, seed: (np.zeros((n, 3)), []), (1.0, 2.0, 4.0))
STUDY = Study("nine", "", [DESIGN], [Line("or", METHOD, "or c=", own="or auto")], 4)


def outcome_of(errors):
    """`errors(beta, repetition)` gives false and missed edges, of ten, by setting."""
    records = {
        Cell(Draw(DESIGN, beta, rep), METHOD).key: {
            "true": 10,
            "aupr": None,
            "seconds": 0.0,
            "settings": errors(beta, rep),
        }
        for beta in DESIGN.betas
        for rep in range(STUDY.repetitions)
    }
    return Outcome(STUDY, records)


def needs(**betas):
    """Settings that recover the graph from some beta on."""
    return outcome_of(
        lambda beta, rep: {
            name.replace("_", " ").replace("at ", "c="): [0, 0] if beta >= need else [1, 1]
            for name, need in betas.items()
        }
    )


def test_the_ratio_is_of_the_rows_that_both_need():
    one = judge(needs(or_auto=4.0, or_at_1=2.0, or_at_2=9.0), DESIGN)
    assert one.best.words == "or c=1"
    assert one.ratio.value == pytest.approx((2 + 2 * 0.95) / (1 + 0.95))
    assert one.within(2.0)
    assert not one.within(1.9)
    assert not one.fails_alone
    assert one.rows == DESIGN.rows(3.9)


def test_the_default_fails_alone_where_a_constant_succeeds():
    assert judge(needs(or_auto=9.0, or_at_1=2.0), DESIGN).fails_alone
    assert not judge(needs(or_auto=9.0, or_at_1=9.0), DESIGN).fails_alone


def test_the_constant_for_f1_is_chosen_on_the_other_half():
    """Each constant is good on one half only: whoever chose it there is wrong on the other."""

    def errors(beta, rep):
        even = rep % 2 == 0
        good, bad = [0, 1], [5, 5]
        return {"or c=1": good if even else bad, "or c=2": bad if even else good, "or auto": good}

    one = judge(outcome_of(errors), DESIGN)
    assert one.f1 == pytest.approx(18 / 19)
    assert one.best_f1 == pytest.approx(0.5)


def test_fixed_settings_are_compared_with_the_best_constant():
    outcome = needs(or_auto=4.0, or_at_1=2.0, or_at_2=9.0)
    assert against_best(outcome, DESIGN, "or", "or c=1").value == 1.0
    assert against_best(outcome, DESIGN, "or", "or c=2").value == float("inf")
    assert against_best(outcome, DESIGN, "or", "or c=7") is None
    assert against_best(outcome, DESIGN, "levels", "or level=1") is None


def test_edges_found_at_equal_numbers_of_false_edges():
    """Hand-worked: one false edge lies half way between the cuts with none and with two."""
    outcome = outcome_of(lambda beta, rep: {"or c=1": [2, 1], "or c=2": [0, 5], "or auto": [0, 9]})
    panel = outcome.panels[DESIGN.name, "or"]
    assert found_at(panel, 0, false=1.0) == pytest.approx(0.7)
    assert found_at(panel, 0, false=2.0) == pytest.approx(0.9)
    assert np.isnan(found_at(panel, 0, false=2.5))


def test_stricter_cuts_with_more_false_edges_do_not_count():
    outcome = outcome_of(
        lambda beta, rep: {"or c=1": [2, 1], "or c=2": [1, 2], "or c=3": [3, 9], "or auto": [0, 9]}
    )
    panel = outcome.panels[DESIGN.name, "or"]
    assert found_at(panel, 0, false=1.5) == pytest.approx(0.85)
    assert np.isnan(found_at(panel, 0, false=0.5))


def test_one_value_has_no_error():
    value, error = mean_and_error(np.array([3.0, np.nan]))
    assert value == 3.0
    assert np.isnan(error)
