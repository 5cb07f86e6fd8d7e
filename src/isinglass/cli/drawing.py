"""What the commands that ask or draw from a model share: how they do it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from isinglass.model.inference.methods import Method, method_of

Command = Callable[..., Any]


def method_options(command: Command) -> Command:
    """Add the choice between exact and Gibbs, and the memory of exact."""
    method = click.option(
        "--method",
        type=click.Choice(["auto", "exact", "gibbs"]),
        default="auto",
        show_default=True,
        help="Exact, or by Gibbs sampling where exact needs too much memory.",
    )
    memory = click.option(
        "--memory",
        type=float,
        default=1e9,
        show_default="1e9",
        metavar="BYTES",
        help="Memory that exact may take.",
    )
    return method(memory(command))


def sweep_options(command: Command) -> Command:
    """Add how long Gibbs chains run."""
    burn_in = click.option(
        "--burn-in",
        type=int,
        default=1000,
        show_default=True,
        help="Gibbs: sweeps before draws.",
    )
    thin = click.option(
        "--thin", type=int, default=10, show_default=True, help="Gibbs: sweeps per draw."
    )
    return burn_in(thin(command))


def take_method(options: dict[str, Any], *settings: str) -> Method:
    """Take the method and its settings out of the options of a command."""
    return method_of(
        options.pop("method"), **{name: options.pop(name) for name in ("memory", *settings)}
    )
