"""``isinglass ask``: what a model in a file says, given what is known."""

from __future__ import annotations

import json
from typing import Any

import click
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from isinglass.cli.drawing import method_options, sweep_options, take_method
from isinglass.cli.evidence import as_text, read_evidence
from isinglass.cli.terminal import new_console, working
from isinglass.documents.parts import label_to_json
from isinglass.model import Answer, Answers, MarkovField, ask
from isinglass.wording import one_line

#: States of one answer, and columns of the most likely row, that are printed.
SHOWN = 24

EPILOG = """\b
Example, from a table to an answer:
  isinglass simulate tree --columns 6 --samples 500 --out table.csv --seed 1
  isinglass fit table.csv --out result/
  isinglass ask result/model.json --given x0=1 --of x1 --of x2
"""


@click.command(epilog=EPILOG)
@click.argument("model", type=click.Path())
@click.option(
    "--given",
    multiple=True,
    metavar="NAME=LABEL",
    help="What is known, such as fever=yes; for a binned column, a number or a bin.",
)
@click.option("--of", multiple=True, metavar="NAME", help="A column to ask about; all by default.")
@click.option("--joint", is_flag=True, help="Ask for all combinations of the states of --of.")
@method_options
@click.option(
    "--draws", type=click.IntRange(1), default=10_000, show_default=True, help="Gibbs: rows drawn."
)
@sweep_options
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="For Gibbs.")
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON, nothing else.")
def command(
    model: str, given: tuple[str, ...], of: tuple[str, ...], as_json: bool, **how: Any
) -> None:
    """Ask a MODEL (model.json, as `isinglass fit --out` writes it).

    Prints the probability of each state of a column when others are known, its probability when
    nothing is known, the ratio of the two odds, and the most likely row.
    """
    draws = how["draws"]
    method = take_method(how, "draws", "burn_in", "thin")
    with working("reading the model"):
        field = MarkovField.load(model)
    evidence = read_evidence(field, given)
    with working("asking the model"):
        answers = ask(field, of or None, evidence, method=method, **how)
    if as_json:
        click.echo(json.dumps(as_document(answers), indent=2, allow_nan=False))
    else:
        print_answers(new_console(), answers, draws)


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


def _labels(row: Any) -> dict[str, Any]:
    return {name: label_to_json(label) for name, label in row.items()}


def print_answers(console: Console, answers: Answers, draws: int) -> None:
    """A small table for each answer, then the most likely row."""
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
    name = ", ".join(one_line(name, most=48) for name in answer.table.names)
    table = Table(box=None, pad_edge=False, header_style="dim", title=name, title_justify="left")
    table.title_style = "bold"
    for head in ("probability", "without", "odds")[: 1 if answer.before is None else 3]:
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("state", overflow="fold")
    for row in answer.rows(most=SHOWN):
        cells = [f"{row['probability']:.4f}{_error(row['error'], '.4f')}"]
        if answer.before is not None:
            cells += [f"{row['before']:.4f}", _times(row)]
        labels = ", ".join(_shown(label) for label in row["labels"].values())
        table.add_row(*map(Text, [*cells, labels]))
    return table


def _times(row: dict[str, Any]) -> str:
    if row["odds_ratio"] is None:
        return ""
    return f"x {row['odds_ratio']:.3g}{_error(row['odds_ratio_error'], '.2g')}"


def _error(size: float | None, digits: str) -> str:
    return "" if size is None else f" ± {size:{digits}}"


def _row(labels: Any) -> str:
    return ", ".join(f"{one_line(name, most=48)} = {_shown(v)}" for name, v in labels.items())


def _shown(label: Any) -> str:
    return "(missing)" if label is None else one_line(as_text(label), most=48)
