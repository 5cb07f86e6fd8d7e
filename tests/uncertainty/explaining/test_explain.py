"""`explain`: the evidence is the search's own, and the column it names is the one between."""

import networkx as nx
import numpy as np
import pytest

import isinglass as ig
from form_reference import FormNode
from instances import instance
from isinglass.errors import SettingError


def separates(graph: nx.Graph, named: tuple[str, ...], a: int, b: int) -> bool:
    rest = graph.copy()
    rest.remove_nodes_from([int(name[1:]) for name in named])
    return not nx.has_path(rest, a, b)


@pytest.mark.parametrize(
    ("name", "graph"), [("chain", ig.simulate.chain(6)), ("star", ig.simulate.star(7, 6))]
)
def test_names_the_true_mediator(name, graph):
    right = asked = 0
    for seed in range(6):
        field = ig.simulate.ising(graph, coupling=0.6, seed=seed)
        est = ig.GreedyGraph().fit(field.sample(1000, seed=seed))
        for a, b in nx.non_edges(graph):
            told = ig.explain(est, f"x{a}", f"x{b}")
            if told.by:
                asked += 1
                right += separates(graph, told.by, a, b)
    print(f"{name}: the columns named separate the pair in {right} of {asked} cases")
    assert asked > 40
    assert right >= 0.98 * asked


def evidence_by_definition(node: FormNode, forms: dict[int, str], other: int) -> float:
    """What the loss rises by without an edge that is in, in its form; else the best gain."""
    if node.df(other) == 0:
        return 0.0
    fit = node.refit_forms(forms)
    if other in forms:
        fewer = node.refit_forms({t: form for t, form in forms.items() if t != other})
        raw = fewer.loss - fit.loss
        return 2 * node.n * node.one_parameter(raw, other, forms[other], False)
    smallest, *larger = node.forms(other)
    fall = fit.loss - node.least_loss(fit, other, smallest)
    gains = [node.one_parameter(fall, other, smallest, False)]
    gains += [node.departure(fit, other) for _ in larger]
    return 2 * node.n * max(gains)


@pytest.mark.parametrize("edges", ["table", "auto"])
@pytest.mark.parametrize("seed", range(0, 40, 2))
def test_evidence_is_that_of_the_definition(seed, edges):
    case = instance(seed)
    settings = {"nu": case.nu, "intercept": case.intercept, "max_states": 200, "edges": edges}
    est = ig.GreedyGraph(case.threshold, n_jobs=1, **settings)
    est.fit(case.codes, sample_weight=case.weights)
    scores = [range(column.max() + 1) for column in case.codes.T]
    names = est.graph_.names
    a, b = np.random.default_rng(seed).permutation(len(names))[:2]
    told = ig.explain(est, names[a], names[b])
    for r, other in ((a, b), (b, a)):
        node = FormNode(case.codes, case.weights, r, scores, edges, case.intercept)
        moments = [moment for moment in told.steps if moment.end == names[r]]
        fits = [est.paths_[r].start, *(step.fit for step in est.paths_[r].steps)]
        assert len(moments) == len(fits)
        for moment, fit in zip(moments, fits, strict=True):
            known = {t: fit.form(t) for t in fit.coef}
            forms = {t: "table" if form == "table" else "small" for t, form in known.items()}
            assert moment.inside == (other in forms)
            expected = evidence_by_definition(node, forms, other)
            assert moment.evidence == pytest.approx(expected, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("edges", ["table", "auto"])
def test_what_entered_had_just_that_evidence(edges):
    field = ig.simulate.potts(ig.simulate.chain(4), [2, 3, 2, 4], coupling=0.8, seed=1)
    est = ig.GreedyGraph(n_jobs=1, edges=edges).fit(field.sample(800, seed=1))
    path = est.paths_[1]
    assert len(path.steps) == 2
    inside = [path.required, *(step.support for step in path.steps)]
    entered = [i for i, step in enumerate(path.steps) if step.variable not in inside[i]]
    assert {path.steps[i].variable for i in entered} == {0, 2}
    for count in entered:  # other steps change the form of an edge that is in
        step = path.steps[count]
        told = ig.explain(est, "x1", f"x{step.variable}")
        before = [moment for moment in told.steps if moment.end == "x1"][count]
        assert before.evidence == pytest.approx(2 * 800 * step.gain, rel=1e-6)


def agrees(est, link):
    """Whether both ends of an edge found its columns' neighbours, and forms, by themselves."""

    def own_search_found(r):
        links = [one for one in est.graph_ if r in (one.source, one.target)]
        forms = {one.source + one.target - r: one.form for one in links}
        fit = est.paths_[r].at(est.threshold_).final
        return forms == {t: fit.form(t) for t in fit.coef}

    return own_search_found(link.source) and own_search_found(link.target)


ORDERED = {"states": [4, 5, 3, 4, 2], "coupling": 0.4, "unordered": [2]}


@pytest.mark.parametrize(
    "field",
    [
        ig.simulate.ising(ig.simulate.chain(4), coupling=0.7, seed=0),
        ig.simulate.ordinal(ig.simulate.chain(5), **ORDERED, seed=0),
        ig.simulate.ordinal(ig.simulate.chain(5), **ORDERED, seed=34),  # one end alone chose a link
    ],
    ids=["tables", "forms", "ends differ"],
)
def test_linked_pairs_have_the_evidence_of_the_graph(field):
    est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
    compared = 0
    for link in est.graph_:
        told = ig.explain(est, f"x{link.target}", f"x{link.source}")
        assert told.linked
        assert told.left == link.evidence
        assert told.by == ()
        if agrees(est, link):  # else the graph has edges that a search did not have
            ends = [[m for m in told.steps if m.end == name][-1].evidence for name in told.pair]
            assert np.mean(ends) == pytest.approx(link.evidence)
            compared += 1
    assert compared


def test_two_that_explain_together():
    rng = np.random.default_rng(3)
    cause = rng.integers(0, 2, (4000, 1)) ^ (rng.random((4000, 4)) < 0.15)
    first, second, left, right = cause.T
    left = np.where(rng.random(4000) < 0.5, first, second)
    right = np.where(rng.random(4000) < 0.5, first, second)
    est = ig.GreedyGraph().fit(np.column_stack([left, first, second, right]))
    told = ig.explain(est, "x0", "x3")
    assert set(told.by) == {"x1", "x2"}
    assert "x1 and x2" in told.sentence or "x2 and x1" in told.sentence
    assert "with them held fixed" in told.sentence


def test_other_stories():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (500, 4))
    x[:, 1] = np.where(rng.random(500) < 0.9, x[:, 0], x[:, 1])
    x[:, 3] = 0
    est = ig.GreedyGraph().fit(x)
    assert "not associated (evidence" in str(ig.explain(est, "x0", "x2"))
    assert ig.explain(est, "x0", "x3").alone == 0.0
    kept = ig.GreedyGraph(max_degree=0).fit(x)
    assert "max_degree = 0" in str(ig.explain(kept, "x0", "x1"))


def test_missing_values_are_left_out_as_in_the_search():
    field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.9, signs="positive")
    x = field.sample(1500, seed=0).astype(float)
    x[np.random.default_rng(0).random(x.shape) < 0.1] = np.nan
    est = ig.GreedyGraph(missing="available").fit(x)
    entered = ig.explain(est, "x0", "x1").steps[0]
    assert entered.evidence == pytest.approx(2 * est.table_.n * est.paths_[0].steps[0].gain)


def test_bad_questions():
    est = ig.GreedyGraph().fit(np.random.default_rng(0).integers(0, 2, (50, 3)))
    with pytest.raises(SettingError, match="no column 'x9'"):
        ig.explain(est, "x0", "x9")
    with pytest.raises(SettingError, match="two columns"):
        ig.explain(est, "x0", "x0")
    with pytest.raises(SettingError, match="not a ChowLiuTree"):
        ig.explain(ig.ChowLiuTree(), "x0", "x1")


def chain_of_six(**settings):
    field = ig.simulate.ising(ig.simulate.chain(6), coupling=0.6, signs="positive")
    return ig.GreedyGraph(**settings).fit(field.sample(600, seed=1))


def test_required_columns_are_held_before_the_first_step():
    est = chain_of_six(threshold=0.03, require=[("x0", "x1"), ("x1", "x2")])
    told = ig.explain(est, "x0", "x2")
    assert not est.paths_[0].steps
    assert told.by == ("x1",)
    assert told.left < told.needed < told.alone
    assert [moment.kind for moment in told.steps if moment.end == "x0"] == ["start", "required"]
    assert "linked, as required" in ig.explain(est, "x0", "x1").sentence


@pytest.mark.parametrize(
    ("settings", "pair", "reason"),
    [
        ({"forbid": [("x0", "x1")]}, ("x0", "x1"), "the link is forbidden"),
        ({"max_degree": 1}, ("x0", "x2"), "no search goes beyond max_degree = 1"),
        ({"threshold": "stability"}, ("x0", "x1"), "the selector did not choose it"),
    ],
)
def test_says_which_setting_kept_a_pair_out(settings, pair, reason):
    est = chain_of_six(**settings)
    assert pair not in est.graph_.edges
    assert f"not linked: {reason} (evidence" in ig.explain(est, *pair).sentence
    judged = ig.verdict(est).of(*pair)
    assert judged.verdict == "cannot tell"
    assert f"cannot tell: {reason} (evidence" in judged.sentence


def test_a_forbidden_pair_without_evidence_is_not_called_not_linked():
    judged = ig.verdict(chain_of_six(forbid=[("x0", "x5")])).of("x0", "x5")
    assert (judged.verdict, judged.odds_ratio, judged.rows_needed) == (
        "cannot tell",
        float("inf"),
        float("inf"),
    )


def test_what_is_adjusted_for_is_held_and_named():
    rng = np.random.default_rng(0)
    age = rng.integers(0, 4, 1500)
    yes = (rng.random((1500, 3)) < 0.15 + 0.23 * age[:, None]).astype(int)
    rows = np.column_stack([yes, age])
    plain = ig.explain(ig.GreedyGraph().fit(yes), "x0", "x1")
    est = ig.GreedyGraph(adjust=[3]).fit(rows)
    found = ig.explain(est, "x0", "x1")
    assert plain.linked
    assert not found.linked
    assert found.alone < plain.alone / 5
    assert str(found).startswith("x0 and x1, adjusted for x3: not associated")
    assert "adjusted for x3" in str(ig.verdict(est).of("x0", "x1"))
    assert len(est.graph_) == 0
