"""The page as a file: what is in it, how large it is, and that it is the same each time."""

import json
import re

import numpy as np
import pytest

from isinglass import GreedyGraph, simulate, summarise
from isinglass.errors import SettingError
from isinglass.report import html as page
from isinglass.report import to_html
from isinglass.selection import Auto, LookBelow
from report.pages import FITS, HOSTILE, binary, first_schema, fitted, hostile


def data_of(html):
    return json.loads(re.search(r'id="data">(.*?)</script>', html, re.DOTALL)[1])


@pytest.mark.parametrize("name", FITS)
def test_the_same_table_gives_the_same_bytes(name):
    make, settings = FITS[name]
    pages = {to_html(summarise(fitted(make(), **settings), title="t")) for _ in range(2)}
    assert len(pages) == 1


def test_nothing_is_asked_of_the_network():
    html = to_html(summarise(fitted(binary())))
    own = html.replace("http://www.w3.org/2000/svg", "").replace('http-equiv="', "")
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\(", own)
    assert "default-src 'none'" in html


def test_hostile_names_stay_in_their_element():
    html = to_html(summarise(fitted(hostile()), title=HOSTILE[0]))
    assert html.count("<script") == html.count("</script>") == 2
    assert "<!--" not in html
    assert tuple(data_of(html)["names"]) == HOSTILE
    assert html.isascii() is False or "\u2028" not in html


def test_size_for_a_hundred_columns():
    field = simulate.ising(simulate.random_regular(100, 4, seed=1), coupling=0.4, seed=1)
    est = GreedyGraph(LookBelow(Auto())).fit(field.sample(2000, seed=1))
    assert len(to_html(summarise(est)).encode()) < 1_000_000


def test_rows_of_each_link_are_in_the_page():
    make, settings = FITS["mixed states, AND"]
    est = fitted(make(), **settings)
    kept = data_of(to_html(summarise(est)))["link_tables"]
    assert list(kept) == [f"{link.source},{link.target}" for link in est.graph_]
    for link in est.graph_:
        table = kept[f"{link.source},{link.target}"]
        codes = est.table_.codes[:, [link.source, link.target]]
        seen = np.zeros(np.shape(table["observed"]))
        np.add.at(seen, tuple(codes.T), 1)
        np.testing.assert_array_equal(table["observed"], seen)
        np.testing.assert_allclose(np.sum(table["expected"], axis=0), seen.sum(axis=0), atol=0.05)


def crowd():
    """Twenty groups of four columns, each linked with all others of its group; and some between."""
    rng = np.random.default_rng(0)
    cause = np.repeat(rng.integers(0, 2, (600, 20)), 4, axis=1)
    return np.where(rng.random((600, 80)) < 0.9, cause, 1 - cause)


def test_groups_are_set_apart_where_links_are_many(monkeypatch):
    monkeypatch.setattr(page, "CROWDED", 20)
    data = data_of(to_html(summarise(GreedyGraph().fit(crowd()))))
    assert data["first"] == page.FIRST
    groups = np.array([node["community"] for node in data["nodes"]])
    at = np.array(data["at"])
    distance = np.linalg.norm(at[:, None] - at[None], axis=2)
    same = groups[:, None] == groups[None]
    assert distance[same].max() < distance[~same].min()
    monkeypatch.setattr(page, "CROWDED", 10**6)
    assert data_of(to_html(summarise(GreedyGraph().fit(crowd()))))["first"] is None


def test_too_many_columns(monkeypatch):
    monkeypatch.setattr(page, "MOST_COLUMNS", 11)
    with pytest.raises(SettingError, match="12 columns are too many for a page"):
        to_html(summarise(fitted(binary())))


def test_scripts_never_set_markup():
    for name in page.SCRIPTS:
        script = page._read(name)
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", script
        )


def test_a_record_of_the_first_schema(tmp_path):
    est = fitted(binary())
    record = first_schema(est, tmp_path / "old.json")
    data = data_of(to_html(summarise(record)))
    assert data["pairs"] is None
    assert [edge["weight"] for edge in data["edges"]] == sorted(
        (link.strength for link in est.graph_), reverse=True
    )
    assert data["values"] == {}
