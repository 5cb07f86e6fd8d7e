"""Every scalar parameter of every public callable takes any value, or refuses it in a sentence."""

import inspect
import warnings
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import cache
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import isinglass as ig
import isinglass.model
from isinglass.errors import SettingError
from isinglass.parameters import PARAMETERS, check, kind_of
from isinglass.parameters.kinds import Either, Number, Whole
from isinglass.rivals import penalties


class Unshowable:
    def __repr__(self):
        raise RuntimeError("no")

    def __float__(self):
        raise RuntimeError("no")


WRONG = [
    *(None, "", "x", "auto", "1", "nan", "two\nlines", "x" * 10_000, "\0", "\ud800", b"", b"1"),
    *(float("nan"), float("inf"), -float("inf"), -1, 0, -0.0, 0.5, 1.5, -1e-9, 1e-300, 1e300),
    *(10**30, -(10**30), 2**63, 2**64, 10**400, 1j, True, False, np.True_),
    *([], [1], [[1], [1, 2]], (), (1, 0), {}, {"a": 1}, set(), ["x0", 5]),
    *(np.array([1, 2]), np.array(3), np.array("x"), np.zeros((2, 2)), np.array([])),
    *(np.float64("nan"), np.int8(-5), np.float32(0.5), np.datetime64("NaT")),
    *(object(), Unshowable(), int, len, ..., Decimal("NaN"), Fraction(1, 3), date(2020, 1, 1)),
]

SCALARS = {"int", "float", "str", "bool", "Seed", "Method"}
#: Weights are a part of the table.
NOT_SCALARS = {"sample_weight", "clusters"}


def scalars_of(function) -> list[str]:
    """Parameters that are annotated as numbers, texts, flags, paths or seeds."""
    return [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if SCALARS & {part.strip() for part in str(parameter.annotation).split("|")}
        and name not in NOT_SCALARS
    ]


@cache
def small() -> SimpleNamespace:
    """A small table, and everything that can be made of it."""
    true = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    X = true.sample(60, seed=0)
    est = ig.GreedyGraph(n_jobs=1).fit(X)
    incomplete = X.astype(float)
    incomplete[0, 1] = np.nan
    y = X[:, 0] > 0
    l1 = ig.L1Graph(0.1, n_jobs=1).fit(X)
    return SimpleNamespace(
        X=X,
        est=est,
        incomplete=incomplete,
        field=est.model_,
        errors=ig.with_errors(est),
        tested=ig.with_errors(est, true.sample(60, seed=1)),
        record=est.record(),
        graph=est.graph_,
        path=est.paths_[0],
        l1=l1,
        screening=ig.InteractionScreening(n_jobs=1).fit(X),
        halves=ig.resample(est, n=2, n_jobs=1),
        dropping=ig.case_dropping(est, n=1, shares=(0.5,), n_jobs=1),
        boot=ig.bootstrap(est, n=2, n_jobs=1),
        columns=ig.column_intervals(est, n=2, n_jobs=1),
        audit=ig.audit(est, X, n=1, n_jobs=1),
        theory=ig.theory(est, draws=1, population=200),
        planned=ig.plan(3, 1, 0.6, rows=[50], graphs=2, n_jobs=1),
        split=ig.split_test(ig.GreedyGraph(n_jobs=1), X, splits=1),
        groups=ig.compare_groups(X, 0, ig.GreedyGraph(n_jobs=1)),
        verdicts=ig.verdict(est),
        explained=ig.explain(est, "x0", "x1"),
        pairwise=ig.check_pairwise(est),
        compared=ig.compare(X, {"greedy": ig.GreedyGraph(n_jobs=1)}, folds=2),
        loss=ig.losses.LogisticLoss(X[:, 1:], y),
        regression=ig.GreedyRegressor().fit(X, y),
        y=y,
        points=pl.DataFrame(
            {
                "design": ["a"] * 2,
                "line": ["b"] * 2,
                "tuning": ["own"] * 2,
                "beta": [1.0, 2.0],
                "n": [10, 20],
                "p": [3, 3],
                "d": [2, 2],
                "recovered": [0.5, 1.0],
                "low": [0.3, 0.8],
                "high": [0.7, 1.0],
            }
        ),
    )


def fitted(estimator):
    """A class that is checked when it is fitted."""

    def fit(**settings):
        return estimator(**settings).fit(small().X)

    fit.__signature__ = inspect.signature(estimator)
    return fit


def fitted_to(estimator):
    """The same for one that needs answers."""

    def fit(**settings):
        return estimator(**settings).fit(small().X, small().y)

    fit.__signature__ = inspect.signature(estimator)
    return fit


def calls(s: SimpleNamespace) -> dict[str, tuple]:
    """Every public callable that takes scalars, and arguments that it takes."""
    est, X, field, graph = s.est, s.X, s.field, s.graph
    quick = {"seed": 0}
    ask = {"of": "x0", **quick}
    families = ig.simulate
    chain = families.chain(3)
    greedy = ig.GreedyGraph(n_jobs=1)
    return {
        "GreedyGraph": (fitted(ig.GreedyGraph), {"n_jobs": 1}),
        "L1Graph": (fitted(ig.L1Graph), {"n_lambdas": 5, "n_jobs": 1}),
        "InteractionScreening": (fitted(ig.InteractionScreening), {"n_jobs": 1}),
        "ChowLiuTree": (fitted(ig.ChowLiuTree), {"n_jobs": 1}),
        "L0Graph": (fitted(ig.L0Graph), {}),
        "GreedyGraph.at": (est.at, {"threshold": 0.5}),
        "GreedyRegressor": (fitted_to(ig.GreedyRegressor), {}),
        "GreedyClassifier": (fitted_to(ig.GreedyClassifier), {}),
        "GreedyRegressor.at": (s.regression.at, {"threshold": 0.5}),
        "GreedyRegressor.get_support": (s.regression.get_support, {}),
        "L1Graph.at": (s.l1.at, {"penalty": 0.1}),
        "L1Graph.adjacency_at": (s.l1.adjacency_at, {"penalty": 0.1}),
        "L1Graph.couplings_at": (s.l1.couplings_at, {"penalty": 0.1}),
        "L1Graph.neighbours_at": (s.l1.neighbours_at, {"penalty": 0.1}),
        "InteractionScreening.at": (s.screening.at, {"threshold": 0.1}),
        "InteractionScreening.adjacency_at": (s.screening.adjacency_at, {"threshold": 0.1}),
        "Graph.neighbors": (graph.neighbors, {"name": "x0"}),
        "Graph.to_frame": (graph.to_frame, {}),
        "Path.at": (s.path.at, {"threshold": 0.5}),
        "Path.to_frame": (s.path.to_frame, {}),
        "FitRecord.at": (s.record.at, {"threshold": 0.5}),
        "FitRecord.save": (s.record.save, {"path": "record.json"}),
        "FitRecord.load": (ig.FitRecord.load, {"path": "saved.json"}),
        "Exact": (ig.Exact, {}),
        "Gibbs": (ig.Gibbs, {}),
        "MarkovField.save": (field.save, {"path": "model.json"}),
        "MarkovField.load": (ig.MarkovField.load, {"path": "saved.json"}),
        "MarkovField.conditional": (field.conditional, ask),
        "MarkovField.marginals": (field.marginals, quick),
        "MarkovField.pair_marginals": (field.pair_marginals, quick),
        "MarkovField.odds_shift": (
            field.odds_shift,
            {"of": ("x0", 1), "when": ("x1", 1), **quick},
        ),
        "MarkovField.most_likely": (field.most_likely, {}),
        "MarkovField.log_partition": (field.log_partition, {}),
        "MarkovField.log_likelihood": (field.log_likelihood, {"X": X}),
        "MarkovField.predict": (field.predict, {"X": X, "column": "x0"}),
        "MarkovField.predict_proba": (field.predict_proba, {"X": X, "column": "x0"}),
        "MarkovField.impute": (field.impute, {"X": s.incomplete}),
        "MarkovField.sample": (field.sample, {"n": 5}),
        "MarkovField.sample_codes": (field.sample_codes, {"n": 5}),
        "MarkovField.edge": (field.edge, {"a": "x0", "b": "x1"}),
        "MarkovField.wald": (s.tested.wald, {"a": "x0", "b": "x1"}),
        "MarkovField.intervals": (s.errors.intervals, {}),
        "MarkovField.to_coding": (field.to_coding, {"coding": "ising"}),
        "MarkovField.from_potentials": (
            ig.MarkovField.from_potentials,
            {"names": ["a"], "states": [[0, 1]], "intercepts": [[0.0, 1.0]], "couplings": {}},
        ),
        "ask": (isinglass.model.ask, {"field": field, **quick}),
        "fit_model": (isinglass.model.fit_model, {"table": est.table_, "graph": graph}),
        "resample": (ig.resample, {"estimator": est, "n": 2, "n_jobs": 1}),
        "Resamples.stable": (s.halves.stable, {}),
        "Resamples.bound": (s.halves.bound, {}),
        "Resamples.to_frame": (s.halves.to_frame, {}),
        "case_dropping": (
            ig.case_dropping,
            {"estimator": est, "n": 1, "shares": (0.5,), "n_jobs": 1},
        ),
        "CaseDropping.cs": (s.dropping.cs, {}),
        "CaseDropping.to_frame": (s.dropping.to_frame, {}),
        "column_intervals": (ig.column_intervals, {"estimator": est, "n": 2, "n_jobs": 1}),
        "ColumnIntervals.to_frame": (s.columns.to_frame, {}),
        "bootstrap": (ig.bootstrap, {"estimator": est, "n": 1, "n_jobs": 1}),
        "Bootstrap.interval": (s.boot.interval, {"a": "x0", "b": "x1"}),
        "Bootstrap.to_frame": (s.boot.to_frame, {}),
        "audit": (ig.audit, {"estimator": greedy, "X": X, "n": 1, "n_jobs": 1}),
        "Audit.tier": (s.audit.tier, {"name": "firm"}),
        "Audit.to_frame": (s.audit.to_frame, {}),
        "Audit.chances_frame": (s.audit.chances_frame, {}),
        "theory": (ig.theory, {"model": s.field, "rows": 50, "draws": 1, "population": 200}),
        "Theory.to_frame": (s.theory.to_frame, {}),
        "Theory.links_frame": (s.theory.links_frame, {}),
        "plan": (
            ig.plan,
            {"columns": 3, "degree": 1, "coupling": 0.6, "rows": [30], "graphs": 1, "n_jobs": 1},
        ),
        "Planned.to_frame": (s.planned.to_frame, {}),
        "split_test": (ig.split_test, {"estimator": greedy, "X": X, "splits": 1}),
        "SplitTest.to_frame": (s.split.to_frame, {}),
        "compare_groups": (ig.compare_groups, {"table": X, "by": 0, "estimator": greedy}),
        "GroupComparison.to_frame": (s.groups.to_frame, {}),
        "group_differences": (ig.plots.group_differences, {"found": s.groups}),
        "GroupComparison.exploratory_frame": (s.groups.exploratory_frame, {}),
        "verdict": (ig.verdict, {"estimator": est}),
        "Verdicts.of": (s.verdicts.of, {"a": "x0", "b": "x1"}),
        "Verdicts.to_frame": (s.verdicts.to_frame, {}),
        "explain": (ig.explain, {"estimator": est, "a": "x0", "b": "x1"}),
        "Explanation.to_frame": (s.explained.to_frame, {}),
        "with_errors": (ig.with_errors, {"estimator": est}),
        "check_pairwise": (ig.check_pairwise, {"estimator": est}),
        "PairwiseCheck.to_frame": (s.pairwise.to_frame, {}),
        "compare": (ig.compare, {"X": X, "methods": {"greedy": greedy}, "folds": 2}),
        "Comparison.to_frame": (s.compared.to_frame, {}),
        "summarise": (ig.summarise, {"fit": est}),
        "read_table": (ig.read_table, {"path": "table.csv"}),
        "open_packed": (ig.open_packed, {"path": "table.bits"}),
        "pack": (ig.pack, {"path": "table.csv", "out": "table.bits", "missing": "state"}),
        "read_codebook": (ig.read_codebook, {"path": "codebook.csv"}),
        "foba": (ig.foba, {"loss": s.loss, "threshold": 0.1}),
        "chain": (families.chain, {"p": 3}),
        "grid": (families.grid, {"rows": 2, "cols": 2}),
        "star": (families.star, {"p": 3, "d": 2}),
        "tree": (families.tree, {"p": 3}),
        "random_regular": (families.random_regular, {"p": 4, "d": 2}),
        "erdos_renyi": (families.erdos_renyi, {"p": 3, "degree": 1.0}),
        "small_world": (families.small_world, {"p": 5, "k": 2, "rewire": 0.5}),
        "ising": (families.ising, {"graph": chain}),
        "potts": (families.potts, {"graph": chain, "states": 3}),
        "ordinal": (families.ordinal, {"graph": chain, "states": 3}),
        "selection.EBIC": (ig.selection.EBIC, {}),
        "CrossValidated": (ig.selection.CrossValidated, {}),
        "FalseEdges": (ig.selection.FalseEdges, {}),
        "FalseCoefficients": (ig.selection.FalseCoefficients, {}),
        "coefficient_selector": (ig.selection.coefficient_selector, {"threshold": "auto"}),
        "Fixed": (ig.selection.Fixed, {"value": 0.1}),
        "LookBelow": (ig.selection.LookBelow, {"rule": ig.selection.Paper()}),
        "Paper": (ig.selection.Paper, {}),
        "StARS": (ig.selection.StARS, {}),
        "Stability": (ig.selection.Stability, {}),
        "Theorem": (ig.selection.Theorem, {"c": 1.0, "degree": 2}),
        "selector": (ig.selection.selector, {"threshold": "auto"}),
        "by_numbers": (ig.selection.by_numbers, {"threshold": "auto"}),
        "how_chosen": (ig.selection.how_chosen, {"threshold": "auto"}),
        "look_below": (ig.selection.look_below, {"threshold": "auto"}),
        "Rate": (penalties.Rate, {}),
        "penalties.EBIC": (penalties.EBIC, {}),
        "penalties.CrossValidated": (penalties.CrossValidated, {}),
        "FixedPenalty": (penalties.FixedPenalty, {"penalty": 0.1}),
        "read_penalty": (penalties.read_penalty, {"penalty": "ebic"}),
        "LogisticLoss": (ig.losses.LogisticLoss, {"X": X, "y": s.y}),
        "SquaredLoss": (ig.losses.SquaredLoss, {"X": X, "y": s.y}),
        "HuberLoss": (ig.losses.HuberLoss, {"X": X, "y": s.y}),
        "PoissonLoss": (ig.losses.PoissonLoss, {"X": X, "y": s.y}),
        "MultinomialLoss": (ig.losses.MultinomialLoss, {"X": X, "y": s.y}),
        "write": (ig.exports.write, {"what": field, "path": "out.uai", "to": "uai"}),
        "read_uai": (ig.exports.read_uai, {"path": "saved.uai"}),
        "from_networkx": (ig.exports.from_networkx, {"network": chain}),
        "communities": (ig.measures.communities, {"graph": graph, "starts": 1}),
        "nodes": (ig.measures.nodes, {"of": est, "folds": 2}),
        "predictability": (ig.measures.predictability, {"estimator": est, "folds": 2}),
        "plots.adjacency": (ig.plots.adjacency, {"graph": graph}),
        "plots.network": (ig.plots.network, {"graph": graph}),
        "plots.networks": (ig.plots.networks, {"graphs": {"a": graph, "b": graph}}),
        "plots.centrality": (ig.plots.centrality, {"of": graph}),
        "plots.edge_differences": (ig.plots.edge_differences, {"bootstrap": s.boot}),
        "plots.link_table": (ig.plots.link_table, {"fit": est, "a": "x0", "b": "x1"}),
        "plots.intervals": (ig.plots.intervals, {"model": s.errors}),
        "plots.search": (ig.plots.search, {"estimator": est, "column": "x0"}),
        "plots.success": (ig.plots.success, {"points": s.points}),
        "plots.new_figure": (ig.plots.new_figure, {"width": 2.0, "height": 2.0}),
        "plots.png": (ig.plots.png, {"figure": ig.plots.new_figure(1.0, 1.0)[0], "dpi": 50}),
    }


#: Made by functions, never by hand; or called by estimators alone.
ELSEWHERE = {
    *("Audit", "Bootstrap", "CaseDropping", "Comparison", "Explanation", "FitRecord", "Graph"),
    *("PairwiseCheck", "Path", "Planned", "Resamples", "SplitTest", "Step", "Verdict", "Verdicts"),
    *("MarkovField", "Communities", "Predictability", "Answers", "Fit", "Look", "PathLook"),
    *("Selection", "ColumnIntervals", "Codebook", "Variable", "Inspection", "Inspected"),
    *("GroupComparison", "Theory"),
    *("Tiers", "tier_levels", "LinearLoss", "from_igraph", "from_pgmpy"),
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small().field.save("saved.json", fit=small().record)
    ig.exports.write(small().field, "saved.uai", "uai")
    (tmp_path / "table.csv").write_text("a,b\n0,1\n1,0\n")
    ig.pack(tmp_path / "table.csv", tmp_path / "table.bits")
    (tmp_path / "codebook.csv").write_text("name,label\na,first\n")


def outcome(call, arguments) -> str:
    """Nothing if the call answers, or refuses in one line; else what it did."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call(**arguments)
        except ig.IsinglassError as error:
            text = str(error)
            for given in arguments.values():  # a long name, or one of two lines, may be shown
                text = text.replace(given, "") if isinstance(given, str) and given else text
            return "" if text and "\n" not in text and len(text) < 400 else f"said {text[:100]!r}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"[:100]
    return ""


@pytest.mark.filterwarnings("ignore:.* is now .*:FutureWarning")  # names of the last release
@pytest.mark.parametrize("name", calls(small()))
def test_any_value_is_taken_or_refused_in_a_sentence(name, here):
    call, good = calls(small())[name]
    call(**good)
    failures = {}
    for parameter in scalars_of(call):
        for at, value in enumerate(WRONG):
            said = outcome(call, {**good, parameter: value})
            if said:
                failures[parameter, at, type(value).__name__] = said
    assert not failures


def public_callables():
    for module in (ig, ig.simulate, ig.selection, ig.losses, ig.exports, ig.measures, ig.plots):
        for name in module.__all__:
            if callable(getattr(module, name)):
                yield name, getattr(module, name)


def test_every_public_callable_is_walked():
    walked = {name.rpartition(".")[2] for name in calls(small())}
    lacking = [
        name
        for name, found in public_callables()
        if name not in walked | ELSEWHERE
        and not getattr(found, "_is_protocol", False)
        and not (inspect.isclass(found) and issubclass(found, Exception))
        and scalars_of(found)
    ]
    assert not lacking


@pytest.mark.parametrize("name", PARAMETERS)
def test_the_table_speaks_english(name):
    kind = PARAMETERS[name]
    assert str(kind)
    assert not str(kind).endswith(" ")


def test_one_form_of_error():
    with pytest.raises(
        SettingError, match=r"^nu must be a number strictly between 0 and 1, not 'x'\.$"
    ):
        check("nu", "x")
    with pytest.raises(SettingError, match=r"^d must be a whole number from 0 to 4, not 5\.$"):
        check("d", 5, most=4)
    with pytest.raises(
        SettingError, match=r"^n must be an even number from 2 to 1,000,000, not 3\.$"
    ):
        check("n", 3, "resample")
    assert isinstance(kind_of("n", "resample"), Whole)
    assert isinstance(kind_of("n_eff"), Either)
    assert isinstance(kind_of("nu"), Number)
    assert kind_of("no such name") is None


def test_numpys_numbers_are_numbers():
    for value in (np.int64(3), np.uint8(3), 3):
        check("n", value)
    for value in (np.float32(0.5), np.float64(0.5), 0.5):
        check("nu", value)
