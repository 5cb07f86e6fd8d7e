"""L0Graph: abess at every column, and a clear word where abess is not installed."""

import sys
from itertools import combinations

import numpy as np
import pytest

import isinglass as ig
from instances import sample
from isinglass.engine.readable import node_loss
from isinglass.errors import MissingExtra, SettingError, TableError
from isinglass.table import encode


def chain(n=1000, p=5):
    rng = np.random.default_rng(0)
    spins = rng.choice([-1, 1], size=(n, p))
    for t in range(1, p):
        spins[:, t] = np.where(rng.random(n) < 0.75, 1, -1) * spins[:, t - 1]
    return spins


def test_without_abess_one_sentence_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "abess", None)
    monkeypatch.setitem(sys.modules, "abess.linear", None)
    with pytest.raises(MissingExtra, match=r"needs abess.*pip install 'isinglass\[rivals\]'"):
        ig.L0Graph().fit(chain())


def test_settings_that_make_no_sense():
    with pytest.raises(SettingError, match="criterion must be"):
        ig.L0Graph("cp").fit(chain())
    with pytest.raises(SettingError, match="max_degree"):
        ig.L0Graph(max_degree=-1).fit(chain())


class TestWithAbess:
    @pytest.fixture(autouse=True)
    def abess(self):
        pytest.importorskip("abess", reason="abess is not installed: the extra 'rivals'")

    @pytest.mark.parametrize("intercept", [True, False])
    def test_finds_the_links_of_a_chain(self, intercept):
        data = chain()
        est = ig.L0Graph(intercept=intercept, rule="and").fit(data)
        assert {(f"x{t}", f"x{t + 1}") for t in range(4)} <= set(est.graph_.edges)
        assert {1, 3} <= set(est.neighbours_[2])
        assert np.isfinite(est.score(data))

    def test_best_subset_against_all_subsets_of_its_size(self):
        """Abess promises no optimum, but with five columns it finds it."""
        data = sample(np.random.default_rng(1), [2] * 5, 400, 0.6)
        est = ig.L0Graph("bic").fit(data)
        table = encode(data)
        for r, chosen in enumerate(est.neighbours_):
            others = [t for t in range(5) if t != r]
            losses = {
                subset: node_loss(table, r).fit(subset).loss
                for subset in combinations(others, len(chosen))
            }
            assert losses[tuple(chosen)] == pytest.approx(min(losses.values()), abs=1e-6)

    def test_max_degree_weights_and_constant_columns(self):
        data = np.column_stack([chain(n=200), np.ones(200, int)])
        weights = np.random.default_rng(1).integers(0, 3, 200)
        weighted = ig.L0Graph(max_degree=1).fit(data, sample_weight=weights)
        assert max(len(some) for some in weighted.neighbours_) == 1
        assert weighted.neighbours_[5] == []
        copied = ig.L0Graph(max_degree=1).fit(np.repeat(data, weights, axis=0))
        assert weighted.neighbours_ == copied.neighbours_

    def test_more_than_two_states_are_refused(self):
        with pytest.raises(TableError, match="has 3 states; L0Graph is for columns of two"):
            ig.L0Graph().fit(np.array([[0, 0], [1, 1], [1, 2]]))
