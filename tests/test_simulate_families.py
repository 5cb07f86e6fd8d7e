"""Graph families: nodes in order, the right edges, reproducible."""

import networkx as nx
import numpy as np
import pytest

from isinglass import simulate
from isinglass.errors import SettingError

RANDOM = {
    "tree": lambda seed: simulate.tree(30, seed),
    "random_regular": lambda seed: simulate.random_regular(30, 3, seed),
    "erdos_renyi": lambda seed: simulate.erdos_renyi(30, 3, seed),
    "small_world": lambda seed: simulate.small_world(30, 4, 0.3, seed),
}


def same(a, b) -> bool:
    return list(a.nodes) == list(b.nodes) and list(a.edges) == list(b.edges)


def test_the_fixed_ones_are_those_of_networkx():
    assert same(simulate.chain(7), nx.path_graph(7))
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(4, 5), ordering="sorted")
    assert set(map(frozenset, simulate.grid(4, 5).edges)) == set(map(frozenset, grid.edges))
    star = nx.star_graph(3)
    star.add_nodes_from([4, 5])
    assert same(simulate.star(6, 3), star)
    ring = nx.circulant_graph(12, [1, 2])
    assert nx.utils.graphs_equal(simulate.small_world(12, 4, 0.0, 1), ring)


@pytest.mark.parametrize("name", RANDOM)
def test_random_ones(name):
    make = RANDOM[name]
    assert same(make(1), make(1))
    assert not same(make(1), make(2))
    assert same(make(np.random.default_rng(1)), make(1))
    graph = make(3)
    assert list(graph) == list(range(30))
    assert list(graph.edges) == sorted(graph.edges)
    assert len(make(None)) == 30


def test_their_shapes():
    assert all(nx.is_tree(simulate.tree(p, p)) for p in (1, 2, 3, 20))
    assert set(dict(RANDOM["random_regular"](1).degree).values()) == {3}
    assert RANDOM["small_world"](1).number_of_edges() == 60
    degrees = [2 * simulate.erdos_renyi(50, 5, s).number_of_edges() / 50 for s in range(100)]
    assert np.mean(degrees) == pytest.approx(5, abs=4 * np.std(degrees) / 10)


def test_every_tree_is_equally_probable():
    # 16 trees on four nodes, 4 of them stars.
    drawn = [frozenset(simulate.tree(4, seed).edges) for seed in range(3200)]
    counts = np.unique([str(sorted(edges)) for edges in drawn], return_counts=True)[1]
    assert len(counts) == 16
    assert np.abs(counts - 200).max() < 4 * np.sqrt(200)


def test_small_ones():
    assert same(simulate.chain(1), nx.empty_graph(1))
    assert same(simulate.grid(1, 4), nx.path_graph(4))
    assert same(simulate.star(5, 0), nx.empty_graph(5))
    assert same(simulate.erdos_renyi(4, 3, 0), nx.complete_graph(4))
    assert same(simulate.erdos_renyi(1, 0, 0), nx.empty_graph(1))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: simulate.chain(0), "p must be a whole number from 1 to 1,000,000, not 0"),
        (lambda: simulate.chain(2.0), "p must be a whole number"),
        (lambda: simulate.grid(3, -1), "cols must be a whole number"),
        (lambda: simulate.star(5, 5), "d must be a whole number from 0 to 4, not 5"),
        (lambda: simulate.random_regular(5, 3), "no graph of 5 nodes has 3 edges per node"),
        (lambda: simulate.erdos_renyi(5, 4.5), "degree must be a number from 0 to 4, not 4.5"),
        (lambda: simulate.small_world(9, 3, 0.1), "k must be an even number"),
        (lambda: simulate.small_world(9, 4, 1.1), "rewire must be a number from 0 to 1"),
    ],
)
def test_what_is_refused(make, said):
    with pytest.raises(SettingError, match=said):
        make()
