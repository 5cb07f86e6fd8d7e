"""Whatever goes wrong on the shell is one sentence and an exit status."""

import os
import subprocess
import sys
import warnings

import numpy as np
import polars as pl
import pytest

from fit_commands import PLAIN
from isinglass.cli.failures import ended, forget_odd_sizes
from isinglass.errors import FileError, PoorMixing, Setting, SettingError

MAIN = [sys.executable, "-c", "from isinglass.cli import main; main()"]


def raising(error):
    def command():
        raise error

    return command


ERRORS = {
    "ours": (SettingError(Setting("nu"), " must be a number."), "--nu must be a number"),
    "memory": (MemoryError(), "not enough memory"),
    "numpy's memory": (np._core._exceptions._ArrayMemoryError((10**9,), np.dtype(float)), "memory"),
    "nesting": (RecursionError("maximum recursion depth exceeded"), "nested too deeply"),
    "text": (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), "UTF-8"),
    "a file": (PermissionError(13, "Permission denied", "x.csv"), "'x.csv': Permission denied"),
    "the system": (OSError(5, "Input/output error"), "Input/output error"),
    "a panic": (pl.exceptions.PanicException("called unwrap\non None"), "should not happen"),
    "anything": (TypeError("two\nlines"), "TypeError: two lines. Please report it"),
}


@pytest.mark.parametrize(("error", "words"), ERRORS.values(), ids=ERRORS)
def test_every_error_is_one_sentence(error, words, capsys):
    assert ended(raising(error)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("isinglass: ")
    assert err.count("\n") == 1
    assert words in err


def test_an_error_that_should_not_happen_can_be_seen(monkeypatch):
    monkeypatch.setenv("ISINGLASS_TRACEBACK", "1")
    with pytest.raises(TypeError, match="here"):
        ended(raising(TypeError("here")))


def test_an_interruption_and_a_closed_pipe_have_statuses_of_their_own(capfd):
    assert ended(raising(KeyboardInterrupt())) == 130
    assert capfd.readouterr().err == "isinglass: stopped\n"
    assert ended(raising(BrokenPipeError())) == 1
    assert capfd.readouterr().err == ""


def test_warnings_of_ours_are_sentences_said_once(capsys):
    def command():
        for _ in range(3):
            warnings.warn(PoorMixing("raise ", Setting("thin"), " (now 10)."), stacklevel=1)
        warnings.warn("a library is old", DeprecationWarning, stacklevel=1)
        np.log(np.array([0.0]))

    assert ended(command) == 0
    assert capsys.readouterr().err == "isinglass: raise --thin (now 10).\n"


def test_what_a_library_writes_by_itself_is_not_shown():
    code = """
import os, sys
from isinglass.cli.failures import ended, forget_odd_sizes
def command():
    os.write(2, b"thread '<unnamed>' panicked at src/lib.rs")
    print("ours", file=sys.stderr)
status = ended(command)
print("after", file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "ours\nafter\n"


def shell(arguments, survey, **options):
    return subprocess.run(
        [*MAIN, "fit", str(survey), *PLAIN, *arguments],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        **options,
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("buffered", ["", "1"])
def test_a_full_disk_behind_standard_output(survey, buffered):
    with open("/dev/full", "w") as full:
        environment = {**os.environ, "PYTHONUNBUFFERED": buffered}
        done = shell([], survey, stdout=full, env=environment)
    assert done.returncode == 2
    assert done.stderr == "isinglass: cannot write to standard output: No space left on device.\n"


def test_a_closed_standard_output(survey):
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -c '{MAIN[2]}' fit {survey} >&-"],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "standard output is closed" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_reader_that_has_seen_enough(survey):
    line = f"{sys.executable} -c '{MAIN[2]}' fit {survey} {' '.join(PLAIN)}"
    done = subprocess.run(
        ["bash", "-c", f"{line} | true; exit ${{PIPESTATUS[0]}}"],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode in (0, 1)  # nobody was there in time, or somebody was


def test_a_working_folder_that_is_gone(survey, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    line = f"cd {gone} && rmdir {gone} && {sys.executable} -c '{MAIN[2]}' fit {survey} --out x"
    done = subprocess.run(["sh", "-c", line], stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.endswith(
        "isinglass: the working folder no longer exists; change to another one.\n"
    )


@pytest.mark.parametrize("name", ["x" * 300, f"a/{'x' * 300}/b"])
def test_a_name_that_is_too_long(run_main, survey, tmp_path, name):
    done = run_main("fit", survey, *PLAIN, "--out", tmp_path / name)
    assert done.status == 2
    assert done.err.endswith("File name too long.\n")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("columns", ["0", "1", "-5", "²", "9" * 30, "wide", ""])
def test_odd_widths_of_the_terminal_are_forgotten(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    forget_odd_sizes()
    assert "COLUMNS" not in os.environ


def test_a_width_of_nothing_prints_all(survey):
    done = shell([], survey, stdout=subprocess.PIPE, env={**os.environ, "COLUMNS": "0"})
    assert "300 rows, 4 columns" in done.stdout
    assert "a -- b" in done.stdout


def test_standard_output_says_that_an_error_is_its_own(monkeypatch, capsys):
    class Full:
        def write(self, text):
            raise OSError(28, "No space left on device")

        def flush(self):
            pass

    monkeypatch.setattr(sys, "stdout", Full())
    assert ended(lambda: print("x")) == 2
    assert "cannot write to standard output" in capsys.readouterr().err


def test_a_file_error_of_the_command_is_not_hidden(capsys):
    assert ended(raising(FileError("no such table."))) == 2
    assert capsys.readouterr().err == "isinglass: no such table.\n"
