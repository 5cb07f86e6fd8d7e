"""The library's messages in the words of the command line: options in the place of arguments."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from isinglass.errors import IsinglassError, IsinglassWarning, Part, Setting, Wording
from isinglass.wording import one_line

#: Parameters whose option has another name.
OPTIONS = {
    "bins": "bin",
    "d": "degree",
    "factors": "factor",
    "k": "nearest",
    "max_bytes": "max-size",
    "n": "samples",
    "n_jobs": "jobs",
    "p": "columns",
    "sample_weight": "weight-column",
}


def in_options(message: IsinglassError | IsinglassWarning) -> str:
    """Say a message on one line, with options where the library names arguments.

    >>> from isinglass.errors import SettingError
    >>> in_options(SettingError("take ", Setting("n_eff", "kish"), " or a larger ", Setting("nu")))
    'take --n-eff kish or a larger --nu'
    """
    return one_line(message.worded(_words))


def _words(part: Part) -> str:
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
