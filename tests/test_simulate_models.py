"""Random models: couplings as asked for, in column order, reproducible."""

import networkx as nx
import numpy as np
import pytest

from isinglass import simulate
from isinglass.errors import SettingError


def thetas(field) -> np.ndarray:
    return np.array([link.coupling for link in field.graph])


def test_ising_tables():
    field = simulate.ising(simulate.chain(3), coupling=0.3, signs="positive", intercept=0.2)
    np.testing.assert_array_equal(field.couplings[0, 1], [[0.3, -0.3], [-0.3, 0.3]])
    np.testing.assert_array_equal(field.intercepts[2], [-0.2, 0.2])
    assert field.states[0] == (-1, 1)
    assert field.names == ("x0", "x1", "x2")


def test_signs_and_ranges():
    big = simulate.grid(20, 20)
    mixed = thetas(simulate.ising(big, seed=0))
    assert set(mixed) == {-0.5, 0.5}
    assert abs(mixed.mean()) < 4 * 0.5 / np.sqrt(len(mixed))
    spread = thetas(simulate.ising(big, coupling=(0.1, 0.5), signs="positive", seed=0))
    assert 0.1 <= spread.min() < 0.11
    assert 0.49 < spread.max() <= 0.5
    assert spread.mean() == pytest.approx(0.3, abs=4 * 0.4 / np.sqrt(12 * len(spread)))
    fields = [h[1] for h in simulate.ising(big, intercept=(-0.3, 0.1), seed=0).intercepts]
    assert -0.3 <= min(fields) < -0.29
    assert 0.09 < max(fields) <= 0.1


def test_signs_do_not_depend_on_sizes():
    signs = [
        np.sign(thetas(simulate.ising(simulate.chain(50), coupling=size, intercept=h, seed=4)))
        for size, h in ((0.5, 0.0), ((0.1, 0.5), 0.0), (1.0, (-1, 1)))
    ]
    np.testing.assert_array_equal(signs[0], signs[1])
    np.testing.assert_array_equal(signs[0], signs[2])


def test_the_order_of_edges_does_not_matter():
    graph = simulate.erdos_renyi(20, 4, seed=1)
    shuffled = nx.Graph()
    shuffled.add_nodes_from(reversed(range(20)))
    shuffled.add_edges_from((b, a) for a, b in reversed(list(graph.edges)))
    for make in (simulate.ising, lambda g, seed: simulate.potts(g, 3, seed=seed)):
        a, b = make(graph, seed=7), make(shuffled, seed=7)
        assert a.graph == b.graph
        for pair, table in a.couplings.items():
            np.testing.assert_array_equal(table, b.couplings[pair])


def test_names_of_nodes():
    field = simulate.ising(nx.Graph([("fever", "cough"), ("cough", "sleep")]))
    assert field.graph.edges == [("fever", "cough"), ("cough", "sleep")]


def test_potts():
    field = simulate.potts(simulate.chain(4), [2, 5, 3, 3], coupling=(0.2, 0.9), intercept=0.4)
    assert field.n_states == (2, 5, 3, 3)
    assert field.states[1] == (0, 1, 2, 3, 4)
    for table in field.couplings.values():
        assert 0.2 <= np.sqrt(np.mean(table**2)) <= 0.9
    for intercept in field.intercepts:
        assert np.sqrt(np.mean(intercept**2)) == pytest.approx(0.4)


def test_potts_of_two_states_is_ising():
    field = simulate.potts(simulate.chain(30), 2, coupling=0.7, seed=1)
    np.testing.assert_allclose(np.abs(thetas(field)), 0.7)
    assert len(np.unique(np.sign(thetas(field)))) == 2


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"coupling": 0}, "coupling must be a positive number, or a range .* of such, not 0"),
        ({"coupling": (0.5, 0.1)}, r"not \(0\.5, 0\.1\)"),
        ({"coupling": "strong"}, "coupling must be a positive number, or a range"),
        ({"coupling": (1, 2, 3)}, "coupling must be a positive number, or a range"),
        ({"intercept": np.inf}, "intercept must be a finite number"),
        ({"signs": "negative"}, "signs must be 'mixed' or 'positive', not 'negative'"),
    ],
)
def test_what_ising_refuses(settings, said):
    with pytest.raises(SettingError, match=said):
        simulate.ising(simulate.chain(3), **settings)


@pytest.mark.parametrize("states", [1, 257, 2.5, [2, 3], [2, 3, 1], "two"])
def test_state_counts(states):
    with pytest.raises(SettingError, match=r"^states "):
        simulate.potts(simulate.chain(3), states)


@pytest.mark.parametrize("graph", [nx.DiGraph([(0, 1)]), nx.MultiGraph([(0, 1), (0, 1)])])
def test_plain_graphs_only(graph):
    with pytest.raises(SettingError, match=r"plain networkx\.Graph"):
        simulate.ising(graph)


def test_loops():
    with pytest.raises(SettingError, match="links a node to itself"):
        simulate.ising(nx.Graph([(0, 1), (1, 1)]))
