"""Running a case by either solver, and what it means that two runs agree."""

from typing import Any

import numpy as np
import pytest

from engine.adversarial import Case
from isinglass.engine import KeptRuns, Runs
from isinglass.engine.native import NativeRuns, learn_native
from isinglass.engine.readable import learn_readable
from isinglass.table import Table, encode


def as_table(drawn: Case) -> Table:
    n = float(drawn.weights.sum())  # not "sum", which takes counts only
    return encode(drawn.codes, drawn.weights, n_eff=n, max_states=200)


def settings_of(drawn: Case) -> dict[str, Any]:
    names = ("nu", "intercept", "max_degree")
    return {name: getattr(drawn, name) for name in names}


def run_native(drawn: Case, *, threads: int = 1, check: bool = True) -> NativeRuns:
    """Run the engine; unless told otherwise, it asserts that it skipped nothing better."""
    rest = {"threads": threads, "progress": None, "check": check}
    return learn_native(as_table(drawn), drawn.threshold, **settings_of(drawn), **rest)


def run_readable(drawn: Case) -> KeptRuns:
    rest = {"threads": 1, "progress": None}
    return learn_readable(as_table(drawn), drawn.threshold, **settings_of(drawn), **rest)


def steps_of(runs: Runs, r: int) -> list[tuple[str, int, tuple[int, ...]]]:
    return [(step.kind, step.variable, step.support) for step in runs.path(r).steps]


def assert_same_column(one: Runs, two: Runs, r: int) -> None:
    """Same steps of column r, same gains, losses and tables."""
    assert steps_of(one, r) == steps_of(two, r)
    first, second = one.path(r), two.path(r)
    assert first.status == second.status
    assert first.start.loss == pytest.approx(second.start.loss, abs=1e-10)
    assert_same_fit(first.start, second.start)
    for step, truth in zip(first.steps, second.steps, strict=True):
        assert (step.gain or step.cost) == pytest.approx(truth.gain or truth.cost, abs=1e-8)
        assert step.loss == pytest.approx(truth.loss, abs=1e-10)
        assert_same_fit(step.fit, truth.fit)


def assert_same_fit(fit: Any, truth: Any) -> None:
    """Tables that the data hold agree closely; what the ridge alone holds, less so."""
    atol = 1e-2 if truth.unbounded or fit.unbounded else 1e-4
    assert fit.unbounded == truth.unbounded
    assert fit.coef.keys() == truth.coef.keys()
    np.testing.assert_allclose(fit.intercept, truth.intercept, rtol=0, atol=atol)
    for t, table in truth.coef.items():
        np.testing.assert_allclose(fit.coef[t], table, rtol=0, atol=atol)


def assert_same_choices(one: Runs, two: Runs, threshold: float) -> None:
    """Same neighbourhoods at a threshold, and the same tables."""
    first, second = one.choices(threshold), two.choices(threshold)
    for runs, choices in ((one, first), (two, second)):
        column, neighbour = runs.chosen(threshold)
        np.testing.assert_array_equal(column, choices.column)
        np.testing.assert_array_equal(neighbour, choices.neighbour)
    np.testing.assert_array_equal(first.column, second.column)
    np.testing.assert_array_equal(first.neighbour, second.neighbour)
    np.testing.assert_array_equal(first.unbounded, second.unbounded)
    for i, held in enumerate(first.unbounded):
        atol = 1e-2 if held else 1e-4
        np.testing.assert_allclose(first.tables[i], second.tables[i], rtol=0, atol=atol)


def thresholds_of(runs: Runs, floor: float) -> list[float]:
    """One threshold between any two gains at which some path is cut, and the floor."""
    steps = [step for r in range(len(runs)) for step in runs.path(r).steps]
    gains = np.sort([floor, *(step.gain for step in steps if step.kind == "add")])
    apart = np.diff(gains) > 1e-7
    return [floor, *(0.5 * (gains[1:] + gains[:-1])[apart]).tolist()]


def assert_same_runs(one: Runs, two: Runs, floor: float) -> None:
    assert len(one) == len(two)
    for r in range(len(one)):
        assert_same_column(one, two, r)
    for threshold in thresholds_of(two, floor):
        assert_same_choices(one, two, threshold)
