"""Graphs for networkx and igraph, and the files that network programs read."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from isinglass.errors import MissingExtra, SettingError
from isinglass.exports.links import graph_of, plain_numbers
from isinglass.graph import Graph

if TYPE_CHECKING:
    import networkx


def graphml(graph: Graph) -> bytes:
    """The graph as GraphML, with the numbers of each edge as attributes."""
    import networkx as nx

    return "\n".join(nx.generate_graphml(_xml_network(graph))).encode()


def gexf(graph: Graph) -> bytes:
    """The graph as GEXF, for Gephi."""
    import networkx as nx

    return "\n".join(nx.generate_gexf(_xml_network(graph))).encode()


def cytoscape(graph: Graph) -> bytes:
    """The graph as Cytoscape JSON."""
    import networkx as nx

    data = nx.cytoscape_data(_network(graph))
    return (json.dumps(data, allow_nan=False, indent=1) + "\n").encode()


def from_networkx(network: networkx.Graph, library: str | None = None) -> Graph:
    """Make a graph of an undirected networkx graph; nodes become text.

    Edges may have the attributes of a `Link`; a ``weight`` stands in for size and sign.

    >>> import networkx as nx
    >>> graph = from_networkx(nx.Graph([("a", "b", {"weight": -0.5})]))
    >>> graph, graph.links[0].weight, graph.links[0].sign
    (Graph(2 columns, 1 edge: a -- b), 0.5, -1)
    """
    if network.is_directed():
        raise SettingError("the network is directed; give network.to_undirected().")
    return graph_of(network, network.edges(data=True), library)


def to_igraph(graph: Graph) -> Any:
    """Return an igraph graph: names of nodes in ``name``, weights in ``weight``."""
    try:
        import igraph
    except ModuleNotFoundError as error:
        raise MissingExtra("an igraph graph needs igraph: pip install igraph") from error
    edges = plain_numbers(graph)
    network = igraph.Graph(n=len(graph.names))
    network.vs["name"] = list(graph.names)
    network.add_edges([(link.source, link.target) for link in graph.links])
    for key in edges[0][1] if edges else ():
        network.es[key] = [numbers[key] for _, numbers in edges]
    network.es["weight"] = [link.weight for link in graph.links]
    return network


def from_igraph(network: Any, library: str | None = None) -> Graph:
    """Make a graph of an undirected igraph graph; nodes without names are 0, 1, ..."""
    if network.is_directed():
        raise SettingError("the network is directed; give network.as_undirected().")
    named = "name" in network.vs.attributes()
    names = network.vs["name"] if named else range(network.vcount())
    edges = ((names[e.source], names[e.target], e.attributes()) for e in network.es)
    return graph_of(names, edges, library)


def _network(graph: Graph) -> networkx.Graph:
    plain_numbers(graph)  # refuses what is not finite
    return graph.to_networkx()


def _xml_network(graph: Graph) -> networkx.Graph:
    import networkx as nx

    if len(set(map(_xml_safe, graph.names))) < len(graph.names):
        raise SettingError("two names differ only in characters that XML cannot hold; rename one.")
    network = nx.relabel_nodes(_network(graph), _xml_safe)
    for _, _, numbers in network.edges(data=True):
        numbers.update({k: _xml_safe(v) for k, v in numbers.items() if isinstance(v, str)})
    return network


def _xml_safe(text: str) -> str:
    r"""Characters that XML cannot hold written as Python writes them, as \x1b.

    >>> print(_xml_safe("a & b\x1b"))
    a & b\x1b
    """
    return _FORBIDDEN.sub(lambda match: ascii(match[0])[1:-1], text)


_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
