"""Graphs as tables: one row per edge, or one row per column."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from isinglass.errors import SettingError
from isinglass.exports.links import graph_of, plain_numbers
from isinglass.graph import NUMBERS, Graph


def edges_csv(graph: Graph, labels: Mapping[str, str] | None = None) -> bytes:
    """The edges as CSV, one row per edge, in column order; names as `harmless` writes them.

    Labels of columns, if there are any, stand in two more columns at the end.
    """
    head, rows = edge_rows(graph, labels)
    return as_csv(head, map(harmless, rows))


def edge_rows(
    graph: Graph, labels: Mapping[str, str] | None = None
) -> tuple[list[str], Iterator[list[Any]]]:
    """The heads of a table of edges, and its rows, in column order."""
    more = ("source_label", "target_label") if labels else ()
    rows = (
        [*ends, *numbers.values(), *((labels or {}).get(end) for end in ends if more)]
        for ends, numbers in plain_numbers(graph)
    )
    return ["source", "target", *NUMBERS, *more], rows


def nodes_csv(nodes: Any, labels: Mapping[str, str] | None = None) -> bytes:
    """A data frame of columns and their measures as CSV, one row per column.

    Labels of columns, if there are any, stand beside the names.
    """
    frame = nw.from_native(nodes, eager_only=True)
    if not labels:
        return as_csv(frame.columns, map(harmless, frame.rows()))
    rows = ([row[0], labels.get(row[0]), *row[1:]] for row in frame.rows())
    return as_csv([frame.columns[0], "label", *frame.columns[1:]], map(harmless, rows))


def harmless(row: Iterable[Any]) -> list[Any]:
    """Cells that a spreadsheet does not take for formulas: those get an apostrophe in front.

    >>> harmless(["=1+1", "age", "'=1", -0.5, None])
    ["'=1+1", 'age', "''=1", -0.5, '']
    """

    def made_harmless(cell: Any) -> Any:
        formula = isinstance(cell, str) and _FORMULA.match(cell)
        return f"'{cell}" if formula else "" if cell is None else cell

    return [made_harmless(cell) for cell in row]


def as_named(cell: Any) -> str:
    """A name as it was before `harmless`.

    >>> as_named("'=1+1"), as_named("'tis")
    ('=1+1', "'tis")
    """
    name = str(cell)
    return name[1:] if name.startswith("'") and _FORMULA.match(name) else name


#: What a spreadsheet takes for a formula, and what only looks like a cell that was made harmless.
_FORMULA = re.compile("'*[=+@\\-\t\r\n]")


def from_frame(edges: Any, names: Iterable[str] | None = None) -> Graph:
    """Make a graph of a data frame of edges, as `Graph.to_frame` gives; pandas, polars, pyarrow.

    Columns ``source`` and ``target`` are needed, the numbers of a `Link` or a ``weight`` are
    taken if they are there. Without `names`, nodes come as the edges name them. The apostrophe
    that `edges_csv` puts before a name such as "=1+1" is taken away again, unless all ends of the
    edges are among `names` as they are.

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
    known = None if names is None else list(names)
    rows = frame.rows(named=True)
    if known is None or not set(_ends(rows)) <= set(known):
        rows = [_named(row) for row in rows]
    known = list(dict.fromkeys(_ends(rows))) if known is None else known
    library = frame.implementation.value
    return graph_of(known, ((row["source"], row["target"], row) for row in rows), library)


def _ends(rows: Iterable[dict[str, Any]]) -> list[str]:
    return [str(row[end]) for row in rows for end in ("source", "target")]


def _named(row: dict[str, Any]) -> dict[str, Any]:
    """An edge with names as they were before `harmless`."""
    keys = ("source", "target", "selected_by")
    return row | {key: as_named(row[key]) for key in keys if isinstance(row.get(key), str)}


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
    rows = ([name, *row] for name, row in zip(graph.names, weights(graph).tolist(), strict=True))
    return as_csv(["", *graph.names], rows)


def as_csv(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """Rows as CSV in UTF-8; None is an empty cell."""
    lines = _Lines()
    writer = csv.writer(lines, lineterminator="\r\n")
    writer.writerow(head)
    writer.writerows(rows)
    return "".join(lines).encode()


class _Lines(list[str]):
    """Lines of CSV that end as all of ours do; both kinds of line break in a cell are quoted."""

    def write(self, line: str) -> None:
        self.append(line.removesuffix("\r\n") + "\n")
