"""Models go to pgmpy and come back; there they are the same distribution."""

import sys

import numpy as np
import pytest

import enumeration
from isinglass import MarkovField, simulate
from isinglass.errors import MissingExtra, SettingError
from isinglass.exports import from_pgmpy, read_uai, to_pgmpy, write
from small_models import MODELS

SAID = "pgmpy is not installed; scripts/friends runs this where it is"


@pytest.fixture
def pgmpy():
    return pytest.importorskip("pgmpy", reason=SAID)


def assert_close(a: MarkovField, b: MarkovField) -> None:
    assert (a.names, a.states) == (b.names, b.states)
    assert list(a.couplings) == list(b.couplings)
    for x, y in zip(
        (*a.intercepts, *a.couplings.values()), (*b.intercepts, *b.couplings.values()), strict=True
    ):
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-10)


def test_without_pgmpy(monkeypatch):
    monkeypatch.setitem(sys.modules, "pgmpy", None)
    monkeypatch.setitem(sys.modules, "pgmpy.factors", None)
    monkeypatch.setitem(sys.modules, "pgmpy.factors.discrete", None)
    with pytest.raises(MissingExtra, match="pip install pgmpy"):
        to_pgmpy(MODELS["one column"])


@pytest.mark.friends
@pytest.mark.parametrize("name", MODELS)
def test_round_trip(name, pgmpy):
    network = to_pgmpy(MODELS[name])
    assert network.check_model()
    assert_close(from_pgmpy(network), MODELS[name])


@pytest.mark.friends
@pytest.mark.parametrize("name", ["Ising, grid", "Potts, grid", "Potts, dense"])
def test_pgmpy_says_the_same(name, pgmpy):
    from pgmpy.inference import VariableElimination

    field = MODELS[name]
    inference = VariableElimination(to_pgmpy(field))
    given = {field.names[0]: field.states[0][1]}
    for column in field.names[1:]:
        theirs = inference.query([column], evidence=given, show_progress=False)
        theirs.normalize()
        ours = field.conditional(column, given)
        for label, probability in zip(theirs.state_names[column], theirs.values, strict=True):
            assert ours[label] == pytest.approx(float(probability), abs=1e-9)


@pytest.mark.friends
def test_its_reader_of_uai_files(pgmpy, tmp_path):
    from pgmpy.readwrite import UAIReader

    field = MODELS["Potts, grid"]
    write(field, tmp_path / "model.uai", to="uai")
    network = UAIReader(str(tmp_path / "model.uai")).get_model()
    there = from_pgmpy(network)
    assert_close(read_uai(tmp_path / "model.uai"), field)
    order = [there.names.index(f"var_{j}") for j in range(len(field.names))]
    rows = enumeration.all_rows(field)
    codes = np.empty_like(rows)
    codes[:, order] = rows
    difference = there.log_potential(codes) - field.log_potential(rows)
    np.testing.assert_allclose(difference - difference[0], 0, atol=1e-9)


@pytest.mark.friends
def test_labels(pgmpy):
    field = MarkovField.from_potentials(
        ("a b", "c"), [("no", True, 1.5), (3, "x")], [[1, 2, 3], [0, 1]], {(0, 1): np.eye(3)[:, :2]}
    )
    assert_close(from_pgmpy(to_pgmpy(field), "pandas"), field)
    assert from_pgmpy(to_pgmpy(field), "pandas").library == "pandas"


@pytest.mark.friends
def test_networks_from_elsewhere(pgmpy):
    from pgmpy.factors.discrete import DiscreteFactor
    from pgmpy.models import DiscreteMarkovNetwork

    network = DiscreteMarkovNetwork([("a", "b"), ("b", "c"), ("a", "c")])
    network.add_factors(
        DiscreteFactor(["b", "a"], [3, 2], [1, 2, 3, 4, 5, 6]),
        DiscreteFactor(["a", "b"], [2, 3], [1, 1, 1, 1, 1, 2]),
        DiscreteFactor(["c", "b"], [2, 3], np.ones(6)),
    )
    table = np.log(np.array([[1, 3, 5], [2, 4, 12]]))
    expected = MarkovField.from_potentials("ab", [(0, 1), (0, 1, 2)], [[0, 0], [0, 0, 0]],
                                           {(0, 1): table})  # fmt: skip
    np.testing.assert_allclose(
        from_pgmpy(network).couplings[0, 1], expected.couplings[0, 1], atol=1e-12
    )
    network.add_factors(DiscreteFactor(["a", "b", "c"], [2, 3, 2], np.ones(12)))
    with pytest.raises(SettingError, match="joins 3 columns"):
        from_pgmpy(network)


@pytest.mark.friends
def test_what_cannot_be_is_said(pgmpy):
    from pgmpy.factors.discrete import DiscreteFactor
    from pgmpy.models import DiscreteMarkovNetwork

    network = DiscreteMarkovNetwork([("a", "b")])
    network.add_factors(DiscreteFactor(["a"], [2], [0, 1]))
    with pytest.raises(SettingError, match="'b' is in no factor"):
        from_pgmpy(network)
    network.add_factors(DiscreteFactor(["b"], [2], [1, 1]))
    with pytest.raises(SettingError, match="a potential of 'a' is not a positive"):
        from_pgmpy(network)
    with pytest.raises(SettingError, match="span exp"):
        to_pgmpy(simulate.ising(simulate.chain(2), coupling=800.0))
