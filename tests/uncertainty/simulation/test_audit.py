"""`audit`: tables like the one at hand, and the whole analysis again."""

import numpy as np
import polars as pl
import pytest

import isinglass as ig
from isinglass.errors import SettingError
from isinglass.repeating import RECORDS
from isinglass.selection import FalseEdges
from isinglass.uncertainty.simulation.audit import Again, _fitted
from isinglass.uncertainty.simulation.denser import denser_model, levels_for

CHAIN = ig.simulate.ising(ig.simulate.chain(8), coupling=0.4, seed=0)


def dense(table, **settings):
    return _fitted(ig.GreedyGraph(**settings), table)


def test_denser_than_the_graph_and_probabilities_by_band():
    field = ig.simulate.ising(ig.simulate.random_regular(20, 5, 0), coupling=(0.05, 0.3), seed=0)
    fitted = dense(field.sample(400, seed=0))
    model = denser_model(fitted)
    firm = {(link.source, link.target) for link in fitted.graph_}
    assert firm < set(model.probabilities)
    bands, above, before = [], 0.0, set()
    for level in levels_for(20):
        graph = fitted.at(FalseEdges(level).threshold(400, 20))
        edges = {(link.source, link.target) for link in graph}
        bands.append((edges - before, level - above))
        above, before = level, before | edges
    for new, noise in bands:
        expected = 1 - noise / len(new)
        for pair in new & set(model.probabilities):
            assert model.probabilities[pair] == pytest.approx(expected)
        assert expected > 0 or not new & set(model.probabilities)


def test_links_of_a_drawn_table_are_known_from_its_seed():
    model = denser_model(dense(CHAIN.sample(300, seed=0)))
    codes, links = model.sample(50, seed=7)
    assert codes.shape == (50, 8)
    assert links == model.links_of(7)
    assert set(links) <= set(model.field.couplings)


def test_counts_by_hand(tmp_path):
    """Draw the same tables again, learn them, count."""
    from isinglass.experiments.plan import hashed
    from isinglass.uncertainty.simulation.audit import _key

    table = CHAIN.sample(250, seed=0)
    result = ig.audit(ig.GreedyGraph(), table, 5, n_jobs=1, seed=3)
    fitted = dense(table)
    model = denser_model(fitted)
    false, found = {0.05: [], 1: []}, {0.05: [], 1: []}
    for rep in range(5):
        codes, links = model.sample(250, hashed(f"{_key(fitted, 3)}/n=250/rep={rep}"))
        for level in (0.05, 1):
            graph = ig.GreedyGraph(FalseEdges(level)).fit(codes).graph_
            got = {(link.source, link.target) for link in graph}
            false[level].append(len(got - set(links)))
            found[level].append(len(got & set(links)) / len(links))
    for name, level in (("firm", 0.05), ("tentative", 1)):
        assert result.tier(name).false == np.mean(false[level])
        assert result.tier(name).found_again == pytest.approx(np.mean(found[level]))
    links = sum(size.links for size in result.detection)
    hits = sum(size.links * size.found["firm"] for size in result.detection)
    assert 0.5 < hits / links <= 1


def test_what_is_done_is_not_done_again(tmp_path):
    table = CHAIN.sample(200, seed=0)
    first = ig.audit(ig.GreedyGraph(), table, 4, path=tmp_path, n_jobs=1)
    lines = (tmp_path / RECORDS).read_bytes()
    assert ig.audit(ig.GreedyGraph(), table, 4, path=tmp_path, n_jobs=1).tiers == first.tiers
    assert (tmp_path / RECORDS).read_bytes() == lines
    ig.audit(ig.GreedyGraph(nu=0.4), table, 4, path=tmp_path, n_jobs=1)  # another analysis
    assert (tmp_path / RECORDS).read_bytes().count(b"\n") == 1 + 8


def test_counts_are_rows_and_weights_are_kept():
    table = CHAIN.sample(200, seed=0)
    counts = np.random.default_rng(0).integers(0, 4, 200)
    again = Again.of(_fitted(ig.GreedyGraph(), table, sample_weight=counts))
    assert again.rows == counts.sum()
    assert again.weights is None
    shares = counts + 0.5
    kish = _fitted(ig.GreedyGraph(n_eff="kish"), table, sample_weight=shares)
    again = Again.of(kish)
    assert again.rows == 200
    np.testing.assert_allclose(again.weights, kish.table_.weights)
    seen = again.estimator.fit(again.table(table), sample_weight=again.weights)
    assert seen.table_.n == pytest.approx(kish.table_.n)
    assert seen.threshold_ == pytest.approx(kish.threshold_)


def test_missing_values_stay_where_they_are():
    table = CHAIN.sample(300, seed=0).astype(float)
    table[np.random.default_rng(0).random(table.shape) < 0.1] = np.nan
    fitted = dense(table, missing="available")
    again = Again.of(fitted)
    codes, _ = denser_model(fitted).sample(300, seed=0)
    np.testing.assert_array_equal(np.isnan(again.table(codes)), np.isnan(table))
    result = ig.audit(ig.GreedyGraph(missing="available"), table, 3, n_jobs=1)
    assert result.tables == 3
    assert result.failed == 0


def test_names_are_kept_and_a_third_graph_if_the_threshold_is_another():
    names = [f"item {j}" for j in range(8)]
    table = pl.DataFrame(CHAIN.sample(300, seed=0), schema=names)
    result = ig.audit(ig.GreedyGraph("paper"), table, 3, n_jobs=1)
    assert [tier.name for tier in result.tiers] == ["firm", "tentative", "chosen"]
    assert list(result.detection_frame().columns)[2:] == ["firm", "tentative", "chosen"]
    assert "like this one" in result.sentence
    estimator = ig.GreedyGraph("paper").fit(table)
    assert result.tier("chosen").edges == len(estimator.graph_)


def test_tables_of_several_states_and_a_constant_column():
    field = ig.simulate.potts(ig.simulate.chain(5), [2, 3, 4, 2, 3], coupling=0.6, seed=0)
    table = np.column_stack([field.sample(300, seed=0), np.zeros(300, int)])
    result = ig.audit(ig.GreedyGraph(), table, 3, n_jobs=1)
    assert result.tier("firm").found_again > 0.5


@pytest.mark.long
def test_false_edges_on_empty_tables_are_known():
    truth, said = [], []
    for seed in range(300):
        table = np.random.default_rng(seed).integers(0, 2, (200, 15))
        truth.append(len(ig.GreedyGraph(FalseEdges(1)).fit(table).graph_))
        if seed < 10:
            said.append(ig.audit(ig.GreedyGraph(), table, 30, n_jobs=1).tier("tentative").false)
    assert 1 / 1.5 < np.mean(said) / np.mean(truth) < 1.5


def test_bad_settings():
    table = CHAIN.sample(50, seed=0)
    with pytest.raises(SettingError, match="n must be"):
        ig.audit(ig.GreedyGraph(), table, 0)
    with pytest.raises(SettingError, match="not a ChowLiuTree"):
        ig.audit(ig.ChowLiuTree(), table)
    with pytest.raises(SettingError, match="no tier"):
        ig.audit(ig.GreedyGraph(), table, 2, n_jobs=1).tier("weak")


def test_required_links_count_neither_as_false_nor_as_found():
    rows = np.random.default_rng(0).integers(0, 2, (300, 4))
    result = ig.audit(ig.GreedyGraph(require=[("x0", "x1")]), rows, n=20, n_jobs=1)
    assert result.tier("firm").edges == 1
    assert result.tier("firm").false <= 0.1
    assert not any(size.found["firm"] == 1 and size.links == 20 for size in result.detection)
