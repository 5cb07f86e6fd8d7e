"""A suppressed summary cannot be solved for the small groups it hides."""

import json

import numpy as np
import polars as pl
import pytest

from isinglass import GreedyGraph, simulate, summarise
from isinglass.errors import SettingError
from isinglass.model import FitRecord
from isinglass.report import to_html, to_json, to_markdown
from isinglass.selection import Auto, LookBelow

LEAST = 5


@pytest.fixture
def est():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 400)
    b = np.where(rng.random(400) < 0.8, a, 1 - a)
    rare = (np.arange(400) < 3).astype(int)
    three = np.where(np.arange(400) < 4, "odd", np.where(b == 1, "x", "y"))
    return GreedyGraph(floor=1e-3).fit(pl.DataFrame({"a": a, "b": b, "rare": rare, "three": three}))


def published(counts):
    """Everything that is published of two columns with these rows in each combination."""
    seen = np.argwhere(counts > 0)
    rows = [[f"a{i}", f"b{j}"] for i, j in seen]
    weights = counts[tuple(seen.T)].astype(float)
    est = GreedyGraph(LookBelow(Auto())).fit(np.array(rows), sample_weight=weights)
    return summarise(est, suppress=LEAST)


def in_bands(counts, summary):
    """Whether a table has the margins that are published, as bands."""
    n = counts.sum()
    for axis, node in ((1, summary["nodes"][0]), (0, summary["nodes"][1])):
        for count, (low, high) in zip(counts.sum(axis), node["shares"], strict=True):
            if not (low * n - 1e-9 <= count and (high == 1 or count < high * n - 1e-9)):
                return False
    return bool((counts.sum(0) > 0).all() and (counts.sum(1) > 0).all())


def others(counts, cell, value, summary, rng, tries=400):
    """Tables with the published margins and with that value in a cell, in no order."""
    cells = [other for other in np.ndindex(counts.shape) if other != cell]
    seen = set()
    for _ in range(tries):
        table = counts.copy()
        table[cell] = value
        table[cells[rng.integers(len(cells))]] -= value - counts[cell]
        for _ in range(rng.integers(0, 4)):
            i, j = rng.choice(len(cells), 2, replace=False)
            moved = int(rng.integers(1, 5))
            table[cells[i]] += moved
            table[cells[j]] -= moved
        if (table >= 0).all() and in_bands(table, summary) and table.tobytes() not in seen:
            seen.add(table.tobytes())
            yield table


def hidden_values(counts, cell, rng):
    """Values of a cell for which some table has everything published in common with this one."""
    summary = published(counts)
    return [
        value
        for value in range(LEAST)
        if any(
            to_json(published(table)) == to_json(summary)
            for table in others(counts, cell, value, summary, rng)
        )
    ]


TABLES = [
    [[28, 2], [3, 27]],
    [[41, 5], [4, 10]],
    [[0, 30], [30, 0]],
    [[76, 31], [9, 4]],  # no link
    [[197, 4], [199, 0]],  # four rows alone make a link
    [[190, 3], [20, 187]],
    [[33, 74, 47], [114, 1, 131]],
    [[69, 0, 4], [19, 98, 110]],
    [[57, 1, 5], [11, 15, 31]],
    [[2, 92, 8], [14, 147, 137]],
]


@pytest.mark.parametrize("counts", TABLES, ids=str)
def test_what_is_published_fits_every_value_of_a_hidden_cell(counts):
    counts, rng = np.array(counts), np.random.default_rng(0)
    for cell in map(tuple, np.argwhere(counts < LEAST)):
        assert hidden_values(counts, cell, rng) == list(range(LEAST))


def test_a_link_that_holds_whatever_is_hidden_is_shown():
    (edge,) = published(np.array([[190, 3], [20, 187]]))["edges"]
    assert edge == {"source": "x0", "target": "x1", "strength": None, "sign": None}
    assert published(np.array([[197, 4], [199, 0]]))["edges"] == []
    (exact,) = published(np.array([[190, 9], [20, 187]]))["edges"]
    assert exact["strength"] == round(exact["strength"], 1)


def test_nothing_is_shown_that_is_not_listed(est):
    summary = summarise(est, suppress=LEAST)
    assert set(summary) == {
        *("title", "rows", "columns", "rule", "selector", "edges", "nodes", "diagnostics"),
        *("settings", "version", "suppress", "texts", "filled", "groups"),
    }
    assert {key for edge in summary["edges"] for key in edge} == {
        *("source", "target", "strength", "sign"),
    }
    assert {key for node in summary["nodes"] for key in node} == {
        *("name", "label", "states", "ordered", "shares", "degree"),
    }
    assert summarise(est, suppress=LEAST, paths=False) == summary
    assert json.loads(to_json(summary)) == summary


def test_no_face_holds_an_exact_number(est):
    summary = summarise(est, suppress=LEAST)
    exact = summarise(est)
    numbers = [edge[key] for edge in exact["edges"] for key in ("strength", "evidence", "coupling")]
    numbers += [step["gain"] for path in exact["paths"] for step in path["steps"]]
    numbers += [exact["threshold"], exact["fingerprint"], *(397, 396)]
    for face in (to_html, to_json, to_markdown):
        text = face(summary).partition("sha256")[0]
        data = text.partition('id="data">')[2].partition("</script>")[0] or text
        for number in numbers:
            assert number is None or str(number)[:6] not in data
    assert "seen once or twice" not in to_json(summary)


def test_labels_of_rare_states_are_hidden(est):
    nodes = {node["name"]: node for node in summarise(est, suppress=LEAST)["nodes"]}
    assert nodes["rare"]["states"] == [0, "(hidden)"]
    assert nodes["rare"]["shares"] == [[0.95, 1.0], [0.0, 0.05]]
    assert "odd" not in nodes["three"]["states"]
    assert nodes["a"]["states"] == [0, 1]
    assert summarise(est, suppress=LEAST)["texts"]["lead"].startswith("At least ")


@pytest.mark.parametrize("n", [12, 30, 100, 1000, 10_000])
def test_every_band_is_wider_than_what_is_hidden(n):
    x = simulate.ising(simulate.chain(3)).sample(n, seed=1)
    for node in summarise(GreedyGraph().fit(x), suppress=LEAST)["nodes"]:
        assert all((high - low) * n >= min(2 * LEAST, n) - 1e-9 for low, high in node["shares"])


def test_the_order_of_links_says_nothing(est):
    x = simulate.ising(simulate.grid(3, 3), coupling=0.5, seed=1).sample(2000, seed=1)
    edges = summarise(GreedyGraph().fit(x), suppress=LEAST)["edges"]
    keys = [(-edge["strength"], edge["source"], edge["target"]) for edge in edges]
    assert keys == sorted(keys)


def test_without_counts_it_is_refused(est, tmp_path):
    path = tmp_path / "fit.json"
    est.record().save(path)
    document = json.loads(path.read_text())
    document["fit"]["tally"] = None
    path.write_text(json.dumps(document))
    record = FitRecord.load(path)
    assert summarise(record)["nodes"][0]["counts"] is None
    with pytest.raises(SettingError, match="small groups cannot be hidden"):
        summarise(record, suppress=LEAST)
