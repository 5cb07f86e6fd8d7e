"""The command line: parse, call, print. One file a command."""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module
from importlib.metadata import version

import click

from isinglass.errors import IsinglassError

COMMANDS = (
    "ask",
    "audit",
    "compare",
    "demo",
    "explain",
    "export",
    "fit",
    "impute",
    "plan",
    "report",
    "reproduce",
    "resample",
    "sample",
    "simulate",
)


class LazyCommands(click.Group):
    """Commands whose files are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in alphabetical order."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the file of a command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"isinglass.cli.{cmd_name}").command
        return command


@click.group(
    cls=LazyCommands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 96},
)
@click.version_option(version("isinglass"), prog_name="isinglass")
def group() -> None:
    """Which columns of a discrete table are directly linked, and how strongly.

    \b
    Try:  isinglass demo
    Then: isinglass fit your.csv --out result/
    """  # noqa: D301 (the escape is click's mark for lines to keep)


def main() -> None:
    """Run a command; an error of ours is one line, not a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a name that the terminal cannot show
            stream.reconfigure(errors="replace")
    try:
        status = group(standalone_mode=False)
        sys.stdout.flush()
        sys.exit(status if isinstance(status, int) else 0)
    except IsinglassError as error:
        from isinglass.cli.wording import in_options

        click.echo(f"isinglass: {in_options(str(error))}", err=True)
        sys.exit(2)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except BrokenPipeError:  # the reader has seen enough, as in `isinglass fit ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (click.Abort, KeyboardInterrupt):
        click.echo("isinglass: stopped", err=True)
        sys.exit(130)
