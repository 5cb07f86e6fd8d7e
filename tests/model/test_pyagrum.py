"""Exact answers beside pyAgrum's, through its own reader of UAI files."""

import numpy as np
import pytest

from isinglass import simulate
from isinglass.exports import write

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


def opened(pyagrum, field, folder):
    """The network as pyAgrum reads it, and the name it gives to each column."""
    write(field, folder / "model.uai", to="uai")
    network = pyagrum.MarkovRandomField()
    network.loadUAI(str(folder / "model.uai"))
    return network, [network.variable(v).name() for v in sorted(network.nodes())]


@pytest.mark.parametrize("name", MODELS)
def test_a_grid_of_six_by_six(name, pyagrum, tmp_path):
    field = MODELS[name]
    network, names = opened(pyagrum, field, tmp_path)
    known = {0: 1, 21: 0, 35: 1}
    engine = pyagrum.ShaferShenoyMRFInference(network)
    engine.setEvidence({names[v]: code for v, code in known.items()})
    engine.makeInference()
    ours = field.marginals({field.names[v]: field.states[v][code] for v, code in known.items()})
    for v, column in enumerate(field.names):
        if v not in known:
            theirs = np.asarray(engine.posterior(names[v]).tolist())
            np.testing.assert_allclose(ours[column].values, theirs, rtol=0, atol=1e-9)


def test_pairs_and_no_evidence(pyagrum, tmp_path):
    field = MODELS["Ising"]
    network, names = opened(pyagrum, field, tmp_path)
    engine = pyagrum.ShaferShenoyMRFInference(network)
    engine.addJointTarget({names[0], names[1]})
    engine.makeInference()
    theirs = engine.jointPosterior({names[0], names[1]})
    ours = field.conditional(["x0", "x1"])
    for a in range(2):
        for b in range(2):
            chance = theirs[{names[0]: a, names[1]: b}]
            assert ours.values[a, b] == pytest.approx(chance, abs=1e-9)
