"""``isinglass explain``: why two columns are linked, or not."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

from isinglass.cli.fitting import fit_file, fit_options
from isinglass.cli.terminal import working
from isinglass.uncertainty.explaining.explain import Explanation, explain
from isinglass.uncertainty.explaining.verdict import verdict
from isinglass.wording import one_line

EPILOG = """\b
Examples:
  isinglass explain survey.csv fever awake
  isinglass explain survey.csv fever awake --steps
"""


@click.command(epilog=EPILOG)
@click.argument("data", type=click.Path(dir_okay=True))
@click.argument("a")
@click.argument("b")
@fit_options
@click.option("--steps", is_flag=True, help="The evidence for the pair at every step.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, nothing else.")
def command(data: str, a: str, b: str, steps: bool, as_json: bool, **options: Any) -> None:
    """Why is there an edge between columns A and B of DATA, or none?

    Learns the graph, and reads the evidence for the pair along the searches at both ends: it
    falls when a column enters that accounts for the association. Then says how large a link
    could have been missed.
    """
    estimator = fit_file(data, **options)
    with working("explaining"):
        explanation = explain(estimator, a, b)
        judged = verdict(estimator, columns=[a, b]).of(a, b)
    if as_json:
        found = {key: value for key, value in asdict(explanation).items() if key != "library"}
        found["verdict"] = {"verdict": judged.verdict, "sentence": judged.sentence}
        click.echo(json.dumps(found, indent=2, allow_nan=False))
        return
    click.echo(one_line(explanation.sentence))
    if not explanation.linked:
        click.echo(one_line(judged.sentence))
    if steps:
        _print_steps(explanation)


def _print_steps(explanation: Explanation) -> None:
    for end in explanation.pair:
        click.echo(f"\nsearch at {one_line(end)}")
        for moment in (moment for moment in explanation.steps if moment.end == end):
            what = f"{moment.kind} {moment.variable or ''}".rstrip()
            inside = "  (in)" if moment.inside else ""
            click.echo(f"  {moment.evidence:10.4g}  {one_line(what)}{inside}")
