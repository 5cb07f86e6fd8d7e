"""``isinglass explain``: why two columns are linked, or not."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any

import click

from isinglass.cli import options as opt
from isinglass.cli.fitting import fit_file
from isinglass.cli.results import print_result
from isinglass.cli.terminal import working
from isinglass.uncertainty.explaining.explain import Explanation, explain
from isinglass.uncertainty.explaining.verdict import verdict
from isinglass.wording import one_line


@opt.command(
    opt.DATA,
    click.Argument(["a"]),
    click.Argument(["b"]),
    *opt.SEARCH,
    opt.THREADS,
    opt.flag("--steps", "Also print the evidence for the pair at every step."),
    opt.JSON,
    examples="""
        isinglass explain survey.csv fever awake
        isinglass explain survey.csv fever awake --steps
    """,
)
def command(data: str, a: str, b: str, steps: bool, as_json: bool, **options: Any) -> None:
    """Why is there an edge between columns A and B of DATA, or none?

    Learns the graph, and follows the evidence for the pair through the searches at both ends: it
    falls when a column that accounts for the association enters. If there is no edge, it also
    says how large a link could have been missed.
    """
    estimator = fit_file(data, **options)
    with working("explaining"):
        explanation = explain(estimator, a, b)
        judged = verdict(estimator, columns=[a, b]).of(a, b)
    found = {key: value for key, value in asdict(explanation).items() if key != "library"}
    found["verdict"] = {"verdict": judged.verdict, "sentence": judged.sentence}
    sentences = [explanation.sentence, *([] if explanation.linked else [judged.sentence])]
    print_result(as_json, found, partial(_tell, explanation, sentences, steps))


def _tell(explanation: Explanation, sentences: list[str], steps: bool) -> None:
    for sentence in sentences:
        click.echo(one_line(sentence))
    if not steps:
        return
    for end in explanation.pair:
        click.echo(f"\nsearch at {one_line(end)}")
        for moment in (moment for moment in explanation.steps if moment.end == end):
            what = f"{moment.kind} {moment.variable or ''}".rstrip()
            inside = "  (in)" if moment.inside else ""
            click.echo(f"  {moment.evidence:10.4g}  {one_line(what)}{inside}")
