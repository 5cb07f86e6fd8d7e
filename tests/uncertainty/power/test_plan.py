"""`plan`: numbers of rows, and what they are worth on tables that had no say in them."""

from types import SimpleNamespace

import numpy as np
import pytest

import isinglass as ig
from isinglass.errors import SettingError
from isinglass.estimators.folds import held_out_weights
from isinglass.experiments.curves import wilson
from isinglass.model import fit_model
from isinglass.repeating import RECORDS
from isinglass.table import encode
from isinglass.uncertainty.power.plan import _Work
from isinglass.uncertainty.power.planned import Point
from isinglass.uncertainty.power.smallest_link import typical_log_odds
from isinglass.uncertainty.power.supposed import Guess, Pilot, coupling_of, log_odds_of

SMALL = {"columns": 6, "degree": 2, "coupling": 0.3, "graphs": 20, "n_jobs": 1}


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    return ig.plan(**SMALL, path=tmp_path_factory.mktemp("plan"))


def test_answers_reach_the_target(planned):
    assert set(planned.answers) == {0.7, 1.0}
    assert planned.answers[0.7].rows > planned.answers[1.0].rows
    for factor, at in planned.answers.items():
        assert at.factor == factor
        assert at.recovered >= planned.target
        assert f"{at.rows:,} rows" in planned.sentence
    assert "odds ratios of 3.32" in planned.sentence  # exp(4 * 0.3)


def test_the_promise_holds_on_fresh_tables(planned):
    promise = planned.answers[1.0]
    fresh = ig.plan(**SMALL | {"graphs": 60}, rows=[promise.rows], factors=[1.0], seed=1)
    (at,) = fresh.points
    assert at.low <= promise.high
    assert at.high >= promise.low


def test_counts_are_those_of_the_tables(tmp_path):
    """One point, drawn and learned again by hand."""
    setting = SMALL | {"graphs": 6}
    (at,) = ig.plan(**setting, rows=[400], factors=[1], path=tmp_path).points
    from isinglass.experiments.plan import hashed

    guess, exact, found = Guess(6, 2, 0.3), 0, []
    for rep in range(6):
        key = f"plan/{guess.key}/factor=1/seed=0/n=400/rep={rep}"
        seeds = [int(s) for s in np.random.SeedSequence(hashed(key)).generate_state(2)]
        field = guess.field(1.0, seeds[0])
        graph = ig.GreedyGraph().fit(field.sample_codes(400, seed=seeds[1])).graph_
        got = {(link.source, link.target) for link in graph}
        exact += got == set(field.couplings)
        found.append(len(got & set(field.couplings)) / len(field.couplings))
    assert at.recovered == exact / 6
    assert at.found == pytest.approx(np.mean(found))


def test_what_is_done_is_not_done_again(tmp_path):
    calls = []
    setting = SMALL | {"graphs": 5, "rows": [50, 80], "path": tmp_path}
    first = ig.plan(**setting)
    lines = (tmp_path / RECORDS).read_bytes()
    again = ig.plan(**setting, progress=lambda done, total: calls.append((done, total)))
    assert (tmp_path / RECORDS).read_bytes() == lines
    assert again.points == first.points
    assert calls == [(20, 20)]


def test_a_pilot_table_is_split():
    field = ig.simulate.ising(ig.simulate.chain(6), coupling=0.5, signs="positive")
    table = field.sample(4000, seed=0)
    pilot = Pilot(encode(table), seed=0)
    model = pilot.field(1.0, seed=0)
    assert model.graph.edges == field.graph.edges
    sizes = [coupling[1, 1] for coupling in model.couplings.values()]
    np.testing.assert_allclose(sizes, 0.5, atol=0.1)
    half = pilot.field(0.5, seed=0).couplings
    assert half[0, 1] == pytest.approx(0.5 * model.couplings[0, 1])
    result = ig.plan(pilot=table, rows=[300], graphs=10, n_jobs=1)
    assert result.aim == "edges"
    assert "pilot table" in result.sentence


def test_couplings_of_a_pilot_are_not_those_that_chose_it():
    """Weak links that are chosen look too strong to the rows that chose them."""
    field = ig.simulate.ising(ig.simulate.random_regular(12, 3, 0), coupling=0.15, seed=0)
    chosen, fresh = [], []
    true = set(field.couplings)
    for seed in range(12):
        table = encode(field.sample(600, seed=seed))
        model = Pilot(table, seed).field(1.0, 0)
        pairs = [pair for pair in model.couplings if pair in field.couplings]
        sign = [np.sign(field.couplings[pair][1, 1]) for pair in pairs]
        fresh += [s * model.couplings[pair][1, 1] for s, pair in zip(sign, pairs, strict=True)]
        graph = ig.GreedyGraph().fit(field.sample(300, seed=seed + 50)).graph_
        chosen += [abs(link.coupling) for link in graph if (link.source, link.target) in true]
    assert np.mean(chosen) > 0.2
    assert abs(np.mean(fresh) - 0.15) < 0.04


@pytest.mark.parametrize("states", [2, 3, 5])
def test_odds_ratios_and_couplings(states):
    field = Guess(8, 3, coupling_of(2.0, states), states).field(1.0, seed=1)
    for table in field.couplings.values():
        assert typical_log_odds(table) == pytest.approx(np.log(2.0))
    assert log_odds_of(coupling_of(2.0, states), states) == pytest.approx(np.log(2.0))


def test_unreachable_targets_are_said():
    result = ig.plan(**SMALL | {"graphs": 4, "coupling": 0.05}, most_rows=100)
    assert result.answers == {}
    assert "Even 100 rows do not reach 0.9" in result.sentence


def test_bad_settings():
    with pytest.raises(SettingError, match="either coupling or odds_ratio"):
        ig.plan(columns=5, degree=2)
    with pytest.raises(SettingError, match="not both"):
        ig.plan(5, 2, 0.3, pilot=np.zeros((3, 3)))
    with pytest.raises(SettingError, match="target must be"):
        ig.plan(5, 2, 0.3, target=95)
    with pytest.raises(SettingError, match="aim must be"):
        ig.plan(5, 2, 0.3, aim="all")
    with pytest.raises(SettingError, match="factors must be"):
        ig.plan(5, 2, 0.3, factors=[])
    with pytest.raises(SettingError, match="degree must be"):
        ig.plan(5, 7, 0.3)
    with pytest.raises(SettingError, match="no link at all"):
        ig.plan(pilot=np.random.default_rng(0).integers(0, 2, (40, 4)), n_jobs=1)


class Curve(_Work):
    """A search for rows on a known curve, from which points are drawn without any table."""

    def _points(self, rows, factors=None, graphs=None):
        graphs, points = graphs or self.graphs, []
        for factor in factors or self.factors:
            for n in rows:
                true = 0.96 / (1 + np.exp(-3 * np.log(n * factor**2 / 300)))
                own = np.random.default_rng([self.seed, n, graphs, round(10 * factor)])
                hits = own.binomial(graphs, true)
                share = hits / graphs
                points.append(Point(factor, n, graphs, share, *wilson(hits, graphs), share, 0.0))
        return points


@pytest.mark.parametrize("aim", ["graph", "edges"])
@pytest.mark.parametrize("target", [0.8, 0.9])
def test_an_answer_is_accepted_only_if_its_own_tables_reach_the_target(aim, target):
    supposed, true = SimpleNamespace(columns=12, strongest=1.6), []
    for seed in range(15):
        work = Curve(supposed, None, aim, target, (0.7, 1.0), 100, seed, None)
        _, answers = work._looked_at(work._looked_for(100_000), 100_000)
        assert set(answers) == {0.7, 1.0}
        assert all(at.recovered >= target for at in answers.values())
        true.append(0.96 / (1 + np.exp(-3 * np.log(answers[1.0].rows / 300))))
    assert target - 0.02 < np.mean(true) < target + 0.05


def test_halves_of_a_pilot_table_are_of_whole_clusters():
    field = ig.simulate.ising(ig.simulate.chain(6), coupling=0.5, signs="positive")
    rows = field.sample(600, seed=0)
    clusters = np.arange(600) // 12
    result = ig.plan(pilot=rows, clusters=clusters, rows=[300], graphs=3, factors=[1.0], n_jobs=1)
    assert len(result.points) == 1
    table = encode(rows, clusters=clusters)
    held = held_out_weights(table.weights, 2, 0, table.clusters)
    first = ig.GreedyGraph().fit(rows[held[:, 0] > 0], clusters=clusters[held[:, 0] > 0]).graph_
    second = fit_model(encode(rows[held[:, 1] > 0]), first)
    pilot = Pilot(table, 0).field(1.0, 0)
    assert list(pilot.couplings) == list(second.couplings)
    for pair, coupling in second.couplings.items():
        np.testing.assert_allclose(pilot.couplings[pair], coupling, atol=1e-6)
