"""Pictures of groups: what is drawn, of two groups and of more, and of none to draw."""

from functools import cache

import numpy as np
import pytest

import isinglass as ig
from isinglass import plots


@cache
def compared(groups: int):
    field = ig.simulate.ising(ig.simulate.chain(5), coupling=0.6, signs="positive")
    weak = {**field.couplings, (1, 2): 0.05 * field.couplings[1, 2]}
    other = ig.MarkovField(field.names, field.states, field.intercepts, weak)
    rows = [field.sample(400, seed=0), *(other.sample(400, seed=k) for k in range(1, groups))]
    labels = np.repeat(np.arange(groups), 400)
    return ig.compare_groups(np.column_stack([np.vstack(rows), labels]), by=5)


@pytest.mark.parametrize("groups", [2, 3])
def test_networks_share_a_layout(groups):
    figure = plots.group_networks(compared(groups))
    titles = [ax.get_title() for ax in figure.axes if ax.get_title()]
    assert titles == [f"{k} (400 rows): 4 links" for k in range(groups)]
    dots = [
        sorted(tuple(line.get_xydata()[0]) for line in ax.lines if line.get_marker() == "o")
        for ax in figure.axes[:groups]
    ]
    assert all(own == dots[0] for own in dots)
    assert plots.png(figure)
    assert plots.svg(figure)


def test_differences_have_intervals_and_colours_where_they_are_sure():
    found = compared(2)
    ax = plots.group_differences(found)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert set(names) == {f"{edge.source} – {edge.target}" for edge in found.edges}
    drawn = [(tuple(line.get_xdata()), line.get_color()) for line in ax.lines]
    dots = {at: color for at, color in drawn if len(at) == 1}
    for edge in found.edges:
        sure = edge.adjusted <= found.level
        assert (dots[(edge.difference,)] != plots.canvas.GREY) == sure
    assert "1 less 0" in ax.get_xlabel()


def test_several_groups_have_a_line_each():
    found = compared(3)
    ax = plots.group_differences(found, most=2)
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    assert len(dots) == 3 * 2
    assert "2 of 4 edges" in ax.get_xlabel()


def test_no_edge():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, 2, (200, 3)), np.arange(200) % 2])
    found = ig.compare_groups(rows, by=3)
    assert "no edge" in plots.group_differences(found).get_title(loc="left")
    assert plots.png(plots.group_networks(found))
