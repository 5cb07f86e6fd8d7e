"""Refits in the forms of edges, against the readable loss."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from isinglass import simulate
from isinglass.engine import fit_conditionals
from isinglass.engine.deviance import expectations
from isinglass.engine.native import forms_of
from isinglass.engine.readable import node_loss
from isinglass.estimators.score import refit_conditionals, row_scores
from isinglass.table import encode


def model(seed=0):
    graph = nx.complete_graph(6)
    return simulate.ordinal(
        graph, [4, 3, 3, 2, 5, 3], coupling=0.25, intercept=0.4, unordered=[2, 5], seed=seed
    )


def table_of(field, rows, seed, **options):
    return encode(pd.DataFrame(field.sample(rows, seed=seed), columns=list(field.names)), **options)


def some_forms(known, r, rng):
    """Any form that each pair may have."""
    others = (t for t in range(len(known.n_states)) if t != r)
    return {t: known.allowed(r, t)[rng.integers(len(known.allowed(r, t)))] for t in others}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("intercept", [True, False])
def test_a_refit_is_that_of_the_readable_loss(seed, intercept):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 4, 150).astype(float)
    table = table_of(model(seed), 150, seed, sample_weight=weights)
    known = forms_of(table, "auto")
    forms = {}
    for r in range(6):
        chosen = some_forms(known, r, rng)
        forms |= {(r, t): form for t, form in chosen.items() if r < t}
    near = [[t for t in range(6) if t != r] for r in range(6)]
    fits = fit_conditionals(table, near, forms, intercept=intercept)
    for r, fast in enumerate(fits):
        loss = node_loss(table, r, intercept=intercept, forms=known)
        slow = loss.fit({t: forms[min(r, t), max(r, t)] for t in near[r]})
        assert fast.loss == pytest.approx(slow.loss, abs=1e-8)
        assert fast.unbounded == slow.unbounded
        assert dict(fast.df) == dict(slow.df)
        assert fast.forms == slow.forms
        if not slow.unbounded:
            for t, table_of_t in slow.coef.items():
                np.testing.assert_allclose(fast.coef[t], table_of_t, atol=1e-4)


def test_separated_rows_are_unbounded_in_any_form():
    low = np.repeat([0, 1, 2], 30)
    table = encode(pd.DataFrame({"a": low, "b": low, "c": np.tile([0, 1, 2], 30)}))
    forms = {(0, 1): "product", (0, 2): "product"}
    fit = fit_conditionals(table, [[1, 2], [0], [0]], forms)[0]
    slow = node_loss(table, 0, forms=forms_of(table, "auto")).fit(fit.forms)
    assert fit.unbounded == slow.unbounded
    assert 1 in fit.unbounded


def test_without_smaller_forms_the_core_fits():
    table = table_of(model(1), 200, 1)
    near = [[t for t in range(6) if t != r] for r in range(6)]
    plain = fit_conditionals(table, near)
    whole = fit_conditionals(table, near, {(0, 1): "table"})
    mixed = fit_conditionals(table, near, {(0, 1): "product"})
    for r in range(6):
        assert all((plain[r].coef[t] == whole[r].coef[t]).all() for t in near[r])
        same = all((plain[r].coef[t] == mixed[r].coef[t]).all() for t in near[r])
        assert same == (r > 1)


def test_expected_rows_have_the_margins_that_were_seen():
    field = model(2)
    table = table_of(field, 300, 2)
    pairs = list(field.couplings)
    found = expectations(table, pairs, intercept=True, threads=1, forms=field.forms)
    for (r, t), expected in found.items():
        np.testing.assert_allclose(expected.table.sum(axis=1), table.rows_of_states(r), atol=1e-4)
        np.testing.assert_allclose(expected.table.sum(axis=0), table.rows_of_states(t), atol=1e-4)
        assert expected.without >= expected.fitted - 1e-9
    tables = expectations(table, pairs, intercept=True, threads=1)
    assert all(tables[key].fitted <= found[key].fitted + 1e-9 for key in tables)
    assert found[0, 1].null.df == 1
    assert tables[0, 1].null.df > 4  # of a whole table, corrected for few rows per cell


def test_scores_are_those_of_refits_in_the_forms_of_the_graph():
    field = model(3)
    table = table_of(field, 250, 3)
    known = forms_of(table, "auto")
    fits = refit_conditionals(field.graph, table)
    for r, fit in enumerate(fits):
        forms = {t: field.forms[min(r, t), max(r, t)] for t in range(6) if t != r}
        slow = node_loss(table, r, forms=known).fit(forms)
        assert fit.forms == slow.forms
        assert fit.loss == pytest.approx(slow.loss, abs=1e-10)
    total = -sum(fit.loss for fit in fits)
    assert row_scores(fits, table).mean() == pytest.approx(total, abs=1e-8)


def test_scores_with_missing_values():
    field = model(4)
    rows = pd.DataFrame(field.sample(200, seed=4), columns=list(field.names)).astype(object)
    rows.iloc[::5, 1] = None
    table = encode(rows, missing="available")
    fits = refit_conditionals(field.graph, table)
    assert fits[0].forms[1] == "product"
    assert fits[0].df[1] == 2  # the product, and a level where the neighbour is missing
    assert np.isfinite(row_scores(fits, table)).all()
