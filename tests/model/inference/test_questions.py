"""Answers of a model against enumeration of all its rows."""

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import enumeration
from isinglass import Exact, Gibbs, GreedyGraph, MarkovField, simulate
from isinglass.errors import OutOfMemory, SettingError, TableError, UnseenState
from small_models import MODELS, any_gauge, survey

CLOSE = {"rtol": 0, "atol": 1e-12}


def mixed(seed) -> MarkovField:
    """Any graph, up to twelve columns of one to four states, few enough rows to list."""
    rng = np.random.default_rng(seed)
    p = int(rng.integers(2, 13))
    most = 4 if p < 7 else 2
    n_states = rng.integers(1, most + 1, size=p).tolist()
    pairs = list(combinations(range(p), 2))
    return any_gauge(seed, n_states, [pair for pair in pairs if rng.random() < 0.4])


RANDOM = {f"random {seed}": mixed(seed) for seed in range(12)}
ALL = MODELS | RANDOM


def any_evidence(field, seed) -> dict:
    """Labels of about a third of the columns, never of all."""
    rng = np.random.default_rng(seed)
    p = len(field.names)
    chosen = rng.permutation(p)[: p // 3].tolist()
    return {field.names[v]: field.states[v][rng.integers(field.n_states[v])] for v in chosen}


class Enumerated:
    """Every row, and its probability given the evidence."""

    def __init__(self, field, given):
        self.field = field
        self.rows = enumeration.all_rows(field)
        self.probabilities = enumeration.probabilities(field)
        for name, label in given.items():
            v = field.names.index(name)
            self.probabilities = self.probabilities * (
                self.rows[:, v] == field.states[v].index(label)
            )
        self.probabilities = self.probabilities / self.probabilities.sum()

    def joint(self, names):
        columns = [self.field.names.index(name) for name in names]
        table = np.zeros([self.field.n_states[v] for v in columns])
        np.add.at(table, tuple(self.rows[:, v] for v in columns), self.probabilities)
        return table


@pytest.fixture(params=ALL)
def asked(request):
    field = ALL[request.param]
    given = any_evidence(field, seed=len(field.names))
    return field, given, Enumerated(field, given)


def test_marginals(asked):
    field, given, truth = asked
    found = field.marginals(given)
    assert list(found) == [name for name in field.names if name not in given]
    for name, table in found.items():
        np.testing.assert_allclose(table.values, truth.joint([name]), **CLOSE)
    everywhere = Enumerated(field, {})
    for name, table in field.marginals().items():
        np.testing.assert_allclose(table.values, everywhere.joint([name]), **CLOSE)


def test_pair_marginals(asked):
    field, given, truth = asked
    pairs = field.pair_marginals(given)
    names = [(field.names[i], field.names[j]) for i, j in field.couplings]
    assert list(pairs) == [(a, b) for a, b in names if a not in given and b not in given]
    for pair, table in pairs.items():
        np.testing.assert_allclose(table.values, truth.joint(pair), **CLOSE)


def test_conditional_of_any_columns_in_any_order(asked):
    field, given, truth = asked
    free = [name for name in field.names if name not in given]
    rng = np.random.default_rng(0)
    for size in range(1, min(3, len(free)) + 1):
        of = rng.permutation(free)[:size].tolist()
        found = field.conditional(of if size > 1 else of[0], given)
        assert found.names == tuple(of)
        np.testing.assert_allclose(found.values, truth.joint(of), **CLOSE)


def test_most_likely(asked):
    field, given, truth = asked
    row = field.most_likely(given)
    assert list(row) == list(field.names)
    assert given.items() <= row.items()
    codes = [field.states[v].index(row[name]) for v, name in enumerate(field.names)]
    at = np.flatnonzero((truth.rows == codes).all(axis=1))[0]
    assert truth.probabilities[at] == pytest.approx(truth.probabilities.max(), rel=1e-12)


def test_likelihoods(asked):
    field, _, _ = asked
    rows = enumeration.all_rows(field)[::5]
    log_probabilities = np.log(enumeration.probabilities(field))[::5]
    labels = pd.DataFrame(
        {name: [field.states[v][code] for code in rows[:, v]] for v, name in enumerate(field.names)}
    )
    np.testing.assert_allclose(field.log_likelihood(labels), log_probabilities, rtol=0, atol=1e-10)
    # A column's probabilities given the rest, from those of the rows that differ there only.
    pseudo = np.zeros(len(rows))
    for r, name in enumerate(field.names):
        potentials = np.empty((len(rows), field.n_states[r]))
        for state in range(field.n_states[r]):
            changed = rows.copy()
            changed[:, r] = state
            potentials[:, state] = [enumeration.log_potential(field, row) for row in changed]
        probabilities = np.exp(potentials)
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(field.predict_proba(labels, name), probabilities, **CLOSE)
        predicted = [field.states[r].index(label) for label in field.predict(labels, name)]
        np.testing.assert_allclose(
            probabilities[np.arange(len(rows)), predicted], probabilities.max(axis=1), **CLOSE
        )
        pseudo += np.log(probabilities[np.arange(len(rows)), rows[:, r]])
    np.testing.assert_allclose(field.pseudo_log_likelihood(labels), pseudo, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(field.score_samples(labels), field.pseudo_log_likelihood(labels))


def test_given_is_the_model_of_the_others(asked):
    field, given, truth = asked
    rest = field.given(given)
    expected = truth.joint(rest.names).ravel()
    np.testing.assert_allclose(enumeration.probabilities(rest), expected, **CLOSE)


@pytest.mark.parametrize("method", ["exact", "gibbs"])
def test_samples_with_evidence(method):
    field = MODELS["Potts, grid"]
    given = {"x1": 2, "x4": 0}
    codes = field.sample_codes(20_000, given=given, seed=1, method=method)
    assert (codes[:, 1] == 2).all()
    assert (codes[:, 4] == 0).all()
    free = [0, 2, 3, 5]
    rest = field.given(given)
    assert enumeration.standard_errors_off(rest, codes[:, free], 15_000) < 4.5


def test_samples_of_labels_with_evidence():
    table = survey().sample(50, given={"diet": "fish"}, seed=1)
    assert isinstance(table, pl.DataFrame)
    assert set(table["diet"]) == {"fish"}
    assert set(table["cough"]) == {"no", "yes"}
    all_given = {"smokes": "no", "cough": "yes", "diet": "all"}
    assert survey().sample(2, given=all_given).rows() == [("no", "yes", "all")] * 2
    assert survey().most_likely(all_given) == all_given


def test_edge_as_log_odds():
    field = survey()
    smokes = field.edge("smokes", "cough")
    assert (smokes["yes", "yes"], smokes["no", "yes"]) == (pytest.approx(2.4), 0.0)
    assert field.edge("cough", "smokes", against=("yes", "no"))["no", "yes"] == pytest.approx(-2.4)
    diet = field.edge("diet", "cough")
    assert diet.names == ("diet", "cough")
    probabilities = field.conditional(["diet", "cough"], {"smokes": "no"}).values
    ratios = np.log(
        probabilities * probabilities[0, 0] / (probabilities[:, :1] * probabilities[:1])
    )
    np.testing.assert_allclose(diet.values, ratios, atol=1e-12)
    assert diet.to_frame().columns == ["diet", "cough", "log_odds"]
    with pytest.raises(SettingError, match="no edge between 'smokes' and 'diet'"):
        field.edge("smokes", "diet")


@pytest.mark.parametrize("name", ALL)
def test_codings_have_the_same_log_potentials(name):
    field = ALL[name]
    rows = enumeration.all_rows(field)[::7]
    expected = [enumeration.log_potential(field, row) for row in rows]
    reference = {column: field.states[v][-1] for v, column in enumerate(field.names)}
    for coded in (
        field.to_coding("reference"),
        field.to_coding("reference", reference=reference),
    ):
        again = MarkovField.from_potentials(
            field.names, field.states, coded.intercepts, coded.couplings
        )
        for pair, table in field.couplings.items():
            np.testing.assert_allclose(again.couplings[pair], table, atol=1e-12)
        found = [coded.constant + potential_of(coded, row) for row in rows]
        np.testing.assert_allclose(found, expected, atol=1e-11)
    if max(field.n_states) > 2:
        with pytest.raises(SettingError, match="is for columns of two"):
            field.to_coding("01")
        return
    for coding, values in (("ising", (-1, 1)), ("01", (0, 1))):
        coded = field.to_coding(coding)
        x = np.array(values)[rows] * (np.array(field.n_states) > 1)
        found = coded.constant + x @ coded.intercepts
        found += np.einsum("ni,ij,nj->n", x, np.triu(coded.matrix), x)
        np.testing.assert_allclose(found, expected, atol=1e-11)


def potential_of(coded, row):
    total = sum(numbers[code] for numbers, code in zip(coded.intercepts, row, strict=True))
    return total + sum(table[row[i], row[j]] for (i, j), table in coded.couplings.items())


def test_reference_states_have_nothing():
    coded = survey().to_coding("reference", reference={"diet": "plants"})
    assert coded.intercepts[2][2] == 0
    assert not coded.couplings[1, 2][:, 2].any()
    assert not coded.couplings[1, 2][0].any()
    with pytest.raises(SettingError, match="see couplings"):
        _ = coded.matrix
    with pytest.raises(SettingError, match="'ising', '01' or 'reference', not 'spin'"):
        survey().to_coding("spin")


def test_prediction_never_looks_at_the_cell():
    field = survey()
    rows = field.sample(30, seed=0)
    expected = field.predict_proba(rows, "cough")
    hidden = rows.with_columns(cough=pl.lit("never seen"))
    np.testing.assert_array_equal(field.predict_proba(hidden, "cough"), expected)
    np.testing.assert_array_equal(field.predict_proba(rows.drop("cough"), "cough"), expected)
    shuffled = rows.select("diet", "smokes")
    np.testing.assert_array_equal(field.predict_proba(shuffled, "cough"), expected)
    incomplete = survey(None).sample(30, seed=0)
    np.testing.assert_array_equal(field.predict_proba(incomplete, "cough"), expected)
    incomplete[:, 1] = None
    np.testing.assert_array_equal(field.predict_proba(incomplete, "cough"), expected)


def test_a_missing_value_that_is_a_state():
    rows = np.array([["a", None], ["b", "x"], ["b", "x"], ["a", None]] * 50, dtype=object)
    model = GreedyGraph(missing="state").fit(rows).model_
    assert model.states[1] == ("x", None)
    assert model.predict([["a", "x"]], "x1").tolist() == [None]
    assert model.conditional("x0", {"x1": None})["a"] > 0.99
    assert model.log_likelihood(rows[:2]).shape == (2,)


@pytest.mark.parametrize(
    ("ask", "error", "said"),
    [
        (lambda f: f.conditional("diet", {"cough": "perhaps"}), UnseenState, "no state 'perhaps'"),
        (lambda f: f.conditional("diets"), SettingError, "did you mean 'diet'"),
        (lambda f: f.conditional("diet", {"coughs": "no"}), SettingError, "mean 'cough'"),
        (lambda f: f.conditional("diet", {"diet": "all"}), SettingError, "given already"),
        (lambda f: f.conditional("diet", method="fast"), SettingError, "'gibbs', or Exact"),
        (lambda f: f.conditional([]), SettingError, "of must be text, or a list of at least one"),
        (lambda f: f.conditional(["diet", "diet"]), SettingError, "none twice"),
        (lambda f: f.given(f.most_likely()), SettingError, "all columns are given"),
        (lambda f: f.conditional(["diet", "cough"])["all"], SettingError, "one label for each"),
        (lambda f: f.log_likelihood([["no", "no"]]), TableError, "2 columns, but the model 3"),
        (lambda f: f.log_likelihood([["no", "no", "meat"]]), UnseenState, "'diet' holds 'meat'"),
        (lambda f: f.log_likelihood([["no", None, "all"]]), UnseenState, "a missing value"),
        (
            lambda f: f.score_samples(pl.DataFrame({"diet": ["all"]})),
            TableError,
            "no column 'smokes', 'cough'",
        ),
        (lambda f: f.marginals(method=Exact(10)), OutOfMemory, "at most 10 bytes"),
        (lambda f: f.conditional("diet", method=Exact(10)), OutOfMemory, "at most 10 bytes"),
        (lambda f: f.most_likely(memory=10), OutOfMemory, "at most 10 bytes"),
        (lambda f: f.log_likelihood(f.sample(2), memory=10), OutOfMemory, "at most 10 bytes"),
    ],
)
def test_questions_that_make_no_sense(ask, error, said):
    with pytest.raises(error, match=said):
        ask(survey())


def test_labelled_tables_are_frames():
    table = survey("pandas").conditional(["cough", "diet"])
    frame = table.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["cough", "diet", "probability"]
    assert frame["probability"].sum() == pytest.approx(1)
    last = frame.iloc[-1]
    assert table[last["cough"], last["diet"]] == last["probability"]
    assert repr(table).startswith("probability of cough, diet\n")
    name = "probability"
    odd = MarkovField((name,), ((True, False),), ([0.5, -0.5],), {}).marginals()[name]
    assert odd.to_frame().columns == ["probability", "probability_"]
    assert odd[np.True_] == pytest.approx(1 / (1 + np.exp(-1)))
    with pytest.raises(ValueError, match="read-only"):
        odd.values[0] = 1


def test_the_prediction_of_memory_covers_marginals():
    import tracemalloc

    from isinglass.model.inference import elimination

    field = simulate.ising(simulate.grid(12, 12), seed=0)
    order = elimination.plan(field, 1e9)
    tracemalloc.start()
    elimination.marginals(field, order)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < order.bytes_needed(beliefs=True) + 2e6


def test_sampled_probabilities_are_within_their_errors():
    field = MODELS["Potts, grid"]
    given = {"x4": 1}
    exact = field.conditional(["x2", "x0"], given)
    off = []
    for seed in range(5):
        found = field.conditional(["x2", "x0"], given, method=Gibbs(draws=3200), seed=seed)
        assert found.values.sum() == pytest.approx(1)
        off.append((found.values - exact.values) / found.error)
    assert 0.5 < np.sqrt(np.mean(np.square(off))) < 1.6
    assert np.abs(off).max() < 5
    assert exact.error is None
    again = field.conditional(["x2", "x0"], given, method=Gibbs(draws=3200), seed=4)
    np.testing.assert_array_equal(again.values, found.values)
    assert found.to_frame().columns == ["x2", "x0", "probability", "error"]
    assert " ± " in repr(found)


def test_sampled_marginals_are_within_their_errors():
    field = MODELS["Potts, grid"]
    given = {"x4": 1}
    sampling = {"method": Gibbs(draws=6400), "seed": 0}
    for exact, found in (
        (field.marginals(given), field.marginals(given, **sampling)),
        (field.pair_marginals(given), field.pair_marginals(given, **sampling)),
    ):
        assert list(found) == list(exact)
        off = [(found[key].values - exact[key].values) / found[key].error for key in exact]
        off = np.concatenate([numbers.ravel() for numbers in off])
        assert 0.4 < np.sqrt(np.mean(off**2)) < 1.8
        assert np.abs(off).max() < 5


def test_what_is_too_tangled_says_what_to_do():
    field = survey()
    for ask in (field.marginals, field.pair_marginals):
        with pytest.raises(OutOfMemory, match='or take method="gibbs"'):
            ask(method=Exact(memory=10))
    with pytest.raises(OutOfMemory, match="or take pseudo_log_likelihood"):
        field.log_likelihood(field.sample(2, seed=0), memory=10)


def test_shifts_of_odds(asked):
    field, given, truth = asked
    free = [v for v, name in enumerate(field.names) if name not in given and field.n_states[v] > 1]
    for i, j in list(combinations(free, 2))[:3]:
        a, b = field.names[i], field.names[j]
        joint = truth.joint([a, b])
        of, when = (a, field.states[i][-1]), (b, field.states[j][0])
        odds = joint[-1] / joint[:-1].sum(axis=0)
        unknown = joint[-1].sum() / joint[:-1].sum()
        shift = field.odds_shift(of, when, given)
        assert shift.odds_ratio == pytest.approx(odds[0] / unknown, rel=1e-9)
        assert shift.before == pytest.approx(joint[-1].sum(), abs=1e-12)
        assert shift.after == pytest.approx(joint[-1, 0] / joint[:, 0].sum(), abs=1e-12)
        against = field.odds_shift(of, when, given, against=field.states[j][1])
        assert against.odds_ratio == pytest.approx(odds[0] / odds[1], rel=1e-9)
        assert against.error is None


def test_a_sampled_shift_is_within_its_error():
    field = survey()
    asking = {"of": ("smokes", "yes"), "when": ("diet", "plants"), "against": "fish"}
    exact = field.odds_shift(**asking)
    off = []
    for seed in range(20):
        found = field.odds_shift(**asking, method=Gibbs(draws=3200), seed=seed)
        off.append((found.log_odds - exact.log_odds) / found.error)
    assert 0.5 < np.sqrt(np.mean(np.square(off))) < 1.6
    assert " ± " in found.sentence
    assert "with diet = plants the odds of smokes = yes are" in repr(exact)


@pytest.mark.parametrize(
    ("of", "when", "settings", "said"),
    [
        (("smoke", "yes"), ("diet", "fish"), {}, "did you mean 'smokes'"),
        (("smokes", "often"), ("diet", "fish"), {}, "no state 'often'"),
        (("smokes", "yes"), ("diet", "fish"), {"against": "meat"}, "no state 'meat'"),
        (("smokes", "yes"), ("smokes", "no"), {}, "none twice"),
        (("smokes", "yes"), ("diet", "fish"), {"given": {"diet": "all"}}, "given already"),
    ],
)
def test_shifts_that_make_no_sense(of, when, settings, said):
    with pytest.raises((SettingError, UnseenState), match=said):
        survey().odds_shift(of, when, **settings)


def test_a_grid_by_transfer_matrices():
    """Probabilities in the first row of a 6 x 6 grid, the other rows multiplied out."""
    side = 6
    field = simulate.ising(simulate.grid(side, side), coupling=(0.1, 0.6), intercept=0.2, seed=3)
    spins = 1 - 2 * (np.arange(2**side)[:, None] >> np.arange(side) & 1)
    coded = field.to_coding("ising")

    def within(row):
        columns = np.arange(row * side, (row + 1) * side)
        along = coded.matrix[columns[:-1], columns[1:]]
        return spins @ coded.intercepts[columns] + (spins[:, :-1] * spins[:, 1:]) @ along

    below = np.ones(2**side)
    for row in range(side - 1, 0, -1):
        columns = np.arange(row * side, (row + 1) * side)
        across = (spins * coded.matrix[columns - side, columns]) @ spins.T
        below = np.exp(across) @ (np.exp(within(row)) * below)
    weights = np.exp(within(0)) * below
    probabilities = weights / weights.sum()
    assert field.log_partition() == pytest.approx(np.log(weights.sum()), rel=1e-12)
    single = field.marginals()
    for column in range(side):
        up = probabilities[spins[:, column] == 1].sum()
        assert single[f"x{column}"][1] == pytest.approx(up, abs=1e-12)
    corners = field.conditional(["x0", "x5"])
    both = probabilities[(spins[:, 0] == 1) & (spins[:, 5] == 1)].sum()
    assert corners[1, 1] == pytest.approx(both, abs=1e-12)


def test_strong_potentials_stay_finite():
    field = simulate.ising(simulate.grid(3, 3), coupling=800.0, signs="positive", intercept=1.0)
    all_up = -np.log1p(np.exp(-18.0))
    assert field.marginals()["x4"][1] == pytest.approx(np.exp(all_up), rel=1e-14)
    assert set(field.most_likely({"x0": -1}).values()) == {-1}
    assert field.log_likelihood(np.ones((1, 9), dtype=int))[0] == pytest.approx(all_up, abs=1e-11)
