"""UAI files come back as the models they were; others give one error."""

import random

import numpy as np
import pytest

from isinglass import MarkovField
from isinglass.errors import FileError, SettingError
from isinglass.exports import read_uai, uai
from mutations import damaged_bytes, load_or_refuse
from odd_names import ODD_NAMES
from small_models import MODELS


def assert_close(a: MarkovField, b: MarkovField) -> None:
    assert list(a.couplings) == list(b.couplings)
    for x, y in zip(
        (*a.intercepts, *a.couplings.values()), (*b.intercepts, *b.couplings.values()), strict=True
    ):
        np.testing.assert_allclose(x, y, rtol=0, atol=1e-12)


def write(field: MarkovField, path, *, labels=True):
    for file, content in uai(field, path).items():
        if labels or file == path:
            file.write_bytes(content)
    return path


@pytest.mark.parametrize("name", MODELS)
def test_round_trip(name, tmp_path):
    field = read_uai(write(MODELS[name], tmp_path / "model.uai"))
    assert (field.names, field.states) == (MODELS[name].names, MODELS[name].states)
    assert_close(field, MODELS[name])


def test_labels(tmp_path):
    field = MarkovField.from_potentials(
        ODD_NAMES[:2], [("no", True, 1.5), (None, "")], [[1, 2, 300], [0, 0]], {}, "pandas"
    )
    again = read_uai(write(field, tmp_path / "a.uai"))
    assert (again.names, again.states, again.library) == (field.names, field.states, "pandas")
    bare = read_uai(write(field, tmp_path / "b.uai", labels=False))
    assert (bare.names, bare.states) == (("x0", "x1"), ((0, 1, 2), (0, 1)))
    assert_close(again, field)
    assert_close(bare, field)


def test_files_from_elsewhere(tmp_path):
    """Tables in the other order, a pair that comes twice, a constant, comments, odd spacing."""
    (tmp_path / "x.uai").write_text("c 1\nMARKOV 2\n2 3\nc\n4\n2 1 0\n2 0 1 1 0\n0\n"
                                    "6 1 2 3 4 5 6\n\n6\n 1 1 1\n1 1 8\n2 1 3\n1 .5\n")  # fmt: skip
    field = read_uai(tmp_path / "x.uai")
    table = np.array([[1, 3, 5], [2, 4, 6 * 8]]) * np.array([[1], [3]])
    expected = MarkovField.from_potentials("ab", [(0, 1), (0, 1, 2)], [[0, 0], [0, 0, 0]],
                                           {(0, 1): np.log(table)})  # fmt: skip
    assert_close(field, expected)


def test_too_wide_a_span(tmp_path):
    field = MarkovField.from_potentials("a", [(0, 1)], [[0, 800]], {})
    with pytest.raises(SettingError, match=r"span exp\(800\)"):
        uai(field, tmp_path / "x.uai")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "must start with MARKOV"),
        ("BAYES 1 2 0", "not 'BAYES'"),
        ("MARKOV 0 0", "no columns"),
        ("MARKOV 999999999 2", "not nothing"),
        ("MARKOV 1 -2", "must be whole"),
        ("MARKOV 3 2 2 2 1 3 0 1 2 8", "joins 3 columns"),
        ("MARKOV 2 2 2 1 2 1 1 4", "with itself"),
        ("MARKOV 1 2 1 1 1 2", "0 to 0, not '1'"),
        ("MARKOV 1 2 1 1 0 3 1 1 1", "has 3 entries"),
        ("MARKOV 1 2 1 1 0 2 1 0", "positive finite number, not '0'"),
        ("MARKOV 1 2 1 1 0 2 1 nan", "not 'nan'"),
        ("MARKOV 1 2 1 1 0 2 1", "not nothing"),
        ("MARKOV 1 2 1 1 0 2 1 1 7", "continues"),
    ],
)
def test_what_is_wrong_is_said(content, words, tmp_path):
    (tmp_path / "x.uai").write_text(content)
    with pytest.raises(FileError, match=words):
        read_uai(tmp_path / "x.uai")


def test_damaged_files(tmp_path):
    rng = random.Random(0)
    path = write(MODELS["Potts, grid"], tmp_path / "model.uai")
    labels = path.with_name("model.uai.labels.json")
    for file in (path, labels):
        valid = file.read_bytes()
        loaded = [
            load_or_refuse(lambda _: read_uai(path), file, damaged_bytes(rng, valid))
            for _ in range(300)
        ]
        assert 0 < sum(field is None for field in loaded) < 300
        file.write_bytes(valid)
