"""Counts of states and pairs against counting by hand."""

import numpy as np
import pandas as pd
import pytest

from isinglass import GreedyGraph
from isinglass.record import tables


def table(incomplete=False):
    rng = np.random.default_rng(1)
    a = rng.integers(0, 3, 250)
    frame = pd.DataFrame(
        {
            "a": a,
            "b": np.where(rng.random(250) < 0.7, -a, rng.integers(-2, 1, 250)),
            "word": rng.choice(["x", "y", "z"], 250),
            "c": rng.random(250) < 0.3 + 0.2 * a,
            "constant": 1,
        }
    )
    return frame.astype(object).mask(rng.random(frame.shape) < 0.1) if incomplete else frame


def by_hand(one, other, weights, n):
    """Information in nats and the smallest cell, from the rows in which both are seen."""
    seen = one.notna() & other.notna()
    cells = pd.crosstab(one[seen], other[seen], values=weights[seen], aggfunc="sum").fillna(0)
    cells = cells.reindex(index=sorted(one.dropna().unique()), fill_value=0)
    cells = cells.reindex(columns=sorted(other.dropna().unique()), fill_value=0)
    joint = cells.to_numpy()
    expected = np.outer(joint.sum(1), joint.sum(0)) / joint.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        information = np.nansum(np.where(joint > 0, joint * np.log(joint / expected), 0)) / n
    return information, joint.min()


@pytest.mark.parametrize("incomplete", [False, True])
def test_against_counting_by_hand(incomplete):
    frame = table(incomplete)
    weights = pd.Series(np.random.default_rng(2).integers(1, 4, 250))
    est = GreedyGraph(missing="available").fit(frame, sample_weight=weights.to_numpy())
    counted = est.record().tally
    for name, counts in zip(frame, counted.counts, strict=True):
        seen = weights.groupby(frame[name]).sum()
        assert list(counts[: len(seen)]) == seen.sort_index().tolist()
        assert sum(counts) == weights.sum()
    names = list(frame)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    for (a, b), information, smallest in zip(
        pairs, counted.pairs.information, counted.pairs.smallest, strict=True
    ):
        size, least = by_hand(frame[a], frame[b], weights, weights.sum())
        assert information == pytest.approx(size, abs=1e-12)
        assert smallest == least


def test_signs():
    counted = GreedyGraph().fit(table()).record().tally
    names = list(table())
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    sign = dict(zip(pairs, counted.pairs.sign.tolist(), strict=True))
    assert sign["a", "b"] == -1
    assert sign["a", "c"] == 1
    assert sign["a", "word"] == 0
    assert sign["a", "constant"] == 0


def test_too_many_columns_for_pairs(monkeypatch):
    monkeypatch.setattr(tables, "MOST_COLUMNS", 4)
    assert GreedyGraph().fit(table()).record().tally.pairs is None
