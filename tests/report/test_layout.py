import json
import os
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest

from isinglass.graph import Graph
from isinglass.report.layout import HEIGHT, WIDTH, positions


def graph_of(p: int, edges, link) -> Graph:
    return Graph(tuple(f"x{j}" for j in range(p)), tuple(link(a, b) for a, b in sorted(edges)))


def random_edges(p: int, count: int, seed: int) -> set[tuple[int, int]]:
    rng = np.random.default_rng(seed)
    pairs = list(combinations(range(p), 2))
    return {pairs[i] for i in rng.choice(len(pairs), count, replace=False)}


SHAPES = {
    "pair": (2, {(0, 1)}),
    "chain": (30, {(j, j + 1) for j in range(29)}),
    "star": (25, {(0, j) for j in range(1, 25)}),
    "complete": (15, set(combinations(range(15), 2))),
    "pairs": (40, {(2 * j, 2 * j + 1) for j in range(20)}),
    "long chain": (80, {(j, j + 1) for j in range(79)}),
    "sparse": (60, random_edges(60, 40, seed=0)),
    "dense": (40, random_edges(40, 150, seed=1)),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_no_two_labels_overlap(shape, link):
    at = np.array(list(positions(graph_of(*SHAPES[shape], link)).values()))
    away = np.abs(at[:, None] - at[None])
    clash = (away[..., 0] < WIDTH) & (away[..., 1] < HEIGHT - 1e-3)
    assert clash.sum() == len(at), "every column overlaps itself and nobody else"


def test_only_linked_columns_have_a_position(small):
    at = positions(small)
    assert set(at) == set("abcdef")
    assert np.isfinite(list(at.values())).all()


def test_no_edges_no_positions():
    assert positions(Graph(("a", "b"), ())) == {}


def test_wide_labels_get_more_room(link):
    graph = graph_of(5, {(j, j + 1) for j in range(4)}, link)
    wide = positions(graph, dict.fromkeys(graph.names, 2.0))
    narrow = positions(graph)
    extent = [np.ptp([x for x, _ in at.values()]) for at in (wide, narrow)]
    assert extent[0] > 1.5 * extent[1]


def test_paper_is_used(link):
    """Components lie side by side, not all in one line."""
    at = np.array(list(positions(graph_of(*SHAPES["pairs"], link)).values()))
    width, height = np.ptp(at, axis=0)
    assert 0.3 < width / height < 4


def test_a_long_chain_is_folded(link):
    edges = {(j, j + 1) for j in range(99)}
    at = positions(graph_of(100, edges, link))
    width, height = np.ptp(list(at.values()), axis=0)
    assert width < 25
    assert height < 25
    lengths = [np.hypot(*np.subtract(at[f"x{a}"], at[f"x{b}"])) for a, b in edges]
    assert max(lengths) < 3, "neighbours stay neighbours at the folds"


SCRIPT = """
import json
from isinglass.graph import Graph, Link
from isinglass.report.layout import positions
numbers = (0.5, 1, None, None, 1.0, "both", False)
links = tuple(Link(a, b, *numbers) for a, b in {edges})
print(json.dumps(positions(Graph(tuple(f"x{{j}}" for j in range(60)), links))))
"""


def test_the_same_graph_lies_the_same_way_in_every_process(link):
    p, edges = SHAPES["sparse"]
    here = positions(graph_of(p, edges, link))
    there = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(edges=sorted(edges))],
        env=os.environ | {"PYTHONHASHSEED": "7"},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert {name: tuple(point) for name, point in json.loads(there).items()} == here


def test_a_large_component_is_placed(link):
    graph = graph_of(200, random_edges(200, 400, seed=2), link)
    assert np.isfinite(list(positions(graph).values())).all()
