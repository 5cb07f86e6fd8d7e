"""What is reported of columns, against plain definitions."""

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder

from form_reference import FormNode
from graphs_by_hand import make_link, small
from isinglass import ChowLiuTree, GreedyGraph, L1Graph, simulate
from isinglass.errors import SettingError
from isinglass.estimators.folds import held_out_weights
from isinglass.exports import from_networkx
from isinglass.graph import Graph
from isinglass.measures import communities, nodes, predictability

__all__ = ["small"]

FIELD = simulate.potts(simulate.chain(5), [2, 3, 2, 4, 2], coupling=0.9, seed=1)


def columns(frame) -> dict:
    return frame.to_dict(as_series=False)


def test_sums(small):
    found = columns(nodes(small))
    assert found["name"] == list("abcdefg")
    assert found["degree"] == [2, 2, 3, 1, 1, 1, 0]
    assert found["strength"] == pytest.approx([1.0, 1.2, 1.4, 1.0, 0.2, 0.2, 0.0])
    # The link b -- c has no sign: it does not count, and empties nothing else.
    assert found["expected_influence"] == pytest.approx([0.8, 0.9, 0.9, 1.0, 0.2, 0.2, 0.0])
    assert found["community"] == [1, 1, 2, 2, 3, 3, None]
    assert "predictability" not in found


def test_a_column_whose_links_have_no_sign():
    links = (make_link(0, 1, sign=0), make_link(1, 2))
    found = columns(nodes(Graph(("a", "b", "c", "d"), links)))
    assert found["expected_influence"] == [None, 0.5, 0.5, 0.0]


def test_strength_does_not_depend_on_how_rare_states_are():
    x = np.zeros((2000, 4), dtype=int)
    x[:20, :2] = 1
    x[:1000, 2:] = 1
    found = columns(nodes(GreedyGraph().fit(np.random.default_rng(0).permutation(x)), folds=None))
    assert found["strength"] == pytest.approx([1.0] * 4, abs=1e-2)


def test_sums_are_those_of_networkx():
    graph = simulate.ising(simulate.erdos_renyi(20, 3, seed=1), seed=1).graph
    strength = graph.to_networkx().degree(weight="weight")
    assert columns(nodes(graph))["strength"] == pytest.approx([strength[n] for n in graph.names])


def partitions(items: list) -> list[list[set]]:
    """Every way to put items into groups."""
    if not items:
        return [[]]
    first, *rest = items
    return [
        grouping
        for part in partitions(rest)
        for grouping in (
            [{first}, *part],
            *([*part[:k], part[k] | {first}, *part[k + 1 :]] for k in range(len(part))),
        )
    ]


@pytest.mark.parametrize("seed", range(8))
def test_no_grouping_has_a_larger_modularity(seed):
    network = nx.gnm_random_graph(7, 10, seed=seed)
    network.remove_nodes_from(list(nx.isolates(network)))
    best = max(nx.community.modularity(network, parts) for parts in partitions(list(network.nodes)))
    assert communities(from_networkx(network)).modularity == pytest.approx(best)


@pytest.mark.parametrize("seed", range(5))
def test_groups_that_are_there_are_found(seed):
    network = nx.planted_partition_graph(4, 12, 0.7, 0.03, seed=seed)
    found = communities(from_networkx(network))
    assert {frozenset(group) for group in found.groups} == {
        frozenset(str(12 * block + j) for j in range(12)) for block in range(4)
    }
    parts = [{int(name) for name in group} for group in found.groups]
    assert found.modularity == pytest.approx(nx.community.modularity(network, parts))


def test_groups_do_not_depend_on_signs():
    graph = simulate.ising(simulate.small_world(30, 4, 0.1, seed=0), seed=2).graph
    unsigned = Graph(graph.names, tuple(link._replace(sign=1) for link in graph))
    assert communities(graph) == communities(unsigned)
    assert len(communities(graph).groups) > 2


def test_no_links():
    graph = Graph(("a", "b"), ())
    assert communities(graph).groups == ()
    found = columns(nodes(graph))
    assert (found["degree"], found["community"]) == ([0, 0], [None, None])


def predicted_by_forms(training: np.ndarray, rows: np.ndarray, r: int, forms: dict) -> np.ndarray:
    """Return the likeliest states of a column, each edge refitted in its form."""
    scores = [range(m) for m in training.max(axis=0) + 1]
    node = FormNode(training, np.ones(len(training)), r, scores, "auto")
    own = {sum(pair) - r: form for pair, form in forms.items() if r in pair}
    fit = node.refit_forms({t: "table" if f == "table" else "small" for t, f in own.items()})
    return np.argmax(fit.field + sum(fit.tables[t].T[rows[:, t]] for t in own), axis=1)


def by_hand(table: np.ndarray, est, r: int, folds: int, seed: int) -> tuple[float, float]:
    """Accuracy and base rate by scikit-learn's regressions, the graph learned in each fold."""
    right = base = 0.0
    for held in held_out_weights(np.ones(len(table)), folds, seed).T > 0:
        training, rows = table[~held], table[held]
        graph = type(est)(**est.get_params()).fit(training).graph_
        others = [graph.names.index(name) for name in graph.neighbors(graph.names[r])]
        mode = np.bincount(training[:, r]).argmax()
        base += (rows[:, r] == mode).sum()
        if not others:
            right += (rows[:, r] == mode).sum()
            continue
        encoder = OneHotEncoder(drop="first", sparse_output=False).fit(table[:, others])
        if set(graph.forms.values()) - {"table"}:
            right += (predicted_by_forms(training, rows, r, graph.forms) == rows[:, r]).sum()
            continue
        model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=5000)
        model.fit(encoder.transform(training[:, others]), training[:, r])
        right += (model.predict(encoder.transform(rows[:, others])) == rows[:, r]).sum()
    return right / len(table), base / len(table)


@pytest.mark.parametrize(
    "est",
    [GreedyGraph(edges="table"), GreedyGraph(), ChowLiuTree()],
    ids=["tables", "forms", "tree"],
)
def test_predictability_by_hand(est):
    table = FIELD.sample(400, seed=3)
    found = predictability(est.fit(table), folds=4, seed=7)
    for r, name in enumerate(FIELD.names):
        accuracy, base = by_hand(table, est, r, 4, 7)
        assert found[name].accuracy == pytest.approx(accuracy)
        assert found[name].base_rate == pytest.approx(base)
        assert found[name].gain == pytest.approx((accuracy - base) / (1 - base))


def test_noise_is_not_predictable():
    table = np.random.default_rng(0).integers(0, 2, (2000, 6))
    found = predictability(GreedyGraph("paper:0.05").fit(table))
    assert all(-0.15 < each.gain < 0.08 for each in found.values())


def test_constant_column_has_nothing_to_gain():
    table = pl.DataFrame({"a": [0, 1] * 20, "b": ["x"] * 40})
    found = predictability(GreedyGraph().fit(table))
    assert (found["b"].accuracy, found["b"].base_rate, found["b"].gain) == (1.0, 1.0, None)
    assert nodes(GreedyGraph().fit(table))["predictability"].to_list()[1] is None


def test_counts_are_rows():
    table = pd.DataFrame(FIELD.sample(3000, seed=5), columns=list("abcde"))
    counts = table.value_counts().reset_index(name="count")
    found = predictability(GreedyGraph().fit(counts, sample_weight="count"))
    expected = predictability(GreedyGraph().fit(table))
    for name in "abcde":
        assert found[name].gain == pytest.approx(expected[name].gain, abs=0.03)


def test_missing_values_are_not_predicted():
    table = pd.DataFrame(FIELD.sample(600, seed=2), columns=list("abcde")).astype(object)
    full = predictability(GreedyGraph().fit(table))
    table = table.mask(np.random.default_rng(1).random(table.shape) < 0.1)
    found = predictability(GreedyGraph(missing="available").fit(table))
    for name in "abcde":
        assert found[name].accuracy == pytest.approx(full[name].accuracy, abs=0.1)


def test_bins_and_frames():
    rng = np.random.default_rng(4)
    age = rng.normal(size=300)
    table = pd.DataFrame({"age": age, "old": age > 0.3, "luck": rng.integers(0, 3, 300)})
    frame = nodes(GreedyGraph(bins={"age": 3}).fit(table))
    assert isinstance(frame, pd.DataFrame)
    assert frame.loc[1, "predictability"] > 0.5
    assert isinstance(nodes(L1Graph().fit(FIELD.sample(200, seed=1)), folds=2), pl.DataFrame)


def test_from_what_has_no_rows(tmp_path):
    est = GreedyGraph().fit(FIELD.sample(500, seed=0))
    assert nodes(est.record()).equals(nodes(est, folds=None))
    assert columns(nodes(est.model_))["degree"] == columns(nodes(est.graph_))["degree"]


def test_what_is_wrong_is_said():
    with pytest.raises(SettingError, match="not a int"):
        nodes(3)
    with pytest.raises(NotFittedError):
        predictability(GreedyGraph())
    est = GreedyGraph().fit([[0, 1], [1, 0], [1, 1]])
    with pytest.raises(SettingError, match="folds must be"):
        predictability(est, folds=1)
    with pytest.raises(SettingError, match="rows cannot be split into 5 folds"):
        predictability(est)


def test_predictability_of_a_search_with_required_and_forbidden_links():
    rows = simulate.ising(simulate.chain(4), coupling=0.6, seed=0).sample(300, seed=0)
    named = pl.DataFrame(rows, schema=list("abcd"))
    links = {"require": [("a", "d")], "forbid": [("a", "b")]}
    found = nodes(GreedyGraph(**links).fit(named), folds=3)
    positions = {"require": [("x0", "x3")], "forbid": [("x0", "x1")]}
    expected = nodes(GreedyGraph(**positions).fit(rows), folds=3)
    numbers = [name for name in found.columns if name != found.columns[0]]
    assert found.select(numbers).equals(expected.select(numbers))
