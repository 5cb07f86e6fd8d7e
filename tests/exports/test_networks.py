"""What other libraries read is the graph, and comes back as it was."""

import json

import networkx as nx
import pytest

from isinglass import GreedyGraph, simulate
from isinglass.errors import SettingError
from isinglass.exports import cytoscape, from_igraph, from_networkx, gexf, graphml, to_igraph
from isinglass.graph import Graph

igraph = pytest.importorskip("igraph")


def read_graphml(graph: Graph, path) -> nx.Graph:
    path.write_bytes(graphml(graph))
    return nx.read_graphml(path)


def read_gexf(graph: Graph, path) -> nx.Graph:
    path.write_bytes(gexf(graph))
    return nx.read_gexf(path)


def read_cytoscape(graph: Graph, path) -> nx.Graph:
    path.write_bytes(cytoscape(graph))
    return nx.cytoscape_graph(json.loads(path.read_text()))


def back(graph: Graph, _) -> nx.Graph:
    return graph.to_networkx()


READERS = {"graphml": read_graphml, "gexf": read_gexf, "cytoscape": read_cytoscape, "none": back}


@pytest.fixture(params=READERS)
def read(request, tmp_path):
    return lambda graph: READERS[request.param](graph, tmp_path / "file")


def fitted() -> Graph:
    field = simulate.potts(simulate.grid(2, 3), [2, 3, 2, 2, 4, 2], coupling=0.8, seed=1)
    return GreedyGraph().fit(field.sample(500, seed=1)).graph_


def test_round_trip(read, small):
    for graph in (small, fitted()):
        network = read(graph)
        assert list(network) == list(graph.names)
        again = from_networkx(network)
        assert again == graph
        assert again.links == graph.links
        for ends, link in zip(graph.edges, graph, strict=True):
            assert network.edges[ends]["weight"] == link.weight


def test_keeps_every_name_that_the_format_can_hold(read, odd):
    network = read(odd)
    kept = [name for name in odd.names if not set(name) & set("\x01\x02\x1b")]
    assert set(kept) <= set(network)
    assert len(network) == len(odd.names), "names that XML cannot hold stay distinct"
    assert network.number_of_edges() == len(odd)


@pytest.mark.parametrize("columns", [0, 1, 3])
def test_without_edges(read, columns):
    names = tuple(f"x{j}" for j in range(columns))
    assert list(read(Graph(names, ()))) == list(names)


@pytest.mark.parametrize("write", [graphml, gexf])
def test_names_that_xml_cannot_tell_apart(write):
    with pytest.raises(SettingError, match="rename one"):
        write(Graph(("\x1b", "\\x1b"), ()))


@pytest.mark.parametrize("write", [graphml, gexf, cytoscape, to_igraph])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_refuses_what_is_not_finite(write, value, small):
    link = small.links[0]._replace(evidence=value)
    with pytest.raises(SettingError, match=r"the evidence of 'a' -- 'b' is (nan|inf); only finite"):
        write(Graph(small.names, (link,)))


def test_igraph(small, odd):
    for graph in (small, odd, fitted(), Graph(("a",), ())):
        network = to_igraph(graph)
        assert network.vs["name"] == list(graph.names)
        assert from_igraph(network).links == graph.links
        assert from_igraph(network) == graph


def test_igraph_reads_our_graphml(small, tmp_path):
    (tmp_path / "file").write_bytes(graphml(small))
    network = igraph.Graph.Read_GraphML(str(tmp_path / "file"))
    assert network.vs["id"] == list(small.names)
    assert network.es["weight"] == [link.strength for link in small]
    assert [e.tuple for e in network.es] == [(link.source, link.target) for link in small]


def test_networks_from_elsewhere():
    graph = from_networkx(nx.path_graph(3))
    assert graph.names == ("0", "1", "2")
    assert [(link.strength, link.weight) for link in graph] == [(None, 1.0), (None, 1.0)]
    assert from_igraph(igraph.Graph.Ring(4)).edges[0] == ("0", "1")
    assert from_networkx(nx.Graph([("b", "a"), ("a", "c")])).edges == [("b", "a"), ("a", "c")]


@pytest.mark.parametrize(
    ("network", "words"),
    [
        (nx.DiGraph([("a", "b")]), "directed"),
        (nx.MultiGraph([("a", "b"), ("b", "a")]), "linked twice"),
        (nx.Graph([("a", "a")]), "linked to itself"),
        (nx.Graph([(1, "1")]), "two nodes have the same name"),
        (nx.Graph([("a", "b", {"weight": "x"})]), "is not a number: 'x'"),
        (nx.Graph([("a", "b", {"strength": float("nan")})]), "only finite"),
        (nx.Graph([("a", "b", {"weight": float("nan")})]), "only finite"),
        (nx.Graph([("a", "b", {"evidence": float("inf")})]), "only finite"),
    ],
)
def test_networks_that_are_no_graphs(network, words):
    with pytest.raises(SettingError, match=words):
        from_networkx(network)
