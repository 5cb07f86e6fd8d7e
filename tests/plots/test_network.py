import io
import sys

import numpy as np
import pytest
from matplotlib.image import imread
from sklearn.exceptions import NotFittedError

from isinglass import GreedyGraph, plots
from isinglass.errors import MissingExtra, SettingError
from isinglass.graph import Graph
from isinglass.plots.canvas import MEANING, drawable


def picture(graph: Graph) -> bytes:
    return plots.png(plots.figure_of(plots.network(graph)))


def pixels(content: bytes) -> np.ndarray:
    return imread(io.BytesIO(content), format="png")


def test_is_a_png_with_something_on_it(small):
    image = pixels(picture(small))
    assert image.shape[0] > 100
    assert image.shape[1] > 100
    assert image[..., :3].min() < 0.3


def test_the_same_graph_gives_the_same_bytes(small):
    assert picture(small) == picture(small)


def test_nothing_is_cut_off(small, odd):
    """A white border all around."""
    for graph in (small, odd, Graph(tuple(f"column {j}" for j in range(300)), small.links)):
        image = pixels(picture(graph))[..., :3]
        for edge in (image[0], image[-1], image[:, 0], image[:, -1]):
            assert edge.min() == 1.0


def test_odd_names_are_drawn_without_a_warning(odd):
    assert pixels(picture(odd)).size


def test_drawable_names(odd):
    for name in odd.names:
        shown = drawable(name)
        assert 1 <= len(shown) <= 24
        assert shown.isprintable()
    assert drawable("日本") == "□□"
    assert drawable("a\nb") == "a b"


def test_all_names_are_written(small):
    texts = [text.get_text() for text in plots.network(small).texts]
    assert set("abcdef") < set(texts)
    assert "not linked: g" in texts


def test_an_empty_graph_says_so():
    ax = plots.network(Graph(("a", "b", "c"), ()))
    texts = [text.get_text() for text in ax.texts]
    assert "no link among 3 columns" in texts
    assert "not linked: a, b, c" in texts


def test_the_legend_names_only_the_signs_that_occur(link):
    def legend(*signs: int) -> list[str]:
        links = tuple(link(0, j + 1, sign=sign) for j, sign in enumerate(signs))
        ax = plots.network(Graph(("a", "b", "c", "d"), links))
        return [text.get_text() for text in ax.get_legend().get_texts()]

    assert legend(1) == [MEANING[1]]
    assert legend(0, -1, 1) == [MEANING[s] for s in (1, -1, 0)]


@pytest.mark.parametrize("tiers", [("firm",) * 3, ("firm", "tentative", "firm")])
def test_the_legend_keeps_clear_of_the_unlinked(link, tiers):
    links = tuple(link(0, j + 1, sign=1 - j, tier=tier) for j, tier in enumerate(tiers))
    ax = plots.network(Graph(("a", "b", "c", "d", "alone"), links))
    plots.png(plots.figure_of(ax))
    (listed,) = (text for text in ax.texts if text.get_text() == "not linked: alone")
    assert listed.get_window_extent().y1 <= ax.get_legend().get_window_extent().y0 + 1


def test_tentative_links_are_dashed_and_explained(link):
    links = (link(0, 1, tier="firm"), link(1, 2, tier="tentative"))
    ax = plots.network(Graph(("a", "b", "c"), links))
    assert sorted(patch.get_linestyle() == "-" for patch in ax.patches) == [False, True]
    assert "tentative" in [text.get_text() for text in ax.get_legend().get_texts()]
    alone = plots.network(Graph(("a", "b", "c"), links[1:]))
    assert "tentative" not in [text.get_text() for text in alone.get_legend().get_texts()]


def test_a_link_bends_around_a_third_column(link):
    graph = Graph(("a", "b", "c"), (link(0, 2),))
    at = {"a": (0.0, 0.0), "b": (1.0, 0.0), "c": (2.0, 0.0)}
    bent = plots.network(graph, at=at).patches[0].get_path().vertices
    straight = plots.network(graph, at=at | {"b": (1.0, 1.0)}).patches[0].get_path().vertices
    assert abs(bent[1, 1]) > 0.2
    assert straight[1, 1] == 0


def test_given_axes_and_places_are_used(small):
    figure, ax = plots.new_figure(3, 3)
    at = {name: (float(j), 0.0) for j, name in enumerate(small.names)}
    assert plots.network(small, ax, at=at, labels=False) is ax
    assert not ax.texts
    said = plots.network(small, at=at, labels={small.names[0]: "first of all"}).texts
    assert [text.get_text() for text in said[:2]] == ["first of all", small.names[1]]
    assert pixels(plots.png(figure)).shape[:2] == (360, 360)


def test_without_matplotlib_one_line_says_what_to_do(small, monkeypatch):
    for module in ("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=r"pip install 'isinglass\[plots\]'"):
        plots.network(small)


def test_drawing_keeps_no_global_state(small):
    picture(small)
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or not pyplot.get_fignums()


@pytest.mark.parametrize("name", ["ebic", "cv:3", "stars"])
def test_a_selector_s_curve_is_drawn_with_its_choice(name):
    x = np.random.default_rng(0).integers(0, 2, (80, 4))
    selection = GreedyGraph(name, n_jobs=1).fit(np.column_stack([x, x[:, 0]])).selection_
    ax = plots.selection_curve(selection)
    line, choice = ax.lines[0], ax.lines[1]
    assert line.get_ydata().tolist() == selection.curve[selection.looked_at]
    assert choice.get_xdata()[0] == pytest.approx(selection.threshold)
    assert plots.png(plots.figure_of(ax))


def test_a_rule_has_no_curve():
    x = np.random.default_rng(0).integers(0, 2, (80, 4))
    with pytest.raises(SettingError, match="no curve"):
        plots.selection_curve(GreedyGraph().fit(x).selection_)


@pytest.mark.parametrize("draw", [plots.network, plots.adjacency])
def test_anything_that_has_a_graph_is_drawn(draw):
    rows = np.random.default_rng(0).integers(0, 2, (200, 3))
    rows[:, 1] = rows[:, 0]
    est = GreedyGraph().fit(rows)
    graph = plots.png(plots.figure_of(draw(est.graph_)))
    assert plots.png(plots.figure_of(draw(est))) == graph
    assert plots.png(plots.figure_of(draw(est.record()))) == graph
    draw(est.model_)
    with pytest.raises(SettingError, match="a fitted estimator, a Graph"):
        draw(5)
    with pytest.raises(NotFittedError):
        draw(GreedyGraph())
