"""The library's messages in the words of the command line."""

from __future__ import annotations

import re
import shlex

from isinglass.report.words import one_line


def in_options(message: str) -> str:
    """Name options where a message of the library names arguments, all on one line.

    >>> in_options("Bin it (bins={'age in years': 4}), drop it, or raise max_states.")
    "Bin it (--bin 'age in years=4'), drop it (--drop), or raise --max-states."
    >>> in_options('missing="drop" uses only complete rows; or n_eff="kish", or n_eff=12.5.')
    '--missing drop uses only complete rows; or --n-eff kish, or --n-eff 12.5.'
    """
    for pattern, option in _OPTIONS:
        message = re.sub(pattern, option, message)
    return one_line(re.sub(r"bins=\{(['\"])(.*?)\1: (\d+)\}", _bin, message))


_OPTIONS = (
    (r"missing=\"(\w+)\"", r"--missing \1"),
    (r"n_eff=\"?(\w[\w.]*\w|\d)\"?", r"--n-eff \1"),
    (r"\bn_eff\b", "--n-eff"),
    (r"method=\"(\w+)\"", r"--method \1"),
    (r"\bRaise memory\b", "Raise --memory"),
    (r"\bburn_in\b", "--burn-in"),
    (r"\bthin \(now\b", "--thin (now"),
    (r"^n must\b", "--samples must"),
    (r"^(require|forbid)(?=:| links| takes)", r"--\1"),
    (r"^d must\b", "--degree must"),
    (r"^k must\b", "--nearest must"),
    (r"^(states|signs|coupling|intercept|degree|rewire|chains|thin) must\b", r"--\1 must"),
    (r"\bsample_weight\b", "--weight-column"),
    (r"\btake overwrite=True", "give --overwrite"),
    (r" A larger ridge makes the fit quicker\.", ""),
    (
        r"needs columns, degree, and either coupling or odds_ratio; or a pilot table",
        "needs --columns, --degree, and either --coupling or --odds-ratio; or --pilot FILE",
    ),
    (r"\bmax_states\b", "--max-states"),
    (r"\bmax_degree\b", "--max-degree"),
    (r"\b([Dd])rop it\b", r"\1rop it (--drop)"),
    (r"\bout of bins\b", "out of --bin"),
    (r"^bins names\b", "--bin names"),
)


def _bin(match: re.Match[str]) -> str:
    return f"--bin {shlex.quote(f'{match[2]}={match[3]}')}"
