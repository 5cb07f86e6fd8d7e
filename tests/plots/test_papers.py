"""What network papers show: groups, rings, numbers on links, centrality, stability."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest

import isinglass as ig
from isinglass import plots
from isinglass.errors import SettingError
from isinglass.measures import Predictability
from isinglass.plots.canvas import GROUPS
from isinglass.plots.stability import differ
from odd_names import ODD_NAMES


def picture(drawn):
    return plots.png(plots.figure_of(drawn))


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


@pytest.fixture(scope="module")
def est():
    field = ig.simulate.ising(ig.simulate.star(5, 4), coupling=0.6, signs="mixed", seed=1)
    return ig.GreedyGraph().fit(pl.DataFrame(field.sample(600, seed=0), schema=list("abcde")))


def fills(ax):
    return [line.get_markerfacecolor() for line in ax.lines if line.get_marker() == "o"]


def test_groups_have_colours_and_a_legend(small):
    groups = {"first": ["a", "b"], "second": ["c"]}
    ax = plots.network(small, groups=groups)
    assert legend(ax)[-2:] == ["first", "second"]
    assert fills(ax).count(GROUPS[0]) == 2
    assert fills(ax).count(GROUPS[1]) == 1
    with pytest.raises(SettingError, match="no column 'z'"):
        plots.network(small, groups={"first": ["z"]})


def test_more_groups_than_colours(odd):
    groups = {f"group {name}": [name] for name in odd.names}
    assert len(groups) > len(GROUPS)
    assert picture(plots.network(odd, groups=groups))


def arcs(ax):
    """The angle in degrees of each ring's dark part."""
    found = []
    for line in ax.lines:
        vertices = getattr(line.get_marker(), "vertices", None)
        if vertices is not None:
            x, y = vertices[0]
            found.append((90 - np.degrees(np.arctan2(y, x))) % 360 or 360.0)
    return found


def test_rings_are_as_long_as_the_predictability(small):
    rings = {"a": Predictability(0.75, 0.5), "b": 0.25, "c": -0.3, "d": None, "e": 1.0}
    ax = plots.network(small, predictability=rings)
    assert sorted(arcs(ax)) == pytest.approx([90, 180, 360])
    assert "ring: predictability" in legend(ax)
    assert picture(ax) == picture(plots.network(small, predictability=rings))


def test_numbers_on_links(small):
    def written(number):
        texts = [text.get_text() for text in plots.network(small, edge_labels=number).texts]
        return sorted(text for text in texts if text.replace("-", "").replace(".", "").isdigit())

    assert written(False) == []
    assert written(True) == written("strength") == ["0.10", "0.20", "0.30", "0.90", "1.00"]
    assert written("log_odds") == ["-0.40", "1.00", "1.00", "1.00"]  # one link has none
    with pytest.raises(SettingError, match="edge_labels"):
        plots.network(small, edge_labels="weight")


def test_numbers_on_links_do_not_cover_each_other(link):
    """Links that cross in their middles: without care, both numbers would stand there."""
    names = tuple("abcdef")
    pairs = [(i, j) for i in range(6) for j in range(i + 1, 6)]
    ax = plots.network(ig.Graph(names, [link(i, j) for i, j in pairs]), edge_labels=True)
    ax.figure.canvas.draw()
    texts = [text for text in ax.texts if text.get_text()[:1].isdigit()]
    boxes = [text.get_window_extent().padded(-1) for text in texts]
    assert len(boxes) == len(pairs)
    overlaps = [a for a, b in combinations(boxes, 2) if a.overlaps(b)]
    assert not overlaps


def test_several_networks_share_their_layout(small, link):
    fewer = ig.Graph(small.names, small.links[:2])
    figure = plots.networks({"all": small, "fewer": fewer}, groups={"one": ["a"]})
    one, other = figure.axes
    assert [ax.get_title() for ax in (one, other)] == ["all: 5 links", "fewer: 2 links"]
    dots = [[line.get_xydata()[0].tolist() for line in ax.lines] for ax in (one, other)]
    assert dots[0] == dots[1]
    assert "one" in [text.get_text() for text in figure.legends[0].get_texts()]
    assert picture(figure)
    with pytest.raises(SettingError, match="two graphs or more"):
        plots.networks({"all": small})
    with pytest.raises(SettingError, match="other columns"):
        plots.networks({"all": small, "other": ig.Graph(("a",), ())})


def test_centrality_is_that_of_the_measures(est):
    ax = plots.centrality(est)
    table = ig.measures.nodes(est, folds=None).sort("strength", descending=True)
    assert names(ax) == table["name"].to_list()
    marks = [line for line in ax.lines if line.get_marker() in "oD"]
    half = len(marks) // 2
    drawn = [line.get_xdata()[0] for line in marks]
    assert drawn[:half] == pytest.approx(table["strength"].to_list())
    assert drawn[half:] == pytest.approx(table["expected_influence"].to_list())
    assert legend(ax) == ["strength", "expected influence"]
    with pytest.raises(SettingError, match="strength and expected_influence"):
        plots.centrality(est, measures=["betweenness"])


def test_centrality_of_several_and_with_intervals(est):
    found = ig.column_intervals(est, n=6)
    ax = plots.centrality({"whole": found, "again": est}, measures=["strength"])
    assert legend(ax) == ["whole, strength", "again, strength"]
    frame = found.to_frame(0.95).filter(measure="strength")
    drawn = sorted(tuple(line.get_xdata()) for line in ax.lines if line.get_linestyle() == "-")
    intervals = sorted(zip(frame["low"], frame["high"], strict=True))
    assert [one for one in drawn if one != (0.0, 0.0)] == intervals
    assert "95 % intervals from half-samples" in ax.get_xlabel()
    assert picture(ax)


def test_predictability_beside_the_base_rate():
    found = {"good": Predictability(0.9, 0.5), "bad": Predictability(0.4, 0.5)}
    constant = {"constant": Predictability(1.0, 1.0)}
    ax = plots.predictability({**found, **constant}, labels={"good": "sleep"})
    assert names(ax) == ["sleep", "constant", "bad"]
    assert {"0.80", "-0.20"} <= {text.get_text() for text in ax.texts}
    assert picture(ax)


def test_dropped_cases(est):
    dropping = ig.case_dropping(est, n=4, shares=(0.25, 0.75))
    ax = plots.case_dropping(dropping)
    means = [line.get_ydata().tolist() for line in ax.lines[:2]]
    assert means[0] == pytest.approx([values.mean() for values in dropping.edge])
    assert means[1] == pytest.approx([values.mean() for values in dropping.strength])
    assert f"CS {dropping.cs('edge'):.2f}" in legend(ax)[0]
    assert picture(ax)


def test_differences_between_links(est):
    boot = ig.bootstrap(est, n=20)
    ax = plots.edge_differences(boot, most=3)
    assert len(names(ax)) == 3
    couplings = {
        f"{row['source']} – {row['target']}": row["coupling"]
        for row in boot.to_frame().iter_rows(named=True)
    }
    sizes = [couplings[name] for name in names(ax)]
    assert sizes == sorted(sizes, reverse=True)
    assert sorted(map(abs, sizes)) == sorted(map(abs, couplings.values()))[-3:]
    assert picture(ax)


def test_a_difference_is_one_where_the_interval_excludes_zero():
    rng = np.random.default_rng(0)
    draws = np.array([rng.normal(1.0, 0.1, 400), rng.normal(2.0, 0.1, 400), np.ones(400)])
    found = differ(draws, 0.95)
    assert found.tolist() == [[False, True, False], [True, False, True], [False, True, False]]


def test_links_of_unknown_size_are_left_out():
    x = np.random.default_rng(0).integers(0, 2, (100, 2))
    est = ig.GreedyGraph().fit(np.column_stack([x, x[:, 0]]))
    ax = plots.edge_differences(ig.bootstrap(est, n=4))
    assert names(ax) == []
    assert picture(ax)


def test_odd_names(odd):
    assert picture(plots.centrality(odd))
    assert picture(plots.networks(dict.fromkeys(ODD_NAMES[:3], odd)))
