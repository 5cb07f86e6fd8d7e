"""``isinglass fit``: a table in, a graph out."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import click

from isinglass.cli.fitting import fit_file, fit_options
from isinglass.cli.pages import open_option, show, suppress_option, title_of
from isinglass.cli.results import write_with_picture
from isinglass.cli.terminal import new_console, print_summary, progress_bar
from isinglass.errors import SettingError
from isinglass.estimators import GreedyGraph
from isinglass.exports import edges_csv, graphml, nodes_csv
from isinglass.files import check_folder, write_all
from isinglass.graph import Graph
from isinglass.measures import nodes
from isinglass.model import FitRecord
from isinglass.model.files import model_bytes
from isinglass.model.findings import findings_of
from isinglass.report import summarise, to_html, to_json
from isinglass.report.html import MOST_COLUMNS

#: Files of exact numbers, from which small groups of rows could be worked out.
EXACT = ("edges.csv", "nodes.csv", "graph.graphml", "model.json", "graph.png")

EPILOG = """\b
Examples:
  isinglass fit votes.csv --out votes/
  isinglass fit mushroom.csv.gz --na '?' --missing state
  isinglass fit survey.csv --drop id --bin age=4 --weight-column weight --n-eff kish
  isinglass fit counts.tsv --weight-column count --json > graph.json
  isinglass fit survey.csv --require fever cough --forbid-group age,sex,region
"""


@click.command(epilog=EPILOG)
@click.argument("data", type=click.Path(dir_okay=True))
@click.option(
    "--out",
    metavar="DIR",
    help="Write report.html, edges.csv, nodes.csv, graph.graphml, model.json, graph.png there.",
)
@suppress_option
@open_option
@click.option(
    "--predictability",
    is_flag=True,
    help="Add to nodes.csv and the report how well each column is predicted: five more searches.",
)
@click.option(
    "--verdicts",
    is_flag=True,
    help="Add to the report, for columns without a link, what explained their association away "
    "and what could have been found: slower.",
)
@click.option(
    "--half-samples",
    type=click.IntRange(2),
    metavar="N",
    help="Add to the report how often N half-samples of the rows choose each link.",
)
@fit_options
@click.option(
    "--top", type=click.IntRange(0), default=20, show_default=True, help="Edges to print."
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, nothing else.")
def command(
    data: str,
    *,
    out: str | None,
    suppress: float,
    open_it: bool,
    predictability: bool,
    verdicts: bool,
    half_samples: int | None,
    top: int,
    as_json: bool,
    **options: Any,
) -> None:
    """Learn which columns of DATA are directly linked.

    DATA is CSV, TSV, Parquet or Arrow, plain or gzipped: one row per case, one column per
    discrete variable (yes/no, a few numbers, a few words).
    """
    if out:
        check_folder(out)
    elif predictability:
        raise SettingError("--predictability goes to nodes.csv; say where with --out.")
    if suppress and (predictability or verdicts or half_samples):
        raise SettingError(
            "--suppress leaves out what --predictability, --verdicts and --half-samples find: "
            "exact numbers give small groups away. Leave one or the other out."
        )
    if not out and (open_it or verdicts or half_samples):
        word = (
            "--open shows"
            if open_it
            else "--verdicts go to"
            if verdicts
            else "--half-samples go to"
        )
        raise SettingError(f"{word} report.html; say where to put it with --out.")
    estimator = fit_file(data, **options)
    record, title = _recorded(estimator), title_of(data)
    written = []
    if out and suppress:
        written = _write_suppressed(out, record, title, suppress)
    elif out:
        measured = _measured(estimator, 5 if predictability else None)
        about = {"title": title, "measures": measured}
        if verdicts:
            about |= {"verdicts": _judged(estimator), "explanations": _explained(estimator)}
        if half_samples:
            about["frequencies"] = _chosen_again(estimator, half_samples)
        record = replace(record, findings=findings_of(record.names, **about))
        written = _write(out, estimator, record, measured)
    summary = summarise(record, title=title, paths=False, suppress=suppress)
    if as_json:
        click.echo(to_json(summary))
    else:
        print_summary(new_console(), summary, top)
    for line in written:
        click.echo(line, err=as_json)
    if out and open_it and len(record.names) <= MOST_COLUMNS:
        show(Path(out) / "report.html")


def _recorded(estimator: GreedyGraph) -> FitRecord:
    with progress_bar("refitting without each link") as progress:
        return estimator.record(progress)


def _measured(estimator: GreedyGraph, folds: int | None) -> Any:
    with progress_bar("predicting") as progress:
        return nodes(estimator, folds=folds, library="polars", progress=progress)


def _judged(estimator: GreedyGraph) -> Any:
    from isinglass.uncertainty import verdict

    with progress_bar("judging pairs") as progress:
        return verdict(estimator, progress=progress).to_frame("polars")


def _explained(estimator: GreedyGraph) -> dict[tuple[str, str], str]:
    from isinglass.uncertainty import explain

    names, linked = estimator.graph_.names, set(estimator.graph_.edges)
    pairs = [pair for pair in combinations(names, 2) if pair not in linked]
    found = {}
    with progress_bar("explaining pairs") as progress:
        for done, (a, b) in enumerate(pairs, start=1):
            found[a, b] = explain(estimator, a, b).sentence
            progress(done, len(pairs))
    return found


def _chosen_again(estimator: GreedyGraph, count: int) -> dict[tuple[str, str], float]:
    from isinglass.uncertainty import resample

    with progress_bar("half-samples") as progress:
        return dict(resample(estimator, n=count, progress=progress).frequency)


def _write_suppressed(out: str, record: FitRecord, title: str, suppress: float) -> list[str]:
    """Write the report alone, since every other file holds exact numbers."""
    if len(record.names) > MOST_COLUMNS:
        return [f"no report: it holds at most {MOST_COLUMNS:,} columns"]
    page = to_html(summarise(record, title=title, suppress=suppress))
    write_all(out, {"report.html": page.encode()})
    lines = [
        f"wrote report.html to {out}",
        f"{', '.join(EXACT)} are not written with --suppress: they hold exact numbers",
    ]
    older = [name for name in EXACT if (Path(out) / name).exists()]
    if older:
        lines.append(f"do not send {', '.join(older)}, which {out} holds from an earlier run")
    return lines


def _write(out: str, estimator: GreedyGraph, record: FitRecord, measured: Any) -> list[str]:
    """Write the files of a result; one line says so, and others what there is not."""
    graph = estimator.graph_
    contents = {
        "edges.csv": edges_csv(record.with_tentative),
        "nodes.csv": nodes_csv(measured),
        "graph.graphml": graphml(graph),
        "model.json": model_bytes(estimator.model_, record),
    }
    lines = []
    if len(graph.names) <= MOST_COLUMNS:
        contents = {"report.html": to_html(summarise(record)).encode(), **contents}
    else:
        lines.append(f"no report: it holds at most {MOST_COLUMNS:,} columns")
    return [*write_with_picture(out, contents, "graph.png", partial(_picture, graph)), *lines]


def _picture(graph: Graph) -> bytes:
    from isinglass import plots

    return plots.png(plots.figure_of(plots.network(graph)))
