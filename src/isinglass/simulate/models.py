"""Random models on a given graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import Setting, SettingError
from isinglass.model import MarkovField
from isinglass.parameters import checked

if TYPE_CHECKING:
    import networkx

    from isinglass.simulate.families import Seed

Array = NDArray[np.float64]
Range = tuple[float, float]


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

    Returns
    -------
    MarkovField

    Examples
    --------
    >>> from isinglass.simulate import star
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
    graph : networkx.Graph
        As for `ising`.
    states : int, or one for each node
        Numbers of states, 2 to 256; labels are 0, 1, ...
    coupling : float or pair of floats
        The size of every table, or a range from which sizes are drawn uniformly.
    intercept : float or pair of floats
        The size of every column's intercept, in the same sense.
    seed : int or Generator, optional

    Returns
    -------
    MarkovField

    Examples
    --------
    >>> from isinglass.simulate import chain
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


def _columns_and_edges(graph: networkx.Graph) -> tuple[tuple[str, ...], list[tuple[int, int]]]:
    """Names of columns, and edges in column order, whatever order the graph has them in."""
    if graph.is_directed() or graph.is_multigraph():
        raise SettingError(
            "a model needs a plain networkx.Graph, without directions or parallel edges."
        )
    nodes = list(graph)
    numbered = set(nodes) == set(range(len(nodes)))
    if numbered:
        nodes.sort()
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


def _centred(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Normal numbers whose sums along every axis are zero, of mean square one."""
    numbers = rng.normal(size=shape)
    for axis in range(len(shape)):
        numbers -= numbers.mean(axis=axis, keepdims=True)
    return np.asarray(numbers / np.sqrt(np.mean(numbers**2)))
