"""The library's messages in the words of the command line."""

from __future__ import annotations

import re
import shlex

from isinglass.parameters import PARAMETERS
from isinglass.wording import one_line


def in_options(message: str) -> str:
    """Name options where a message of the library names arguments, all on one line.

    >>> in_options("Bin it (bins={'age in years': 4}), drop it, or raise max_states.")
    "Bin it (--bin 'age in years=4'), drop it (--drop), or raise --max-states."
    >>> in_options('missing="drop" uses only complete rows; or n_eff="kish", or n_eff=12.5.')
    '--missing drop uses only complete rows; or --n-eff kish, or --n-eff 12.5.'
    """
    message = re.sub(r"^(\w+) must be\b", _option, message)
    for pattern, option in _OPTIONS:
        message = re.sub(pattern, option, message)
    return one_line(re.sub(r"bins=\{(['\"])(.*?)\1: \[?([\d., -]+)\]?\}", _bin, message))


_OPTIONS = (
    (r"missing=\"(\w+)\"", r"--missing \1"),
    (r"n_eff=\"?(\w[\w.]*\w|\d)\"?", r"--n-eff \1"),
    (r"\bn_eff\b", "--n-eff"),
    (r"method=\"(\w+)\"", r"--method \1"),
    (r"\bRaise memory\b", "Raise --memory"),
    (r"\bburn_in\b", "--burn-in"),
    (r"\bthin \(now\b", "--thin (now"),
    (r"^(require|forbid)(?=:| links| takes)", r"--\1"),
    (r"(, or a Generator or SeedSequence)?, or None, not ", ", not "),
    (
        r"take isinglass\.with_errors\(est\) instead of est\.model_",
        "this model has none. Leave out --use inference, or save a model with errors from Python",
    ),
    (r"\bsample_weight\b", "--weight-column"),
    (r"\btake overwrite=True", "give --overwrite"),
    (r" A larger ridge makes the fit quicker\.", ""),
    (
        r"needs columns, degree, and either coupling or odds_ratio; or a pilot table",
        "needs --columns, --degree, and either --coupling or --odds-ratio; or --pilot FILE",
    ),
    (r"(?<!-)\bmax_states\b", "--max-states"),
    (r"\bmax_degree\b", "--max-degree"),
    (r"\b([Dd])rop it\b", r"\1rop it (--drop)"),
    (r"\bout of bins\b", "out of --bin"),
    (r"^bins (names|asks)\b", r"--bin \1"),
    (r"^high (names|must)\b", r"--high \1"),
    (r"encoding=\"([\w-]+)\"", r"--encoding \1"),
    (r"\bGive another encoding\b", "Give another --encoding"),
    (r"^(sep|encoding) must\b", r"--\1 must"),
    (r"\bmax_bytes\b", "--max-size"),
)


#: Parameters whose option has another name.
_NAMES = {
    "d": "degree",
    "k": "nearest",
    "n": "samples",
    "p": "columns",
    "n_jobs": "jobs",
    "factors": "factor",
}


def _option(match: re.Match[str]) -> str:
    """The option of a parameter, if it is one."""
    name = match[1]
    known = name in {key.rpartition(".")[2] for key in PARAMETERS}
    return f"--{_NAMES.get(name, name).replace('_', '-')} must be" if known else match[0]


def _bin(match: re.Match[str]) -> str:
    bins = match[3].replace(" ", "")
    return f"--bin {shlex.quote(f'{match[2]}={bins}')}"
