"""Orders of elimination: valid, and good where the best is known."""

import networkx as nx
import numpy as np
import pytest

from isinglass import simulate
from isinglass.model.inference.order import plan_elimination


def widest(graph, memory=float("inf")) -> int:
    plan = plan_elimination([2] * len(graph), graph.edges, memory)
    return max(map(len, plan.scopes))


@pytest.mark.parametrize("seed", range(10))
def test_scopes_are_cliques_of_what_is_left(seed):
    graph = simulate.erdos_renyi(15, 4, seed=seed)
    states = np.random.default_rng(seed).integers(2, 5, 15).tolist()
    plan = plan_elimination(states, graph.edges)
    assert sorted(scope[0] for scope in plan.scopes) == list(range(15))
    left = graph.copy()
    for (v, *others), size in zip(plan.scopes, plan.sizes, strict=True):
        assert set(left[v]) == set(others)
        assert size == np.prod([states[u] for u in (v, *others)])
        left.remove_node(v)
        left.add_edges_from((a, b) for a in others for b in others if a < b)


@pytest.mark.parametrize(
    ("graph", "most"),
    [
        (simulate.chain(50), 2),
        (simulate.star(50, 40), 2),
        (simulate.tree(200, seed=3), 2),
        (nx.cycle_graph(30), 3),
        (nx.complete_graph(9), 9),
        (simulate.grid(3, 100), 4),
        (simulate.grid(16, 16), 17),
    ],
)
def test_known_widths(graph, most):
    assert widest(graph) <= most


def test_other_rules_are_given_up_beyond_the_memory():
    graph = simulate.grid(16, 16)
    assert widest(graph, memory=1000) >= widest(graph)
