"""Constants are chosen on other graphs than they are judged on."""

import numpy as np
import pytest

from isinglass import IsinglassError
from isinglass.experiments import Cell, Design, Draw, Line, Method, panel, tune
from isinglass.experiments.study import Outcome, Study, points_csv

METHOD = Method("m", lambda codes: [])
LINE = Line("m", METHOD, "c=", own="own")
DESIGN = Design("d/p=3", 3, 1, lambda n, seed: (np.zeros((n, 3)), []), (1.0, 2.0))


def record_of(exact, draw=None):
    """A record in which some settings recover the graph of two edges and others do not."""
    return {
        "true": 2,
        "aupr": 0.5,
        "seconds": 0.0,
        "settings": {name: [0, 0] if good else [1, 2] for name, good in exact.items()},
    }


def records_of(exact, repetitions=4, design=DESIGN):
    """`exact(beta, repetition)` says which settings recover."""
    return {
        Cell(Draw(design, beta, rep), METHOD).key: record_of(exact(beta, rep))
        for beta in design.betas
        for rep in range(repetitions)
    }


def test_the_other_half_decides():
    """c=1 works on even tables only, c=2 on odd ones only: both choices are then wrong."""
    records = records_of(lambda beta, rep: {"c=1": rep % 2 == 0, "c=2": rep % 2 == 1, "own": False})
    seen = panel(DESIGN, LINE, 4, records)
    tuned = tune("other", seen, [seen])
    assert tuned.settings == ("c=2", "c=1")
    assert [tries.tolist() for tries in tuned.exact] == [[0, 0, 0, 0]] * 2
    assert tune("own", seen, [seen]).settings == ("own", "own")


def test_hindsight_takes_the_smallest_beta_then_the_best_share():
    good = {"c=1": 2.0, "c=2": 1.0, "c=3": 2.0}
    records = records_of(lambda beta, rep: {name: beta >= need for name, need in good.items()})
    seen = panel(DESIGN, LINE, 4, records)
    tuned = tune("hindsight", seen, [seen])
    assert tuned.words == "c=2"
    assert str(tuned.need) == "<=1.00"


def test_of_equally_good_constants_the_middle_one_is_taken():
    records = records_of(lambda beta, rep: {f"c={k}": 1 <= k <= 3 for k in range(6)})
    seen = panel(DESIGN, LINE, 4, records)
    assert tune("hindsight", seen, [seen]).words == "c=2"


def test_one_constant_for_all_designs():
    other = Design("e/p=3", 3, 1, DESIGN.sample, DESIGN.betas)
    first = records_of(lambda beta, rep: {"c=1": True, "c=2": True, "c=3": False})
    second = records_of(lambda beta, rep: {"c=1": False, "c=2": True, "c=3": True}, design=other)
    panels = [panel(DESIGN, LINE, 4, first), panel(other, LINE, 4, second)]
    assert [tune("all", seen, panels).words for seen in panels] == ["c=2", "c=2"]


def test_a_design_without_records_has_no_say_in_one_constant_for_all():
    other = Design("e/p=3", 3, 1, DESIGN.sample, DESIGN.betas)
    seen = panel(DESIGN, LINE, 4, records_of(lambda beta, rep: {"c=1": True, "c=2": False}))
    empty = panel(other, LINE, 4, {})
    assert tune("all", seen, [seen, empty]).words == "c=1"
    assert tune("all", empty, [seen, empty]) is None


def test_a_failure_is_no_recovery_and_has_no_errors():
    records = records_of(lambda beta, rep: {"c=1": True})
    failed = Cell(Draw(DESIGN, 1.0, 2), METHOD).key
    records[failed] = {"failed": "ValueError: no", "seconds": 0.0}
    seen = panel(DESIGN, LINE, 4, records)
    assert seen.exact[0][:, 0].tolist() == [1, 1, 0, 1]
    assert np.isnan(seen.false[0][2, 0])


def test_an_unknown_setting_is_named():
    seen = panel(DESIGN, LINE, 4, records_of(lambda beta, rep: {"c=1": True}))
    with pytest.raises(IsinglassError, match=r"no setting 'c=9'; it has 'c=1'"):
        seen.position("c=9")


def test_points():
    study = Study("s", "S", [DESIGN], [LINE], 4)
    records = records_of(lambda beta, rep: {"c=1": beta == 2 or rep == 0, "own": False})
    points = list(Outcome(study, records).points(("hindsight",)))
    assert [point["recovered"] for point in points] == [0.25, 1.0]
    assert [point["missed"] for point in points] == [1.5, 0.0]
    assert [point["f1"] for point in points] == [0.25, 1.0]
    assert points[0]["graphs"] == 4
    assert points_csv([Outcome(study, records)]).count(b"\n") == 1 + 2 * 4
