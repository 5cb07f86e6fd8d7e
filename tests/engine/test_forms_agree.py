"""Edges of two forms: core, readable solver and literal reference take the same steps."""

from dataclasses import replace

import numpy as np
import pytest

from form_reference import FormNode, search_forms
from isinglass.engine import learn_neighbourhoods
from isinglass.engine.constraints import Constraints
from isinglass.table import encode
from selections import mostly_long


def draw(seed: int, most: int = 6):
    """A table with columns of all kinds: ordered or not, linked by products, trends or tables."""
    rng = np.random.default_rng(seed)
    p, n = int(rng.integers(3, most)), int(rng.choice([25, 60, 150, 400]))
    states = rng.choice([2, 3, 4, 5], size=p, p=[0.2, 0.3, 0.3, 0.2])
    columns = [rng.integers(0, states[0], n)]
    for m in states[1:]:
        source = columns[int(rng.integers(len(columns)))]
        scaled = source / max(source.max(), 1)
        kind = rng.integers(5)
        if kind == 0:  # no link
            column = rng.integers(0, m, n)
        elif kind in (1, 2):  # it rises with another
            column = np.rint(scaled * (m - 1) + rng.normal(0, rng.choice([0.3, 0.8]), n))
        elif kind == 3:  # U-shaped
            column = np.rint(np.abs(scaled - 0.5) * 2 * (m - 1) + rng.normal(0, 0.5, n))
        else:  # a permutation of states, with noise
            drawn = rng.integers(0, m, n)
            column = np.where(rng.random(n) < 0.6, rng.permutation(m)[source % m], drawn)
        columns.append(np.clip(column, 0, m - 1).astype(int))
    if seed % 7 == 0:  # equal columns
        columns[-1] = columns[0]
    if seed % 11 == 0:  # a state of one row
        columns[1][0] = columns[1].max() + 1
    table = encode(np.column_stack(columns))
    ordered = rng.random(p) < 0.75
    parts = [
        replace(
            column,
            ordered=bool(is_ordered) or len(column.states) == 2,
            scores=tuple(np.cumsum(rng.choice([1.0, 1.0, 3.0], len(column.states))).tolist())
            if is_ordered and rng.random() < 0.4
            else None,
        )
        for column, is_ordered in zip(table.columns, ordered, strict=True)
    ]
    weights = table.weights
    if seed % 5 == 0:
        weights = rng.choice([1.0, 2.0, 5.0], n)
    elif seed % 13 == 0:
        weights = rng.uniform(0.3, 3.0, n)
    return replace(table, columns=tuple(parts), weights=weights), rng


def settings_of(seed: int, rng, p: int):
    more = {"nu": float(rng.choice([0.3, 0.5, 0.9]))}
    if seed % 6 == 1:
        more["intercept"] = False
    if seed % 8 == 3:
        more["constraints"] = Constraints.of_pairs(required=[(0, p - 1)], forbidden=[(0, 1)])
    if seed % 9 == 4:
        scales = rng.uniform(0.7, 1.8, (p, p))
        more["scales"] = (scales + scales.T) / 2
    if seed % 10 == 6:
        more["max_degree"] = 1
    return more


def steps_of(path):
    return [(step.kind, step.variable, step.form) for step in path.steps]


def assert_same(table, floor, **settings):
    one = learn_neighbourhoods(table, floor, solver="readable", n_jobs=1, **settings)
    two = learn_neighbourhoods(table, floor, n_jobs=1, **settings)
    for r in range(len(table.columns)):
        ours, theirs = one.path(r), two.path(r)
        assert steps_of(ours) == steps_of(theirs), (r, ours.steps, theirs.steps)
        assert ours.status == theirs.status
        for a, b in zip(ours.steps, theirs.steps, strict=True):
            np.testing.assert_allclose(a.gain or a.cost, b.gain or b.cost, atol=1e-8, rtol=1e-6)
            assert a.loss == pytest.approx(b.loss, abs=1e-9)
            assert dict(a.fit.df) == dict(b.fit.df)
            assert a.fit.unbounded == b.fit.unbounded
            assert a.fit.forms == b.fit.forms
            for t in set(a.support) - a.fit.unbounded:
                np.testing.assert_allclose(a.coef[t], b.coef[t], atol=2e-4)
    return one


FEW = list(range(60))
# At 84 a column is nearly separated by its neighbours.
MANY = [pytest.param(seed, marks=pytest.mark.long) for seed in range(60, 501) if seed != 84]


@pytest.mark.parametrize("seed", [*FEW, 84, *MANY])
def test_the_core_takes_the_steps_of_the_readable_solver(seed):
    table, rng = draw(seed)
    settings = settings_of(seed, rng, len(table.columns))
    floor = float(rng.choice([0.3, 1.0, 3.0])) / table.n
    edges = ("auto", "auto", "scores")[seed % 3]
    assert_same(table, floor, edges=edges, **settings)


def draw_upgrades(seed: int):
    """The first column is U-shaped in two others; a noisy copy of it is required, as a product."""
    rng = np.random.default_rng([seed, 1])
    n, m = int(rng.choice([200, 400, 800])), int(rng.choice([4, 5]))
    one, two = rng.integers(0, m, (2, n))
    ends = np.abs(one - (m - 1) / 2) + np.abs(two - (m - 1) / 2)
    noise = rng.normal(0, [[0.7], [rng.choice([0.8, 1.2])]], (2, n))
    target, copy = np.rint(ends + noise).clip(0, m - 1).astype(int)
    table = encode(np.column_stack([target, rng.permutation(m)[copy], one, two]))
    return table, Constraints.of_pairs(required=[(0, 1)])


def changes_of(path):
    """What steps did to the edge of one column; only what was upgraded becomes smaller again."""
    forms, changes = dict(path.start.forms), []
    for kind, t, form in steps_of(path):
        if kind == "add":
            changes.append(("upgrade", t) if t in forms else ("add", t))
            assert t not in forms or (forms[t] != "table" and form == "table")
        else:
            changes.append(("take back", t) if form else ("drop", t))
            assert not form or changes.count(("upgrade", t)) > changes.count(("take back", t)) - 1
        forms.pop(t, None)
        forms |= {t: form} if form else {}
    return changes


def test_edges_that_are_upgraded_and_made_smaller_again():
    kinds = []
    for seed in range(20):
        table, constraints = draw_upgrades(seed)
        settings = {"edges": "auto", "nu": 0.9, "constraints": constraints}
        runs = assert_same(table, 2.0 / table.n, **settings)
        for r, required in ((0, 1), (1, 0)):
            changes = [kind for kind, _ in changes_of(runs.path(r))]
            if "take back" in changes and "reference" not in kinds:
                node = FormNode(table.codes, table.weights, r, table.scores, "auto")
                steps = search_forms(node, 2.0 / table.n, 0.9, frozenset({required}))
                assert_reference(runs.path(r), *steps)
                changes.append("reference")
            kinds += changes
    assert min(kinds.count(kind) for kind in ("upgrade", "take back")) >= 5
    assert "reference" in kinds


def assert_reference(path, steps, forms):
    assert [step[:2] for step in steps] == [step[:2] for step in steps_of(path)]
    named = [None if s[2] is None else s[2] == "table" for s in steps]
    assert named == [None if s.form is None else s.form == "table" for s in path.steps]
    for step, (*_, change, loss) in zip(path.steps, steps, strict=True):
        assert (step.gain or step.cost) == pytest.approx(change, abs=1e-8, rel=1e-6)
        assert step.loss == pytest.approx(loss, abs=1e-8)
    assert {t: path.final.form(t) == "table" for t in path.support} == {
        t: form == "table" for t, form in forms.items()
    }


@pytest.mark.parametrize("seed", mostly_long(range(501, 513), 6))
def test_both_take_the_steps_of_the_reference(seed):
    table, rng = draw(seed, most=5)
    floor = float(rng.choice([0.5, 2.0])) / table.n
    edges, intercept = ("auto", "scores")[seed % 2], seed % 6 != 1
    runs = assert_same(table, floor, edges=edges, nu=0.5, intercept=intercept)
    for r in range(len(table.columns)):
        node = FormNode(table.codes, table.weights, r, table.scores, edges, intercept)
        assert_reference(runs.path(r), *search_forms(node, floor, 0.5))
