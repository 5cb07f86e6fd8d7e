"""The command line: parse, call, print. One file a command."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import version

import click

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
    """Run a command; whatever goes wrong is one sentence, not a traceback."""
    from isinglass.cli.failures import ended, forget_odd_sizes

    forget_odd_sizes()
    sys.exit(ended(lambda: group(standalone_mode=False)))
