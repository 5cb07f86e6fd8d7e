"""Short ways to write a command and its options; nothing heavy is imported here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from inspect import cleandoc
from typing import Any

import click

Values = dict[str, Any]


def command(
    *params: click.Parameter, examples: str
) -> Callable[[Callable[..., None]], click.Command]:
    """Make a function a command that takes these parameters, with examples below its help."""
    lines = cleandoc(examples).splitlines()
    head = "Examples" if sum(line.startswith("isinglass") for line in lines) > 1 else "Example"
    epilog = "\n".join(["\b", f"{head}:", *(f"  {line}" for line in lines)])
    return click.command(params=list(params), epilog=epilog)


def option(
    spec: str,
    help: str,
    default: Any = None,
    *,
    into: Callable[[Any], Any] | None = None,
    **settings: Any,
) -> click.Option:
    """An option as its help shows it, and the name of its argument if that is another.

    `into` makes the argument of what was typed.

    >>> given = option("--bin NAME=K bins", "Cut a column into bins.", multiple=True)
    >>> given.name, given.opts, given.metavar
    ('bins', ['--bin'], 'NAME=K')
    >>> option("--rule or|and", "Which edges are kept.").type.choices
    ('or', 'and')
    """
    first, *rest = spec.split()
    words = next((tuple(word.split("|")) for word in rest if "|" in word), ())
    settings["metavar"] = " ".join(word for word in rest if word.isupper()) or None
    if words:
        settings["type"] = click.Choice(words)
    if default is not None:
        settings = {"default": default, "show_default": True} | settings
    if into is not None:
        settings["callback"] = lambda _context, _option, typed: into(typed)
    argument = [word for word in rest if word.islower() and "|" not in word]
    return click.Option([first, *argument], help=help, **settings)


def choice(spec: str, help: str) -> click.Option:
    """An option that takes one of some words, the first by default."""
    return option(spec, help, spec.split()[1].split("|", maxsplit=1)[0])


def whole(
    spec: str, help: str, default: int | None = None, least: int = 1, **settings: Any
) -> click.Option:
    """An option that takes a whole number."""
    return option(spec, help, default, type=click.IntRange(least), **settings)


#: An option that is there or not; one that may be given several times; one that must be given.
flag = partial(option, is_flag=True)
several = partial(option, multiple=True)
needed = partial(option, required=True)
seed = partial(whole, "--seed", default=0, least=0)


def take(values: Values, options: Iterable[click.Option]) -> Values:
    """Take the values of some options out of those of a command."""
    names = [str(each.name) for each in options if each.expose_value]
    return {name: values.pop(name) for name in names}
