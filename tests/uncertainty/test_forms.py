"""How sure, on ordered columns: every question respects the forms of edges."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import isinglass as ig
from isinglass.estimators.folds import as_written, coded_scores, unordered_columns
from isinglass.table import encode


@pytest.fixture(scope="module")
def rows():
    graph = nx.Graph([(0, 1), (1, 2), (2, 3), (3, 4)])
    true = ig.simulate.ordinal(graph, [4, 5, 3, 4, 2], coupling=0.4, unordered=[2], seed=2)
    return pd.DataFrame(true.sample(500, seed=1), columns=list("abcde"))


@pytest.fixture(scope="module")
def fitted(rows):
    return ig.GreedyGraph(edges="auto", n_jobs=1).fit(rows)


def test_codes_are_written_so_that_order_and_scores_stay(rows):
    est = ig.GreedyGraph(edges="auto", scores={"a": [0, 1, 2, 9]})
    table = est.encode(rows)
    assert unordered_columns(table) == (2,)
    few = table.codes[table.codes[:, 0] != 1]
    scores = coded_scores(table, few)
    assert scores == {"a": [0.0, 2.0, 9.0]}
    cells = as_written(few, None, table.names, unordered_columns(table))
    again = est.set_params(scores=scores).encode(cells)
    assert again.ordered == table.ordered
    assert again.scores[0] == (0.0, 2.0, 9.0)
    nameless = as_written(few, None, None, [2])
    assert encode(nameless).ordered == (True, True, False, True, True)


def test_verdicts_say_from_which_step_on(fitted, rows):
    verdicts = ig.verdict(fitted)
    pair = verdicts.of("a", "d")
    assert pair.verdict != "linked"
    assert 1 < pair.step_odds_ratio < pair.odds_ratio
    assert "as a product of scores, from an odds ratio of" in pair.sentence
    assert np.isnan(verdicts.of("a", "c").step_odds_ratio)  # a trend has several numbers
    tables = ig.verdict(ig.GreedyGraph(edges="table", n_jobs=1).fit(rows)).of("a", "d")
    assert np.isnan(tables.step_odds_ratio)
    assert tables.odds_ratio < pair.odds_ratio  # two looks at a pair cost a little
    scores = ig.verdict(ig.GreedyGraph(edges="scores", n_jobs=1).fit(rows)).of("a", "d")
    assert scores.odds_ratio < tables.odds_ratio


def test_explanations_are_about_the_evidence_of_the_search(fitted):
    said = ig.explain(fitted, "a", "b")
    entered = [step for step in said.steps if step.variable in ("a", "b") and step.kind == "add"]
    path = fitted.paths_[0]
    first = path.steps[0]
    before = next(step for step in said.steps if step.end == "a" and step.kind == "start")
    assert entered
    if fitted.table_.names[first.variable] == "b":
        assert before.evidence == pytest.approx(2 * fitted.table_.n * first.gain, rel=1e-6)


def test_repeated_work_keeps_forms(rows):
    est = ig.GreedyGraph(edges="auto", n_jobs=1, scores={"a": [0, 1, 2, 4]})
    audited = ig.audit(est, rows, n=2, n_jobs=1)
    assert audited.failed == 0
    assert ig.resample(est, rows, n=4, n_jobs=1).failures == {}
    tested = ig.split_test(est, rows, splits=2, n_jobs=1)
    assert ("a", "b") in tested.edges
    compared = ig.compare(rows, {"auto": est, "table": ig.GreedyGraph(edges="table")}, folds=2)
    assert compared.entries[0].graph.forms[0, 1] == "product"
    assert all(np.isfinite(entry.score) for entry in compared.entries)


def test_scores_stay_with_their_states_where_a_half_lacks_one(rows):
    rare = rows.copy()
    rare["a"] = rare["a"].clip(upper=2)
    rare.loc[0, "a"] = 3  # one row: the other half never sees this state
    scores = {"a": [0.0, 1.0, 2.0, 40.0]}
    tested = ig.split_test(ig.GreedyGraph(n_jobs=1, scores=scores), rare, splits=4, n_jobs=1)
    equal = ig.split_test(
        ig.GreedyGraph(n_jobs=1, scores={"a": [0.0, 10.0, 20.0, 400.0]}), rare, splits=4, n_jobs=1
    )
    assert ("a", "b") in tested.edges
    assert tested.p_values == pytest.approx(equal.p_values, abs=1e-9)


def test_plans_of_ordered_columns_need_fewer_rows(rows):
    expected = {"columns": 6, "degree": 2, "coupling": 0.3, "states": 5}
    settings = {"rows": [300], "graphs": 6, "n_jobs": 1, "factors": [1.0]}
    found = {
        edges: ig.plan(**expected, **settings, edges=edges).points[0].found
        for edges in ("auto", "table")
    }
    assert found["auto"] > found["table"]
    pilot = ig.plan(pilot=rows, edges="auto", rows=[200], graphs=2, n_jobs=1)
    assert len(pilot.points) == 2


def test_a_wald_test_of_a_product_has_one_degree_of_freedom(fitted, rows):
    model = ig.with_errors(fitted, rows.sample(frac=1.0, random_state=1))
    assert model.wald("a", "b").df == 1
    low, high = model.per_step("a", "b").interval()
    assert low < model.per_step("a", "b").log_odds < high
