"""A graph with the numbers of a joint fit."""

import numpy as np
import polars as pl
import pytest

from isinglass import GreedyGraph, simulate
from isinglass.errors import SettingError
from isinglass.graph import NUMBERS


def test_joint_numbers():
    field = simulate.potts(simulate.chain(5), [2, 2, 3, 4, 2], coupling=0.8, seed=1)
    est = GreedyGraph().fit(field.sample(1500, seed=1))
    before = est.graph_.links
    graph = est.graph_.with_couplings(est.model_.couplings)
    assert est.graph_.links == before
    assert graph == est.graph_
    kept = [key for key in NUMBERS if key not in ("coupling", "log_odds", "sign")]
    for ours, theirs, model in zip(graph, est.graph_, est.model_.graph, strict=True):
        assert [getattr(ours, key) for key in kept] == [getattr(theirs, key) for key in kept]
        assert (ours.coupling, ours.log_odds) == (model.coupling, model.log_odds)
        assert ours.sign == model.sign
    first = graph.links[0]
    assert first.coupling != before[0].coupling
    assert first.coupling == pytest.approx(before[0].coupling, abs=0.1)


@pytest.mark.parametrize(("colours", "sign"), [(["blue", "red"], 1), (["blue", "green", "red"], 0)])
def test_two_states_have_a_sign_and_more_need_an_order(colours, sign):
    rng = np.random.default_rng(0)
    a = rng.choice(colours, 300)
    table = pl.DataFrame({"a": a, "b": np.where(rng.random(300) < 0.8, a, "red")})
    est = GreedyGraph().fit(table)
    (link,) = est.graph_.with_couplings(est.model_.couplings)
    assert link.sign == sign
    assert link.coupling == (est.model_.couplings[0, 1][1, 1] if sign else None)


def test_a_table_for_every_edge():
    est = GreedyGraph().fit(simulate.ising(simulate.chain(3)).sample(500, seed=0))
    with pytest.raises(SettingError, match=r"no table for columns \(0, 1\)"):
        est.graph_.with_couplings({})
