"""``isinglass ask``: what a model in a file says, given what is known."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from isinglass.cli import options as opt
from isinglass.cli.results import print_result
from isinglass.cli.terminal import new_console, table, working
from isinglass.documents.parts import label_to_json
from isinglass.errors import SettingError
from isinglass.graph import position_of
from isinglass.model import Answer, Answers, MarkovField, ask
from isinglass.model.adjustment import with_columns
from isinglass.model.labelled import code_of
from isinglass.table.coding.bins import bin_of
from isinglass.table.coding.labels import are_texts_of_numbers, match_label
from isinglass.wording import one_line

#: States of one answer, and columns of the most likely row, that are printed.
SHOWN = 24


@opt.command(
    opt.MODEL,
    opt.several(
        "--given NAME=LABEL",
        "What is known, such as fever=yes; for a binned column, a number or a bin.",
    ),
    opt.several("--of NAME", "A column to ask about; all by default."),
    opt.flag("--joint", "The probabilities of all combinations of states of the columns of --of."),
    *opt.METHOD,
    opt.whole("--draws", "Gibbs: rows drawn.", 10_000),
    *opt.SWEEPS,
    opt.seed("Gibbs: seed of the draws."),
    opt.JSON,
    examples="""
        isinglass simulate tree --columns 6 --samples 500 --out table.csv --seed 1
        isinglass fit table.csv --out result/
        isinglass ask result/model.json --given x0=1 --of x1 --of x2
    """,
)
def command(
    model: str, given: tuple[str, ...], of: tuple[str, ...], as_json: bool, **how: Any
) -> None:
    """Ask a MODEL (model.json, as `isinglass fit --out` writes it).

    Prints the probability of each state of a column when others are known, its probability when
    nothing is known, the ratio of the two odds, and the most likely row.
    """
    draws = how["draws"]
    method = opt.take_method(how, "draws", "burn_in", "thin")
    with working("reading the model"):
        field = MarkovField.load(model)
    evidence = read_evidence(field, given)
    with working("asking the model"):
        answers = ask(field, of or None, evidence, method=method, **how)
    print_result(as_json, as_document(answers), partial(print_answers, answers, draws))


def read_evidence(field: MarkovField, texts: Sequence[str]) -> dict[str, Hashable]:
    """Labels by column, from words such as fever=yes; a missing value is fever= alone."""
    given: dict[str, Hashable] = {}
    field = with_columns(field)  # what was adjusted for may be given as well
    for text in texts:
        name, label = _split(text, field.names)
        at = position_of(name, field.names)
        if name in given:
            raise SettingError(f"--given names {name!r} twice; a column has one label.")
        given[name] = label_of(name, field.states[at], _binned(label, field.cuts.get(at)))
    return given


def _split(text: str, names: Sequence[str]) -> tuple[str, str]:
    """The name and the label; a name may hold a = itself."""
    signs = [at for at, character in enumerate(text) if character == "="]
    if not signs:
        raise SettingError(f"--given takes NAME=LABEL, such as fever=yes, not {text!r}.")
    at = next((at for at in reversed(signs) if text[:at] in names), signs[0])
    return text[:at], text[at + 1 :]


def _binned(text: str, cuts: Sequence[float] | None) -> str:
    """The label of the bin that a number falls into, if the column is binned."""
    is_number = cuts is not None and are_texts_of_numbers([text])
    return bin_of(cuts or (), float(text)) if is_number else text


def label_of(name: str, states: Sequence[Hashable], text: str) -> Hashable:
    """The state that was typed: as it is written, then whatever its case, then as a number.

    >>> label_of("age", (1.0, 2.0), "2"), label_of("fever", (False, True), "true")
    (2.0, True)
    >>> label_of("fever", ("no", "yes"), "yess")
    Traceback (most recent call last):
        ...
    isinglass.errors.UnseenState: column 'fever' has no state 'yess'; did you mean 'yes'?
    """
    at = match_label(states, text)
    return states[code_of(name, states, text) if at is None else at]


def as_text(label: Any) -> str:
    """A label as people type it; a missing value is empty."""
    return "" if label is None else str(label)


def as_document(answers: Answers) -> dict[str, Any]:
    """The answers as plain values."""
    return {
        "given": _labels(answers.given),
        "method": answers.method,
        "answers": [
            {
                "of": list(answer.table.names),
                "states": [row | {"labels": _labels(row["labels"])} for row in answer.rows()],
            }
            for answer in answers.answers
        ],
        "most_likely": None if answers.most_likely is None else _labels(answers.most_likely),
    }


def _labels(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: label_to_json(label) for name, label in row.items()}


def print_answers(answers: Answers, draws: int) -> None:
    """A small table for each answer, then the most likely row."""
    console = new_console()
    if answers.given:
        console.print(f"given {_row(answers.given)}", style="bold")
    for answer in answers.answers:
        console.print(_table(answer))
        hidden = answer.table.values.size - SHOWN
        if hidden > 0:
            console.print(f"and {hidden} less likely; --json lists all")
    sampled = f"sampled, {draws:,} draws, ± one standard error"
    console.print("exact" if answers.method == "exact" else sampled, style="dim")
    condition = " with this evidence" if answers.given else ""
    console.print(f"\nMost likely row{condition}", style="bold")
    if answers.most_likely is None:
        console.print("  needs too much memory; raise --memory")
        return
    free = {name: v for name, v in answers.most_likely.items() if name not in answers.given}
    more = f" and {len(free) - SHOWN} more; --json lists all" if len(free) > SHOWN else ""
    shown = dict(list(free.items())[:SHOWN])
    console.print(Padding(Text(_row(shown) + more), (0, 0, 0, 2), expand=False))


def _table(answer: Answer) -> Table:
    """One row per state; of many, the likeliest."""
    heads = ["probability", *(["without", "odds"] if answer.before is not None else []), "state"]
    rows = ([*_numbers(row), _states(row["labels"])] for row in answer.rows(most=SHOWN))
    title = ", ".join(one_line(name, most=48) for name in answer.table.names)
    return table(heads, rows, left=("state",), title=title)


def _numbers(row: dict[str, Any]) -> list[str]:
    now = f"{row['probability']:.4f}{_error(row['error'], '.4f')}"
    if row["before"] is None:
        return [now]
    ratio = row["odds_ratio"]
    odds = "" if ratio is None else f"x {ratio:.3g}{_error(row['odds_ratio_error'], '.2g')}"
    return [now, f"{row['before']:.4f}", odds]


def _error(size: float | None, digits: str) -> str:
    return "" if size is None else f" ± {size:{digits}}"


def _states(labels: Mapping[str, Any]) -> str:
    return ", ".join(map(_shown, labels.values()))


def _row(labels: Mapping[str, Any]) -> str:
    return ", ".join(f"{one_line(name, most=48)} = {_shown(v)}" for name, v in labels.items())


def _shown(label: Any) -> str:
    return "(missing)" if label is None else one_line(as_text(label), most=48)
