"""Models come back from their files as they were; other files give one error."""

import datetime as dt
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from isinglass import GreedyGraph, MarkovField, with_errors
from isinglass.documents import document
from isinglass.documents import parts as files
from isinglass.errors import FileError, SettingError, UnseenState
from mutations import load_or_refuse, mutations
from odd_names import ODD_NAMES
from small_models import MODELS

LEAP_DAY = dt.date(2020, 2, 29)
OLD = Path(__file__).parent / "schema-1.json"


def survey(library="polars") -> MarkovField:
    return MarkovField.from_potentials(
        ("smokes", "age", "asked", "ill"),
        (("no", "yes"), (1, 2.5, None), (LEAP_DAY, dt.datetime(2021, 1, 1, 5)), (False, True)),
        ([0.1, -1 / 3], [1.0, 0.0, -1e-17], [0.0, np.pi], [0, 0]),
        {(0, 1): [[0.1, 0.2, 0.3], [1 / 3, 5, -6]], (1, 3): np.eye(3)[:, :2]},
        library,
    )


def assert_same(a: MarkovField, b: MarkovField) -> None:
    assert (a.unbounded, a.cuts) == (b.unbounded, b.cuts)
    assert (a.names, a.states, a.library) == (b.names, b.states, b.library)
    assert [[type(s) for s in of] for of in a.states] == [[type(s) for s in of] for of in b.states]
    assert list(a.couplings) == list(b.couplings)
    for x, y in zip(
        (*a.intercepts, *a.couplings.values()), (*b.intercepts, *b.couplings.values()), strict=True
    ):
        assert np.array_equal(x, y)
        assert x.shape == y.shape


def message(path) -> str:
    with pytest.raises(FileError) as caught:
        MarkovField.load(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def saved(tmp_path):
    """A function that writes a changed document and returns its path."""
    survey().save(tmp_path / "model.json")
    valid = json.loads((tmp_path / "model.json").read_text())

    def write(change) -> Path:
        changed = json.loads(json.dumps(valid))
        change(changed)
        (tmp_path / "model.json").write_text(json.dumps(changed))
        return tmp_path / "model.json"

    return write


@pytest.mark.parametrize("name", MODELS)
def test_round_trip(name, tmp_path):
    MODELS[name].save(tmp_path / "new" / "model.json")
    assert_same(MarkovField.load(tmp_path / "new" / "model.json"), MODELS[name])


@pytest.mark.parametrize("library", [None, "pandas", "polars", "pyarrow"])
def test_labels_keep_their_types(library, tmp_path):
    survey(library).save(tmp_path / "model.json")
    assert_same(MarkovField.load(tmp_path / "model.json"), survey(library))


def test_odd_names(tmp_path):
    field = MarkovField.from_potentials(
        ODD_NAMES, [ODD_NAMES] * len(ODD_NAMES), [np.zeros(len(ODD_NAMES))] * len(ODD_NAMES), {}
    )
    field.save(tmp_path / "model.json")
    assert_same(MarkovField.load(tmp_path / "model.json"), field)


def test_numpy_labels_become_plain(tmp_path):
    field = MarkovField.from_potentials("a", [(np.int64(1), np.float64(2.5))], [[0, 0]], {})
    field.save(tmp_path / "model.json")
    assert MarkovField.load(tmp_path / "model.json").states == ((1, 2.5),)


@pytest.mark.parametrize("label", [b"bytes", 1 + 2j, float("inf"), 10**99 * 11, (1, 2), "\ud800"])
def test_a_label_that_cannot_be_saved_leaves_the_old_file(label, tmp_path):
    survey().save(tmp_path / "model.json")
    before = (tmp_path / "model.json").read_bytes()
    field = MarkovField.from_potentials("a", [("x", label)], [[0, 0]], {})
    with pytest.raises(SettingError, match="cannot be saved"):
        field.save(tmp_path / "model.json")
    assert (tmp_path / "model.json").read_bytes() == before


def test_cut_points_and_unbounded_edges_are_kept(tmp_path):
    rng = np.random.default_rng(0)
    age = rng.integers(20, 80, 300)
    rows = pl.DataFrame({"age": age, "old": age > 50, "fit": rng.random(300) < age / 100})
    model = GreedyGraph(bins={"age": 3}).fit(rows).model_
    assert model.unbounded
    model.save(tmp_path / "model.json")
    again = MarkovField.load(tmp_path / "model.json")
    assert_same(again, model)
    # Raw numbers are binned as in the fit; labels of bins do as well.
    expected = model.predict_proba(rows, "old")
    np.testing.assert_array_equal(again.predict_proba(rows, "old"), expected)
    labels = np.array(model.states[0])[np.searchsorted(model.cuts[0], age)]
    binned = rows.with_columns(age=pl.Series(labels))
    np.testing.assert_array_equal(again.predict_proba(binned, "old"), expected)
    with pytest.raises(UnseenState, match="'age' holds 'young'"):
        again.predict_proba(rows.with_columns(age=pl.lit("young")), "old")


@pytest.fixture
def with_covariance(tmp_path):
    rows = MODELS["Potts, grid"].sample(400, seed=0)
    model = with_errors(GreedyGraph().fit(rows), clusters=np.arange(400) // 4)
    model.save(tmp_path / "model.json")
    return model, tmp_path / "model.json"


def test_errors_are_kept(with_covariance):
    model, path = with_covariance
    again = MarkovField.load(path)
    assert_same(again, model)
    np.testing.assert_array_equal(again.errors.covariance, model.errors.covariance)
    assert again.intervals().equals(model.intervals())
    assert repr(again.errors) == repr(model.errors)
    assert again.errors.unbounded == model.errors.unbounded
    rows = np.full((5, 6), np.nan)
    assert (again.impute(rows, use="inference")[0] == model.impute(rows, use="inference")[0]).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda e: e["covariance"].pop(), "the covariance has"),
        (lambda e: e["covariance"][0].append(1.0), "row 0 of the covariance has 2 members"),
        (lambda e: e["covariance"][0].__setitem__(0, -1.0), "a negative variance"),
        (lambda e: e.update(units=0), "units of the errors must be positive"),
        (lambda e: e.update(clustered=1), "clustered of the errors must be one of"),
        (lambda e: e.update(unbounded=[99]), "an unbounded edge must be one of"),
        (lambda e: e.pop("intercept"), "errors has no 'intercept'"),
    ],
)
def test_damaged_errors(with_covariance, change, words):
    _, path = with_covariance
    valid = json.loads(path.read_text())
    change(valid["model"]["errors"])
    path.write_text(json.dumps(valid))
    assert words in message(path)


def test_the_first_schema_loads_for_ever():
    assert_same(MarkovField.load(OLD), survey())


def test_an_older_schema_is_brought_up_to_date(saved, monkeypatch):
    path = saved(lambda document: document.update(model={"old": document["model"]}))
    monkeypatch.setattr(files, "SCHEMA", files.SCHEMA + 1)
    before = files.SCHEMA - 1
    monkeypatch.setitem(files.UPGRADES, before, lambda old: old | {"model": old["model"]["old"]})
    assert_same(MarkovField.load(path), survey())


def test_a_newer_schema_says_so(saved):
    path = saved(lambda document: document.update(schema=9, isinglass="7.1", model="unknown"))
    said = message(path)
    assert "schema 9, from isinglass '7.1'" in said
    assert "install a newer isinglass" in said


def test_unknown_members_are_passed_over(saved):
    assert_same(MarkovField.load(saved(lambda document: document.update(more=[1]))), survey())


CHANGES = {
    "not a model file": lambda d: d.pop("format"),
    "no 'schema'": lambda d: d.pop("schema"),
    "a whole number from 1, not True": lambda d: d.update(schema=True),
    "it holds no model, only a heading": lambda d: d.pop("model"),
    "columns must be a list, not 3": lambda d: d["model"].update(columns=3),
    "at least one column": lambda d: d["model"].update(columns=[], couplings=[]),
    "column 1 has no 'intercept'": lambda d: d["model"]["columns"][1].pop("intercept"),
    "the same name": lambda d: d["model"]["columns"][1].update(name="smokes"),
    "two states with the same label": lambda d: d["model"]["columns"][0].update(states=["x", "x"]),
    "has 300 members": lambda d: d["model"]["columns"][0].update(states=list(range(300))),
    "must be a number up to 1e+100, not True": lambda d: d["model"]["columns"][0].update(
        intercept=[True, 0]
    ),
    "does not sum to zero": lambda d: d["model"]["columns"][0].update(intercept=[1, 0]),
    "coupled twice": lambda d: d["model"]["couplings"].append(d["model"]["couplings"][0]),
    "has 2 members, but must have 3": lambda d: d["model"]["couplings"][0].update(
        table=[[0, 0], [0, 0]]
    ),
    "i < j": lambda d: d["model"]["couplings"][0].update(columns=[0, 0], table=[[0, 0], [0, 0]]),
    "from 0 to 3, not -1": lambda d: d["model"]["couplings"][0].update(columns=[-1, 0]),
    "numbers must be finite": lambda d: d["model"]["columns"][0].update(
        intercept=[float("nan"), 0]
    ),
    "the cuts of column 0 must be increasing": lambda d: d["model"]["columns"][0].update(
        cuts=[2, 1]
    ),
    "unbounded of coupling 0 must be one of": lambda d: d["model"]["couplings"][0].update(
        unbounded=1
    ),
    "library must be one of": lambda d: d["model"].update(library="os"),
}


@pytest.mark.parametrize("words", CHANGES)
def test_what_is_wrong_is_said(words, saved):
    said = message(saved(CHANGES[words]))
    assert words in said
    assert "model.json' cannot be loaded: " in said


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not JSON"),
        (b"\x80\x04\x95", "not JSON"),
        (b"[" * 1_000_000, "nested too deeply"),
        (b"9" * 10_000, "not JSON"),
        (b"1e999", "finite"),
        (b"null", "not a model file"),
        (b"a,b\n1,2\n", "not JSON"),
    ],
)
def test_other_files(content, words, tmp_path):
    (tmp_path / "other").write_bytes(content)
    assert words in message(tmp_path / "other")


def test_no_file(tmp_path, monkeypatch):
    assert "cannot read" in message(tmp_path / "none.json")
    assert "cannot read" in message(tmp_path)
    assert "not a file" in message("/dev/zero")
    survey().save(tmp_path / "model.json")
    monkeypatch.setattr(document, "MOST_BYTES", 10)
    assert "at most 10 are allowed" in message(tmp_path / "model.json")


def usable(path) -> bool:
    """Whether a model that loads can be used."""
    return np.isfinite([link.weight for link in MarkovField.load(path).graph]).all()


def fuzz(path, seed: int, count: int) -> None:
    valid = json.loads(OLD.read_text())
    valid["schema"] = 2
    valid["model"]["columns"][1]["cuts"] = [0.5, 2]
    valid["model"]["couplings"][0]["unbounded"] = True
    valid["model"]["errors"] = {
        "intercept": True,
        "units": 50.0,
        "clustered": False,
        "chose_graph": True,
        "unbounded": [0],
        "covariance": [[0.0] * row + [1.0] for row in range(9)],
    }
    loaded = [load_or_refuse(usable, path, content) for content in mutations(valid, seed, count)]
    assert False not in loaded
    assert 0 < loaded.count(True) < count / 2


def test_damaged_files(tmp_path):
    fuzz(tmp_path / "model.json", 0, 600)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 11))
def test_thousands_of_damaged_files(seed, tmp_path):
    fuzz(tmp_path / "model.json", seed, 2000)
