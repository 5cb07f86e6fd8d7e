"""Names of before: of arguments, for one release; of settings in the keys of records, for good."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

from isinglass.repeating.runner import RECORDS

P = ParamSpec("P")
R = TypeVar("R")


def formerly(function: Callable[P, R]) -> Callable[P, R]:
    """Take ``jobs=`` for ``n_jobs=``, and ``folder=`` for ``path=``, with a FutureWarning."""

    @wraps(function)
    def renamed(*args: P.args, **kwargs: P.kwargs) -> R:
        if "jobs" in kwargs:
            kwargs["n_jobs"] = kwargs.pop("jobs")
            warn_renamed("jobs=", "n_jobs=")
        if "folder" in kwargs:
            folder = kwargs.pop("folder")
            if isinstance(folder, str | os.PathLike):
                folder = Path(folder) / RECORDS
            kwargs["path"] = folder
            warn_renamed("folder=", f"path= (the file, as 'audit/{RECORDS}')")
        return function(*args, **kwargs)

    return renamed


def as_recorded(setting: object) -> str:
    """A setting as keys of records have it: in the words of the first files, whatever it says now.

    Seeds follow from keys, so another word would not only do all work again, but draw other tables.

    >>> as_recorded("an edge without effect passes with probability 0.05")
    "'an edge without effect passes with chance 0.05'"
    """
    return repr(setting).replace("passes with probability", "passes with chance")


#: Settings that the first files did not have, and what was done then.
LATER = {"adjust": None, "edges": "table", "ordered": None, "scores": None}


def that_matter(settings: Mapping[str, object]) -> dict[str, object]:
    """The settings of an estimator that an answer depends on.

    >>> that_matter({"missing": "drop", "n_jobs": 2, "seed": 1, "edges": "table"})
    {'missing': 'drop'}
    """
    idle = {"n_jobs"} if settings.get("missing") == "model" else {"n_jobs", "seed"}
    idle |= {name for name, then in LATER.items() if settings.get(name, then) == then}
    return {name: value for name, value in settings.items() if name not in idle}


def warn_renamed(old: str, new: str) -> None:
    """Say what a name is now."""
    message = f"{old} is now {new}; the old name will be removed in the next release."
    warnings.warn(message, FutureWarning, stacklevel=3)
