"""What is shown while a command works: on a terminal, and nowhere else."""

import io

import pytest
from rich.console import Console

from fit_commands import PLAIN
from isinglass.cli import terminal


@pytest.fixture
def screen(monkeypatch):
    """What a terminal was sent."""
    sent = io.StringIO()

    def console(*, stderr=False):
        return Console(file=sent, force_terminal=True, width=100, markup=False)

    monkeypatch.setattr(terminal, "new_console", console)
    return sent


def test_work_of_unknown_length_says_what_it_does(screen):
    with terminal.working("fitting") as tell:
        tell("step 1, [odd] name")
    assert "fitting: step 1, [odd] name" in screen.getvalue()


def test_a_bar_says_what_is_being_done(screen):
    with terminal.progress_bar("comparing") as bar:
        bar.tell("tree, fold 1 of 5")
        bar(3, 24)
    assert "comparing: tree, fold 1 of 5" in screen.getvalue()
    assert "3/24" in screen.getvalue()


def test_a_fit_shows_what_it_does(invoke, survey, screen, tmp_path):
    invoke("fit", survey, *PLAIN, "--out", tmp_path / "out")
    shown = screen.getvalue()
    stages = ["reading the table", "searching", "writing the report", "fitting the model"]
    stages += ["writing the model", "drawing"]
    assert [stage for stage in stages if stage in shown] == stages
    assert "predicting" not in shown


@pytest.mark.parametrize(
    ("command", "stage"),
    [
        (("ask",), "asking the model"),
        (("report",), "reading the record"),
        (("export", "--to", "csv", "--out", "edges.csv"), "reading the model"),
        (("sample", "--rows", 5, "--out", "rows.csv"), "writing"),
    ],
)
def test_no_command_is_silent(invoke, survey, screen, tmp_path, monkeypatch, command, stage):
    monkeypatch.chdir(tmp_path)
    invoke("fit", survey, *PLAIN, "--out", "out")
    screen.truncate(0)
    assert invoke(command[0], "out/model.json", *command[1:]).status == 0
    assert stage in screen.getvalue()


def test_nothing_is_shown_where_there_is_no_terminal(shell, survey, tmp_path):
    outcome = shell("fit", survey, *PLAIN, "--out", tmp_path / "out")
    assert outcome.status == 0
    assert outcome.err == ""


def test_a_table_too_wide_for_the_terminal_folds_heads_and_keeps_every_number():
    heads = ["graph", *(f"method {k}, cross-validated" for k in range(8))]
    rows = [["chain", *(f"{k}.25" for k in range(8))], ["grid", *(f"{k}.75" for k in range(8))]]
    sent = io.StringIO()
    Console(file=sent, width=80).print(terminal.table(heads, rows, left=("graph",)))
    shown = sent.getvalue()
    assert all(cell in shown for row in rows for cell in row)
    assert max(map(len, shown.splitlines())) <= 80
