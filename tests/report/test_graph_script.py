"""The page's script cuts paths and joins neighbourhoods as the package does; run by Node."""

import json
import shutil
import subprocess
from importlib.resources import files

import numpy as np
import pytest

from isinglass import summarise
from isinglass.engine.join import entries
from isinglass.report.html import page_data
from isinglass.solvers.cuts import edges_at, steps_at
from report.pages import FITS, fitted

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node here")

ASK = """
const { data, thresholds } = JSON.parse(require("fs").readFileSync(0, "utf8"));
data.given = {};
const answers = thresholds.map((threshold) => {
  const graph = graphAt({ ...data, kept_fewer: false }, threshold);
  const edges = graph.edges.map((edge) => [edge.a, edge.b]);
  const entries = graph.edges.map(
    ({ a, b, required }) => (required ? null : entryOf(data, a, b, threshold)));
  const forms = graph.edges.map(({ form, step }) => [form, form === "product" ? step : null]);
  const by = graph.edges.map((edge) => edge.selectedBy);
  return { cuts: graph.cuts, edges, entries, forms, by };
});
console.log(JSON.stringify({ answers, counts: edgeCounts(data) }));
"""


def asked(data, thresholds):
    page = files("isinglass.report") / "page"
    names = ("numbers.js", "forms.js", "graph.js")
    script = "\n".join((page / name).read_text() for name in names)
    done = subprocess.run(
        ["node", "-e", script + ASK],
        input=json.dumps({"data": data, "thresholds": thresholds}),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", FITS)
def test_the_script_is_the_twin_of_the_package(name):
    make, settings = FITS[name]
    est = fitted(make(), **settings)
    data = page_data(summarise(est))
    found = {step.gain for path in est.paths_ for step in path.steps if step.gain is not None}
    gains = sorted(found)[:: max(len(found) // 9, 1)]
    beside = [float(np.nextafter(gain, side)) for gain in gains for side in (0, 1)]
    thresholds = [t for t in (*gains, *beside, *data["stops"]) if t >= est.floor_]
    found = asked(data, thresholds)
    paths = list(est.paths_)
    for threshold, answer in zip(thresholds, found["answers"], strict=True):
        edges = edges_at(paths, threshold, est.rule)
        assert answer["cuts"] == [
            steps_at((step.gain for step in path.steps), threshold) for path in paths
        ]
        assert [tuple(edge) for edge in answer["edges"]] == edges
        expected = entries(est.search_.runs, edges, threshold, est.rule)
        assert [np.inf if entry is None else entry for entry in answer["entries"]] == expected
        links = est.at(threshold).links
        by = ["both" if one is None else data["names"][one] for one in answer["by"]]
        assert by == ["both" if link.tier == "required" else link.selected_by for link in links]
        assert [form for form, _ in answer["forms"]] == [link.form for link in links]
        steps = [link.step_log_odds for link in links if link.form == "product"]
        shown = [step for form, step in answer["forms"] if form == "product"]
        np.testing.assert_allclose(shown, steps, rtol=1e-5)
    assert found["counts"] == [len(edges_at(paths, stop, est.rule)) for stop in data["stops"]]
