"""Pictures of plans and audits."""

from isinglass import plots
from isinglass.uncertainty.power.planned import Planned, Point
from isinglass.uncertainty.simulation.audit import Audit, Detection, Tier


def picture(ax):
    return plots.png(plots.figure_of(ax))


def point(factor, rows, recovered):
    return Point(factor, rows, 50, recovered, recovered - 0.05, recovered + 0.05, 0.9, 0.1)


def test_a_plan():
    points = [point(f, n, f * n / 1000) for f in (0.7, 1.0) for n in (100, 300, 900)]
    planned = Planned(tuple(points), {1.0: points[-1]}, "graph", 0.9, "With 900 rows.")
    ax = plots.plan(planned)
    labels = [line.get_label() for line in ax.get_lines()]
    assert {"couplings x 0.7", "couplings x 1"} <= set(labels)
    assert picture(ax) == picture(plots.plan(planned))


def test_an_audit():
    tiers = (Tier("firm", 0.02, 5, 0.06, 0.02, 0.5), Tier("tentative", 0.01, 7, 1.1, 0.1, 0.7))
    detection = (
        Detection(1.5, 2.0, 40, {"firm": 0.1, "tentative": 0.3}),
        Detection(5.0, float("inf"), 12, {"firm": 1.0, "tentative": 1.0}),
    )
    ax = plots.audit(Audit(tiers, detection, 100, 0, "On 100 tables."))
    assert [tick.get_text() for tick in ax.get_xticklabels()] == [
        "1.5 to 2\n40 links",
        "above 5\n12 links",
    ]
    assert len(ax.get_lines()) == 2
    nothing = Audit(tiers, (), 100, 0, "On 100 tables.")
    assert picture(plots.audit(nothing))
