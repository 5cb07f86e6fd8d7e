"""missing="model": filled tables, the information in them, and what can be asked of the fit."""

import warnings
from itertools import combinations

import numpy as np
import pytest

from isinglass import FitRecord, GreedyGraph, explain, resample, simulate, verdict, with_errors
from isinglass.engine.deviance import expectations
from isinglass.errors import ManyMissing, SettingError, TableError
from isinglass.estimators.information import LEAST, information_of
from isinglass.estimators.settling import fill_on, graph_of
from isinglass.losses.forms import zero_sum_basis
from isinglass.measures import predictability
from isinglass.model import fit_model
from isinglass.model.inference.filling import MissingCells
from isinglass.report import summarise
from isinglass.report.markdown import to_markdown
from isinglass.table import encode
from selections import mostly_long

CHAIN = simulate.ising(simulate.chain(8), coupling=0.7, seed=0)
MIXED = simulate.potts(simulate.chain(5), [2, 3, 2, 4, 2], coupling=0.7, seed=0)


def at_random(field=CHAIN, rows=1500, share=0.3, seed=0):
    cells = np.asarray(field.sample(rows, seed=seed), dtype=float)
    cells[np.random.default_rng(seed + 1000).random(cells.shape) < share] = np.nan
    return cells


def given_seen(field=CHAIN, rows=1500, seed=0):
    """Every second column is missing more often where the one before it is high."""
    cells = np.asarray(field.sample(rows, seed=seed), dtype=float)
    rng = np.random.default_rng(seed + 1000)
    for j in range(1, cells.shape[1], 2):
        cells[rng.random(rows) < np.where(cells[:, j - 1] > 0, 0.55, 0.05), j] = np.nan
    return cells


@pytest.mark.parametrize("rule", ["or", "and", "joint"])
@pytest.mark.parametrize("field", [CHAIN, MIXED])
def test_a_complete_table_is_just_searched(field, rule):
    cells = field.sample(300, seed=1)
    one, other = (
        GreedyGraph(rule=rule).fit(cells),
        GreedyGraph(rule=rule, missing="model").fit(cells),
    )
    assert other.filled_ is None
    assert one.graph_.links == other.graph_.links
    for path, twin in zip(one.paths_, other.paths_, strict=True):
        assert [(s.kind, s.variable, s.gain, s.loss) for s in path.steps] == [
            (s.kind, s.variable, s.gain, s.loss) for s in twin.steps
        ]


@pytest.mark.parametrize("rule", ["or", "and", "joint"])
@pytest.mark.parametrize("drop", [at_random, given_seen])
def test_links_are_found_and_no_others(drop, rule):
    cells, true = drop(rows=3000), set(CHAIN.couplings)
    est = GreedyGraph(missing="model", rule=rule).fit(cells)
    assert set(est.graph_.pairs) == true


def test_available_has_false_edges_and_warns():
    with pytest.warns(ManyMissing, match="links will be false"):
        available = GreedyGraph(missing="available").fit(at_random(rows=3000))
    assert set(available.graph_.pairs) - set(CHAIN.couplings)


def test_repeatable_and_whatever_the_order_of_rows():
    cells = at_random(rows=400)
    first, again = (GreedyGraph(missing="model").fit(cells) for _ in range(2))
    assert first.graph_.links == again.graph_.links
    turned = GreedyGraph(missing="model").fit(cells[::-1])
    assert turned.graph_ == first.graph_
    for one, other in zip(turned.graph_.links, first.graph_.links, strict=True):
        assert one.evidence == pytest.approx(other.evidence, rel=1e-6)
    other = GreedyGraph(missing="model", seed=1).fit(cells)
    assert not np.array_equal(other.table_.codes, first.table_.codes)


def test_the_graph_at_other_thresholds_needs_no_other_fit():
    cells = at_random(MIXED, rows=600)
    est = GreedyGraph(missing="model", floor=1e-3).fit(cells)
    for threshold in (1e-3, 0.004, 0.02):
        assert est.at(threshold) == GreedyGraph(threshold, missing="model").fit(cells).graph_


def test_a_row_of_weight_two_counts_twice():
    cells = at_random(rows=900)
    twice = np.where(np.arange(900) < 300, 2.0, 1.0)
    weighted = GreedyGraph(missing="model").fit(cells, sample_weight=twice)
    copied = GreedyGraph(missing="model").fit(np.vstack([cells, cells[:300]]))
    assert weighted.table_.n == copied.table_.n == 1200
    for pair in CHAIN.couplings:  # the draws of copies differ, those of a weighted row do not
        one, other = (est.model_.couplings[pair][1, 1] for est in (weighted, copied))
        assert one == pytest.approx(other, abs=0.15)


# The information about pairs, against the definition row by row.


def literal_scales(cells, filled, draws, field, r):
    """B / I of every other column as if drawn independently, and I B / A^2 of every neighbour."""
    n = len(cells.table.codes)
    codes = filled.codes.reshape(draws, n, -1)
    states, weights = filled.n_states, cells.table.weights
    share = [
        np.bincount(filled.codes[:, t], filled.weights, m) / filled.n for t, m in enumerate(states)
    ]

    def probability(row):
        scores = field.intercepts[r].copy()
        for t, table in field.tables_of(r).items():
            scores += table[row[t]]
        scores = np.exp(scores - scores.max())
        return scores / scores.sum()

    own = zero_sum_basis(states[r])
    neighbours = list(field.tables_of(r))
    out = {t: np.zeros(2) for t in range(len(states)) if t != r}
    whole = squares = moved = 0.0
    for i in range(n):
        scores, drawn, residuals = [], [], []
        for d in range(draws):
            row = codes[d, i]
            p = probability(row)
            residual = np.eye(states[r])[row[r]] - p
            features = np.concatenate(
                [[1.0], *(zero_sum_basis(states[t])[row[t]] for t in neighbours)]
            )
            spread = own.T @ (np.diag(p) - np.outer(p, p)) @ own
            whole = whole + weights[i] / draws * np.kron(np.outer(features, features), spread)
            scores.append(np.kron(features, own.T @ residual))
            drawn.append(np.kron(features, own[row[r]]))
            residuals.append(residual)
        mean = np.mean(scores, axis=0)
        squares = squares + weights[i] * np.outer(mean, mean)
        moved = (
            moved
            + weights[i] * (np.cov(np.array(scores).T, np.array(drawn).T)[: len(mean), len(mean) :])
        )
        for t, sums in out.items():
            others = [np.eye(states[t])[codes[d, i, t]] - share[t] for d in range(draws)]
            lengths = [
                (np.sum(np.mean(v, axis=0) ** 2 / s), np.mean(np.sum(np.square(v) / s, axis=1)))
                for v, s in ((residuals, share[r]), (others, share[t]))
            ]
            out[t] = sums + weights[i] * np.array(lengths[0]) * np.array(lengths[1])
    inverse = np.linalg.inv(whole - (moved + moved.T) / 2)
    spread = inverse @ squares @ inverse
    plain, begin, linked = np.linalg.inv(whole), states[r] - 1, {}
    for t in neighbours:
        size = (states[t] - 1) * (states[r] - 1)
        block = np.s_[begin : begin + size, begin : begin + size]
        linked[t] = np.trace(np.linalg.solve(plain[block], spread[block])) / size
        begin += size
    return {t: sums[0] / sums[1] for t, sums in out.items()}, linked


@pytest.mark.parametrize("field", [CHAIN, MIXED])
def test_information_is_that_of_the_definition(field):
    table = encode(at_random(field, rows=250), missing="model")
    cells, draws = MissingCells.of(table), 4
    filled, _ = cells.filled(field, draws, 0, 1)
    found = information_of(cells, filled, draws, field)
    literal = [literal_scales(cells, filled, draws, field, r) for r in range(len(table.names))]
    for a in range(len(table.names)):
        for b in range(a):
            if (b, a) in field.couplings:
                expected = (literal[a][1][b] + literal[b][1][a]) / 2
                assert found.scales[a, b] == pytest.approx(expected, rel=1e-6)
            else:
                expected = (literal[a][0][b] + literal[b][0][a]) / 2
                assert 1 - found.lost[a, b] == pytest.approx(max(expected, LEAST), rel=1e-6)
                assert found.kept((b, a)) == pytest.approx(expected**2, rel=0.05)


def test_nothing_is_lost_where_nothing_is_missing():
    cells = at_random(rows=400)
    cells[:, 2:] = np.asarray(CHAIN.sample(400, seed=0))[:, 2:]
    est = GreedyGraph(missing="model").fit(cells)
    information = est.filled_.information
    # In the score of a link that is seen, a row's own variance is not quite its expectation.
    assert information.lost[4, 5] == pytest.approx(0.0, abs=0.05)
    assert information.lost[4, 6] == pytest.approx(0.0, abs=1e-9)
    assert information.lost[0, 1] > 0.3


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("drop", mostly_long([at_random, given_seen], 1))
def test_pairs_without_effect_have_their_chi_square(drop, linked):
    """Likelihood ratios on the stack, far too small or far too large, are right once scaled."""
    true, pair, raw, scaled = frozenset(CHAIN.couplings), (0, 2), [], []
    for seed in range(40):
        table = encode(drop(rows=500, seed=seed), missing="model")
        graph = graph_of(table, true | {pair} if linked else true)
        filled, draws = fill_on(table, graph, GreedyGraph(seed=seed, n_jobs=1))
        information = information_of(
            MissingCells.of(table), filled, draws, fit_model(filled, graph)
        )
        found = expectations(filled, sorted(true | {pair}), intercept=True, threads=1)
        ratio = np.mean([found[end].without - found[end].fitted for end in (pair, pair[::-1])])
        raw.append(1000 * ratio)
        scale = information.scales[pair] if linked else 1 - information.lost[pair]
        scaled.append(1000 * ratio / scale)
    assert 0.55 < np.mean(scaled) < 1.6  # of a chi-square with one degree, with 40 draws
    assert (np.mean(raw) > np.mean(scaled)) == linked


def test_copies_of_a_row_are_no_further_rows():
    """Design effects of a stack are those of the rows in which both columns of a pair are seen."""
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(150), 4)
    shared = rng.integers(0, 2, (150, 4))[clusters]
    codes = np.where(rng.random(shared.shape) < 0.8, shared, rng.integers(0, 2, shared.shape))
    cells = codes.astype(float)
    cells[rng.random(cells.shape) < 0.2] = np.nan
    whole = GreedyGraph().fit(codes, clusters=clusters).table_.design_effects
    est = GreedyGraph(missing="model").fit(cells, clusters=clusters)
    upper = np.triu_indices(4, 1)
    assert (whole[upper] > 1.8).all()
    assert (est.table_.design_effects[upper] > 1 + 0.3 * (whole[upper] - 1)).all()
    assert (est.table_.design_effects[upper] < whole[upper]).all()
    weights = rng.choice([1.0, 3.0], 600)
    weighted = GreedyGraph(missing="model", n_eff="design").fit(cells, sample_weight=weights)
    kish = weights.sum() ** 2 / np.sum(weights**2)
    assert weighted.table_.n == pytest.approx(kish)
    np.testing.assert_allclose(weighted.table_.design_effects[upper], 1.0, atol=0.1)


@pytest.mark.long
@pytest.mark.parametrize("alike", [0.0, 0.8])
def test_clusters_with_missing_values_have_no_more_false_edges_than_asked_for(alike):
    """Tables without links: the tentative level allows one edge per table, ends seen alike half."""
    found = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        clusters = np.repeat(np.arange(150), 4)
        shared, own = rng.integers(0, 2, (150, 8))[clusters], rng.integers(0, 2, (600, 8))
        cells = np.where(rng.random(own.shape) < alike, shared, own).astype(float)
        cells[rng.random(cells.shape) < 0.2] = np.nan
        est = GreedyGraph(missing="model", n_jobs=1).fit(cells, clusters=clusters)
        found += len(est.tentative_)
    assert 20 < found < 150


# What comes in, and what can be asked.


def test_rows_and_columns_of_which_nothing_is_seen():
    cells = at_random(rows=400)
    cells[7], cells[:, 3] = np.nan, np.nan
    est = GreedyGraph(missing="model").fit(cells)
    assert est.table_.n == 399
    assert not est.graph_.neighbors("x3")
    notes = {(note.column, note.what) for note in est.search_.rows.notes}
    assert {(None, "empty rows"), ("x3", "constant")} <= notes
    with pytest.raises(TableError, match="all values are missing"):
        GreedyGraph(missing="model").fit(np.full((5, 2), np.nan))


def test_rows_of_weight_zero_are_left_out():
    cells = at_random(rows=500)
    weights = np.where(np.arange(500) % 5, 1.0, 0.0)
    weighted = GreedyGraph(missing="model").fit(cells, sample_weight=weights)
    fewer = GreedyGraph(missing="model").fit(cells[weights > 0])
    assert weighted.graph_.links == fewer.graph_.links
    assert weighted.filled_.to_record() == fewer.filled_.to_record()
    with pytest.raises(TableError, match="is zero for all rows"):
        GreedyGraph(missing="model").fit(cells, sample_weight=np.zeros(500))


def test_clusters_of_one_member():
    cells = at_random(rows=500)
    alone = GreedyGraph(missing="model").fit(cells, clusters=np.arange(500))
    assert alone.graph_.links == GreedyGraph(missing="model").fit(cells).graph_.links
    some = GreedyGraph(missing="model").fit(cells, clusters=np.maximum(np.arange(500), 40))
    assert set(some.graph_.pairs) <= set(CHAIN.couplings)
    with pytest.raises(TableError, match="all rows are in one cluster"):
        GreedyGraph(missing="model").fit(cells, clusters=np.zeros(500))


def test_the_error_names_what_each_way_assumes():
    with pytest.raises(TableError, match="one of four ways") as caught:
        GreedyGraph().fit(at_random(rows=50))
    ways = [
        str(caught.value).index(f'missing="{way}"')
        for way in ("model", "drop", "state", "available")
    ]
    assert ways == sorted(ways)


def test_what_cannot_be_asked_says_so():
    cells = at_random(rows=400)
    est = GreedyGraph(missing="model").fit(cells)
    with pytest.raises(SettingError, match="score needs complete rows"):
        est.score(cells)
    assert np.isfinite(est.score(CHAIN.sample(50, seed=3)))
    for ask in (predictability, lambda fit: explain(fit, "x0", "x3")):
        with pytest.raises(SettingError, match="filled values as observed"):
            ask(est)
    with pytest.raises(SettingError, match="EBIC counts rows"):
        GreedyGraph("ebic:0.5", missing="model").fit(cells)


def test_verdicts_count_information():
    """With a share of it lost, links must be larger to be found, as in a table of fewer rows."""
    est = GreedyGraph(missing="model").fit(at_random(rows=1500))
    whole = GreedyGraph().fit(CHAIN.sample(1500, seed=0))
    lost, verdicts, seen = est.filled_.information.lost, verdict(est), verdict(whole)
    for (a, b), judged, other in zip(combinations(range(8), 2), verdicts, seen, strict=True):
        left = (np.log(other.odds_ratio) / np.log(judged.odds_ratio)) ** 2
        assert left == pytest.approx(1 - lost[a, b], abs=0.12)
        assert (judged.verdict == "linked") == ((a, b) in CHAIN.couplings)
    assert "cannot tell: only odds ratios above" in verdicts.of("x0", "x5").sentence


def test_half_samples_are_drawn_from_the_rows_that_came():
    est = GreedyGraph(missing="model").fit(at_random(rows=600))
    assert "half-samples of 300 rows" in repr(resample(est, n=2))


def test_record_and_report(tmp_path):
    est = GreedyGraph(missing="model").fit(at_random(rows=500))
    record = est.record()
    record.save(tmp_path / "fit.json")
    again = FitRecord.load(tmp_path / "fit.json")
    assert again.filled == record.filled
    assert again.graph.links == est.graph_.links
    summary = summarise(again)
    missing = np.isnan(at_random(rows=500)).sum(axis=0).tolist()
    assert [node["missing"] for node in summary["nodes"]] == missing
    assert all(0 < edge["information_lost"] < 1 for edge in summary["edges"])
    assert "information lost" in to_markdown(summary)
    assert f"Missing values were filled by {est.filled_.draws} draws" in summary["texts"]["methods"]
    assert summarise(again, suppress=5)["filled"]["draws"] == est.filled_.draws


def test_errors_are_larger_than_those_of_all_cells_and_smaller_than_those_of_complete_rows():
    cells = at_random(rows=2000, share=0.2)
    models = [
        with_errors(GreedyGraph(missing=way).fit(table))
        for way, table in (
            ("error", CHAIN.sample(2000, seed=0)),
            ("model", cells),
            ("drop", cells),
        )
    ]
    for a, b in models[0].graph.edges:
        whole, filled, dropped = (model.edge(a, b).error[1, 1] for model in models)
        assert whole < filled < dropped
    other = with_errors(GreedyGraph(missing="model").fit(cells), at_random(rows=800, seed=9))
    assert other.wald("x0", "x1").p_value < 1e-3


def test_margins_are_right_where_values_are_missing_given_seen_ones():
    field = simulate.ising(simulate.chain(4), coupling=0.5, signs="positive")
    off = []
    for seed in range(10):
        cells = given_seen(field, rows=2000, seed=seed)
        est = GreedyGraph(missing="model").fit(cells)
        completed = est.model_.impute(cells, draws=2, seed=seed)
        off.append(np.mean([np.asarray(table)[:, 1].mean() for table in completed]))
        assert abs(np.nanmean(cells[:, 1])) > 0.08  # of the values that are seen; the truth is zero
    assert abs(np.mean(off)) < 0.03


def test_no_warning_where_few_values_are_missing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GreedyGraph(missing="available").fit(at_random(rows=300, share=0.1))
