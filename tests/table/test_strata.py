"""A draw takes the same share of every stratum."""

import numpy as np
import pytest

import isinglass as ig
from isinglass.errors import BadClusters
from isinglass.table import Drawer, encode
from isinglass.uncertainty.resampling.split import half_of


def table(seed: int):
    """A small table of many equal rows, three strata of unequal size, clusters within them."""
    rng = np.random.default_rng(seed)
    strata = np.repeat([0, 1, 2], [10, 31, 60])
    clusters = 100 * strata + rng.integers(0, [3, 8, 12], (101, 3))[np.arange(101), strata]
    return rng.integers(0, 2, (101, 3)), strata, clusters


def strata_drawn(drawer, counts) -> list[int]:
    """How many rows (or clusters) were drawn of each stratum."""
    if drawer.cluster is None:
        return np.bincount(drawer.stratum, counts, 3).astype(int).tolist()
    drawn = np.unique(drawer.cluster[counts > 0])
    return np.bincount(drawer.stratum[drawn], minlength=3).tolist()


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_draws_keep_strata(seed, clustered):
    codes, strata, clusters = table(seed)
    encoded = encode(codes, clusters=clusters if clustered else None)
    drawer = Drawer.of(encoded, strata)
    units = clusters if clustered else np.arange(101)
    there = sorted(len(set(units[strata == k])) for k in range(3))
    rng = np.random.default_rng(seed)
    one, other = drawer.halves(rng)
    for half in (one, other):
        assert sorted(strata_drawn(drawer, half)) == [count // 2 for count in there]
    assert (one + other <= drawer.copies).all()
    assert drawer.half == sum(count // 2 for count in there)
    some = sorted(strata_drawn(drawer, drawer.some(rng, drawer.size // 3)))
    assert sum(some) == drawer.size // 3
    np.testing.assert_allclose(some, np.array(there) / 3, atol=1)
    again = drawer.with_replacement(rng)
    if not clustered:
        assert sorted(strata_drawn(drawer, again)) == there


@pytest.mark.parametrize("clustered", [False, True])
def test_draws_see_neither_the_order_of_rows_nor_the_names_of_strata(clustered):
    codes, strata, clusters = table(7)
    order = np.random.default_rng(3).permutation(101)
    forms = []
    for at, names in ((np.arange(101), ["a", "b", "c"]), (order, ["z", "x", "y"])):
        est = ig.GreedyGraph()
        labels = [names[k] for k in strata[at]]
        own = clusters[at] if clustered else None
        forms.append(ig.resample(est, codes[at], n=8, clusters=own, strata=labels, n_jobs=1))
    assert forms[0].halves == forms[1].halves
    assert forms[0].what == ("cluster" if clustered else "row")


def test_without_strata_or_with_one_the_draws_are_the_same():
    codes, _, clusters = table(1)
    for own in (None, clusters):
        plain = Drawer.of(encode(codes, clusters=own))
        one = Drawer.of(encode(codes, clusters=own), np.zeros(101, dtype=int))
        for draw in ("halves", "with_replacement"):
            drawn = [getattr(each, draw)(np.random.default_rng(0)) for each in (plain, one)]
            np.testing.assert_array_equal(*drawn)


def test_halves_of_a_split_keep_strata():
    codes, strata, clusters = table(2)
    numbers = np.unique(clusters, return_inverse=True)[1]
    half = half_of(np.ones(101), numbers, np.random.default_rng(0), strata)
    for k in range(3):
        own = np.unique(numbers[strata == k])
        assert len(np.unique(numbers[(half > 0) & (strata == k)])) == len(own) // 2
    assert (half_of(np.ones(101), None, np.random.default_rng(0), strata)[:10]).sum() == 5
    found = ig.split_test(
        ig.GreedyGraph(n_jobs=1), codes, splits=2, clusters=clusters, strata=strata, n_jobs=1
    )
    assert found.splits == 2


@pytest.mark.parametrize(
    ("strata", "says"),
    [
        ([0] * 5, r"strata has shape \(5,\); give one label for each row"),
        ([0] * 100 + [1], "a stratum of one row"),
        ([0] * 100 + [None], "no label"),
    ],
)
def test_refused(strata, says):
    codes, _, _ = table(0)
    est = ig.GreedyGraph(n_jobs=1).fit(codes)
    for work in (ig.resample, ig.case_dropping, ig.bootstrap):
        with pytest.raises(BadClusters, match=says):
            work(est, n=2, strata=strata)


def test_a_cluster_is_in_one_stratum():
    codes, _, clusters = table(0)
    est = ig.GreedyGraph(n_jobs=1).fit(codes, clusters=clusters)
    with pytest.raises(BadClusters, match="rows in several strata"):
        ig.resample(est, n=2, strata=np.arange(101) % 2)
    with pytest.raises(BadClusters, match="a stratum of one cluster"):
        ig.resample(est, n=2, strata=clusters)
