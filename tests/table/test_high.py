"""Two states come in the order low, high; signs follow, and graphs do not."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest

from isinglass import GreedyGraph, L1Graph, MarkovField
from isinglass.errors import SettingError
from isinglass.measures import nodes
from isinglass.table import encode


def states_of(*labels, **settings):
    frame = pl.DataFrame({"a": list(labels)})
    column = encode(frame, **settings).columns[0]
    assert column.ordered
    return column.states


@pytest.mark.parametrize(
    ("low", "high"),
    [
        ("no", "yes"),
        ("No", "YES"),
        ("N", "Y"),
        ("f", "t"),
        ("false", "TRUE"),
        ("absent", "present"),
        ("nay", "yea"),
        ("disagree", "agree"),
        ("nein", "ja"),
        ("nej", "ja"),
        ("non", "oui"),
        ("no", "sí"),
        ("No", "Si"),
        ("não", "sim"),
        ("нет", "да"),
        ("否", "是"),
        ("no", "si\u0301"),
        ("ψευδές", "ΑΛΗΘΈΣ"),
        ("off", "on"),
        ("negative", "positive"),
        ("-", "+"),
        ("control", "case"),
        ("wrong", "right"),
        ("reject", "accept"),
        ("0", "1"),
        ("9", "10"),
        ("-1", "1"),
        ("non-smoker", "Smoker"),
        ("unmarried", "married"),
        ("not hispanic", "hispanic"),
        ("maybe", "ja"),
        ("no", "maybe"),
        ("cat", "dog"),
        ("No", "no"),
    ],
)
def test_the_high_state_is_the_second(low, high):
    assert states_of(low, high) == states_of(high, low) == (low, high)


def test_unordered_categories_have_a_high_state_and_ordered_ones_keep_their_order():
    nominal = pd.DataFrame({"a": pd.Categorical(["ja", "nein"], ["ja", "nein"])})
    assert encode(nominal).columns[0].states == ("nein", "ja")
    assert encode(nominal).columns[0].ordered
    ordered = pd.DataFrame({"a": pd.Categorical(["ja", "nein"], ["ja", "nein"], ordered=True)})
    assert encode(ordered).columns[0].states == ("ja", "nein")


def test_missing_values():
    cells = pl.DataFrame({"a": ["yea", None, "nay"]})
    available = encode(cells, missing="available").columns[0]
    assert available.states == ("nay", "yea", None)
    assert available.ordered
    assert not encode(cells, missing="state").columns[0].ordered
    answered = encode(pl.DataFrame({"a": ["yes", None]}), missing="state")
    assert answered.columns[0].states == ("yes", None)
    assert answered.ordered == (True,)
    assert answered.high == ("(missing)",)


def test_the_user_may_say_which_state_is_high():
    assert states_of("yes", "no", high={"a": "no"}) == ("yes", "no")
    assert states_of("Yes", "No", high={"a": "no"}) == ("Yes", "No")
    assert states_of(0, 1, high={"a": 0}) == (1, 0)
    assert states_of(0, 1, high={"a": "0"}) == (1, 0)
    assert states_of(True, False, high={"a": "false"}) == (True, False)
    assert states_of("b", None, "a", high={"a": "a"}, missing="available") == ("b", "a", None)
    ages = encode(pl.DataFrame({"a": [1, 2, 3, 4]}), bins={"a": 2}, high={"a": "<= 2"})
    assert ages.columns[0].states == ("> 2", "<= 2")
    assert ages.codes.ravel().tolist() == [1, 1, 0, 0]
    assert ages.encode_like(pl.DataFrame({"a": [0, 9]})).codes.ravel().tolist() == [1, 0]
    array = encode(np.array([[0, 5], [1, 6]]), high={1: 5})
    assert [column.states for column in array.columns] == [(0, 1), (6, 5)]


@pytest.mark.parametrize(
    ("high", "says"),
    [
        ({"b": "x"}, "high names 'b', which is not a column; the columns are 'a', 'c'."),
        (
            {"a": "ja"},
            "high names 'ja', which is not a state of column 'a'; its states are 'n', 'y'.",
        ),
        ({"c": 1}, "high names a state of column 'c', which has 3 states; only columns with two"),
        ("a", "high must be a dict of column name to its high state, got 'a'."),
    ],
)
def test_what_makes_no_sense(high, says):
    with pytest.raises(SettingError) as error:
        encode(pl.DataFrame({"a": ["y", "n", "y"], "c": [1, 2, 3]}), high=high)
    assert says in str(error.value)


def test_the_missing_state_is_never_low():
    with pytest.raises(SettingError, match="whose missing values are a state of their own"):
        encode(pl.DataFrame({"a": ["y", None]}), missing="state", high={"a": "y"})


def linked(n=400):
    rng = np.random.default_rng(3)
    x = rng.integers(0, 2, n)
    y = np.where(rng.random(n) < 0.85, x, 1 - x)
    z = np.where(rng.random(n) < 0.85, y, 1 - y)
    return np.column_stack([x, y, z])


WORDS = [("nay", "yea"), ("absent", "present"), ("nein", "ja"), ("0", "1"), ("disagree", "agree")]


@pytest.mark.parametrize("words", WORDS)
def test_words_have_the_signs_of_their_numbers(words):
    codes = linked()
    graph = GreedyGraph().fit(codes).graph_
    assert GreedyGraph().fit(np.array(words)[codes]).graph_ == graph
    opposite = GreedyGraph().fit(np.array(words[::-1])[codes]).graph_
    assert [link.sign for link in opposite] == [1, 1]
    assert opposite.edges == graph.edges


@pytest.mark.parametrize("estimator", [GreedyGraph, L1Graph])
@pytest.mark.parametrize("flipped", list(itertools.product([False, True], repeat=3)))
def test_another_high_state_turns_signs_and_nothing_else(estimator, flipped):
    frame = pl.DataFrame(np.array(["no", "yes"])[linked()], schema=["a", "b", "c"])
    high = {name: "no" for name, flip in zip("abc", flipped, strict=True) if flip}
    usual, other = estimator().fit(frame).graph_, estimator(high=high).fit(frame).graph_
    assert other.edges == usual.edges
    for link, turned in zip(usual, other, strict=True):
        factor = -1 if flipped[link.source] != flipped[link.target] else 1
        assert turned.sign == factor * link.sign != 0
        assert turned.log_odds == pytest.approx(factor * link.log_odds)
        assert turned.strength == pytest.approx(link.strength)


def test_integers_take_the_quick_way_and_the_slow_way_alike():
    codes = linked()
    slow = encode(codes.astype(object))
    quick = encode(codes)
    assert quick.columns == slow.columns
    assert quick.high == slow.high == ("1", "1", "1")
    np.testing.assert_array_equal(quick.codes, slow.codes)
    chosen = encode(codes, high={"x0": 0})
    np.testing.assert_array_equal(chosen.codes[:, 0], 1 - quick.codes[:, 0])


def test_tables_of_columns_records_and_models_say_which_state_is_high():
    codes = linked()
    frame = pl.DataFrame({"vote": np.array(["nay", "yea"])[codes[:, 0]], "n": codes[:, 1] * 2})
    frame = frame.with_columns(three=codes[:, 1] + codes[:, 2])
    est = GreedyGraph(high={"n": 0}).fit(frame)
    for of in (est, est.record(), est.model_):
        assert nodes(of, folds=None)["high"].to_list() == ["yea", "0", None]
    assert est.record().high == ("yea", "0", None)
    assert "high" not in nodes(est.graph_).columns


def test_the_second_state_of_a_model_is_high():
    agree = {(0, 1): [[1.0, 0.0], [0.0, 1.0]]}
    states = [("ja", "nein"), ("ja", "nein")]
    field = MarkovField.from_potentials("ab", states, [[0, 0], [0, 0]], agree)
    assert field.high == ("nein", "nein")
    assert field.graph.links[0].sign == 1


def test_a_part_of_the_rows_may_lack_a_state():
    frame = pl.DataFrame({"a": ["yes"] * 20 + ["no"] * 20, "b": [0, 1] * 20})
    est = GreedyGraph(high={"a": "no"}).fit(frame[:20])
    assert est.states_[0] == ["yes"]
    assert est.table_.high == (None, "1")
