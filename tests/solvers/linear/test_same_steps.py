"""The quick way takes the steps of the readable solver, whatever the regression."""

import numpy as np
import pytest

from isinglass.losses import HuberLoss, SquaredLoss
from isinglass.losses.protocol import Fit
from isinglass.solvers.blocks import TIE, Blocks
from isinglass.solvers.foba import foba, named_groups
from isinglass.solvers.linear import LinearBlocks, has_quick_way
from isinglass.solvers.path import Path, Step
from isinglass.solvers.search import search
from regressions import Regression, regression, thin_regression
from selections import mostly_long

#: Gains nearer to the edge of a tie than this may fall to either side of it.
ROUNDING = 3e-10
MOST_STEPS = 12


def both_runs(case: Regression) -> tuple[Blocks, Path, Path]:
    loss = case.loss()
    groups = named_groups(case.groups, loss.size)
    settings = {"standardise": case.standardise, "likelihood": case.likelihood}
    plain = Blocks(loss, groups, **settings)
    quick = LinearBlocks(case.loss(), groups, **settings)
    slow, fast = (
        search(blocks, case.threshold, case.nu, max_steps=MOST_STEPS) for blocks in (plain, quick)
    )
    return plain, slow, fast


def change(step: Step) -> float:
    return step.gain if step.kind == "add" else step.cost


def unclear(blocks: Blocks, fit: Fit, support: tuple[int, ...], case: Regression) -> bool:
    """Whether the next forward step hangs on a gain at the edge of a tie, or of the threshold."""
    outside = [j for j in blocks.candidates if j not in support]
    if not outside:
        return False
    gains = blocks.gains(fit, outside)
    edges = np.abs(gains.max() - TIE - gains)
    return bool(edges.min() < ROUNDING or np.abs(gains - case.threshold).min() < ROUNDING)


def compare(case: Regression) -> int:
    """Compare two runs; returns how many steps were compared."""
    blocks, slow, fast = both_runs(case)
    fits = [slow.start, *(step.fit for step in slow.steps)]
    supports = [(), *(step.support for step in slow.steps)]
    for at, fit in enumerate(fits):
        ended = [at >= len(path.steps) for path in (slow, fast)]
        if all(ended):
            return at
        here = [
            None if end else path.steps[at] for end, path in zip(ended, (slow, fast), strict=True)
        ]
        same = not any(ended) and [(s.kind, s.variable) for s in here[:1]] == [
            (s.kind, s.variable) for s in here[1:]
        ]
        if not same:
            assert unclear(blocks, fit, supports[at], case), f"step {at}: {here}"
            return at
        assert change(here[1]) == pytest.approx(change(here[0]), rel=1e-7, abs=5e-9)
        assert here[1].loss == pytest.approx(here[0].loss, rel=1e-9, abs=1e-9)
    return len(fits)


@pytest.mark.parametrize("seed", mostly_long(range(60), 30))
def test_same_steps(seed):
    compare(regression(seed))


@pytest.mark.parametrize("seed", range(15))
def test_same_steps_of_thin_columns(seed):
    compare(thin_regression(seed))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(60, 500))
def test_same_steps_on_many(seed):
    compare(regression(seed))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(15, 200))
def test_same_steps_of_many_thin_columns(seed):
    compare(thin_regression(seed))


def test_runs_have_steps_to_compare():
    assert sum(compare(regression(seed)) for seed in range(20)) > 40


@pytest.mark.parametrize("case", [*map(regression, range(40)), *map(thin_regression, range(6))])
def test_bounds_hold(case):
    blocks, slow, _ = both_runs(case)
    groups = named_groups(case.groups, blocks.loss.size)
    way = LinearBlocks(blocks.loss, groups, standardise=False)._way
    places = np.arange(len(groups))
    for step in [None, *slow.steps[:4]]:
        fit = slow.start if step is None else step.fit
        support = () if step is None else step.support
        upper, _ = way.prospects(fit)
        outside = [j for j in groups if j not in support]
        gains = np.array(blocks.loss.gains(fit, [groups[j] for j in outside]))
        assert (upper[outside] >= gains - 1e-10).all()
        closer = way.sharpen(fit, np.array(outside, dtype=np.intp))
        if closer is not None:
            assert (closer[0] <= gains + 1e-10).all()
            assert (closer[1] >= gains - 1e-10).all()
        if support:
            inside = places[list(support)]
            costs = np.array(blocks.loss.costs(fit, [groups[j] for j in support]))
            assert (way.least_costs(fit, inside) <= costs + 1e-10).all()
            np.testing.assert_allclose(way.costs(fit, inside), costs, rtol=1e-7, atol=5e-9)


def test_bounds_rule_candidates_out():
    """Most candidates are not evaluated: else the bounds would be for nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 60))
    from isinglass.losses import LogisticLoss

    loss = LogisticLoss(X, X[:, 3] + rng.logistic(size=2000) > 0)
    way = LinearBlocks(loss, named_groups(None, 60), standardise=False)._way
    evaluated = []
    inner = way.gains
    way.gains = lambda fit, places, judge: (
        evaluated.append(len(places)),
        inner(fit, places, judge),
    )[1]
    blocks = LinearBlocks(loss, named_groups(None, 60), standardise=False)
    blocks._way = way
    path = search(blocks, 0.01, 0.5)
    assert path.support == (3,)
    assert sum(evaluated) <= 10


def test_scales_of_columns_do_not_matter():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 10))
    y = X[:, 2] - X[:, 5] + 0.5 * rng.normal(size=80)
    sizes = 10.0 ** rng.integers(-8, 9, 10)
    one, two = (foba(SquaredLoss(Z, y), 1e-4) for Z in (X, X * sizes))
    assert [s.variable for s in one.steps] == [s.variable for s in two.steps]
    np.testing.assert_allclose(one.coef, two.coef * sizes, rtol=1e-6, atol=1e-12)


def test_float32_is_taken_at_its_word():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 8)).astype(np.float32)
    y = X[:, 1] + rng.normal(size=60)
    for kind in (SquaredLoss, HuberLoss):
        one, two = foba(kind(X, y), 1e-4), foba(kind(X.astype(float), y), 1e-4)
        assert [s.variable for s in one.steps] == [s.variable for s in two.steps]
        assert one.loss == pytest.approx(two.loss, abs=1e-12)


def test_a_changed_loss_goes_the_readable_way():
    class Doubled(SquaredLoss):
        def pointwise(self, eta):
            value, slope, curvature = super().pointwise(eta)
            return 2 * value, 2 * slope, 2 * curvature

    X = np.random.default_rng(0).normal(size=(30, 3))
    assert has_quick_way(SquaredLoss(X, X[:, 0]))
    assert not has_quick_way(Doubled(X, X[:, 0]))
    assert foba(Doubled(X, X[:, 0]), 1e-3).support == (0,)
