"""Simulated truth: graph families, and random models on them.

Families are networkx graphs whose nodes are 0, 1, ..., p - 1, in that order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import Setting, SettingError
from isinglass.losses.forms import Forms
from isinglass.model import MarkovField
from isinglass.parameters import Seed, check, checked

if TYPE_CHECKING:
    import networkx

__all__ = [
    "chain",
    "erdos_renyi",
    "grid",
    "ising",
    "ordinal",
    "potts",
    "random_regular",
    "small_world",
    "star",
    "tree",
]

Range = tuple[float, float]


@checked
def chain(p: int) -> networkx.Graph:
    """Link every node to the next.

    >>> list(chain(4).edges)
    [(0, 1), (1, 2), (2, 3)]
    """
    return _graph(p, ((i, i + 1) for i in range(p - 1)))


@checked
def grid(rows: int, cols: int) -> networkx.Graph:
    """Link every node to its right and its lower neighbour; nodes are numbered row by row.

    >>> list(grid(2, 3).edges)
    [(0, 1), (0, 3), (1, 2), (1, 4), (2, 5), (3, 4), (4, 5)]
    """
    p = rows * cols
    if p > 10**6:
        raise SettingError(f"a grid has at most 1,000,000 nodes; {rows:,} x {cols:,} is more.")
    across = ((i, i + 1) for i in range(p) if (i + 1) % cols)
    return _graph(p, [*across, *((i, i + cols) for i in range(p - cols))])


@checked
def star(p: int, d: int) -> networkx.Graph:
    """Link node 0 to d leaves; the other nodes have no edges.

    >>> list(star(6, 3).edges)
    [(0, 1), (0, 2), (0, 3)]
    """
    check("d", d, most=p - 1)
    return _graph(p, ((0, leaf) for leaf in range(1, d + 1)))


@checked
def tree(p: int, seed: Seed = None) -> networkx.Graph:
    """Draw a tree, every tree on p labelled nodes equally likely (by its Prüfer code).

    >>> import networkx as nx
    >>> nx.is_tree(tree(20, seed=1))
    True
    """
    import networkx as nx

    if p <= 2:
        return chain(p)
    code = np.random.default_rng(seed).integers(p, size=p - 2)
    return _graph(p, nx.from_prufer_sequence(code.tolist()).edges)


@checked
def random_regular(p: int, d: int, seed: Seed = None) -> networkx.Graph:
    """Draw a graph in which every node has d neighbours.

    >>> set(dict(random_regular(10, 3, seed=1).degree).values())
    {3}
    """
    import networkx as nx

    check("d", d, most=p - 1)
    if p * d % 2:
        raise SettingError(f"no graph of {p} nodes has {d} edges per node; p or d must be even.")
    return _graph(p, nx.random_regular_graph(d, p, seed=_networkx_seed(seed)).edges)


@checked
def erdos_renyi(p: int, degree: float, seed: Seed = None) -> networkx.Graph:
    """Draw every edge independently; a node has `degree` neighbours on average.

    >>> erdos_renyi(1000, 4, seed=1).number_of_edges()
    1994
    """
    check("degree", degree, most=p - 1)
    rng, probability = np.random.default_rng(seed), float(degree) / max(p - 1, 1)
    drawn = ((i, rng.random(p - 1 - i) < probability) for i in range(p - 1))
    return _graph(p, ((i, i + 1 + int(k)) for i, some in drawn for k in np.flatnonzero(some)))


@checked
def small_world(p: int, k: int, rewire: float, seed: Seed = None) -> networkx.Graph:
    """Link every node of a ring to its k nearest, then move each edge with probability `rewire`.

    The graphs of Watts and Strogatz (1998); k is even.

    >>> small_world(20, 4, 0.1, seed=1).number_of_edges()
    40
    """
    import networkx as nx

    check("k", k, most=p - 1)
    ring = nx.watts_strogatz_graph(p, k, rewire, seed=_networkx_seed(seed))
    return _graph(p, ring.edges)


def _graph(p: int, edges: Iterable[tuple[int, int]]) -> networkx.Graph:
    """Nodes and edges in order, whatever order they were made in."""
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(p))
    graph.add_edges_from(sorted((min(edge), max(edge)) for edge in edges))
    return graph


def _networkx_seed(seed: Seed) -> int:
    """One number for networkx's own generator, as numpy makes it of any seed."""
    return int(np.random.default_rng(seed).integers(2**63))


@checked
def ising(
    graph: networkx.Graph,
    *,
    coupling: float | Range = 0.5,
    signs: str = "mixed",
    intercept: float | Range = 0.0,
    seed: Seed = None,
) -> MarkovField:
    """Make an Ising model: states -1 and +1, theta x_i x_j on every edge, h x_i on every node.

    Parameters
    ----------
    graph : networkx.Graph
        Its nodes, in order, become the columns: x0, x1, ... for nodes 0, 1, ..., else their names.
    coupling : float or pair of floats
        The size of every theta, or a range from which sizes are drawn uniformly.
    signs : "mixed" or "positive"
        Whether each theta is negative with probability one half, or never.
    intercept : float or pair of floats
        The h of every node, or a range from which it is drawn uniformly, as (-0.3, 0.3).
    seed : int or Generator, optional

    Examples
    --------
    >>> field = ising(star(4, 2), coupling=(0.1, 0.5), seed=3)
    >>> [round(link.coupling, 2) for link in field.graph]
    [0.19, -0.42]
    """
    rng = np.random.default_rng(seed)
    names, edges = _columns_and_edges(graph)
    sign = rng.choice([-1.0, 1.0], len(edges)) if signs == "mixed" else np.ones(len(edges))
    theta = sign * rng.uniform(*_ends(coupling), len(edges))
    h = rng.uniform(*_ends(intercept), len(names))
    spin = np.array([-1.0, 1.0])
    return MarkovField(
        names,
        ((-1, 1),) * len(names),
        tuple(np.outer(h, spin)),
        {edge: size * np.outer(spin, spin) for edge, size in zip(edges, theta, strict=True)},
    )


@checked
def potts(
    graph: networkx.Graph,
    states: int | Sequence[int],
    *,
    coupling: float | Range = 0.5,
    intercept: float | Range = 0.0,
    seed: Seed = None,
) -> MarkovField:
    """Make a model of any numbers of states, with a random table on every edge.

    Tables are normal numbers, centred in rows and columns and scaled: the root of the mean of
    their squares is the coupling. Between two columns of two states that is the coupling of an
    Ising model, with a random sign.

    Parameters
    ----------
    graph, coupling, intercept, seed
        As for `ising`: sizes of tables and of intercepts, or ranges to draw them from.
    states : int, or one for each node
        Numbers of states, 2 to 256; labels are 0, 1, ...

    Examples
    --------
    >>> field = potts(chain(3), [2, 3, 4], coupling=0.8, seed=0)
    >>> field.n_states, round(float(np.mean(field.couplings[1, 2] ** 2)) ** 0.5, 6)
    ((2, 3, 4), 0.8)
    """
    rng = np.random.default_rng(seed)
    names, edges = _columns_and_edges(graph)
    m = _state_counts(states, len(names))
    sizes = rng.uniform(*_ends(coupling), len(edges))
    heights = rng.uniform(*_ends(intercept), len(names))
    return MarkovField(
        names,
        tuple(tuple(range(count)) for count in m),
        tuple(h * _centred(rng, (count,)) for h, count in zip(heights, m, strict=True)),
        {
            (i, j): size * _centred(rng, (m[i], m[j]))
            for (i, j), size in zip(edges, sizes.tolist(), strict=True)
        },
    )


@checked
def ordinal(
    graph: networkx.Graph,
    states: int | Sequence[int],
    *,
    coupling: float | Range = 0.5,
    signs: str = "mixed",
    intercept: float | Range = 0.0,
    scores: Sequence[float] | None = None,
    unordered: Sequence[int] = (),
    seed: Seed = None,
) -> MarkovField:
    """Make a model of ordered columns, such as the items of a questionnaire.

    Every edge is a product of scores, theta u_a v_b, with scores that are centred and scaled to a
    mean square of 1 over the states: the root of the mean square of its table is theta. At columns
    without order an edge is a trend for each state, with random sizes, or a random table if both
    have none.

    Parameters
    ----------
    graph, coupling, signs, intercept, seed
        As for `ising`: sizes of theta and of intercepts, or ranges to draw them from. Intercepts
        are normal numbers, centred and scaled to these sizes.
    states : int, or one for each node
        Numbers of states, 2 to 256; labels are 0, 1, ..., of unordered columns a0, a1, ...
    scores : sequence of float, optional
        Of all ordered columns, rising; 0, 1, 2, ... by default.
    unordered : sequence of int
        Nodes, by their number in order, whose states have no order.

    Examples
    --------
    >>> field = ordinal(chain(3), 5, coupling=0.4, signs="positive", unordered=[2])
    >>> field.forms
    {(0, 1): 'product', (1, 2): 'trend'}
    >>> round(float(field.per_step("x0", "x1").theta), 6)
    0.4
    """
    rng = np.random.default_rng(seed)
    names, edges = _columns_and_edges(graph)
    m = _state_counts(states, len(names))
    ordered = [_scores_of(count, v in unordered, scores) for v, count in enumerate(m)]
    known = Forms(tuple(m), tuple(ordered))
    sign = rng.choice([-1.0, 1.0], len(edges)) if signs == "mixed" else np.ones(len(edges))
    theta = sign * rng.uniform(*_ends(coupling), len(edges))
    heights = rng.uniform(*_ends(intercept), len(names))
    couplings = {}
    for (i, j), size in zip(edges, theta.tolist(), strict=True):
        left, right = known.sides(i, j, known.allowed(i, j)[0])
        middle = _unit_size(rng, (left.shape[1], right.shape[1]))
        couplings[i, j] = size * np.sqrt(m[i] * m[j]) * (left @ middle @ right.T)
    return MarkovField(
        names,
        tuple(
            tuple(range(count) if own is not None else (f"a{state}" for state in range(count)))
            for count, own in zip(m, ordered, strict=True)
        ),
        tuple(h * _centred(rng, (count,)) for h, count in zip(heights, m, strict=True)),
        couplings,
        forms={pair: known.allowed(*pair)[0] for pair in edges},
        scores=tuple(ordered),
    )


def _scores_of(
    states: int, unordered: bool, scores: Sequence[float] | None
) -> tuple[float, ...] | None:
    if unordered and states > 2:
        return None
    if scores is None or states == 2:
        return tuple(map(float, range(states)))
    if len(scores) != states:
        raise SettingError(
            Setting("scores"), f" must be one number per state, {states}, not {len(scores)}."
        )
    return tuple(map(float, scores))


def _unit_size(rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.float64]:
    """Normal numbers whose squares add up to one; one alone is positive."""
    if shape == (1, 1):
        return np.ones(shape)
    numbers = rng.normal(size=shape)
    return np.asarray(numbers / np.linalg.norm(numbers))


def _columns_and_edges(graph: networkx.Graph) -> tuple[tuple[str, ...], list[tuple[int, int]]]:
    """Names of columns, and edges in column order, whatever order the graph has them in."""
    if graph.is_directed() or graph.is_multigraph():
        raise SettingError(
            "a model needs a plain networkx.Graph, without directions or parallel edges."
        )
    numbered = set(graph) == set(range(len(graph)))
    nodes = sorted(graph) if numbered else list(graph)
    at = {node: position for position, node in enumerate(nodes)}
    edges = sorted((min(at[a], at[b]), max(at[a], at[b])) for a, b in graph.edges)
    if any(a == b for a, b in edges):
        raise SettingError("the graph links a node to itself; remove such loops.")
    return tuple(f"x{node}" if numbered else str(node) for node in nodes), edges


def _ends(given: float | Range) -> Range:
    """A number, or a range, as a range."""
    low, high = given if isinstance(given, Sequence | np.ndarray) else (given, given)
    return float(low), float(high)


def _state_counts(states: int | Sequence[int], p: int) -> list[int]:
    counts = [int(count) for count in (states if isinstance(states, Iterable) else [states] * p)]
    if len(counts) != p:
        raise SettingError(
            Setting("states"),
            f" must be one number, or one for each of the {p} nodes, not {len(counts)}.",
        )
    return counts


def _centred(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Normal numbers whose sums along every axis are zero, of mean square one."""
    numbers = rng.normal(size=shape)
    for axis in range(len(shape)):
        numbers -= numbers.mean(axis=axis, keepdims=True)
    return np.asarray(numbers / np.sqrt(np.mean(numbers**2)))
