"""Codes become labels in their order, and codes for missing values null."""

import polars as pl
import pytest

from isinglass import Codebook, Variable
from isinglass.errors import SettingError
from isinglass.table import encode

SCALE = {1: "never", 2: "sometimes", 3: "often"}


def label(cells, **said):
    return Codebook({"q": Variable(**said)}).apply(pl.DataFrame({"q": cells}))


def column(cells, **said):
    (found,) = encode(label(cells, **said), missing="available").columns
    return found


def test_states_come_in_the_order_of_the_codes_not_of_the_alphabet():
    found = column([3, 1, 2, 2], values=SCALE)
    assert found.states == ("never", "sometimes", "often")
    assert found.ordered


@pytest.mark.parametrize("cells", [[3, 1, 2], [3.0, 1.0, 2.0], ["3", "1", "2"]], ids=str)
@pytest.mark.parametrize("keys", [int, float, str])
def test_codes_match_however_they_are_written(cells, keys):
    found = label(cells, values={keys(code): text for code, text in SCALE.items()})
    assert found["q"].to_list() == ["often", "never", "sometimes"]


def test_a_nominal_column_has_labels_but_no_order():
    found = column([3, 1, 2, 2], values=SCALE, order=False)
    assert set(found.states) == set(SCALE.values())
    assert not found.ordered


def test_the_order_may_be_given_by_labels_or_codes():
    for order in (("often", "never", "sometimes"), ("3", "1", "2")):
        assert column([1, 2, 3], values=SCALE, order=order).states == (
            "often",
            "never",
            "sometimes",
        )
    words = column(["mid", "low", "high"], order=("low", "mid", "high"))
    assert words.states == ("low", "mid", "high")
    assert words.ordered


def test_an_order_without_one_of_the_states_is_refused():
    with pytest.raises(SettingError, match="order of column 'q' without 'often'"):
        label([1, 2, 3], values=SCALE, order=("never", "sometimes"))


def test_two_states_are_low_and_high_by_their_words():
    assert column([1, 2], values={1: "Yes", 2: "No"}).states == ("No", "Yes")
    assert column([1, 2], values={1: "male", 2: "female"}).states == ("male", "female")


def test_a_state_that_no_row_has_is_no_state():
    assert column([1, 2, 2], values=SCALE, order=True).states == ("never", "sometimes")


@pytest.mark.parametrize(
    "missing", [(8, 9), ("8", "9"), ((8, 9),), ("refused", 9), (8.0, "9.0")], ids=str
)
@pytest.mark.parametrize("kind", [int, float, str])
def test_codes_for_missing_values(missing, kind):
    cells = [kind(code) for code in (1, 2, 8, 9, 3)]
    found = label(cells, values=SCALE | {8: "refused"}, missing=missing)
    assert found["q"].to_list() == ["never", "sometimes", None, None, "often"]
    assert "refused" not in column(cells, values=SCALE | {8: "refused"}, missing=missing).states


def test_two_codes_of_one_label_stay_two_states():
    found = column([1, 2, 3], values={1: "other", 2: "other", 3: "none"})
    assert found.states == ("other (1)", "other (2)", "none")


def test_a_scale_with_labels_at_its_ends_keeps_the_numbers_between():
    found = column(range(5), values={0: "not at all", 4: "very much"})
    assert found.states == ("not at all", "1", "2", "3", "very much")


def test_a_measurement_with_a_labelled_code_stays_a_number():
    ages = [*range(18, 60), 98]
    assert label(ages, values={98: "98 or older"})["q"].to_list() == ages
    assert label([float(age) for age in ages], order=True)["q"].dtype == pl.Float64


def test_unordered_numbers_without_labels():
    assert not column([1, 2, 3], order=False).ordered
    assert column([0, 1], order=False).states == (0, 1)


@pytest.mark.parametrize("cells", [[], [None, None]], ids=["no rows", "all missing"])
def test_nothing_to_label(cells):
    table = pl.DataFrame({"q": pl.Series(cells, dtype=pl.Int64)})
    assert Codebook({"q": Variable(values=SCALE)}).apply(table).equals(table)


def test_columns_that_are_not_there_are_no_matter():
    table = pl.DataFrame({"q": [1]})
    assert Codebook({"other": Variable(values=SCALE)}).apply(table).equals(table)
