"""A graph as the content of a file."""

from __future__ import annotations

import csv
import io

from isinglass.graph import NUMBERS, Graph


def edges_csv(graph: Graph) -> bytes:
    """The edges as CSV, one row an edge, in column order."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["source", "target", *NUMBERS])
    for link, ends in zip(graph.links, graph.edges, strict=True):
        numbers = [getattr(link, key) for key in NUMBERS]
        writer.writerow([*ends, *("" if number is None else number for number in numbers)])
    return text.getvalue().encode()


def graphml(graph: Graph) -> bytes:
    """The graph as GraphML, with the numbers of each edge as attributes."""
    import networkx as nx

    network = graph.to_networkx()
    network = nx.relabel_nodes(network, {name: _xml_safe(name) for name in network})
    return "\n".join(nx.generate_graphml(network)).encode()


def _xml_safe(text: str) -> str:
    """Without the control characters that XML cannot hold."""
    return "".join(ch if ch >= " " or ch in "\t\n\r" else "\N{REPLACEMENT CHARACTER}" for ch in text)
