"""The tables that the benchmarks measure on, each an int8 array of rows and columns.

Simulated tables are made once, from fixed seeds, and kept in build/benchmarks. Ising samples
come from chains that all start anew and run side by side, one colour of the graph at a time;
stars and chains are sampled exactly, from the first node on. Real tables are read where they
lie and never copied: from the folder that `--data` or ISINGLASS_DATA names.
"""

from __future__ import annotations

import gzip
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int8]

KEPT = Path(__file__).parent.parent / "build" / "benchmarks"
CHAINS_AT_A_TIME = 512
LETTERS = "-ACDEFGHIKLMNPQRSTVWY"


def regular(p: int, n: int, degree: int = 3, strength: float = 0.5) -> Codes:
    """Ising model on a random regular graph, couplings of one size and random sign."""
    return _kept(
        f"regular-{p}-{n}-{degree}-{strength}",
        lambda: sample_ising(nx.random_regular_graph(degree, p, seed=0), strength, n, sweeps=40),
    )


def regular_parts(p: int, n: int, part: int = 10_000) -> Codes:
    """Copies of a regular table side by side, the rows of each in another order.

    Each part is a sample of its model, and independent of the others: a graph in parts.
    """
    one, orders = regular(part, n), np.random.default_rng(0)
    table = np.empty((n, p // part * part), np.int8)
    for first in range(0, table.shape[1], part):
        table[:, first : first + part] = one[orders.permutation(n)]
    return table


def grid(side: int, n: int, strength: float = 0.5) -> Codes:
    """Ising model on a square grid, couplings of one size and random sign."""
    return _kept(
        f"grid-{side}-{n}-{strength}",
        lambda: sample_ising(nx.grid_2d_graph(side, side), strength, n, sweeps=200),
    )


def star(p: int, n: int, degree: int, strength: float) -> Codes:
    """Column 0 tied to the next `degree` columns, all others alone."""
    rng = np.random.default_rng(0)
    table = rng.choice(np.array([-1, 1], np.int8), size=(n, p))
    signs = rng.choice(np.array([-1, 1], np.int8), size=degree)
    agree = rng.random((n, degree)) < 1 / (1 + np.exp(-2 * strength))
    table[:, 1 : degree + 1] = table[:, :1] * signs * np.where(agree, 1, -1)
    return table


def chain(p: int, n: int, states: int, repeat: float = 0.4) -> Codes:
    """A Markov chain of columns: each repeats the one before, or is drawn anew."""
    rng = np.random.default_rng(0)
    table = rng.integers(0, states, size=(n, p), dtype=np.int8)
    repeats = rng.random((n, p)) < repeat
    for t in range(1, p):
        table[:, t] = np.where(repeats[:, t], table[:, t - 1], table[:, t])
    return table


def dass(folder: Path) -> Codes | None:
    """The 42 items of the questionnaire, four states each; None where the file is absent."""
    path = folder / "psych" / "dass.csv.gz"
    if not path.exists():
        return None
    with gzip.open(path, "rt") as lines:
        names = next(lines).strip().split(",")
        items = [i for i, name in enumerate(names) if name[:4] == "dass" and name[-2:-1] == "_"]
        return np.loadtxt(lines, dtype=np.int8, delimiter=",", usecols=items)


def protein(folder: Path) -> Codes | None:
    """The aligned family PF00014, up to 21 states; None where the file is absent."""
    path = folder / "protein" / "PF00014_mgap6.fasta.gz"
    if not path.exists():
        return None
    sequences: list[str] = []
    with gzip.open(path, "rt") as lines:
        for line in lines:
            if line[0] == ">":
                sequences.append("")
            else:
                sequences[-1] += line.strip()
    number = {letter: code for code, letter in enumerate(LETTERS)}
    return np.array([[number.get(x, 0) for x in sequence] for sequence in sequences], np.int8)


def sample_ising(graph: nx.Graph, strength: float, n: int, sweeps: int, seed: int = 0) -> Codes:
    """Rows from n chains, each of so many sweeps from a random start."""
    rng = np.random.default_rng(seed)
    neighbours, signs = _padded(graph, rng)
    colours = _colours(graph)
    p, degree = neighbours.shape
    fields = np.arange(-degree, degree + 1)
    chance_up = (65535 / (1 + np.exp(-2 * strength * fields))).astype(np.uint16)

    def sweep(state: Codes) -> None:
        for nodes in colours:
            field = np.full((len(nodes), state.shape[1]), degree, np.int8)
            for k in range(degree):
                field += signs[nodes, k, None] * state[neighbours[nodes, k]]
            draws = rng.integers(0, 65536, size=field.shape, dtype=np.uint16)
            state[nodes] = 2 * (draws < chance_up[field]).view(np.int8) - 1

    table = np.empty((n, p), np.int8)
    for first in range(0, n, CHAINS_AT_A_TIME):
        rows = table[first : first + CHAINS_AT_A_TIME]
        state = rng.choice(np.array([-1, 1], np.int8), size=(p + 1, len(rows)))
        state[p] = 0  # stands in for the neighbours that a node of lower degree lacks
        for _ in range(sweeps):
            sweep(state)
        rows[:] = state[:p].T
    return table


def _padded(graph: nx.Graph, rng: np.random.Generator) -> tuple[NDArray[np.int64], Codes]:
    """Neighbours of each node and the signs of their couplings; missing ones are node p."""
    order = {node: i for i, node in enumerate(sorted(graph))}
    p, degree = len(order), max(d for _, d in graph.degree)
    neighbours, signs = np.full((p, degree), p), np.ones((p, degree), np.int8)
    used = np.zeros(p, int)
    for a, b in sorted((min(order[a], order[b]), max(order[a], order[b])) for a, b in graph.edges):
        sign = rng.choice([-1, 1])
        for one, other in ((a, b), (b, a)):
            neighbours[one, used[one]], signs[one, used[one]] = other, sign
            used[one] += 1
    return neighbours, signs


def _colours(graph: nx.Graph) -> list[NDArray[np.int64]]:
    """Sets of nodes without an edge among them: each set can be drawn at once."""
    order = {node: i for i, node in enumerate(sorted(graph))}
    classes: dict[int, list[int]] = defaultdict(list)
    for node, colour in nx.greedy_color(graph).items():
        classes[colour].append(order[node])
    return [np.array(sorted(nodes)) for nodes in classes.values()]


def _kept(name: str, make: Callable[[], Codes]) -> Codes:
    path = KEPT / f"{name}.npy"
    if not path.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".part.npy")
        np.save(unfinished, make())
        unfinished.rename(path)
    return np.load(path)
