"""``isinglass export``: a model for other software."""

from __future__ import annotations

import click

from isinglass.cli.terminal import working
from isinglass.exports import FORMATS, write
from isinglass.model import MarkovField

EPILOG = """\b
Examples:
  isinglass export model.json --to graphml --out graph.graphml
  isinglass export model.json --to qgraph --out weights.csv    (and weights.R)
  isinglass export model.json --to uai --out model.uai         (and model.uai.labels.json)
"""


@click.command(epilog=EPILOG)
@click.argument("model", type=click.Path())
@click.option("--to", type=click.Choice(FORMATS), required=True, help="The format.")
@click.option("--out", required=True, metavar="FILE", help="The file to write.")
def command(model: str, to: str, out: str) -> None:
    """Write a MODEL (model.json) in the format of other software.

    \b
    csv           one row an edge
    graphml       most network programs
    gexf          Gephi
    cytoscape     Cytoscape and cytoscape.js, as JSON
    qgraph        R: a weight matrix, and a script that draws it
    isingsampler  R: thresholds and couplings in 0/1 coding, and a script; two states a column
    uai           inference programs; names and states are written beside
    """  # noqa: D301 (the escape is click's mark for lines to keep)
    with working("reading the model") as tell:
        field = MarkovField.load(model)
        tell("writing")
        written = write(field, out, to)
    click.echo(f"wrote {' and '.join(written)}")
