"""The study of the default threshold: a run can be stopped, and goes on."""

import pytest
from benchmarks.choosing.__main__ import command
from click.testing import CliRunner


@pytest.fixture
def study(tmp_path):
    def run(*more):
        asked = ["--part", "false", "--graphs", "2", "--jobs", "1", "--out", str(tmp_path), *more]
        outcome = CliRunner().invoke(command, asked, catch_exceptions=False)
        assert outcome.exit_code == 0
        return outcome.output

    return run


def test_what_is_done_is_not_done_again(study, tmp_path):
    first = study()
    assert "34 fits in all, 0 of them already done." in first
    assert "empty, p = 30, intercepts -1.5..-1" in first
    page = (tmp_path / "choosing.md").read_text()
    assert page.count("\n| empty, p = 100 | 1,000 | 0 | ") == 1
    assert "34 fits in all, 34 of them already done." in study()
    assert (tmp_path / "choosing.md").read_text() == page
