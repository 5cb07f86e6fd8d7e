import pytest

from isinglass import GreedyGraph, IsinglassError
from isinglass.cli.failures import in_options
from isinglass.errors import MissingValues, SettingError, TooManyStates
from isinglass.parameters import check


@pytest.mark.parametrize(
    ("settings", "weights", "option"),
    [
        ({}, None, "--missing state treats missing as one more state"),
        ({"missing": "drop", "max_states": 2}, None, "or raise --max-states"),
        ({"missing": "state"}, [0.5] * 6, "for --n-eff sum; or use --n-eff design"),
        ({"missing": "state"}, [0.5] * 6, "e.g. their sum, --n-eff 3."),
        ({"missing": "state"}, [-1.0] * 6, "--weight-column must not be negative"),
    ],
)
def test_the_librarys_errors_name_options(settings, weights, option):
    rows = [["a", 1], ["b", 2], ["a", None], ["c", 3], ["d", 4], ["d", 4]]
    with pytest.raises(IsinglassError) as error:
        GreedyGraph(**settings).fit(rows, sample_weight=weights)
    assert option in in_options(error.value)
    assert "--" not in str(error.value)


def test_a_name_may_look_like_an_argument():
    with pytest.raises(TooManyStates) as error:
        GreedyGraph().fit([[f"missing={i}\n", i / 7] for i in range(97)])
    words = in_options(error.value)
    assert words.count("\n") == 0
    assert "column 'x0' has 97 distinct values; at most 32 states are supported." in words
    assert "Drop it (--drop) or raise --max-states. So have 'x1' (97)." in words


@pytest.mark.parametrize("name", ["nu", "seed", "n_jobs"])
def test_what_cannot_be_typed_is_not_offered(name):
    with pytest.raises(SettingError) as error:
        check(name, "x", "sample")
    words = in_options(error.value)
    assert words.startswith(f"--{name.removeprefix('n_')} must be a ")
    assert "None" not in words
    assert "Generator" not in words


def test_errors_carry_what_was_wrong_as_data():
    with pytest.raises(SettingError) as wrong:
        GreedyGraph(nu=2).fit([[0, 1], [1, 0]])
    assert (wrong.value.parameter, wrong.value.got) == ("nu", 2)
    assert str(wrong.value.allowed) == "a number strictly between 0 and 1"
    with pytest.raises(MissingValues) as missing:
        GreedyGraph().fit([[0, None], [1, 0], [0, 1]])
    assert missing.value.columns == {"x1": 1}
    assert (missing.value.complete_rows, missing.value.rows) == (2, 3)
