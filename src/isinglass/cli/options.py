"""The options that several commands share.

An option is named as the argument of the library that it becomes, and what was typed becomes that
argument's value here, so that commands hand their options on.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Any

import click
import numpy as np

from isinglass.cli.declare import (
    Values,
    choice,
    command,
    flag,
    needed,
    option,
    seed,
    several,
    take,
    whole,
)
from isinglass.errors import SettingError
from isinglass.model.inference.methods import Method, method_of
from isinglass.table import DEFAULT_NA
from isinglass.table.codebook.codebook import missing_code
from isinglass.table.reading.codebooks import settings_of

__all__ = [
    "Values",
    "choice",
    "command",
    "flag",
    "needed",
    "option",
    "seed",
    "several",
    "take",
    "whole",
]


def _separator(typed: str | None) -> str | None:
    return "\t" if typed in ("tab", "\\t") else typed


def read_bins(texts: Sequence[str]) -> dict[str, int | list[float]] | None:
    """NAME=K or NAME=CUT,CUT, any number of times, as a dict.

    >>> read_bins(["age=4", "income=1e4,5e4"])
    {'age': 4, 'income': [10000.0, 50000.0]}
    """
    return dict(map(_bin, texts)) or None


def _bin(text: str) -> tuple[str, int | list[float]]:
    name, _, cuts = text.rpartition("=")
    try:
        if name and cuts.isdecimal():
            return name, int(cuts)
        if name and "," in cuts:
            return name, [float(cut) for cut in cuts.split(",") if cut.strip()]
    except ValueError:
        pass
    raise SettingError(f"--bin takes NAME=K or cut points, as age=4 or age=25,45; not {text!r}.")


def _missing_code(text: str) -> tuple[str, list[Any]]:
    name, equals, codes = text.rpartition("=")
    parts = [part.strip() for part in codes.split(",")]
    if not name or not equals or not all(parts):
        raise SettingError(
            f"--missing-code takes NAME=CODE, as income=99 or income=98,refused; not {text!r}."
        )
    return name, [missing_code(part) for part in parts]


def read_missing_codes(texts: Sequence[str]) -> dict[str, list[Any]] | None:
    """NAME=CODE or NAME=CODE,CODE, any number of times, as a dict.

    >>> read_missing_codes(["income=98,99", "income=refused", "*=-1"])
    {'income': [98, 99, 'refused'], '*': [-1]}
    """
    codes: dict[str, list[Any]] = {}
    for name, some in map(_missing_code, texts):
        codes.setdefault(name, []).extend(some)
    return codes or None


def _order(text: str) -> tuple[str, list[str]]:
    """NAME=A,B,C; a state that has a comma stands in quotes.

    >>> _order('size=small,"large, or huge"')
    ('size', ['small', 'large, or huge'])
    """
    before, quote, after = text.partition('"')
    name, _, first = before.rpartition("=")
    states = f"{first}{quote}{after}"
    cells = next(csv.reader([states], skipinitialspace=True), [])
    if not name or len(cells) < 2:
        raise SettingError(f"--order takes NAME=STATES, as sleep=bad,fair,good; not {text!r}.")
    return name, [cell.strip() for cell in cells]


def _high(text: str) -> tuple[str, str]:
    name, equals, state = text.rpartition("=")
    if not name or not equals:
        raise SettingError(f"--high takes NAME=STATE, as Vote=yea; not {text!r}.")
    return name, state


def _scores(text: str) -> tuple[str, list[float]]:
    """NAME=X,Y,Z, numbers.

    >>> _scores("age=18,30,50")
    ('age', [18.0, 30.0, 50.0])
    """
    name, _, numbers = text.rpartition("=")
    try:
        return _named(name), [float(number) for number in numbers.split(",")]
    except ValueError:
        raise SettingError(
            f"--scores takes NAME=NUMBERS, as age=18,30,50,70; not {text!r}."
        ) from None


def _named(name: str) -> str:
    if not name:
        raise ValueError
    return name


def names_of(text: str) -> tuple[str, ...]:
    """Names with commas between them; a name that has a comma stands in quotes.

    >>> names_of('age, "home, owned"')
    ('age', 'home, owned')
    """
    try:
        cells = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error:  # a line break that is not in quotes
        return ()
    return tuple(name.strip() for name in cells)


def _in_quotes(name: str) -> str:
    """A name as `names_of` reads it."""
    return '"' + name.replace('"', '""') + '"' if set(name) & set(',"\n\r') else name


def _group(text: str) -> tuple[str, ...]:
    names = names_of(text)
    if len(names) < 2:
        raise SettingError(
            f"--forbid-group takes two names or more, as a,b,c, those with a comma or a line break "
            f"in quotes; not {text!r}."
        )
    return names


def _number_or_word(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


DATA = click.Argument(["data"], type=click.Path())
MODEL = click.Argument(["model"], type=click.Path())
JSON = flag("--json as_json", "Print the result as JSON, nothing else.")
THREADS = option("--jobs N n_jobs", "Threads; all cores by default.", type=int)
PROCESSES = whole("--jobs N n_jobs", "Processes; all cores by default.")
SCHEDULER = option(
    "--scheduler ADDRESS",
    "Let the workers of a Dask cluster do the work: the address of its scheduler.",
)
OPEN = flag("--open open_it", "Show the report in a browser.")
OVERWRITE = flag("--overwrite", "Replace files beside FILE even if isinglass did not write them.")
SUPPRESS = option(
    "--suppress ROWS",
    "Hide groups of fewer than ROWS rows, so that the report can be shared; write no other file.",
    type=click.FloatRange(0),
    default=0,
    show_default=False,
)


def _drawn(given: int | None) -> int:
    return int(np.random.default_rng().integers(1, 10**9)) if given is None else given


#: Another seed each time by default.
NEW_SEED = whole(
    "--seed N", "Seed; the same seed draws the same table again.", least=0, into=_drawn
)

#: How a file becomes a table: arguments of `read_table`.
READING = (
    several(
        "--na TEXT",
        "Text that stands for a missing value, such as '?', instead of NA, NaN, null and the like. "
        "An empty cell is always missing; --na '' means empty cells only.",
        into=lambda words: words or DEFAULT_NA,
    ),
    flag(
        "--no-header header",
        "The first row is data; columns are x0, x1, ...",
        into=lambda given: not given,
    ),
    option(
        "--sep CHAR",
        "What separates the cells of a text file, such as ';' or '|' (tab for a tab); by default "
        "the first line decides.",
        into=_separator,
    ),
    option("--encoding", "Encoding of text files, such as latin-1, cp1252 or utf-16.", "utf-8"),
    option(
        "--max-size BYTES max_bytes",
        "The largest file to read, after unpacking; by default a sixteenth of the memory.",
        type=float,
    ),
    option(
        "--sheet NAME",
        "The sheet of a spreadsheet, or the data frame of an .rda file; by default the first.",
    ),
    option(
        "--codebook FILE",
        "What columns and codes mean: a CSV file with the headings name, label, values, order, "
        "missing; it is added to the labels of SPSS, Stata and SAS files.",
    ),
    several(
        "--missing-code NAME=CODE missing_codes",
        "Codes of a column that stand for a missing value, such as income=98,99; '*' instead of a "
        "name means all columns.",
        into=read_missing_codes,
    ),
    several(
        "--order NAME=STATES",
        "The states of a column from low to high, such as sleep=bad,fair,good; quote states that "
        "contain a comma.",
        into=lambda texts: dict(map(_order, texts)) or None,
    ),
)


def _obey(context: click.Context, _option: click.Parameter, path: str | None) -> None:
    """Make what a settings file says the default of the other options."""
    if path is None:
        return
    typed = _as_typed(settings_of(path).options)
    known = {param.name for param in context.command.params}
    unknown = [name for name in typed if name not in known]
    if unknown:
        raise SettingError(
            f"{path} sets {unknown[0]!r}, for which isinglass {context.info_name} has no option; "
            "remove it."
        )
    context.default_map = {**(context.default_map or {}), **typed, "codebook": path}


def _as_typed(options: Values) -> Values:
    """Settings as they would be typed.

    >>> _as_typed({"bins": {"age": [25], "size": 3}, "header": False, "rule": "and"})
    {'bins': ['age=25,', 'size=3'], 'header': True, 'rule': 'and'}
    """
    typed = dict(options)
    if typed.get("bins"):
        cuts = {n: [*b, ""] if isinstance(b, list) else [b] for n, b in typed["bins"].items()}
        typed["bins"] = [
            f"{n}={','.join(map(str, some)).removesuffix(',' * (len(some) > 2))}"
            for n, some in cuts.items()
        ]
    if typed.get("high"):
        typed["high"] = [f"{name}={state}" for name, state in typed["high"].items()]
    if typed.get("adjust"):
        typed["adjust"] = [_in_quotes(name) for name in typed["adjust"]]
    if "header" in typed:  # an option that is there if there is no header
        typed["header"] = not typed["header"]
    return {name: value for name, value in typed.items() if value not in ({}, [])}


#: How a file is read, which of its columns are used, and as what.
TABLE = (
    option(
        "--settings FILE",
        "A settings file (survey.toml), as isinglass inspect --out writes it. Options on the "
        "command line override it.",
        callback=_obey,
        is_eager=True,
        expose_value=False,
    ),
    *READING,
    several("--drop NAME", "A column to drop."),
    several(
        "--bin NAME=K bins",
        "Cut a column of numbers into K bins at its quantiles, or at your own cut points: "
        "age=25,45 has the bins up to 25, above 25 to 45, and above 45; age=25, has two.",
        into=read_bins,
    ),
    several(
        "--high NAME=STATE",
        "Which state of a two-state column is the high one, such as Vote=yea: signs and log-odds "
        "are about high states. By default the one that means yes (yes, true, present, ja, agree, "
        "...), else the second label; nodes.csv shows it.",
        into=lambda texts: dict(map(_high, texts)) or None,
    ),
    option("--weight-column NAME sample_weight", "A column of counts or weights."),
    option(
        "--cluster-column NAME clusters",
        "A column of labels, such as a school or a person: rows with the same label may depend on "
        "each other.",
    ),
    option(
        "--n-eff",
        "How many rows the weights stand for: sum; design or kish, for sampling weights; or a "
        "number.",
        "sum",
        into=_number_or_word,
    ),
    option("--max-states", "States per column; 256 at most.", 32),
)

#: What becomes of missing values.
WAYS = {
    "error": "refuses them",
    "model": "fills them from the model that is learned (assumes missing at random)",
    "drop": "uses complete rows only (assumes missing completely at random)",
    "state": "treats missing as one more state (columns that are missing together become linked)",
    "available": "uses, for each column, the rows where it is observed (for few missing values)",
}


def missing(*ways: str) -> click.Option:
    """What to do with missing values."""
    words = "; ".join(f"{way} {WAYS[way]}" for way in ways)
    return choice(f"--missing {'|'.join(ways)}", f"Missing values: {words}.")


#: When an edge enters the graph.
THRESHOLD = (
    option(
        "--threshold",
        "The log-likelihood per row that an edge must gain: auto, paper, paper:0.9, a number such "
        "as 0.01, or chosen on the table: ebic:0.25, cv:5, stability:1, stars:0.05.",
        "auto",
    ),
    choice(
        "--rule or|and|joint",
        "or keeps an edge if the search at either of its columns chooses it; and only if both do; "
        "joint lets both decide together, which finds more edges from few rows.",
    ),
)
#: All that `GreedyGraph` and its table need.
SEARCH = (
    *THRESHOLD,
    several("--require A B", "A link that the graph must have.", type=(str, str)),
    several("--forbid A B", "A link that it must not have.", type=(str, str)),
    several(
        "--forbid-group A,B,C",
        "Columns of which no two may be linked; quote names that contain a comma.",
        into=lambda texts: list(map(_group, texts)),
    ),
    several(
        "--adjust A,B",
        "Columns to adjust for, such as age,sex: held fixed in every conditional and not in the "
        "graph. Numbers are cut into eight bins or more; quote names that contain a comma.",
        into=lambda texts: [name for text in texts for name in names_of(text)] or None,
    ),
    missing(*WAYS),
    choice(
        "--edges auto|table|scores",
        "What an edge between ordered columns may be: a table of log-potentials or one product of "
        "scores, whichever the rows support (auto); always a table; always a product (scores).",
    ),
    several(
        "--ordered NAME",
        "A column whose states are ordered; numbers and columns of two states always are.",
        into=lambda names: list(names) or None,
    ),
    several(
        "--scores NAME=NUMBERS",
        "How far apart the states of a column are, such as age=18,30,50,70; 0, 1, 2, ... by "
        "default.",
        into=lambda texts: dict(map(_scores, texts)) or None,
    ),
    *TABLE,
    option("--nu", "Factor of the backward step.", 0.5),
    flag("--no-intercept intercept", "Fit no intercepts.", into=lambda given: not given),
    option("--max-degree D", "At most D neighbours per column.", type=int),
)
#: Exact or by sampling, and how long the chains run.
METHOD = (
    choice(
        "--method auto|exact|gibbs", "Exact, or Gibbs sampling; auto is exact if memory allows."
    ),
    option("--memory BYTES", "Memory that exact may take.", 1e9, show_default="1e9"),
)
SWEEPS = (
    option("--burn-in", "Gibbs: sweeps before the first draw.", 1000),
    option("--thin", "Gibbs: sweeps per draw.", 10),
)


def take_method(values: Values, *settings: str) -> Method:
    """Take the method and its settings out of the options of a command."""
    names = ("memory", *settings)
    return method_of(values.pop("method"), **{name: values.pop(name) for name in names})
