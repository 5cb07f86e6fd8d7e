"""What notebooks show: small, self-contained HTML in which labels are text and nothing else."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import sklearn

import isinglass as ig
from isinglass.graph import Graph
from isinglass.notebook import MOST_LETTERS, MOST_ROWS, small_table
from odd_names import ODD_NAMES

HOSTILE = (
    *ODD_NAMES,
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</td></table><h1>big",
    "\u202eright to left",
    "שלום",
    "&amp;",
    "$\\alpha$",
)
ELEMENTS = {"div", "p", "table", "thead", "tbody", "tr", "th", "td", "bdi"}


class Page(HTMLParser):
    """All elements, attributes and cells; elements that do not close are an error."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.attributes, self.text, self.open = set(), set(), [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def fitted():
    """A chain whose columns and labels have the worst names."""
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 2, 400)]
    for _ in HOSTILE[1:]:
        columns.append(np.where(rng.random(400) < 0.9, columns[-1], 1 - columns[-1]))
    labels = np.array(["<i>no</i>", "<i>yes</i>"])
    table = {name: labels[column] for name, column in zip(HOSTILE, columns, strict=True)}
    return ig.GreedyGraph().fit(pd.DataFrame(table))


def harmless(html):
    page = Page(html)
    assert page.elements <= ELEMENTS
    assert page.attributes <= {"class"}
    assert len(html) < 20_000
    assert all(ch.isprintable() for ch in html)
    return page


def test_a_graph(fitted):
    page = harmless(fitted.graph_._repr_html_())
    assert "<script>alert(1)</script>" in page.text
    assert page.text[0] == f"{len(HOSTILE)} columns, {len(fitted.graph_)} edges"
    assert max(map(len, page.text)) <= MOST_LETTERS


def test_an_estimator(fitted):
    page = harmless(fitted._repr_html_())
    assert f"{len(fitted.graph_)} edges between {len(HOSTILE)} columns" in page.text[0]
    assert f"{fitted.threshold_:.4g}" in page.text[0]
    assert fitted._repr_mimebundle_()["text/html"] == fitted._repr_html_()
    assert fitted._repr_mimebundle_()["text/plain"] == repr(fitted)


def test_an_estimator_that_is_not_fitted():
    page = harmless(ig.GreedyGraph(rule="<b>")._repr_html_())
    assert page.text == ["GreedyGraph(rule='<b>'), not fitted"]


@pytest.mark.parametrize("rival", [ig.ChowLiuTree(), ig.L1Graph()])
def test_a_rival(rival):
    rows = ig.simulate.ising(ig.simulate.chain(4), coupling=0.6, seed=0).sample(300, seed=0)
    assert "edges between 4 columns, from 300 rows" in rival.fit(rows)._repr_html_()


def test_scikit_learn_s_setting_is_followed(fitted):
    with sklearn.config_context(display="text"):
        assert not hasattr(fitted, "_repr_html_")
        assert set(fitted._repr_mimebundle_()) == {"text/plain"}


def test_a_model(fitted):
    page = harmless(fitted.model_._repr_html_())
    assert page.text[0] == repr(fitted.model_)
    assert '"><img src=x onerror=alert(1)>' in page.text


def test_a_model_s_errors_are_shown_with_their_condition():
    rows = ig.simulate.ising(ig.simulate.chain(3), coupling=0.5, signs="positive")
    model = ig.with_errors(ig.GreedyGraph().fit(rows.sample(500, seed=0)))
    page = harmless(model._repr_html_())
    edge = model.edge("x0", "x1")
    assert f"{edge[1, 1]:.2f} ± {edge.error[1, 1]:.2f}" in page.text
    assert "given this graph" in page.text[0]


def test_tables_of_more_states_have_no_single_number():
    model = ig.simulate.potts(ig.simulate.chain(3), 3, seed=0)
    cells = harmless(model._repr_html_()).text
    assert cells.count("3 x 3") == 2


def test_long_tables_are_cut():
    page = Page(small_table("all", ["row"], [[str(at)] for at in range(50)], "rows"))
    assert f"and {50 - MOST_ROWS} more rows" in page.text
    assert str(MOST_ROWS) not in page.text


def test_nothing_to_show():
    assert Page(Graph(("a",), ())._repr_html_()).text == ["1 column, 0 edges"]
