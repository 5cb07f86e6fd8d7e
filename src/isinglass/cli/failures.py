"""Every way a command can fail, as one sentence and an exit status; warnings as sentences."""

from __future__ import annotations

import io
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import IO, Any, cast

import click

from isinglass.cli import lines
from isinglass.errors import (
    FileError,
    IsinglassError,
    IsinglassWarning,
    Part,
    Setting,
    Wording,
)
from isinglass.wording import one_line

#: Set, to anything, to see where an error that nobody foresaw came from.
TRACEBACK = "ISINGLASS_TRACEBACK"
#: Parameters whose option has another name.
OPTIONS = {
    "bins": "bin",
    "clusters": "cluster-column",
    "d": "degree",
    "factors": "factor",
    "k": "nearest",
    "max_bytes": "max-size",
    "missing_codes": "missing-code",
    "n": "samples",
    "client": "scheduler",
    "n_jobs": "jobs",
    "p": "columns",
    "sample_weight": "weight-column",
}


def ended(command: Callable[[], Any]) -> int:
    """Run a command, say what went wrong if something did, and return the exit status."""
    try:
        with own_streams(), warnings_as_sentences():
            return _status_of(command)
    except FileError as error:  # there is nothing to write to
        say(sentence_of(error))
        return 2


def _status_of(command: Callable[[], Any]) -> int:
    try:
        status = command()
        sys.stdout.flush()
    except SystemExit:
        raise
    except BaseException as error:  # a panic of polars is no Exception
        return report(error)
    return status if isinstance(status, int) else 0


def report(error: BaseException) -> int:
    """Say what went wrong, and return the exit status."""
    if isinstance(error, BrokenPipeError):  # the reader has seen enough: `isinglass fit ... | head`
        _leave_output()
        return 1
    if isinstance(error, click.ClickException):
        if lines.wanted():
            say(error.format_message())
        else:
            error.show()
        return error.exit_code
    if isinstance(error, click.Abort | KeyboardInterrupt):
        say("stopped")
        return 130
    say(sentence_of(error))
    _leave_output()
    return 2


def say(sentence: str) -> None:
    """One line on standard error."""
    if lines.wanted():
        lines.write(sentence=one_line(sentence))
        return
    with suppress(OSError):  # nobody is there to read it
        click.echo(f"isinglass: {one_line(sentence)}", err=True)


def sentence_of(error: BaseException) -> str:
    """What went wrong, and what to do."""
    if isinstance(error, IsinglassError):
        return in_options(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory for this; use fewer rows or columns."
    if isinstance(error, RecursionError):
        return "something in the input is nested too deeply to be read."
    if isinstance(error, UnicodeError):
        return f"some text could not be read or written ({error}); save the file as UTF-8."
    if isinstance(error, OSError):
        return _of_system(error)
    if os.environ.get(TRACEBACK):
        raise error

    kind = f"{type(error).__name__}: {error}"
    return (
        f"an error that should not happen: {one_line(kind, most=300)}. Please report it, with the "
        f"command; set {TRACEBACK}=1 to see where it came from."
    )


def in_options(message: IsinglassError | IsinglassWarning) -> str:
    """Say a message on one line, with options where the library names arguments.

    >>> from isinglass.errors import SettingError
    >>> in_options(SettingError("take ", Setting("n_eff", "kish"), " or a larger ", Setting("nu")))
    'take --n-eff kish or a larger --nu'
    """
    return one_line(message.worded(_words))


def _words(part: Part) -> str:
    if lines.wanted():
        return lines.in_fields(part)
    if isinstance(part, Setting):
        return _option(part.name, part.value)
    return part.command_line if isinstance(part, Wording) else part


def _option(name: str, value: Any) -> str:
    """An option as it is typed.

    >>> _option("bins", {"age in years": [25, 45]}), _option("overwrite", True)
    ("--bin 'age in years=25,45'", '--overwrite')
    """
    option = f"--{OPTIONS.get(name, name).replace('_', '-')}"
    if value is None or value is True:
        return option
    if isinstance(value, Mapping):
        return " ".join(
            f"{option} {shlex.quote(f'{key}={_typed(one)}')}" for key, one in value.items()
        )
    return f"{option} {shlex.quote(_typed(value))}"


def _typed(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _of_system(error: OSError) -> str:
    reason = error.strerror or str(error)
    if error.filename is not None:
        return f"cannot read or write {os.fsdecode(error.filename)!r}: {reason}."
    try:
        os.getcwd()
    except OSError:
        return "the working folder no longer exists; change to another one."
    return f"the operating system reports an error: {reason}."


class Output:
    """Standard output, whose errors say that they are its own; else as it is."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write some text."""
        with self._named():
            return int(self._stream.write(text))

    def flush(self) -> None:
        """Hand over what was written."""
        with self._named():
            self._stream.flush()

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            reason = error.strerror or error
            raise FileError(f"cannot write to standard output: {reason}.") from None


def _leave_output() -> None:
    """Throw away what standard output did not take, so that ending does not try again."""
    try:
        sys.stdout.flush()
    except OSError:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())


@contextmanager
def warnings_as_sentences() -> Iterator[None]:
    """Say our own warnings on standard error, once each, and no others."""
    said: set[str] = set()

    def tell(message: Warning | str, *_: Any, **__: Any) -> None:
        words = in_options(message) if isinstance(message, IsinglassWarning) else str(message)
        if words not in said:
            said.add(words)
            say(words)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", IsinglassWarning)
        warnings.showwarning = tell
        yield


@contextmanager
def own_streams() -> Iterator[None]:
    """Standard output and error that can show any name, and whose own errors are known.

    Libraries that are not Python's write to the second file of the process by themselves, as
    polars does when it gives up; what they say there is for their developers. Ours goes to a copy.
    """
    if sys.stdout is None:  # the shell's >&-
        raise FileError("standard output is closed; send it to a file, or to /dev/null.")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 (for good)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    with redirect_stdout(cast(IO[str], Output(sys.stdout))), _own_errors():
        yield


@contextmanager
def _own_errors() -> Iterator[None]:
    usual = sys.__stderr__
    if usual is None or sys.stderr is not usual or usual.fileno() != 2:
        yield
        return
    with open(os.dup(2), "w", buffering=1, encoding=usual.encoding, errors="replace") as own:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        try:
            with redirect_stderr(own):
                yield
        finally:
            os.dup2(own.fileno(), 2)


def forget_odd_sizes() -> None:
    """Forget sizes of the terminal that leave no room, such as COLUMNS=0, or are none at all."""
    for name in ("COLUMNS", "LINES"):
        text = os.environ.get(name, "80")
        plain = text.isascii() and text.isdecimal() and len(text) <= 4
        if not plain or int(text) < 20:
            del os.environ[name]
