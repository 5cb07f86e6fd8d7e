"""What `theory` answers, against brute force on small models, and in words."""

from itertools import product

import numpy as np
import polars as pl
import pytest

import isinglass as ig
from isinglass.errors import SettingError
from isinglass.losses import LogisticLoss, SquaredLoss
from isinglass.solvers.blocks import Blocks
from isinglass.solvers.search import search
from isinglass.theorem.curvature import column_instance, contrasts, loss_instance
from isinglass.theorem.noise import largest_slope, largest_slopes, noise_level, signed_slopes
from isinglass.theorem.results import number
from isinglass.theorem.theory import distance
from isinglass.theorem.working import irrepresentability, rows_to_find, smallest_margin


@pytest.fixture(scope="module")
def chain():
    return ig.simulate.ising(ig.simulate.chain(5), coupling=0.5, seed=0)


@pytest.fixture(scope="module")
def result(chain):
    return ig.theory(chain, rows=400, draws=40, population=20_000, further=2)


def all_states(field):
    """Every row, and its probability."""
    rows = np.array(list(product(*(range(m) for m in field.n_states))))
    tables = field.couplings.items()
    weight = np.exp(sum(table[rows[:, i], rows[:, j]] for (i, j), table in tables))
    return rows, weight / weight.sum()


def test_curvature_is_that_of_the_population(chain, result):
    """A large draw against all states with their probabilities."""
    rows, probability = all_states(chain)
    for r, column in enumerate(result.columns):
        tables = {t: table.T for t, table in chain.tables_of(r).items()}
        exact = column_instance(rows, probability, chain.n_states, r, tables)
        slope, curvature = exact.slope_and_curvature()
        assert np.abs(slope).max() < 1e-9  # the truth minimises the expected loss
        sets = [
            [*exact.support, *more]
            for more in product(set(range(4)) - set(exact.support), repeat=2)
        ]
        ends = [np.linalg.eigvalsh(curvature[np.ix_(s, s)]) for s in map(sorted, map(set, sets))]
        smallest = min(values[0] for values in ends)
        assert column.exact
        assert column.smallest_eigenvalue == pytest.approx(smallest, rel=0.05)
        assert column.irrepresentability == pytest.approx(
            irrepresentability(curvature, exact), abs=0.05
        )


def test_noise_is_the_quantile_of_drawn_tables(chain):
    """Against counts of all states, drawn and written out."""
    n, draws = 300, 400
    slopes = noise_level(largest_slopes(chain, n, draws, seed=1, intercept=False))
    rows, probability = all_states(chain)
    X = 2.0 * rows - 1
    theta = np.zeros((5, 5))
    for (i, j), table in chain.couplings.items():
        theta[i, j] = theta[j, i] = table[1, 1]
    rng = np.random.default_rng(2)
    largest = np.empty((draws, 5))
    for at in range(draws):
        share = rng.multinomial(n, probability) / n
        for r in range(5):
            residual = X[:, r] - np.tanh(X @ theta[r])
            slope = X.T @ (share * residual) / 2  # per unit of twice the coupling
            largest[at, r] = np.abs(np.delete(slope, r)).max()
    np.testing.assert_allclose(slopes, np.quantile(largest, 0.95, axis=0), rtol=0.15)


def test_noise_falls_with_the_root_of_the_rows(chain):
    few, many = (noise_level(largest_slopes(chain, n, 60, seed=1)) for n in (400, 4_000_000))
    np.testing.assert_allclose(few / many, 100.0, rtol=0.35)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_quick_slope_is_the_slope_of_the_instance(intercept):
    """On columns of two and three states."""
    for seed in range(8):
        field = ig.simulate.potts(
            ig.simulate.chain(4), states=[2, 3, 2, 3], coupling=0.6, seed=seed
        )
        codes = field.sample_codes(80, seed=seed)
        prepared = contrasts(codes, field.n_states)
        for r in range(4):
            tables = {t: table.T for t, table in field.tables_of(r).items()}
            plain = column_instance(
                codes, np.ones(80), field.n_states, r, tables, intercept=intercept
            )
            quick = largest_slope(field, codes, r, *prepared, intercept=intercept)
            assert quick == pytest.approx(plain.largest_slope(), abs=1e-9)


def test_signs_give_the_noise_of_a_regression():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    truth = np.array([1.0, -1.0, 0, 0, 0, 0])
    levels, largest = [], []
    for _ in range(60):
        loss = SquaredLoss(X, X @ truth + rng.normal(size=300))
        here = loss_instance(loss, truth, [(j,) for j in range(6)])
        largest.append(here.largest_slope())
        levels.append(noise_level(signed_slopes(here, 60, 1)))
    assert np.mean(np.array(largest) > np.mean(levels)) < 0.2
    assert np.mean(levels) == pytest.approx(np.quantile(largest, 0.95), rel=0.2)


def test_rows_of_a_link_find_it(chain, result):
    """At the rows named, the search finds the weakest link in most tables."""
    weakest = max(result.links, key=lambda link: link.rows)
    rows = round(weakest.rows)
    pair = (weakest.source, weakest.target)
    found = [
        pair in ig.GreedyGraph(n_jobs=1).fit(chain.sample(rows, seed=s)).graph_.edges
        for s in range(60)
    ]
    assert np.mean(found) > 0.85
    fewer = [
        pair in ig.GreedyGraph(n_jobs=1).fit(chain.sample(rows // 3, seed=s)).graph_.edges
        for s in range(60)
    ]
    assert np.mean(fewer) < np.mean(found) - 0.2


@pytest.mark.parametrize("df", [1, 3, 9])
def test_rows_to_find_have_that_power(df):
    from scipy.stats import chi2, ncx2

    needed = float(chi2.isf(1e-4, 1))
    rows = rows_to_find(0.01, df, needed)
    assert ncx2.sf(chi2.isf(1e-4, df), df, 2 * rows * 0.01) == pytest.approx(0.95, abs=2e-3)
    assert rows_to_find(0.0, df, needed) == np.inf


def test_margin_of_a_search_by_hand():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    loss = SquaredLoss(X, 2 * X[:, 0] + X[:, 2] + rng.normal(size=500))
    blocks = Blocks(loss, {j: (j,) for j in range(4)}, standardise=False)
    path = search(blocks, 0.01, 0.5)
    first = np.array(loss.gains(loss.fit([]), [(j,) for j in range(4)]))
    second = np.array(loss.gains(loss.fit([0]), [(1,), (2,), (3,)]))
    plain = min(first[[0, 2]].max() / first[[1, 3]].max(), second[1] / second[[0, 2]].max())
    assert smallest_margin(blocks, path, (0, 2)) == pytest.approx(plain)
    assert smallest_margin(blocks, path, ()) == np.inf


def test_sentences_and_frames(result):
    assert result.recovered
    assert result.margin > 2
    assert result.rows_asked > 1e5 * result.rows_sufficient
    asked, sufficient, path, l1 = result.sentences
    assert "cannot be invoked here" in asked
    assert sufficient.startswith("The search itself finds the weakest link, x")
    assert "with probability 0.95" in sufficient
    assert path.startswith("A search on 20,000 rows drawn from the model returns its graph")
    assert l1.startswith("Irrepresentability, which l1 regression needs below 1, is at most 0.")
    assert str(result) == " ".join(result.sentences)
    frame = result.to_frame("pandas")
    assert frame["neighbours"].tolist() == [1, 2, 2, 2, 1]
    assert isinstance(result.links_frame("polars"), pl.DataFrame)
    assert len(result.links_frame("pandas")) == 4
    assert not any(column.holds for column in result.columns)


def test_a_table_with_its_truth(chain):
    X = chain.sample(2000, seed=3)
    found = ig.theory(chain, X, draws=20, population=5000)
    assert found.rows == 2000
    assert (found.conclusions.missed, found.conclusions.wrong, found.conclusions.far) == (0, 0, 0)
    assert found.conclusions.conditions == 0
    assert "misses a true neighbour at 0 columns of 5" in found.sentences[-1]


def test_a_fitted_graph(chain):
    X = pl.DataFrame(chain.sample(600, seed=4), schema=list("abcde"))
    est = ig.GreedyGraph().fit(X)
    found = ig.theory(est, draws=20, population=5000)
    assert [column.name for column in found.columns] == list("abcde")
    assert found.rows == 600
    assert isinstance(found.to_frame(), pl.DataFrame)
    assert len(found.links) == len(est.graph_)
    assert found.conclusions is None


def test_more_states_and_no_links():
    field = ig.simulate.potts(ig.simulate.chain(3), states=3, coupling=0.6, seed=0)
    found = ig.theory(field, rows=500, draws=10, population=5000)
    assert found.columns[1].neighbours == 2
    assert found.columns[1].condition > 1
    rng = np.random.default_rng(0)
    est = ig.GreedyGraph().fit(rng.integers(0, 2, (300, 4)))
    empty = ig.theory(est, draws=10, population=2000)
    assert empty.links == ()
    assert empty.rows_sufficient == 0.0
    assert all(column.neighbours == 0 for column in empty.columns)


def test_regressions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 8))
    coef = np.zeros(8)
    coef[[1, 4]] = 1.0, -0.5
    squared = ig.theory(SquaredLoss(X, X @ coef + rng.normal(size=500)), coef=coef, draws=50)
    (column,) = squared.columns
    assert column.neighbours == 2
    assert column.radius == np.inf
    assert squared.recovered is None
    assert [link.target for link in squared.links] == ["x1", "x4"]
    assert squared.links[1].rows < 500
    y = X @ coef + rng.logistic(size=500) > 0
    logistic = ig.theory(LogisticLoss(X, y), coef=coef, draws=50)
    assert logistic.rows_asked > squared.rows_asked
    grouped = ig.theory(
        SquaredLoss(X, X @ coef), coef=coef, groups=[[0, 1], [2, 3], [4, 5], [6, 7]], draws=5
    )
    assert grouped.columns[0].candidates == 4
    assert "its coefficients must exceed" in logistic.sentences[0]
    assert "the weakest coefficient, that of x" in logistic.sentences[1]
    empty = ig.theory(LogisticLoss(X, y), coef=np.zeros(8), draws=5)
    assert "inf" not in str(empty)
    flat = ig.theory(SquaredLoss(np.ones((20, 2)), rng.normal(size=20)), coef=[1, 0], draws=5)
    assert flat.rows_asked == np.inf
    assert "cannot be invoked with any number of rows" in str(flat)


def test_progress_is_told(chain):
    seen = []
    ig.theory(chain, rows=50, draws=5, population=1000, progress=lambda *at: seen.append(at))
    assert seen[-1] == (10, 10)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


WRONG = [
    (ig.theory, "give rows"),
    (lambda c: ig.theory(c, c.sample(50, seed=0), rows=50), "give rows"),
    (lambda c: ig.theory(c, rows=50, coef=[1.0]), "coef and groups are for the loss"),
    (lambda c: ig.theory(ig.GreedyGraph().fit(c.sample(50, seed=0)), rows=5), "has its table"),
    (lambda c: ig.theory("x"), "not a str"),
    (lambda c: ig.theory(SquaredLoss(np.eye(3), np.arange(3))), "needs coef"),
    (lambda c: ig.theory(SquaredLoss(np.eye(3), np.arange(3)), coef=[1]), "3 finite numbers"),
    (lambda c: ig.theory(SquaredLoss(np.eye(3), np.arange(3)), rows=3, coef=[1]), "has its rows"),
]


@pytest.mark.parametrize(("call", "words"), WRONG)
def test_bad_input_is_one_sentence(chain, call, words):
    with pytest.raises(SettingError, match=words):
        call(chain)


def test_a_state_that_is_never_drawn_is_named():
    field = ig.MarkovField(("a", "b"), ((0, 1), (0, 1)), ([20.0, -20.0], [0.0, 0.0]), {})
    with pytest.raises(SettingError, match="state 1 of 'a' is in none of the 1,000 rows"):
        ig.theory(field, rows=50, draws=2, population=1000)


def test_missing_values_that_are_skipped_are_refused(chain):
    X = chain.sample(60, seed=0).astype(float)
    X[0, 0] = np.nan
    est = ig.GreedyGraph(missing="available").fit(X)
    with pytest.raises(SettingError, match="without missing values"):
        ig.theory(est)


def test_numbers_in_words():
    assert number(np.inf) == "infinitely many"
    assert number(0.5) == "0.5"
    assert distance({0: np.eye(2)}, {}) == pytest.approx(np.sqrt(2))
