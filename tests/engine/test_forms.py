"""Other forms of an edge, and columns to adjust for, through the readable solver to a graph."""

import numpy as np
import pytest

from isinglass import selection
from isinglass.engine import Joined, Search, join, kept_values, learn_neighbourhoods
from isinglass.engine.constraints import FREE
from isinglass.engine.readable import node_loss
from isinglass.losses.forms import Always, TableEdge
from isinglass.selection import EBIC, Look
from isinglass.solvers.equivalent import one_parameter_gain
from isinglass.table import encode

SETTINGS = {"nu": 0.5, "intercept": True, "max_degree": None, "threads": 1}


class ScoreEdge(TableEdge):
    """One number per edge: the product of evenly spaced scores of two columns."""

    def design(self, r, t):
        scores = (np.arange(m) - (m - 1) / 2 for m in (self.n_states[r], self.n_states[t]))
        table = np.outer(*scores)
        return table[None] / np.linalg.norm(table)


class OrderedEdge(ScoreEdge):
    """Scores between the first three columns, whole tables elsewhere."""

    def design(self, r, t):
        return super().design(r, t) if max(r, t) < 3 else None


@pytest.fixture(scope="module")
def table():
    """A chain of ordered columns: neighbours tend to be in states next to each other."""
    rng = np.random.default_rng(4)
    columns = [rng.integers(0, 4, 800)]
    for m in (4, 3, 5, 3):
        last = columns[-1] / columns[-1].max()
        columns.append(np.clip(np.rint(last * (m - 1) + rng.normal(0, 0.9, 800)), 0, m - 1))
    return encode(np.column_stack(columns).astype(int))


def learn(table, edge, floor=0.004, **settings):
    return learn_neighbourhoods(table, floor, solver="readable", n_jobs=1, edge=edge, **settings)


def test_a_form_of_ones_own_runs_at_all_columns(table):
    edge = ScoreEdge(tuple(table.n_states))
    runs = learn(table, edge)
    joined = Joined(runs, 0.004, "or", table, kept_values({}))
    graph = join(joined)
    assert {(0, 1), (1, 2), (2, 3), (3, 4)} <= set(graph.pairs)
    assert all(link.sign == 1 for link in graph if link.target == link.source + 1)
    for r in range(5):
        path = runs.path(r)
        assert set(path.final.df.values()) <= {1}
        for t, found in path.coef.items():  # every table is a product of scores
            design = edge.design(r, t)[0]
            np.testing.assert_allclose(found, np.sum(found * design) * design, atol=1e-9)


def test_gains_of_one_parameter_are_their_own_equivalents(table):
    """The gain of a step is what the loss falls by when the others are held: no conversion."""
    edge = ScoreEdge(tuple(table.n_states))
    loss = node_loss(table, 2, edge=edge)
    first = learn(table, edge).path(2).steps[0]
    raw = loss.gains(loss.fit(()), [(first.variable,)])[0]
    assert loss.df((first.variable,)) == 1
    assert first.gain == pytest.approx(raw, rel=1e-9)
    whole = learn(table, None).path(2).steps[0]
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
    edge = ScoreEdge(tuple(table.n_states))
    loss = node_loss(table, r, edge=edge)
    design, codes = edge.design(r, t)[0], table.codes

    def mean_loss(x):
        scores = x[1:] + x[0] * design[:, codes[:, t]].T
        return np.mean(logsumexp(scores, axis=1) - scores[np.arange(len(codes)), codes[:, r]])

    least = minimize(mean_loss, np.zeros(1 + table.n_states[r]), tol=1e-12).fun
    empty = loss.fit(())
    assert empty.loss - loss.gains(empty, [(t,)])[0] == pytest.approx(least, abs=1e-8)
    assert loss.fit((t,)).loss == pytest.approx(least, abs=1e-8)


def test_forms_may_differ_between_pairs(table):
    edge = OrderedEdge(tuple(table.n_states))
    fit = learn(table, edge).path(2).final
    assert fit.df == {
        t: 1 if t < 3 else table.n_states[2] * table.n_states[t] - 7 for t in fit.coef
    }
    assert len(set(fit.df.values())) == 2


def test_ebic_counts_the_parameters_of_the_form(table):
    edge = ScoreEdge(tuple(table.n_states))
    look = Look(Search(table, learn(table, edge), 0.004, "or", FREE, learn))
    cuts = look.cuts[1]
    found = EBIC(0.0)._of_column(cuts, table.n, 5)
    losses = np.array([fit.loss for fit in cuts.fits])
    sizes = np.array([len(support) for support in cuts.supports])
    np.testing.assert_allclose(found, 2 * table.n * losses + sizes * np.log(table.n))
    assert isinstance(EBIC(0.0).select(look), selection.Selection)


def test_adjusting_is_like_an_edge_that_is_always_there(table):
    adjusted = node_loss(table, 1, always=Always(columns=(0,)))
    plain = node_loss(table, 1)
    assert 0 not in adjusted.candidates
    fit, twin = adjusted.fit((2,)), plain.fit((0, 2))
    assert fit.loss == pytest.approx(twin.loss, abs=1e-9)
    np.testing.assert_allclose(fit.always[0], twin.coef[0], atol=1e-4)
    np.testing.assert_allclose(fit.coef[2], twin.coef[2], atol=1e-4)
    # In gains and costs what is always there moves too (up to the ridge of fits): never less than
    # when it is held.
    empty = adjusted.fit(())
    gain = adjusted.gains(empty, [(2,)])[0]
    assert gain == pytest.approx(empty.loss - fit.loss, abs=1e-6)
    assert gain >= plain.gains(plain.fit((0,)), [(2,)])[0] - 1e-10
    assert adjusted.costs(fit, [(2,)])[0] == pytest.approx(gain, abs=1e-6)
