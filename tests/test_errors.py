"""Errors keep their parts and their data, also on the way from one process to another."""

import pickle

import pytest

from isinglass import errors
from isinglass.errors import IsinglassError, IsinglassWarning, Setting, Wording

CLASSES = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, IsinglassError | IsinglassWarning)
]


@pytest.mark.parametrize("kind", CLASSES)
def test_an_error_comes_back_from_a_pickle_as_it_was(kind):
    error = kind("take ", Setting("nu", 0.5), Wording(" here.", " there."), parameter="nu")
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is kind
    assert str(back) == str(error) == "take nu=0.5 here."
    assert back.message == error.message
    assert back.parameter == "nu"


def test_each_part_can_be_put_into_other_words():
    error = errors.SettingError("take ", Setting("nu"), Wording(" here", " there"))
    assert error.worded(lambda part: part if isinstance(part, str) else "?") == "take ??"


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        (Setting("missing", "drop"), 'missing="drop"'),
        (Setting("n_eff", 12.0), "n_eff=12"),
        (Setting("bins", {"age": [25, 45]}), "bins={'age': [25, 45]}"),
        (Setting("overwrite", True), "overwrite=True"),
        (Setting("max_states"), "max_states"),
    ],
)
def test_python_writes_a_setting_as_an_argument(setting, text):
    assert str(setting) == text


@pytest.mark.parametrize("kind", CLASSES)
def test_an_error_can_be_made_before_it_is_told_what_is_wrong(kind):
    """As tblib does, by which Dask brings errors home from workers."""
    assert isinstance(kind.__new__(kind), kind)
