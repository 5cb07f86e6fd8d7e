"""What the commands that ask or draw from a model share: how they do it."""

from __future__ import annotations

from typing import Any

import click

from isinglass.cli.tables import with_options
from isinglass.model.inference.methods import Method, method_of

#: The choice between exact and Gibbs, and the memory of exact.
method_options = with_options(
    click.option(
        "--method",
        type=click.Choice(["auto", "exact", "gibbs"]),
        default="auto",
        show_default=True,
        help="Exact, or Gibbs sampling; auto is exact where memory allows.",
    ),
    click.option(
        "--memory",
        type=float,
        default=1e9,
        show_default="1e9",
        metavar="BYTES",
        help="Memory that exact may take.",
    ),
)
#: How long Gibbs chains run.
sweep_options = with_options(
    click.option(
        "--burn-in",
        type=int,
        default=1000,
        show_default=True,
        help="Gibbs: sweeps before draws.",
    ),
    click.option("--thin", type=int, default=10, show_default=True, help="Gibbs: sweeps per draw."),
)


def take_method(options: dict[str, Any], *settings: str) -> Method:
    """Take the method and its settings out of the options of a command."""
    return method_of(
        options.pop("method"), **{name: options.pop(name) for name in ("memory", *settings)}
    )
