"""Graphs as tables: one row an edge, or one row a column."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from isinglass.errors import SettingError
from isinglass.exports.links import graph_of, plain_numbers
from isinglass.graph import NUMBERS, Graph


def edges_csv(graph: Graph) -> bytes:
    """The edges as CSV, one row an edge, in column order."""
    rows = [
        [*ends, *("" if number is None else number for number in numbers.values())]
        for ends, numbers in plain_numbers(graph)
    ]
    return as_csv(["source", "target", *NUMBERS], rows)


def nodes_csv(nodes: Any) -> bytes:
    """A data frame of columns and their measures as CSV, one row a column."""
    frame = nw.from_native(nodes, eager_only=True)
    return as_csv(frame.columns, (["" if v is None else v for v in row] for row in frame.rows()))


def from_frame(edges: Any, names: Iterable[str] | None = None) -> Graph:
    """Make a graph of a data frame of edges, as `Graph.to_frame` gives; pandas, polars, pyarrow.

    Columns ``source`` and ``target`` are needed, the numbers of a `Link` or a ``weight`` are
    taken if they are there. Without `names`, nodes come as the edges name them.

    >>> import polars as pl
    >>> from_frame(pl.DataFrame({"source": ["a", "b"], "target": ["b", "c"]}))
    Graph(3 columns, 2 edges: a -- b, b -- c)
    """
    try:
        frame = nw.from_native(edges, eager_only=True)
    except TypeError:
        raise SettingError("edges must be a data frame of pandas, polars or pyarrow.") from None
    if not {"source", "target"} <= set(frame.columns):
        raise SettingError("the table of edges needs the columns 'source' and 'target'.")
    rows = frame.rows(named=True)
    if names is None:
        names = dict.fromkeys(str(row[end]) for row in rows for end in ("source", "target"))
    library = frame.implementation.value
    return graph_of(names, ((row["source"], row["target"], row) for row in rows), library)


def weights(graph: Graph) -> NDArray[np.float64]:
    """Return the p x p matrix of strengths, negative where an edge's sign is.

    Where a graph has no strengths, as that of a model alone, the size of an edge takes their place.

    >>> import networkx as nx
    >>> from isinglass.exports import from_networkx
    >>> weights(from_networkx(nx.Graph([("a", "b", {"weight": -0.5})]))).tolist()
    [[0.0, -0.5], [-0.5, 0.0]]
    """
    matrix = np.zeros((len(graph.names), len(graph.names)))
    plain_numbers(graph)  # refuses what is not finite
    for link in graph.links:
        weight = -link.weight if link.sign < 0 else link.weight
        matrix[link.source, link.target] = matrix[link.target, link.source] = weight
    return matrix


def weights_csv(graph: Graph) -> bytes:
    """The matrix of `weights` as CSV, with names above and at the left."""
    return matrix_csv(graph.names, weights(graph))


def matrix_csv(names: Sequence[str], matrix: NDArray[np.float64]) -> bytes:
    """A square matrix as CSV, with names above and at the left."""
    rows = ([name, *row] for name, row in zip(names, matrix.tolist(), strict=True))
    return as_csv(["", *names], rows)


def as_csv(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """Rows as CSV in UTF-8."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return text.getvalue().encode()
