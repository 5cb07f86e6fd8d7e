import csv
import io

import networkx as nx
import polars as pl
import pytest

from isinglass.graph import Graph
from isinglass.report.exports import edges_csv, graphml


def read_rows(graph: Graph) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(edges_csv(graph).decode(), newline="")))


def read_graphml(graph: Graph) -> nx.Graph:
    return nx.parse_graphml(graphml(graph).decode())


def test_csv_is_the_frame(small):
    read = pl.read_csv(edges_csv(small), schema=small.to_frame().schema)
    assert read.equals(small.to_frame())


def test_csv_without_edges_has_a_header():
    text = edges_csv(Graph(("a", "b"), ())).decode()
    assert text == (
        "source,target,strength,sign,coupling,log_odds,evidence,selected_by,unbounded\n"
    )


def test_csv_keeps_every_name(odd):
    rows = read_rows(odd)
    assert [(row["source"], row["target"]) for row in rows] == odd.edges
    assert [row["selected_by"] for row in rows] == [link.selected_by for link in odd]


def test_graphml_is_the_graph(small):
    read = read_graphml(small)
    assert list(read) == list(small.names)
    assert {frozenset(edge) for edge in read.edges} == {frozenset(e) for e in small.edges}
    for (a, b), link in zip(small.edges, small, strict=True):
        numbers = read.edges[a, b]
        assert numbers["weight"] == numbers["strength"] == link.strength
        assert numbers["unbounded"] is link.unbounded
        assert numbers.get("coupling") == link.coupling
        assert numbers["selected_by"] == link.selected_by


def test_graphml_keeps_every_name_that_xml_can_hold(odd):
    read = read_graphml(odd)
    kept = [name for name in odd.names if not set(name) & set("\x01\x02\x1b")]
    assert set(kept) <= set(read)
    assert len(read) == len(odd.names), "names that XML cannot hold stay distinct"
    assert read.number_of_edges() == len(odd)


@pytest.mark.parametrize("columns", [0, 1, 3])
def test_graphml_without_edges(columns):
    names = tuple(f"x{j}" for j in range(columns))
    assert list(read_graphml(Graph(names, ()))) == list(names)
