"""Intervals, heat maps and success curves."""

import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import isinglass as ig
from isinglass import plots
from isinglass.errors import SettingError
from isinglass.graph import Graph


def picture(ax):
    return plots.png(plots.figure_of(ax))


def names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


@pytest.fixture(scope="module")
def model():
    field = ig.simulate.ising(ig.simulate.chain(4), coupling=0.5, seed=3)
    return ig.with_errors(ig.GreedyGraph().fit(field.sample(800, seed=0)))


def test_intervals_are_those_of_the_model(model):
    ax = plots.intervals(model, level=0.9)
    frame = model.intervals(0.9).sort("log_odds", descending=True)
    lines = [line.get_xdata() for line in ax.lines if len(line.get_xdata()) == 2]
    assert [tuple(line) for line in lines[: len(frame)]] == list(
        zip(frame["low"], frame["high"], strict=True)
    )
    assert names(ax) == [f"{a} – {b}" for a, b in frame.select("source", "target").iter_rows()]
    assert "90 % intervals given this graph" in ax.get_xlabel()
    assert picture(ax) == picture(plots.intervals(model, level=0.9))


def test_only_the_largest_ratios_are_drawn(model):
    ax = plots.intervals(model, most=1)
    largest = max(model.intervals()["log_odds"], key=abs)
    assert [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"] == [largest]
    assert "the largest 1 of 3" in ax.get_xlabel()
    with pytest.raises(SettingError, match="most"):
        plots.intervals(model, most=0)


def test_states_are_named_unless_they_are_yes():
    rng = np.random.default_rng(0)
    ill = rng.random(600) < 0.5
    other = rng.random(600) < 0.2
    table = pl.DataFrame(
        {
            "ill": np.where(ill, "yes", "no"),
            "sex": np.where(ill ^ other, "f", "m"),
            "dose": np.where(ill ^ (rng.random(600) < 0.3), rng.integers(0, 2, 600), 2),
        }
    )
    shown = names(plots.intervals(ig.with_errors(ig.GreedyGraph().fit(table))))
    assert "ill – sex = m" in shown
    assert any(name.startswith("ill – dose = ") for name in shown)


def test_an_unbounded_link_has_an_arrow():
    a, b = np.random.default_rng(0).integers(0, 2, (2, 200))
    est = ig.GreedyGraph().fit(np.column_stack([a, a, b]))
    ax = plots.intervals(ig.with_errors(est))
    assert [line.get_marker() for line in ax.lines][:2] == ["None", ">"]
    assert picture(ax)


def test_intervals_of_odd_names_and_labels(odd):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 300)
    labels = np.array(["$\\frac{", "<b>\n\x1b"])
    columns = (labels[np.where(rng.random(300) < 0.1, 1 - a, a)] for _ in odd.names[:8])
    table = pl.DataFrame(dict(zip(odd.names[:8], columns, strict=True)))
    ax = plots.intervals(ig.with_errors(ig.GreedyGraph().fit(table)))
    assert all(name.isprintable() for name in names(ax))
    assert picture(ax)


def test_a_model_without_errors_or_links():
    with pytest.raises(SettingError, match="with_errors"):
        plots.intervals(ig.simulate.ising(ig.simulate.chain(3)))
    rows = np.random.default_rng(0).integers(0, 2, (50, 3))
    assert picture(plots.intervals(ig.with_errors(ig.GreedyGraph(10.0).fit(rows))))


def test_a_heat_map_has_every_strength_twice(small):
    ax = plots.adjacency(small, order=small.names)
    layers = np.array([image.get_array().filled(np.nan) for image in ax.images])
    assert np.isfinite(layers).sum(axis=0).max() == 1
    values = np.where(np.isfinite(layers).any(axis=0), np.nansum(layers, axis=0), np.nan)
    for edge in small.links:
        expected = edge.strength * (edge.sign or 1)
        assert values[edge.source, edge.target] == values[edge.target, edge.source] == expected
    assert np.isfinite(values).sum() == 2 * len(small)
    assert names(ax) == list(small.names)


def test_a_heat_map_keeps_groups_together(link):
    links = tuple(link(a, b) for a, b in ((0, 2), (0, 4), (1, 3), (1, 5), (2, 4), (3, 5)))
    ax = plots.adjacency(Graph(tuple("abcdefg"), links))
    assert names(ax) == list("acebdfg")
    assert sorted({line.get_ydata()[0] for line in ax.lines[::2]}) == [2.5, 5.5]


def test_links_with_and_without_a_sign_have_their_own_scales(link):
    links = (link(0, 1, sign=1), link(1, 2, sign=0), link(2, 3, sign=-1))
    ax = plots.adjacency(Graph(tuple("abcd"), links))
    bars = [other.get_ylabel() for other in plots.figure_of(ax).axes if other is not ax]
    assert bars == ["strength, states without order", "strength, with the sign"]


def test_heat_maps_of_odd_large_and_empty_graphs(odd, link):
    assert picture(plots.adjacency(odd))
    large = Graph(tuple(f"column {j}" for j in range(200)), (link(0, 199),))
    assert names(plots.adjacency(large)) == []
    assert names(plots.adjacency(odd, labels=False)) == []
    assert picture(plots.adjacency(Graph(("a", "b"), ())))


def test_the_order_names_columns_once(small):
    with pytest.raises(SettingError, match="no column"):
        plots.adjacency(small, order=["nobody"])
    with pytest.raises(SettingError, match="twice"):
        plots.adjacency(small, order=["a", "a"])


POINTS = pl.DataFrame(
    {
        "line": ["greedy"] * 4 + ["mine"] * 4,
        "design": ["chain", "chain", "grid", "grid"] * 2,
        "beta": [2.0, 1.0] * 4,
        "recovered": [0.9, 0.3] * 4,
        "low": [0.8, 0.2] * 4,
        "high": [1.0, 0.4] * 4,
    }
)


@pytest.mark.parametrize("points", [POINTS, POINTS.to_pandas(), POINTS.to_dicts()])
def test_success_curves(points):
    ax = plots.success(points)
    curves = ax.lines[:4]
    assert [line.get_label() for line in curves] == [
        *("greedy, chain", "greedy, grid", "mine, chain", "mine, grid")
    ]
    assert all(line.get_xdata().tolist() == [1.0, 2.0] for line in curves)
    assert all(line.get_ydata().tolist() == [0.3, 0.9] for line in curves)
    assert curves[0].get_color() == curves[1].get_color() != curves[2].get_color()
    assert curves[0].get_marker() != curves[1].get_marker()
    assert len(ax.collections) == 4


def test_points_that_lack_something():
    with pytest.raises(SettingError, match="they lack n"):
        plots.success(POINTS, across="n")
    with pytest.raises(SettingError, match="there are none"):
        plots.success([])


@pytest.mark.parametrize("draw", [plots.adjacency, plots.network])
def test_axes_of_one_s_own_are_returned(draw, small):
    _, ax = plots.new_figure(4, 4)
    assert draw(small, ax) is ax


def test_where_pyplot_is_in_use_it_shows_the_figure():
    code = (
        "import matplotlib; matplotlib.use('svg'); from matplotlib import pyplot;"
        "import isinglass as ig; ax = ig.plots.network(ig.Graph(('a', 'b'), ()));"
        "assert pyplot.gca() is ax"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
