import csv
import io

import numpy as np
import pandas as pd
import polars as pl
import pytest

from isinglass.errors import SettingError
from isinglass.exports import edges_csv, from_frame, nodes_csv, weights, weights_csv
from isinglass.graph import Graph, Link


def read_rows(graph: Graph) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(edges_csv(graph).decode(), newline="")))


def test_csv_is_the_frame(small):
    read = pl.read_csv(edges_csv(small), schema=small.to_frame().schema)
    read = read.with_columns(pl.col("tier").fill_null(""))  # an empty cell is both
    assert read.equals(small.to_frame())


def test_csv_without_edges_has_a_header():
    text = edges_csv(Graph(("a", "b"), ())).decode()
    assert text == (
        "source,target,strength,relative_strength,sign,coupling,log_odds,source_state,target_state,"
        "evidence,entry_evidence,tier,selected_by,unbounded,form,step_log_odds\n"
    )


def test_csv_keeps_every_name(odd):
    rows = read_rows(odd)
    assert [(row["source"], row["target"]) for row in rows] == odd.edges
    assert [row["selected_by"] for row in rows] == [link.selected_by for link in odd]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_come_back(small, library):
    again = from_frame(small.to_frame(library), small.names)
    assert again == small
    assert again.links == small.links
    assert again.library == library


@pytest.mark.parametrize("read", [pd.read_csv, pl.read_csv])
def test_csv_comes_back(small, read):
    again = from_frame(read(io.BytesIO(edges_csv(small))), small.names)
    assert again.links == small.links


def test_names_of_the_edges_alone():
    edges = pd.DataFrame({"source": ["b", "a"], "target": ["a", "c"], "weight": [-0.5, 2.0]})
    graph = from_frame(edges)
    assert graph.names == ("b", "a", "c")
    assert [(link.size, link.sign) for link in graph] == [(0.5, -1), (2.0, 1)]


def test_missing_values_of_pandas():
    edges = pd.DataFrame({"source": ["a"], "target": ["b"], "coupling": [pd.NA], "sign": [np.nan]})
    assert from_frame(edges).links[0].coupling is None
    assert from_frame(edges).links[0].sign == 0


def test_tables_that_are_no_edges():
    with pytest.raises(SettingError, match="data frame"):
        from_frame([1, 2])
    with pytest.raises(SettingError, match="'source' and 'target'"):
        from_frame(pl.DataFrame({"a": [1]}))
    with pytest.raises(SettingError, match="which is not a node"):
        from_frame(pl.DataFrame({"source": ["a"], "target": ["b"]}), ["a"])


def test_weights(small, odd):
    matrix = weights(small)
    assert np.array_equal(matrix, matrix.T)
    assert [matrix[i, j] for i, j in [(0, 1), (0, 2), (1, 2), (0, 3)]] == [0.9, -0.1, 0.3, 0.0]
    for graph in (small, odd):
        head, *rows = csv.reader(io.StringIO(weights_csv(graph).decode(), newline=""))
        assert head[1:] == [row[0] for row in rows] == list(graph.names)
        assert np.array_equal(np.array([row[1:] for row in rows], dtype=float), weights(graph))


FORMULAS = ["=1+1", "+cmd", "-2", "@SUM(A1)", "\tx", "\rx", "'=1", "''=1", "'quoted'", "a=b", "'"]


def formula_graph() -> Graph:
    """Every name linked to the next; each edge was chosen by its first end."""
    links = tuple(
        Link(at, at + 1, 0.5, 1, None, None, 9.0, name, False, "firm")
        for at, name in enumerate(FORMULAS[:-1])
    )
    return Graph(tuple(FORMULAS), links)


def test_names_are_no_formulas_in_a_spreadsheet():
    rows = read_rows(formula_graph())
    cells = [row[key] for row in rows for key in ("source", "target", "selected_by")]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert rows[0]["source"] == "'=1+1"
    assert rows[-2]["target"] == "a=b"


@pytest.mark.parametrize("known", [False, True])
def test_names_come_back_as_they_were(known):
    graph = formula_graph()
    read = pd.read_csv(io.BytesIO(edges_csv(graph)), dtype=str, keep_default_na=False)
    names = graph.names if known else None
    again = from_frame(read[["source", "target", "selected_by"]], names)
    assert again.names == graph.names
    assert again.edges == graph.edges
    assert [link.selected_by for link in again] == [link.selected_by for link in graph]


def test_nodes_are_harmless_too():
    nodes = pl.DataFrame({"name": FORMULAS, "degree": [-1] * len(FORMULAS)})
    read = pl.read_csv(nodes_csv(nodes))
    assert not [name for name in read["name"] if name[0] in "=+-@\t\r"]
    assert set(read["degree"]) == {-1}
