import pytest

from isinglass import GreedyGraph, IsinglassError
from isinglass.cli.wording import in_options


@pytest.mark.parametrize(
    ("settings", "weights", "option"),
    [
        ({}, None, "--missing state takes a gap as an answer"),
        ({"missing": "drop", "max_states": 2}, None, "or raise --max-states"),
        ({"missing": "state"}, [0.5] * 6, "for --n-eff sum; or use --n-eff kish"),
        ({"missing": "state"}, [-1.0] * 6, "--weight-column must not be negative"),
    ],
)
def test_the_librarys_errors_name_options(settings, weights, option):
    rows = [["a", 1], ["b", 2], ["a", None], ["c", 3], ["d", 4], ["d", 4]]
    with pytest.raises(IsinglassError) as error:
        GreedyGraph(**settings).fit(rows, sample_weight=weights)
    assert option in in_options(str(error.value))


def test_a_name_may_look_like_an_argument():
    message = "column 'max_states' has 97 distinct values. Bin it (bins={'it\\'s': 4})."
    assert in_options(message).count("\n") == 0
