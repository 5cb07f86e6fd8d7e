"""Design effects of pairs: against the matrices that define them."""

import numpy as np
import pytest

import isinglass as ig
from isinglass.errors import BadWeights
from isinglass.losses.forms import zero_sum_basis
from isinglass.table import Table, encode


def drawn(seed: int, n: int = 300) -> Table:
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, m, n) for m in (2, 3, 4, 2, 5)])
    codes[:, 0] = rng.random(n) < 0.15
    weights = np.where(codes[:, 0] == 1, rng.choice([0.2, 3.0], n), 1.0) * rng.uniform(0.5, 1.5, n)
    return encode(codes, weights, n_eff="design")


def literal_effect(table, r: int, t: int) -> float:
    """tr(H^-1 B)/df of the scores of a pair in orthonormal contrasts, the intercepts fitted."""
    x, y, w = table.codes[:, r], table.codes[:, t], table.weights
    shares = [np.bincount(v, w) / w.sum() for v in (x, y)]
    scores = [
        zero_sum_basis(len(share)) - share @ zero_sum_basis(len(share)) for share in shares
    ]
    size = (len(shares[0]) - 1) * (len(shares[1]) - 1)
    H, B = np.zeros((size, size)), np.zeros((size, size))
    for a, p in enumerate(shares[0]):
        for b, q in enumerate(shares[1]):
            here = w[(x == a) & (y == b)]
            score = np.kron(scores[0][a], scores[1][b])
            H += p * q * np.outer(score, score)
            B += p * q * (np.sum(here**2) + 1) / (here.sum() + 1) * np.outer(score, score)
    return float(np.trace(np.linalg.solve(H, B))) / size


@pytest.mark.parametrize("seed", range(4))
def test_effects_are_their_definition(seed):
    table = drawn(seed)
    effects = table.design_effects
    for r in range(5):
        for t in range(5):
            expected = 1.0 if r == t else literal_effect(table, r, t)
            assert effects[r, t] == pytest.approx(expected, rel=1e-10)
    assert (effects >= table.weights.min()).all()
    assert (effects <= table.weights.max()).all()
    assert effects[0, 1:].min() > 1.3  # weights are unequal where column 0 is 1, a minority
    assert effects[1:, 1:].max() < 1.3


def test_equal_weights_change_nothing():
    field = ig.simulate.potts(ig.simulate.chain(6), 3, coupling=0.8, seed=0)
    rows = field.sample(400, seed=0)
    plain = ig.GreedyGraph().fit(rows)
    design = ig.GreedyGraph(n_eff="design").fit(rows)
    assert design.table_.design_effects is None
    assert [link.evidence for link in design.graph_.links] == [
        link.evidence for link in plain.graph_.links
    ]


def test_constant_columns_and_one_row():
    table = encode([[0, 1, 2], [0, 0, 2], [0, 1, 1]], [0.5, 1.5, 1.0], n_eff="design")
    effects = table.design_effects
    assert np.isfinite(effects).all()
    assert (effects[0] == 1.0).all()
    assert encode([[0, 1]], [0.5], n_eff="design").design_effects is None


def test_parts_of_a_table_keep_its_design():
    table = drawn(0)
    part, _ = table.with_rows(table.codes[:100], table.weights[:100])
    fewer, _ = table.with_rows(table.codes[table.codes[:, 1] < 2], table.weights[table.codes[:, 1] < 2])
    assert part.design
    assert fewer.design
    assert fewer.design_effects.shape == (5, 5)


def test_rows_are_as_kish_says_and_evidence_is_divided():
    table = drawn(1, n=1000)
    weights = table.weights
    by = {}
    for n_eff in ("kish", "design"):
        est = ig.GreedyGraph(0.0001, n_eff=n_eff).fit(table.codes, sample_weight=weights)
        assert est.table_.n == pytest.approx(weights.sum() ** 2 / np.sum(weights**2))
        by[n_eff] = est
    assert by["kish"].threshold_ == by["design"].threshold_
    told = [ig.explain(by[n_eff], "x0", "x3").steps[0].evidence for n_eff in ("kish", "design")]
    assert told[1] == pytest.approx(told[0] / by["design"].table_.design_effects[0, 3], rel=1e-6)


def test_the_error_for_fractional_weights_names_it_first():
    with pytest.raises(BadWeights, match=r'n_eff="design" for sampling weights') as failed:
        encode([[0], [1]], [0.5, 1.5])
    text = str(failed.value)
    assert text.index('"design"') < text.index('"kish"')
