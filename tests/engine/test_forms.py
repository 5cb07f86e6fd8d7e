"""Other forms of an edge, and columns to adjust for, through the readable solver to a graph."""

import numpy as np
import pytest

from isinglass import selection
from isinglass.engine import Joined, Search, join, kept_values, learn_neighbourhoods
from isinglass.engine.constraints import FREE
from isinglass.engine.learn import forms_of
from isinglass.engine.readable import node_loss
from isinglass.selection import EBIC, Look
from isinglass.solvers.equivalent import one_parameter_gain
from isinglass.table import encode

SETTINGS = {"nu": 0.5, "intercept": True, "max_degree": None, "threads": 1}


@pytest.fixture(scope="module")
def table():
    """A chain of ordered columns: neighbours tend to be in states next to each other."""
    rng = np.random.default_rng(4)
    columns = [rng.integers(0, 4, 800)]
    for m in (4, 3, 5, 3):
        last = columns[-1] / columns[-1].max()
        columns.append(np.clip(np.rint(last * (m - 1) + rng.normal(0, 0.9, 800)), 0, m - 1))
    return encode(np.column_stack(columns).astype(int))


def learn(table, edges, floor=0.004, **settings):
    return learn_neighbourhoods(table, floor, solver="readable", n_jobs=1, edges=edges, **settings)


def test_products_of_scores_at_all_columns(table):
    forms = forms_of(table, "scores")
    runs = learn(table, "scores")
    joined = Joined(runs, 0.004, "or", table, kept_values({}))
    graph = join(joined)
    assert {(0, 1), (1, 2), (2, 3), (3, 4)} <= set(graph.pairs)
    assert all(link.sign == 1 for link in graph if link.target == link.source + 1)
    assert set(graph.forms.values()) == {link.form for link in graph} == {"product"}
    for r in range(5):
        path = runs.path(r)
        assert set(path.final.df.values()) <= {1}
        for t, found in path.coef.items():  # every table is a product of scores
            design = forms.design(r, t, "product")[0]
            np.testing.assert_allclose(found, np.sum(found * design) * design, atol=1e-9)


def test_gains_of_one_parameter_are_their_own_equivalents(table):
    """The gain of a step is what the loss falls by when the others are held: no conversion."""
    loss = node_loss(table, 2, forms=forms_of(table, "scores"))
    first = learn(table, "scores").path(2).steps[0]
    empty = loss.fit(())
    raw = empty.loss - loss.least(empty, [(first.variable, "product")])[0]
    assert first.gain == pytest.approx(raw, rel=1e-9)
    whole = learn(table, "table").path(2).steps[0]
    loss = node_loss(table, 2)
    raw = loss.gains(loss.fit(()), [(whole.variable,)])[0]
    df = loss.df((whole.variable,))
    assert df > 1
    assert whole.gain == pytest.approx(one_parameter_gain([raw], [df], table.n)[0], rel=1e-9)
    assert whole.gain < raw


def test_a_gain_is_the_least_loss_over_scores(table):
    """Against a plain search over the one number, with the intercept refitted by hand."""
    from scipy.optimize import minimize
    from scipy.special import logsumexp

    r, t = 1, 3
    loss = node_loss(table, r, forms=forms_of(table, "scores"))
    design, codes = loss.forms.design(r, t, "product")[0], table.codes

    def mean_loss(x):
        scores = x[1:] + x[0] * design[:, codes[:, t]].T
        return np.mean(logsumexp(scores, axis=1) - scores[np.arange(len(codes)), codes[:, r]])

    least = minimize(mean_loss, np.zeros(1 + table.n_states[r]), tol=1e-12).fun
    assert loss.least(loss.fit(()), [(t, "product")])[0] == pytest.approx(least, abs=1e-8)
    assert loss.fit({t: "product"}).loss == pytest.approx(least, abs=1e-8)


def test_forms_may_differ_between_pairs(table):
    loss = node_loss(table, 2, forms=forms_of(table, "auto"))
    fit = loss.fit({1: "product", 3: "table"})
    assert fit.df == {1: 1, 3: 2 * (table.n_states[3] - 1)}
    assert fit.forms == {1: "product"}
    assert (fit.form(1), fit.form(3)) == ("product", "table")


def test_ebic_counts_the_parameters_of_the_form(table):
    look = Look(Search(table, learn(table, "scores"), 0.004, "or", FREE, learn))
    cuts = look.cuts[1]
    found = EBIC(0.0)._of_column(cuts, table.n, 5)
    losses = np.array([fit.loss for fit in cuts.fits])
    sizes = np.array([len(support) for support in cuts.supports])
    np.testing.assert_allclose(found, 2 * table.n * losses + sizes * np.log(table.n))
    assert isinstance(EBIC(0.0).select(look), selection.Selection)
