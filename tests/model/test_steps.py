"""Numbers per step of edges that are products of scores, or trends."""

import json

import networkx as nx
import numpy as np
import pytest

import isinglass as ig
from isinglass import MarkovField, simulate
from isinglass.errors import FileError, SettingError
from isinglass.exports import read_uai, write

U, V = np.array([-1.0, 0.0, 1.0]), np.array([-1.5, -0.5, 0.5, 1.5])


def field_of(table, forms, scores, **more):
    m = table.shape
    states = tuple(tuple(range(k)) for k in m)
    zero = tuple(np.zeros(k) for k in m)
    return MarkovField(
        ("a", "b"), states, zero, {(0, 1): table}, forms=forms, scores=scores, **more
    )


def test_a_product_is_one_number_per_unit_of_the_scores():
    table = 0.3 * np.outer(U, V)
    plain = field_of(table, {(0, 1): "product"}, ((0, 1, 2), (0, 1, 2, 3))).per_step("b", "a")
    assert plain.names == ("a", "b")
    assert float(plain.log_odds) == pytest.approx(0.3)
    assert float(plain.odds_ratio) == pytest.approx(np.exp(0.3))
    assert float(plain.theta) == pytest.approx(0.3 * np.sqrt(2 / 3) * np.sqrt(5 / 4))
    years = field_of(table, {(0, 1): "product"}, ((20, 30, 40), (0, 1, 2, 3))).per_step("a", "b")
    assert float(years.log_odds) == pytest.approx(0.03)
    assert float(years.theta) == pytest.approx(float(plain.theta))
    assert years.unit == "per unit of the scores of a and level of b"


def test_two_states_have_their_coupling_and_need_no_scores():
    table = np.outer([-1.0, 1.0], V) * 0.2
    step = field_of(table, {(0, 1): "product"}, (None, (0, 1, 2, 3))).per_step("a", "b")
    assert float(step.log_odds) == pytest.approx(0.4)
    ising = simulate.ordinal(simulate.chain(2), 2, coupling=0.4, signs="positive")
    assert ising.forms == {(0, 1): "table"}
    assert ising.couplings[0, 1][1, 1] == pytest.approx(0.4)


def test_a_trend_has_one_number_per_unordered_state():
    slopes = np.array([0.5, -0.2, -0.3])
    step = field_of(np.outer(slopes, V), {(0, 1): "trend"}, (None, (0, 1, 2, 3))).per_step("a", "b")
    np.testing.assert_allclose(step.log_odds, slopes)
    assert step.states == (0, 1, 2)
    assert step.unit == "per level of b"


@pytest.mark.parametrize(
    ("table", "form", "scores", "words"),
    [
        (np.outer(U, V), "line", (None, None), "has the form 'line'"),
        (np.outer(U, V), "product", (None, (0, 1, 2, 3)), "cannot have the form 'product'"),
        (np.outer(U, V), "trend", ((0, 1, 2), (0, 1, 2, 3)), "cannot have the form 'trend'"),
        (np.outer(U**2 - 2 / 3, V), "product", ((0, 1, 2), (0, 1, 2, 3)), "does not have its form"),
        (np.outer(U, V), "product", ((0, 1, 2), (0, 1, 1, 3)), "finite rising numbers"),
        (np.outer(U, V), "product", ((0, 1), (0, 1, 2, 3)), "must be 3 finite rising numbers"),
    ],
)
def test_a_coupling_must_have_its_form(table, form, scores, words):
    with pytest.raises(SettingError, match=words):
        field_of(table, {(0, 1): form}, scores)


def test_tables_have_no_number_per_step():
    field = field_of(np.outer(U, V), {}, ((0, 1, 2), (0, 1, 2, 3)))
    with pytest.raises(SettingError, match=r"is a whole table, .* edge\('a', 'b'\)"):
        field.per_step("a", "b")
    assert len(field.steps()) == 0
    with pytest.raises(SettingError, match="no interval"):
        field_of(np.outer(U, V), {(0, 1): "product"}, ((0, 1, 2), (0, 1, 2, 3))).per_step(
            "a", "b"
        ).interval()


@pytest.fixture(scope="module")
def fitted():
    graph = nx.Graph([(0, 1), (1, 2), (2, 3), (3, 4)])
    true = simulate.ordinal(graph, [4, 5, 3, 4, 2], coupling=0.45, unordered=[2], seed=2)
    rows = ig.frames.frame(
        {
            name: column.tolist()
            for name, column in zip("abcde", true.sample(900, seed=1).T, strict=True)
        }
    )
    return ig.GreedyGraph(edges="auto", floor=0.001).fit(rows)


def test_files_keep_forms_scores_and_errors(fitted, tmp_path):
    model = ig.with_errors(fitted)
    model.save(tmp_path / "model.json", fit=fitted.record())
    back = MarkovField.load(tmp_path / "model.json")
    assert (back.forms, back.scores) == (model.forms, model.scores)
    assert set(back.forms.values()) >= {"product", "trend"}
    assert back.steps().equals(model.steps())
    record = ig.FitRecord.load(tmp_path / "model.json")
    for threshold in (fitted.floor_, fitted.threshold_):
        assert record.at(threshold).forms == fitted.at(threshold).forms
    assert record.graph.links == fitted.graph_.links
    assert [path.steps[0].form for path in record.paths if path.steps] == [
        path.steps[0].form for path in fitted.paths_ if path.steps
    ]


def test_a_file_whose_coupling_lacks_its_form_is_refused(fitted, tmp_path):
    path = tmp_path / "model.json"
    fitted.model_.save(path)
    text = path.read_text()
    assert '"product"' in text
    path.write_text(text.replace('"product"', '"trend"'))
    with pytest.raises(FileError, match="cannot have the form 'trend'"):
        MarkovField.load(path)


def test_older_files_have_tables_only(fitted, tmp_path):
    path = tmp_path / "model.json"
    fitted.model_.save(path)
    old = json.loads(path.read_text())
    for coupling in old["model"]["couplings"]:
        del coupling["form"]
    for column in old["model"]["columns"]:
        column.pop("scores", None)
    path.write_text(json.dumps(old))
    assert set(MarkovField.load(path).forms.values()) == {"table"}


def test_what_is_left_of_a_model_keeps_its_forms(fitted):
    model = fitted.model_
    left = model.given({"e": fitted.states_[4][0]})
    assert left.forms == {pair: form for pair, form in model.forms.items() if 4 not in pair}
    assert left.scores == model.scores[:4]


def test_uai_files_and_graphs_come_back_with_forms(fitted, tmp_path):
    model = fitted.model_
    write(model, tmp_path / "model.uai", "uai")
    back = read_uai(tmp_path / "model.uai")
    assert (back.forms, back.scores) == (model.forms, model.scores)
    graph = ig.exports.from_networkx(fitted.graph_.to_networkx())
    assert graph.forms == fitted.graph_.forms
    again = ig.exports.from_frame(fitted.graph_.to_frame(), names=fitted.graph_.names)
    assert [link.step_log_odds for link in again] == [link.step_log_odds for link in fitted.graph_]


def test_the_sign_of_a_product_is_that_of_its_number(fitted):
    for graph in (fitted.graph_, fitted.model_.graph):
        products = [link for link in graph if link.form == "product"]
        assert products
        assert all(link.sign == np.sign(link.step_log_odds) for link in products)
        assert all(link.coupling is None for link in products)
