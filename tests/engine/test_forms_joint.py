"""Both ends together where edges have forms: the statistic against its plain definition."""

import numpy as np
import pytest
from scipy.linalg import sqrtm
from scipy.special import softmax
from scipy.stats import chi2

import isinglass as ig
from both_ends_reference import relative_null, rows_left, weighed
from engine.test_forms_agree import draw
from form_reference import FormNode
from isinglass.engine.joint import both_ends_of
from isinglass.engine.learn import forms_of
from reference import RIDGE, loss_of, minimise


def says_of(node, forms, t):
    """Whitened score, whitened scores of rows and size of the information of the edge to t."""
    names = [None] * (node.m - 1 if node.intercept else 0)
    designs = [node.field_design()]
    for s, form in sorted(forms.items()):
        designs.append(node.edge_design(s, form))
        names += [s] * designs[-1].shape[2]
    design, names = np.concatenate(designs, axis=2), np.array(names, dtype=object)
    ridge = np.where([name is None for name in names], 0.0, RIDGE)
    own = names == t

    def fit(free):
        offset = np.zeros(design.shape[:2])
        theta = np.zeros(len(names))
        theta[free] = minimise(design[:, :, free], offset, node.y, node.weights, ridge[free])
        return theta, loss_of(design @ theta, node.y, node.weights)

    (theta, less), (_, whole) = fit(~own), fit(np.ones(len(names), bool))
    weights = node.weights * node.n
    p = softmax(design @ theta, axis=1)
    features = np.sum(~own) / (node.m - 1)
    rows = rows_left(p, node.y, weights, features, node.intercept)
    deviance = 2 * rows * max(less - whole, 0.0)
    centred = design - np.einsum("ia,iak->ik", p, design)[:, None, :]
    h = np.einsum("i,ia,iak,ial->kl", weights, p, centred, centred) + node.n * np.diag(ridge)
    scores = centred[np.arange(len(node.y)), node.y]
    explained = np.linalg.solve(h[np.ix_(~own, ~own)], h[np.ix_(~own, own)])
    scores = scores[:, own] - scores[:, ~own] @ explained
    information = h[np.ix_(own, own)] - h[np.ix_(own, ~own)] @ explained
    white = scores @ np.real(np.linalg.inv(sqrtm(information)))
    vector = weights @ white
    vector *= np.sqrt(deviance / (vector @ vector))
    return vector, white, np.sqrt(np.trace(information) / own.sum()), weights


def plain_statistic(table, pair, of_edges, edges, intercept):
    nodes = {
        r: FormNode(table.codes, table.weights, r, table.scores, edges, intercept) for r in pair
    }
    ends = []
    for r, t in (pair, pair[::-1]):
        near = {
            (b if a == r else a): "table" if form == "table" else "small"
            for (a, b), form in of_edges.items()
            if r in (a, b)
        }
        ends.append((says_of(nodes[r], near, t), near[t]))
    (one, form), (other, _) = ends
    i, j = pair
    d, weights = len(one[0]), one[3]
    sizes = [nodes[i].bases[v].shape[1] if form == "small" else table.n_states[v] - 1 for v in pair]
    turn = np.arange(d).reshape(sizes[1], sizes[0]).T.ravel()
    statistic, degrees = weighed(one, other, turn, weights)
    scale, share = 1.0, 1.0
    if form == "table":
        scale, share = relative_null(table.codes, table.weights, pair, intercept)
    p = chi2.sf(statistic / scale, max(share * degrees, 1.0))
    return chi2.isf(min(nodes[i].looks(j, form, upgrade=False) * p, 1.0), 1)


@pytest.mark.parametrize("edges", ["auto", "scores"])
@pytest.mark.parametrize("seed", [2, 17, 23, 31, 41, 52])
def test_the_statistic_is_its_definition(seed, edges):
    table, rng = draw(seed, most=5)
    p, intercept = len(table.columns), seed % 2 == 0
    pairs = [(a, b) for a in range(p) for b in range(a + 1, p) if (a, b) != (0, 2)]
    of_edges = {}
    for a, b in pairs:
        allowed = forms_of(table, edges).allowed(a, b)
        of_edges[a, b] = allowed[rng.integers(len(allowed))]
    settings = {"intercept": intercept, "threads": 1, "edges": edges, "of_edges": of_edges}
    found, *_ = both_ends_of(table, pairs, **settings)
    plain = [plain_statistic(table, pair, of_edges, edges, intercept) for pair in pairs]
    np.testing.assert_allclose(found, plain, rtol=1e-4, atol=1e-5)


def test_joint_graphs_have_forms_and_are_nested():
    rng = np.random.default_rng(3)
    columns = [rng.integers(0, 5, 400)]
    for _ in range(5):
        columns.append(np.clip(np.rint(columns[-1] + rng.normal(0, 1.6, 400)), 0, 4).astype(int))
    columns[5] = (np.abs(columns[0] - 2) + rng.integers(0, 2, 400)).astype(int)
    est = ig.GreedyGraph(rule="joint", edges="auto", n_jobs=1).fit(np.column_stack(columns))
    forms = est.graph_.forms
    assert forms[0, 1] == "product"
    assert forms[0, 5] == "table"
    level = 2 * est.table_.n * est.threshold_
    assert all(link.evidence > level for link in est.graph_)
    higher = est.at(2 * est.threshold_)
    assert set(higher.pairs) <= set(est.graph_.pairs)
    assert all(higher.forms[pair] == forms[pair] for pair in higher.pairs)
    path = est.paths_[0]
    assert {step.variable: step.form for step in path.steps}[5] == "table"
