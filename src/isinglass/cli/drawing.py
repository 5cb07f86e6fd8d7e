"""What the commands that ask or draw from a model share: how they do it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

Command = Callable[..., Any]


def method_options(command: Command) -> Command:
    """Add the choice between exact and Gibbs, and what exact may take."""
    method = click.option(
        "--method",
        type=click.Choice(["auto", "exact", "gibbs"]),
        default="auto",
        show_default=True,
        help="Exact, or Gibbs sampling; auto is exact where memory allows.",
    )
    memory = click.option(
        "--memory",
        type=float,
        default=1e9,
        show_default="1e9",
        metavar="BYTES",
        help="The memory that exact computation may take.",
    )
    return method(memory(command))


def sweep_options(command: Command) -> Command:
    """Add how long Gibbs chains run."""
    burn_in = click.option(
        "--burn-in",
        type=int,
        default=1000,
        show_default=True,
        help="Gibbs: sweeps before the first draw.",
    )
    thin = click.option(
        "--thin", type=int, default=10, show_default=True, help="Gibbs: sweeps per draw."
    )
    return burn_in(thin(command))
