"""Rows that belong together keep their labels, and are drawn together."""

from collections import Counter, defaultdict

import numpy as np
import pandas as pd
import polars as pl
import pytest

import isinglass as ig
from isinglass.errors import BadClusters
from isinglass.table import Drawer, encode

X = [[0, 1], [1, 1], [0, 0], [1, 0]]


def simulated(seed: int, rows: int = 60, clusters: int = 17):
    """A small table with many equal rows, its clusters, and counts."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, [2, 3, 2], (rows, 3))
    labels = rng.integers(0, clusters, rows)
    return codes, np.append(labels[:-2], [0, 1]), rng.integers(1, 4, rows).astype(float)


@pytest.mark.parametrize(
    "labels",
    [
        ["b", "a", "b", "c"],
        ("b", "a", "b", "c"),
        [2.5, "a", 2.5, True],
        np.array([9, 3, 9, 5]),
        np.array([9.0, -3.0, 9.0, 1e300]),
        pd.Series(["b", "a", "b", "c"], dtype="category"),
        pl.Series(["b", "a", "b", "c"]),
        np.array(["2020-01-01", "2021-01-01", "2020-01-01", "2022-01-01"], dtype="M8[D]"),
    ],
)
def test_clusters_are_numbered_as_they_appear(labels):
    table = encode(X, clusters=labels)
    np.testing.assert_array_equal(table.clusters, [0, 1, 0, 2])
    np.testing.assert_array_equal(table.codes, X)


def test_a_column_of_labels_is_no_column_of_the_table(make, library):
    cells = {"a": [0, 1, 0, 1], "school": ["x", "y", "x", "y"], "w": [1, 2, 0, 3]}
    names = ("school", "w") if library else ("x1", "x2")
    table = encode(make(cells), names[1], names[0])
    assert table.names == ("a" if library else "x0",)
    np.testing.assert_array_equal(table.clusters, [0, 1, 1])
    np.testing.assert_array_equal(table.weights, [1, 2, 3])


def test_dropped_rows_need_no_label():
    cells = [[0, 1], [1, None], [0, 0], [1, 0], [1, 1]]
    labels = ["a", None, None, "b", "a"]
    table = encode(cells, [1, 1, 0, 1, 1], labels, missing="drop")
    np.testing.assert_array_equal(table.clusters, [0, 1, 0])
    np.testing.assert_array_equal(table.kept, [0, 3, 4])


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (["a", None, "b", ""], r"no label \(NaN, None or empty\) in 2 of 4 rows"),
        ([1.0, np.nan, 2.0, 2.0], "in 1 of 4 rows"),
        (np.ma.array([1, 2, 1, 2], mask=[0, 0, 0, 1]), "in 1 of 4 rows"),
        (["a", "b"], r"has shape \(2,\), but the table has 4 rows"),
        (5, r"has shape \(1,\)"),
        (np.zeros((4, 2)), r"has shape \(4, 2\)"),
        ("school", "names 'school', which is not a column; the columns are 'x0', 'x1'"),
        ([1, 1, 1, 1], "all rows are in one cluster"),
        ([[1], [2, 3], [1], [2]], "must be labels"),
        ([{}, {}, {}, {}], "must be labels"),
    ],
)
def test_refused(labels, says):
    with pytest.raises(BadClusters, match=says) as error:
        encode(X, clusters=labels)
    assert "\n" not in str(error.value)


def test_weights_are_no_labels():
    frame = pd.DataFrame({"a": [0, 1], "w": [1, 2]})
    with pytest.raises(BadClusters, match="names 'w', which is not a column"):
        encode(frame, "w", "w")


def test_every_row_a_cluster_of_its_own_is_no_clusters():
    codes, _, counts = simulated(0)
    alone = encode(codes, clusters=np.arange(60))
    assert alone.clusters is None
    assert alone.fingerprint == encode(codes).fingerprint
    assert "treated as independent" in next(n.done for n in alone.notes if n.what == "clusters")
    # But copies of a row are in one cluster.
    counted = encode(codes, counts, np.arange(60))
    np.testing.assert_array_equal(counted.clusters, np.arange(60))


def test_what_is_said_of_clusters():
    codes, labels, counts = simulated(1)
    (note,) = (note for note in encode(codes, counts, labels).notes if note.what == "clusters")
    sizes = np.bincount(labels, counts)
    sizes = sizes[sizes > 0]
    assert note.done.startswith(
        f"{sizes.sum():g} rows in {len(sizes)} clusters of {sizes.min():g} to {sizes.max():g} rows;"
    )


def test_parts_of_a_table_keep_their_clusters():
    table = encode([*X, [2, 1]], clusters=[4, 3, 4, 2, 3])
    for rows in ([False, True, False, True, True], [True, False, True, True, True]):
        part, _ = table.part(np.array(rows))
        given = np.array([4, 3, 4, 2, 3])[rows]
        same = part.clusters[:, None] == part.clusters
        np.testing.assert_array_equal(same, given[:, None] == given)
        assert set(part.clusters) == set(range(len(set(given))))


def test_clusters_are_part_of_the_fingerprint():
    codes, labels, _ = simulated(2)
    one = encode(codes, clusters=labels)
    assert one.fingerprint != encode(codes).fingerprint
    assert one.fingerprint == encode(codes, clusters=[f"school {k}" for k in labels]).fingerprint
    assert one.fingerprint != encode(codes, clusters=np.roll(labels, 1)).fingerprint


def contents(codes, weights, clusters) -> Counter:
    """The clusters by what is in them: each row, and how often it is there."""
    found = defaultdict(Counter)
    for row, weight, cluster in zip(codes.tolist(), weights, clusters, strict=True):
        found[cluster][tuple(row)] += weight
    return Counter(
        frozenset((row, round(weight, 9)) for row, weight in own.items()) for own in found.values()
    )


def drawn_contents(drawer, counts) -> Counter:
    drawn, kept = drawer.table_of(counts)
    labels = [states[column] for states, column in zip(kept, drawn.codes.T, strict=True)]
    return contents(np.stack(labels).T, drawn.weights, drawn.clusters)


@pytest.mark.parametrize("fractional", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_whole_clusters_are_drawn(seed, fractional):
    codes, labels, counts = simulated(seed)
    codes[:, 1] = 0 if seed % 3 == 0 else codes[:, 1]  # a constant column
    weights, n_eff = (counts / 3, "kish") if fractional else (counts, "sum")
    table = encode(codes, weights, labels, n_eff=n_eff)
    drawer, there = Drawer.of(table), contents(table.codes, table.weights, table.clusters)
    assert drawer.size == there.total()
    assert drawer.what == "cluster"
    rng = np.random.default_rng(seed)
    one, other = (drawn_contents(drawer, half) for half in drawer.halves(rng))
    assert one.total() == other.total() == drawer.size // 2
    assert one + other <= there
    assert drawn_contents(drawer, drawer.some(rng, 3)).total() == 3
    folds = [drawn_contents(drawer, fold) for fold in drawer.folds(rng, 4)]
    assert sum(folds, Counter()) == there


def test_draws_see_neither_the_order_of_rows_nor_names_of_clusters_nor_how_copies_are_written():
    codes, labels, counts = simulated(3)
    copied, order = np.repeat(np.arange(60), counts.astype(int)), np.random.default_rng(0)
    mixed = order.permutation(len(copied))
    forms = [
        encode(codes, counts, labels),
        encode(codes[copied][mixed], clusters=[f"school {-k}" for k in labels[copied][mixed]]),
    ]
    for draw in ("halves", "with_replacement"):
        one, other = (getattr(Drawer.of(form), draw)(np.random.default_rng(5)) for form in forms)
        one, other = (part if isinstance(part, tuple) else (part,) for part in (one, other))
        for mine, theirs in zip(one, other, strict=True):
            drawers = [Drawer.of(form) for form in forms]
            assert drawn_contents(drawers[0], mine) == drawn_contents(drawers[1], theirs)


def test_clusters_drawn_again_come_with_all_their_weight():
    codes, labels, counts = simulated(4)
    drawer = Drawer.of(encode(codes, counts, labels))
    drawn = drawer.with_replacement(np.random.default_rng(1))
    times = np.array([drawn[drawer.cluster == k][0] for k in range(drawer.size)])
    assert times.sum() == drawer.size
    assert times.max() > 1
    sizes = np.bincount(drawer.cluster, drawer.weight)
    assert drawer.table_of(drawn)[0].n == times @ sizes


def test_a_fit_takes_clusters_as_it_takes_weights():
    codes, labels, _ = simulated(5, rows=400)
    frame = pl.DataFrame(codes, schema=["a", "b", "c"]).with_columns(school=pl.Series(labels))
    est = ig.GreedyGraph().fit(frame, clusters="school")
    assert est.feature_names_in_.tolist() == ["a", "b", "c"]
    assert est.graph_.names == ("a", "b", "c")
    assert est.score(frame, clusters="school") == est.score(frame.drop("school"))
    assert "clusters" in est.diagnostics_["what"].to_list()
    again = ig.GreedyGraph().fit(frame.drop("school"), clusters=labels)
    assert again.table_.fingerprint == est.table_.fingerprint


def test_a_failed_fit_leaves_the_estimator_as_it_was():
    est = ig.GreedyGraph().fit(np.array(X))
    with pytest.raises(BadClusters):
        est.fit(np.array(X), clusters=[1, 1, 1, 1])
    assert est.table_.clusters is None


@pytest.mark.parametrize("rival", [ig.L1Graph("cv"), ig.ChowLiuTree()])
def test_rivals_take_clusters(rival):
    codes, labels, _ = simulated(6, rows=200)
    frame = pl.DataFrame(codes, schema=["a", "b", "c"]).with_columns(school=pl.Series(labels))
    assert rival.fit(frame, clusters="school").graph_.names == ("a", "b", "c")
    assert len(set(rival.table_.clusters)) == len(set(labels))
