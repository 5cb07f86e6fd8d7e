"""missing="available": each column on the rows where it is seen, against the definition."""

import numpy as np
import pandas as pd
import pytest

from isinglass import GreedyGraph
from isinglass.engine.available import parts_of
from isinglass.losses.conditional import ConditionalLoss
from isinglass.losses.forms import Forms
from isinglass.solvers.edges import EdgeBlocks
from isinglass.solvers.search import search
from isinglass.table import encode


def with_missing(seed: int, n: int = 250, p: int = 5, share: float = 0.15) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, (n, p)).astype(float)
    x[:, 1] = np.where(rng.random(n) < 0.8, x[:, 0], 1 - x[:, 0])
    x[:, 3] = x[:, 2] + rng.integers(0, 2, n)
    x[rng.random((n, p)) < share] = np.nan
    x[:, 4] = np.nan_to_num(x[:, 4])  # one column without missing values
    return x


def literal_search(x: np.ndarray, r: int, threshold: float, edges: str):
    """The definition: rows where r is seen, missing as one more state, n of the whole table.

    Answers have the scores 0, 1, ...; a missing value has none.
    """
    rows = x[~np.isnan(x[:, r])]
    codes = np.column_stack(
        [np.unique(np.nan_to_num(c, nan=99.0), return_inverse=True)[1] for c in rows.T]
    )
    states = codes.max(axis=0) + 1
    gone = np.isnan(rows).any(axis=0)
    scores = tuple(
        (*range(m - 1), np.nan) if some else tuple(range(m))
        for m, some in zip(states, gone, strict=True)
    )
    forms = Forms(tuple(states.tolist()), scores, edges)
    loss = ConditionalLoss(codes, np.ones(len(rows)), r, states, n=float(len(x)), forms=forms)
    return search(EdgeBlocks(loss, loss.candidates), threshold, 0.5)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("threshold", [0.002, 0.02])
@pytest.mark.parametrize("edges", ["table", "auto"])
def test_same_steps_as_the_definition(seed, threshold, edges):
    x = with_missing(seed)
    est = GreedyGraph(threshold, missing="available", edges=edges).fit(x)
    for r, path in enumerate(est.paths_):
        truth = literal_search(x, r, threshold, edges)
        assert [(s.kind, s.variable, s.form) for s in path.steps] == [
            (s.kind, s.variable, s.form) for s in truth.steps
        ]
        for step, expected in zip(path.steps, truth.steps, strict=True):
            assert (step.gain or step.cost) == pytest.approx(
                expected.gain or expected.cost, abs=1e-9
            )
            assert step.loss == pytest.approx(expected.loss, abs=1e-10)
            for t, table in expected.coef.items():
                np.testing.assert_allclose(step.coef[t][:, : table.shape[1]], table, atol=1e-5)


def test_at_equals_a_fresh_run_and_both_ends_are_valued():
    x = with_missing(3)
    est = GreedyGraph(0.02, floor=0.002, missing="available").fit(x)
    for threshold in (0.002, 0.005, 0.02, 0.1):
        fresh = GreedyGraph(threshold, missing="available").fit(x)
        assert est.at(threshold) == fresh.graph_
        for a, b in zip(est.at(threshold).links, fresh.graph_.links, strict=True):
            assert a.strength == pytest.approx(b.strength, abs=1e-9)
            assert a.coupling == (b.coupling and pytest.approx(b.coupling, abs=1e-6))


def test_without_missing_values_nothing_changes():
    x = np.nan_to_num(with_missing(1))
    plain, available = (GreedyGraph(0.01, missing=way).fit(x) for way in ("error", "available"))
    assert plain.graph_ == available.graph_
    assert [repr(p) for p in plain.paths_] == [repr(p) for p in available.paths_]


def test_columns_seen_in_the_same_rows_share_a_part():
    x = with_missing(0)
    x[:, 2] = np.where(np.isnan(x[:, 0]), np.nan, np.nan_to_num(x[:, 2]))
    parts = parts_of(encode(x, missing="available"))
    assert (0, 2) in {part.targets for part in parts}
    assert sorted(t for part in parts for t in part.targets) == list(range(5))


@pytest.mark.filterwarnings("ignore::isinglass.errors.ManyMissing")
def test_order_signs_and_states_are_those_of_the_answers():
    x = with_missing(2, n=800)
    est = GreedyGraph(missing="available").fit(x)
    assert est.states_[0] == [0, 1]
    link = next(e for e in est.graph_.links if (e.source, e.target) == (0, 1))
    assert link.sign == 1
    assert link.coupling == pytest.approx(np.log(4) / 2, abs=0.25)
    assert "missing values" in est.diagnostics_["what"].to_list()


def test_score_uses_the_columns_that_are_seen():
    x = with_missing(4)
    est = GreedyGraph(0.01, missing="available").fit(x)
    assert np.isfinite(est.score(x))
    one = np.full((1, 5), np.nan)
    one[0, 4] = 0
    share = np.log(np.mean(x[:, 4] == 0))
    assert est.graph_.neighbors("x4") or est.score(one) == pytest.approx(share, abs=1e-6)


def test_weights_are_counts_here_too():
    x = with_missing(5)
    weights = np.random.default_rng(0).integers(0, 3, len(x))
    one = GreedyGraph(0.005, missing="available").fit(x, sample_weight=weights)
    two = GreedyGraph(0.005, missing="available").fit(np.repeat(x, weights, axis=0))
    assert one.graph_ == two.graph_
    for a, b in zip(one.paths_, two.paths_, strict=True):
        assert a.loss == pytest.approx(b.loss, abs=1e-10)


def test_strings_and_frames():
    x = with_missing(1)
    words = pd.DataFrame(np.where(np.isnan(x), None, np.where(x > 0, "yes", "no")))
    words.columns = list("abcde")
    est = GreedyGraph(missing="available").fit(words)
    assert est.states_[0] == ["no", "yes"]
    assert ("a", "b") in est.graph_.edges


@pytest.mark.parametrize("intercept", [True, False])
def test_a_column_that_is_constant_where_another_is_seen(intercept):
    x = with_missing(0, n=60)
    x[:30, 0], x[30:, 0] = np.nan, 1.0  # constant where it is seen, its missing values are not
    x[:, 1] = np.where(np.isnan(x[:, 0]), 0, 1)
    est = GreedyGraph(1e-3, missing="available", intercept=intercept).fit(x)
    assert all(np.isfinite([e.strength, e.evidence]).all() for e in est.graph_.links)
    assert np.isfinite(est.score(x))
