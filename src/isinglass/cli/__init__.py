"""The command line: parse, call, print. One file per command."""

from __future__ import annotations

import sys
from importlib import import_module

import click

#: The commands, and what `isinglass --help` says of each without importing its file.
COMMANDS = {
    "ask": "Ask a model: probabilities, the most probable row.",
    "audit": "Count the false edges of this analysis on tables like yours.",
    "compare": "Learn a table's graph by several methods, and compare them.",
    "demo": "Learn which pixels of handwritten digits are linked.",
    "desk": "Open a page to do all this in a browser.",
    "explain": "Say why two columns are linked, or why not.",
    "export": "Write a model in the format of other software.",
    "fit": "Learn which columns of a table are directly linked.",
    "groups": "Compare the links of groups of rows.",
    "impute": "Fill in the missing values of a table with a model.",
    "inspect": "Say what every column is, and how to learn from a table.",
    "pack": "Pack a large table into a folder of bits, from which fits start at once.",
    "plan": "Say how many rows are needed to recover a graph.",
    "plot": "Draw saved fits: networks, heat maps, centrality.",
    "report": "Write the report of a fit again.",
    "reproduce": "Run the experiment of the paper.",
    "resample": "Learn a table's graph again from parts of its rows.",
    "sample": "Draw a table from a model.",
    "simulate": "Draw a table from a model whose graph is known.",
    "theory": "Say what the paper's theorem asks of a table.",
}


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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands; click would import them all."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


@click.group(
    cls=LazyCommands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 96},
)
@click.version_option(package_name="isinglass", prog_name="isinglass")
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
