"""A graph as the content of a file."""

from __future__ import annotations

import csv
import io
import re

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

    network = nx.relabel_nodes(graph.to_networkx(), _xml_safe)
    for _, _, numbers in network.edges(data=True):
        numbers["selected_by"] = _xml_safe(numbers["selected_by"])
    return "\n".join(nx.generate_graphml(network)).encode()


def _xml_safe(text: str) -> str:
    r"""Characters that XML cannot hold written as Python writes them, as \x1b.

    >>> print(_xml_safe("a & b\x1b"))
    a & b\x1b
    """
    return _FORBIDDEN.sub(lambda match: ascii(match[0])[1:-1], text)


_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
