"""Models small enough to enumerate: every family, and unequal numbers of states."""

import networkx as nx
import numpy as np

from isinglass import MarkovField, simulate

FAMILIES = {
    "chain": simulate.chain(9),
    "grid": simulate.grid(3, 3),
    "star": simulate.star(10, 5),
    "tree": simulate.tree(10, seed=1),
    "random regular": simulate.random_regular(8, 3, seed=1),
    "Erdős-Rényi": simulate.erdos_renyi(10, 2.5, seed=1),
    "small world": simulate.small_world(9, 4, 0.3, seed=1),
}


SPIN = np.array([[1.0, -1.0], [-1.0, 1.0]])


def survey(library="polars") -> MarkovField:
    """Labels of people, two and three states, for tests of questions and files."""
    return MarkovField(
        ("smokes", "cough", "diet"),
        (("no", "yes"), ("no", "yes"), ("all", "fish", "plants")),
        ([0.5, -0.5], [0.2, -0.2], [1.0, 0.0, -1.0]),
        {(0, 1): 0.6 * SPIN, (1, 2): np.array([[0.4, 0.0, -0.4], [-0.4, 0.0, 0.4]])},
        library,
    )


def any_gauge(seed: int, n_states, edges) -> MarkovField:
    """A model of uneven potentials, not symmetric in the states."""
    rng = np.random.default_rng(seed)
    return MarkovField.from_potentials(
        [f"c{j}" for j in range(len(n_states))],
        [tuple(range(m)) for m in n_states],
        [rng.normal(size=m) for m in n_states],
        {(i, j): rng.normal(size=(n_states[i], n_states[j])) for i, j in edges},
    )


MODELS = {
    f"Ising, {name}": simulate.ising(graph, coupling=(0.2, 0.8), intercept=(-0.4, 0.4), seed=2)
    for name, graph in FAMILIES.items()
} | {
    "positive grid": simulate.ising(simulate.grid(2, 4), coupling=0.3, signs="positive"),
    "Potts, grid": simulate.potts(simulate.grid(2, 3), [2, 3, 4, 2, 5, 3], seed=3),
    "Potts, dense": simulate.potts(nx.complete_graph(5), [3, 2, 4, 3, 2], intercept=0.5, seed=4),
    "Potts, alone": simulate.potts(nx.empty_graph(3), [4, 2, 3], intercept=1.0, seed=5),
    "a constant column": any_gauge(6, [2, 1, 3, 2], [(0, 1), (0, 2), (1, 3), (2, 3)]),
    "one column": any_gauge(7, [3], []),
}
