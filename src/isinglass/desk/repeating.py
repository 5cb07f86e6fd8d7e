"""What a page chose as files and lines that do the same again, without the page."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from isinglass.documents.toml import key_text, section
from isinglass.shell import file_word

#: Arguments of `read_table` beside the codebook.
_READING = ("na", "header", "sep", "encoding", "sheet")
#: Keys of [fit] that are arguments of `GreedyGraph`.
_ESTIMATOR = ("threshold", "missing", "n_eff", "rule", "edges", "max_states")
#: Keys of [fit] that are arguments of its `fit`, and their names there.
_ROWS = {"weight": "sample_weight", "clusters": "clusters"}


def stem_of(name: str) -> str:
    """The name of a file without its endings.

    >>> stem_of("my survey.csv.gz")
    'my_survey'
    """
    return (name.partition(".")[0] or "table").replace(" ", "_")


def settings_name(name: str) -> str:
    """What to call the settings file of a table."""
    return f"{stem_of(name)}.toml"


def settings_text(settings: Mapping[str, Any]) -> str:
    """Settings as the text of a settings file.

    `columns` is a list of (name, settings), `groups` one of (name, settings): a page keeps their
    order, and no name can be taken for another thing.

    >>> print(settings_text({"fit": {"missing": "drop"}, "columns": [["a b", {"drop": True}]]}))
    [fit]
    missing = "drop"
    <BLANKLINE>
    [columns."a b"]
    drop = true
    <BLANKLINE>
    """
    lines = [
        *section("reading", settings.get("reading", {})),
        *section("fit", settings.get("fit", {})),
    ]
    for kind in ("groups", "columns"):
        for name, said in settings.get(kind, []):
            lines += section(f"{kind}.{key_text(str(name))}", said)
    return "\n".join(lines)


def command(name: str, words: list[str]) -> str:
    """The line for a shell that does the same."""
    line = ["isinglass", "fit", file_word(name), "--settings", settings_name(name)]
    return shlex.join([*line, "--out", f"{stem_of(name)}/", *words])


def python_lines(name: str, settings: Mapping[str, Any]) -> str:
    """The lines of Python that learn the same graph.

    >>> chosen = {"fit": {"missing": "drop"}, "columns": [["id", {"drop": True}]]}
    >>> print(python_lines("survey.csv", chosen))
    import isinglass as ig
    <BLANKLINE>
    table = ig.read_table('survey.csv', codebook='survey.toml')
    table = table.drop(['id'])
    est = ig.GreedyGraph(missing='drop').fit(table)
    est.graph_.to_frame()
    """
    fit, columns = settings.get("fit", {}), settings.get("columns", [])
    reading = {key: one for key, one in settings.get("reading", {}).items() if key in _READING}
    dropped = [column for column, said in columns if said.get("drop")]
    estimator = {key: fit[key] for key in _ESTIMATOR if key in fit}
    for key in ("bins", "high"):
        kept = [(column, said) for column, said in columns if not said.get("drop")]
        by_column = {column: said[key] for column, said in kept if key in said}
        estimator |= {key: by_column} if by_column else {}
    adjusted = [column for column, said in columns if said.get("adjust")]
    estimator |= {"adjust": adjusted} if adjusted else {}
    about_rows = {option: fit[key] for key, option in _ROWS.items() if key in fit}
    read = [repr(name), *_arguments({"codebook": settings_name(name)} | reading)]
    return "\n".join(
        [
            "import isinglass as ig",
            "",
            f"table = ig.read_table({', '.join(read)})",
            *([f"table = table.drop({dropped!r})"] if dropped else []),
            f"est = ig.GreedyGraph({', '.join(_arguments(estimator))})"
            f".fit({', '.join(['table', *_arguments(about_rows)])})",
            "est.graph_.to_frame()",
        ]
    )


def _arguments(given: Mapping[str, Any]) -> Iterator[str]:
    return (f"{key}={value!r}" for key, value in given.items())
