import numpy as np
import pytest

import isinglass as ig
from isinglass import plots
from isinglass.errors import SettingError
from odd_names import ODD_NAMES


@pytest.fixture(scope="module")
def est():
    field = ig.simulate.ising(ig.simulate.star(6, 4), coupling=0.4, seed=0)
    return ig.GreedyGraph(floor=1e-4).fit(field.sample(500, seed=0))


def drawn(ax):
    """Where the marks of steps are, from the first on."""
    marks = [line for line in ax.lines if line.get_marker() in "oX" and len(line.get_xdata()) == 1]
    return [(mark.get_xdata()[0], mark.get_ydata()[0], mark.get_alpha()) for mark in marks]


def test_every_step_is_at_its_gain_or_cost(est):
    steps = est.paths_[0].steps
    at = drawn(plots.search(est, "x0"))
    assert [height for _, height, _ in at] == list(range(len(steps)))
    gains = [(step.gain, x) for step, (x, _, _) in zip(steps, at, strict=True) if step.gain]
    assert gains
    assert all(gain == x for gain, x in gains)


def test_steps_beyond_the_threshold_are_pale(est):
    kept = len(est.paths_[0].at(est.threshold_).steps)
    strong = [alpha == 1.0 for *_, alpha in drawn(plots.search(est, "x0"))]
    assert strong == [at < kept for at in range(len(strong))]
    assert not all(strong)
    loose = ig.GreedyGraph(est.paths_[0].steps[-1].gain / 2).fit(est.table_.codes)
    assert all(alpha == 1.0 for *_, alpha in drawn(plots.search(loose, "x0")))


def test_the_tiers_and_the_graph_s_own_threshold_are_marked(est):
    assert words(plots.search(est, "x0")) == ["tentative", "firm"]
    other = ig.GreedyGraph("paper", floor=1e-4).fit(est.table_.codes)
    assert set(words(plots.search(other, "x0"))) == {"tentative", "firm", "this graph"}
    assert words(plots.search(est, "x0", thresholds={"mine": 0.01})) == ["mine"]


def words(ax):
    return [text.get_text() for text in ax.texts]


def test_a_drop_is_named(est):
    """Two columns that make up a third: it goes when both are in."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    X[:, 2] = X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=300)
    path = ig.foba(ig.losses.SquaredLoss(X, X[:, 0] + X[:, 1]), threshold=1e-6)
    assert "drop" in [step.kind for step in path.steps]
    ax = plots.path(path)
    assert any(label.get_text().endswith("dropped") for label in ax.get_yticklabels())
    assert "dropped: its cost" in [text.get_text() for text in ax.get_legend().get_texts()]
    assert plots.png(plots.figure_of(ax))


def test_no_step_at_all():
    rows = np.random.default_rng(0).integers(0, 2, (50, 2))
    ax = plots.search(ig.GreedyGraph(10.0).fit(rows), "x0")
    assert ax.get_title(loc="left") == "The search at x0: no step"
    assert plots.png(plots.figure_of(ax))


def test_odd_names(est):
    codes = est.table_.codes
    names = list(ODD_NAMES[: codes.shape[1]])
    odd = ig.GreedyGraph().fit(dict_frame(names, codes))
    assert plots.png(plots.figure_of(plots.search(odd, names[0])))


def dict_frame(names, codes):
    import polars as pl

    return pl.DataFrame({name: codes[:, j] for j, name in enumerate(names)})


def test_what_is_asked_must_be_there(est):
    with pytest.raises(SettingError, match="no column 'y'"):
        plots.search(est, "y")
    with pytest.raises(SettingError, match="positive"):
        plots.path(est.paths_[0], thresholds={"zero": 0.0})


def test_a_regression_shows_its_threshold():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 6))
    fitted = ig.GreedyRegressor(floor=1e-4).fit(X, X[:, 1] + rng.normal(size=100))
    ax = plots.path(fitted)
    assert words(ax) == ["threshold"]
    assert words(plots.path(fitted, thresholds={"mine": 0.01})) == ["mine"]
    assert words(plots.path(ig.GreedyRegressor(n_nonzero=2).fit(X, X[:, 1]))) == []
    assert plots.png(plots.figure_of(ax))
