"""Exact answers beside pyAgrum's junction trees."""

import numpy as np
import pytest

from isinglass import simulate

pytestmark = pytest.mark.friends
SAID = "pyAgrum is not installed; scripts/friends runs this where it is"


@pytest.fixture
def pyagrum():
    return pytest.importorskip("pyagrum", reason=SAID)


GRID = simulate.grid(6, 6)
MODELS = {
    "Ising": simulate.ising(GRID, coupling=(0.2, 0.7), intercept=(-0.5, 0.5), seed=1),
    "Potts": simulate.potts(GRID, [2, 3, 2, 3, 2, 2] * 6, coupling=0.5, intercept=0.3, seed=2),
}


def built(pyagrum, field):
    """The network by pyAgrum's own calls; its reader of UAI files keeps single precision only."""
    network = pyagrum.MarkovRandomField()
    for name, m in zip(field.names, field.n_states, strict=True):
        network.add(pyagrum.LabelizedVariable(name, name, m))
    for name, intercept in zip(field.names, field.intercepts, strict=True):
        network.addFactor([name]).fillWith(np.exp(intercept).tolist())
    for (i, j), table in field.couplings.items():
        factor = network.addFactor([field.names[i], field.names[j]])
        for (a, b), potential in np.ndenumerate(np.exp(table)):
            factor[{field.names[i]: int(a), field.names[j]: int(b)}] = float(potential)
    return network


@pytest.mark.parametrize("name", MODELS)
def test_a_grid_of_six_by_six(name, pyagrum):
    field = MODELS[name]
    known = {0: 1, 21: 0, 35: 1}
    engine = pyagrum.ShaferShenoyMRFInference(built(pyagrum, field))
    engine.setEvidence({field.names[v]: code for v, code in known.items()})
    engine.makeInference()
    ours = field.marginals({field.names[v]: field.states[v][code] for v, code in known.items()})
    assert len(ours) == 33
    for column, table in ours.items():
        theirs = np.asarray(engine.posterior(column).tolist())
        np.testing.assert_allclose(table.values, theirs, rtol=0, atol=1e-12)


def test_pairs_without_evidence(pyagrum):
    field = MODELS["Potts"]
    engine = pyagrum.ShaferShenoyMRFInference(built(pyagrum, field))
    pairs = [{"x0", "x1"}, {"x1", "x7"}, {"x34", "x35"}]
    for pair in pairs:
        engine.addJointTarget(pair)
    engine.makeInference()
    for pair in pairs:
        a, b = sorted(pair, key=field.names.index)
        theirs, ours = engine.jointPosterior(pair), field.conditional([a, b])
        for (x, y), probability in np.ndenumerate(ours.values):
            assert probability == pytest.approx(theirs[{a: int(x), b: int(y)}], abs=1e-12)
