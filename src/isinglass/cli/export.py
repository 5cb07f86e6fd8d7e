"""``isinglass export``: a model for other software."""

from __future__ import annotations

import click

from isinglass.cli import options as opt
from isinglass.cli.terminal import working
from isinglass.documents.parts import holds
from isinglass.exports import FORMATS, write
from isinglass.exports.formats import GRAPH_FORMATS
from isinglass.model import FitRecord, MarkovField


@opt.command(
    opt.MODEL,
    opt.needed(f"--to {'|'.join(FORMATS)}", "The format."),
    opt.needed("--out FILE", "The file to write."),
    opt.OVERWRITE,
    examples="""
        isinglass export model.json --to graphml --out graph.graphml
        isinglass export model.json --to qgraph --out weights.csv    (and weights.R)
        isinglass export model.json --to uai --out model.uai         (and model.uai.labels.json)
    """,
)
def command(model: str, to: str, out: str, overwrite: bool) -> None:
    """Write a MODEL (model.json) in the format of other software.

    \b
    csv           one row per edge, as in edges.csv
    graphml       most network programs
    gexf          Gephi
    cytoscape     Cytoscape and cytoscape.js, as JSON
    qgraph        R: a weight matrix, and a script that draws it
    isingsampler  R: thresholds and couplings in 0/1 coding, and a script; columns of two states
    uai           inference programs; names and states go to a file beside it
    """  # noqa: D301 (the escape is click's mark for lines to keep)
    with working("reading the model") as tell:
        field = MarkovField.load(model)
        fit = FitRecord.load(model) if holds(model, "fit") else None
        tell("writing")
        written = write(field, out, to, fit=fit, overwrite=overwrite)
    click.echo(f"wrote {' and '.join(written)}")
    if fit is None and to in GRAPH_FORMATS:
        click.echo(
            f"{model} holds no record of a fit: strength, evidence and tier are not known and are "
            "left out; weights are the sizes of the couplings.",
            err=True,
        )
