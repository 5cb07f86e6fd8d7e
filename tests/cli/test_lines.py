"""What a command tells a program that runs it."""

import json

import pytest

from isinglass.cli import lines
from isinglass.cli.failures import ended, in_options
from isinglass.cli.terminal import progress_bar, working
from isinglass.errors import Setting, SettingError, Wording


@pytest.fixture
def heard(monkeypatch, capsys):
    monkeypatch.setenv(lines.LINES, "1")
    return lambda: [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_progress_is_a_line_each(heard):
    with progress_bar("searching") as progress:
        progress(1, 9)
        progress(2, 9)  # too soon after the last to be told
        progress(9, 9)
    with working("fitting") as tell:
        tell("column 3")
    assert heard() == [
        {"doing": "searching"},
        {"doing": "searching", "words": "", "done": 1, "total": 9},
        {"doing": "searching", "words": "", "done": 9, "total": 9},
        {"doing": "fitting"},
        {"doing": "fitting", "words": "column 3"},
    ]


def test_what_goes_wrong_is_a_sentence_in_the_words_of_the_page(heard):
    def fail():
        message = "take ", Setting("missing", "drop"), " or ", Wording("in Python", "--x", "here")
        raise SettingError(*message, "\nnow.")

    assert ended(fail) == 2
    assert heard() == [{"sentence": "take “Missing values: drop” or here now."}]


def test_settings_without_a_value_or_with_several():
    words = (Setting("bins", {"age": [25, 45]}), " and ", Setting("n_eff", 2.5), Setting("nu"))
    said = SettingError(*words).worded(lines.in_fields)
    assert said == "“Bins: 25, 45” of age and “The weights are: 2.5”nu"
    assert in_options(SettingError(*words[:1])) == "--bin age=25,45"
