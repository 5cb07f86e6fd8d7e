"""What a MarkovField is, what it refuses, and what its tables look like."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest

import enumeration
from isinglass import Exact, Gibbs, GreedyGraph, MarkovField, simulate
from isinglass.errors import SettingError
from small_models import MODELS, SPIN, survey


@pytest.mark.parametrize("name", MODELS)
def test_log_potential(name):
    rows = enumeration.all_rows(MODELS[name])[::7]
    expected = [enumeration.log_potential(MODELS[name], row) for row in rows]
    np.testing.assert_allclose(MODELS[name].log_potential(rows), expected, atol=1e-12)


def test_any_gauge_is_the_same_distribution():
    rng = np.random.default_rng(0)
    m, edges = [2, 3, 4], [(0, 1), (1, 2), (0, 2)]
    intercepts = [rng.normal(size=k) for k in m]
    tables = {(i, j): rng.normal(size=(m[i], m[j])) for i, j in edges}
    field = MarkovField.from_potentials("abc", [range(k) for k in m], intercepts, tables)
    weights = np.exp(
        [
            sum(intercepts[i][code] for i, code in enumerate(row))
            + sum(tables[i, j][row[i], row[j]] for i, j in edges)
            for row in enumeration.all_rows(field)
        ]
    )
    np.testing.assert_allclose(enumeration.probabilities(field), weights / weights.sum())


def test_graph():
    graph = survey().graph
    assert graph.names == ("smokes", "cough", "diet")
    first, second = graph.links
    assert (first.source, first.target, first.sign, first.selected_by) == (0, 1, 1, "")
    assert (first.coupling, first.log_odds, first.evidence) == (0.6, 2.4, None)
    assert (first.strength, first.tier, first.entry_evidence) == (None, "", None)
    assert (second.sign, second.coupling, second.log_odds) == (0, None, None)
    assert graph.to_frame()["evidence"].is_null().all()
    assert graph.to_networkx().number_of_edges() == 2
    assert "None" not in graph._repr_html_()


def test_size_is_the_strength_of_two_columns_alone():
    field = simulate.ising(simulate.chain(2), coupling=0.5, signs="positive")
    agree = 1 / (1 + np.exp(-1.0))
    information = np.log(2) + agree * np.log(agree) + (1 - agree) * np.log(1 - agree)
    assert field.graph.links[0].size == pytest.approx(np.sqrt(1 - np.exp(-2 * information)))
    assert field.graph.links[0].weight == field.graph.links[0].size
    table = field.sample(200_000, seed=0)
    fitted = GreedyGraph().fit(table).graph_.links[0]
    assert fitted.strength == pytest.approx(field.graph.links[0].size, abs=0.01)
    assert fitted.coupling == pytest.approx(0.5, abs=0.01)


def test_an_array_of_labels():
    field = simulate.ising(simulate.grid(3, 3), intercept=0.2, seed=1)
    table, codes = field.sample(50, seed=3), field.sample_codes(50, seed=3)
    assert table.dtype == np.int8
    np.testing.assert_array_equal(table, 2 * codes.astype(int) - 1)
    assert codes.flags.f_contiguous
    assert table.flags.f_contiguous


def test_labels_survive_a_state_that_is_not_drawn():
    field = simulate.potts(simulate.chain(2), 3).sample(1, seed=0)
    assert set(field.ravel()) <= {0, 1, 2}
    large = MarkovField(("a",), ((-3, 70_000),), ([0.0, 0.0],), {}).sample(100, seed=0)
    assert large.dtype == np.int32
    assert set(large.ravel()) == {-3, 70_000}


@pytest.mark.parametrize(("library", "kind"), [("polars", pl.DataFrame), ("pandas", pd.DataFrame)])
def test_a_frame_of_labels(library, kind):
    field = survey(library)
    table = field.sample(3000, seed=0)
    assert isinstance(table, kind)
    estimator = GreedyGraph().fit(table)
    assert estimator.graph_ == field.graph
    assert [tuple(labels) for labels in estimator.states_] == list(field.states)


def test_words_and_booleans_in_arrays():
    words = survey(None).sample(20, seed=0)
    assert words.dtype == object
    assert set(words[:, 2]) <= {"all", "fish", "plants"}
    yes_no = MarkovField(("a",), ((False, True),), ([0.0, 0.0],), {}).sample(9, seed=0)
    assert yes_no.dtype == bool


@pytest.mark.parametrize("method", ["exact", "gibbs"])
def test_seeds(method):
    field = simulate.ising(simulate.grid(3, 3), coupling=0.2, seed=1)
    first, again, other, unseeded = (
        field.sample(30, seed=seed, method=method) for seed in (1, 1, 2, None)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    assert (first != unseeded).any()
    rng = np.random.default_rng(1)
    np.testing.assert_array_equal(first, field.sample(30, seed=rng, method=method))
    assert (first != field.sample(30, seed=rng, method=method)).any(), "the generator moves on"


def test_auto_is_exact_where_memory_allows():
    field = simulate.ising(simulate.grid(6, 6), coupling=0.1, seed=1)
    exact, gibbs = (field.sample(20, seed=1, method=method) for method in ("exact", "gibbs"))
    np.testing.assert_array_equal(field.sample(20, seed=1), exact)
    np.testing.assert_array_equal(
        field.sample(20, seed=1, method=(Exact(memory=1000), Gibbs())), gibbs
    )


def test_frozen():
    field = survey()
    with pytest.raises(AttributeError):
        field.names = ()
    with pytest.raises(ValueError, match="read-only"):
        field.couplings[0, 1][0, 0] = 3
    assert repr(field) == "MarkovField(3 columns, 2 edges)"


TWO = (("a", "b"), ((0, 1), (0, 1)))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (((), (), (), {}), "at least one column"),
        ((("a",), ((1, 1),), ([0, 0],), {}), "'a' has two states with the same label"),
        ((("a", "a"), TWO[1], ([0, 0], [0, 0]), {}), "the same name"),
        ((*TWO, ([0, 0],), {}), "2 names, 2 columns of states and 1 intercepts"),
        ((*TWO, ([0, 0], [0, 0, 0]), {}), r"intercept of 'b' has shape \(3,\)"),
        ((*TWO, ([0, 1], [0, 0]), {}), "intercept of 'a' does not sum to zero"),
        ((*TWO, ([np.nan, 0], [0, 0]), {}), "intercept of 'a' is not finite"),
        ((*TWO, ([0, 0], [0, 0]), {(1, 0): SPIN}), r"i < j below 2, not \(1, 0\)"),
        ((*TWO, ([0, 0], [0, 0]), {(0, 2): SPIN}), r"not \(0, 2\)"),
        ((*TWO, ([0, 0], [0, 0]), {(0, 1): SPIN[:1]}), r"'a' and 'b' has shape \(1, 2\)"),
        ((*TWO, ([0, 0], [0, 0]), {(0, 1): SPIN + 1}), "from_potentials takes any"),
        ((("a",), (tuple(range(300)),), (np.zeros(300),), {}), "'a' has 300 states; 1 to 256"),
    ],
)
def test_what_is_refused(arguments, said):
    with pytest.raises(SettingError, match=said):
        MarkovField(*arguments)


@pytest.mark.parametrize(
    "couplings", [{(0, 1): [1.0, 2.0]}, {(0, 5): SPIN}, {(1, 0): SPIN}, {(0, 1): SPIN[:, :1]}]
)
def test_what_potentials_are_refused(couplings):
    with pytest.raises(SettingError, match="coupling"):
        MarkovField.from_potentials(*TWO, ([0, 0], [0, 0]), couplings)


@pytest.mark.parametrize("n", [0, -1, 2.5, "many"])
def test_rows(n):
    with pytest.raises(SettingError, match="n must be a whole number from 1"):
        survey().sample(n)


@pytest.mark.parametrize("labels", [(1, "a"), (True, 1), (dt.date(2020, 1, 1), "12000-01-01")])
def test_draws_of_labels_of_several_types(labels):
    def field(library):
        agree = {(0, 1): [[1, 0], [0, 1]]}
        nothing = [[0, 0], [0, 0]]
        return MarkovField.from_potentials("ab", [labels, (0, 1)], nothing, agree, library)

    for library in (None, "pandas"):
        drawn = np.asarray(field(library).sample(200, seed=0))[:, 0]
        assert {(type(label), label) for label in drawn} == {(type(x), x) for x in labels}
    for library in ("polars", "pyarrow"):
        with pytest.raises(SettingError, match="column 'a' holds values of several types"):
            field(library).sample(200, seed=0)
        assert field(library).sample_codes(200, seed=0).shape == (200, 2)


def test_draws_of_labels_that_are_tuples():
    states = [((1, 2), (3, 4)), (0, 1)]
    field = MarkovField.from_potentials("ab", states, [[0, 0], [0, 0]], {})
    assert set(field.sample(50, seed=0)[:, 0]) == {(1, 2), (3, 4)}
