"""Stops of the slider: every graph that the paths hold, once each, and none on a gain."""

import numpy as np
import pytest

from isinglass import GreedyGraph
from isinglass.report import slider
from isinglass.solvers.cuts import edges_at
from report.pages import FITS, fitted


@pytest.fixture(params=FITS)
def est(request):
    make, settings = FITS[request.param]
    return fitted(make(), **settings)


def gains(est):
    return {step.gain for path in est.paths_ for step in path.steps if step.gain is not None}


def neighbourhoods(est, threshold):
    """Of every column its neighbours, each with the form of the edge."""
    fits = [path.at(threshold).final for path in est.paths_]
    return tuple(frozenset((t, fit.form(t)) for t in fit.coef) for fit in fits)


def test_stops_lie_between_the_gains(est):
    stops = slider.stops(est.paths_, est.floor_, est.threshold_)
    assert stops == sorted(set(stops), reverse=True)
    assert not gains(est) & set(stops)
    assert min(stops) >= est.floor_
    assert est.threshold_ in stops


def test_every_graph_is_there_once(est):
    """Beside each gain, above and below it, the graph is that of some stop."""
    stops = slider.stops(est.paths_, est.floor_, est.threshold_)
    graphs = {frozenset(edges_at(est.paths_, stop, est.rule)) for stop in stops}
    for gain in gains(est):
        for threshold in (gain, np.nextafter(gain, 1)):
            assert frozenset(edges_at(est.paths_, threshold, est.rule)) in graphs
    assert len({neighbourhoods(est, stop) for stop in stops}) == len(stops)


def test_edges_are_those_of_at(est):
    for stop in slider.stops(est.paths_, est.floor_, est.threshold_)[::4]:
        assert edges_at(est.paths_, stop, est.rule) == list(est.at(stop).pairs)


def test_the_stop_of_a_threshold_has_its_graph(est):
    stops = slider.stops(est.paths_, est.floor_, est.threshold_)
    thresholds = [*sorted(gains(est))[::5], *np.geomspace(est.floor_, 1, 30), est.threshold_]
    for threshold in thresholds:
        stop = stops[slider.stop_of(threshold, stops, est.paths_)]
        assert neighbourhoods(est, stop) == neighbourhoods(est, threshold)


def test_a_threshold_on_a_gain_is_no_stop(est):
    gain = sorted(gains(est))[len(gains(est)) // 2]
    stops = slider.stops(est.paths_, est.floor_, gain)
    assert gain not in stops
    assert edges_at(est.paths_, stops[slider.stop_of(gain, stops, est.paths_)], est.rule) == (
        edges_at(est.paths_, gain, est.rule)
    )


def test_no_steps_at_all():
    est = GreedyGraph().fit([[0], [1], [0]])
    stops = slider.stops(est.paths_, est.floor_, est.threshold_)
    assert stops == [est.threshold_]
    assert slider.stop_of(0.5, stops, est.paths_) == 0
