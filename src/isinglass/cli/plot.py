"""``isinglass plot``: pictures of saved fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from isinglass.cli import options as opt
from isinglass.cli.figures import check_figures, draw_figures, groups_of
from isinglass.cli.results import title_of
from isinglass.cli.terminal import working
from isinglass.errors import SettingError
from isinglass.measures import Predictability
from isinglass.model import FitRecord

Records = Mapping[str, FitRecord]


@opt.command(
    click.Argument(["kind"], type=click.Choice(["network", "adjacency", "centrality"])),
    click.Argument(["models"], type=click.Path(), nargs=-1, required=True),
    opt.several("--out FILE", "The file to write, .pdf, .svg or .png.", required=True),
    opt.several(
        "--group NAME=A,B,C groups",
        "Columns that belong together: a colour for each group, and a legend.",
        into=lambda texts: dict(map(_group, texts)) or None,
    ),
    opt.flag("--rings", "Show predictability as rings (of a fit with --predictability)."),
    opt.option("--edge-labels strength|log_odds|evidence", "A number to write on every link."),
    opt.flag("--tentative", "Draw tentative links too, dashed."),
    examples="""
        isinglass plot network votes/model.json --out votes.pdf --edge-labels strength
        isinglass plot network men/model.json women/model.json --out both.svg
        isinglass plot network women/model.json --out women.pdf --rings --group Airways=fever,cough
        isinglass plot centrality men/model.json women/model.json --out centrality.pdf
    """,
)
def command(kind: str, models: tuple[str, ...], *, out: tuple[str, ...], **options: Any) -> None:
    """Draw fits that were saved: MODELS are model.json files that `isinglass fit --out` wrote.

    \b
    network     columns as dots, links by strength and sign; several in one layout
    adjacency   a matrix of columns, in groups
    centrality  strength and expected influence of every column; several compared

    `isinglass resample --figure` draws what needs the table: dropped cases, intervals of
    centrality, differences between links.
    """  # noqa: D301 (the escape is click's mark for lines to keep)
    check_figures(out, "--out")
    if len(models) > 1 and kind == "adjacency":
        raise SettingError(f"adjacency takes one model at a time; {len(models)} were given.")
    with working("reading the models"):
        draw = KINDS[kind](models, options)
    for line in draw_figures(out, draw):
        click.echo(line)


def _group(text: str) -> tuple[str, tuple[str, ...]]:
    name, equals, members = text.partition("=")
    if not (name and equals and members):
        raise SettingError(f"--group takes NAME=A,B,C, as Stress=q1,q6; not {text!r}.")
    return name, opt.names_of(members)


def _records(models: Sequence[str]) -> Records:
    """Saved fits by their titles; the folder tells equal ones apart."""
    loaded = {path: FitRecord.load(path) for path in models}
    titles = {path: _title(path, record) for path, record in loaded.items()}
    clash = len(set(titles.values())) < len(titles)
    return {path if clash else titles[path]: record for path, record in loaded.items()}


def _title(path: str, record: FitRecord) -> str:
    known = record.findings.title if record.findings else None
    return known or title_of(str(Path(path).absolute().parent))


def _network(models: Sequence[str], options: Mapping[str, Any]) -> Callable[[Any], Any]:
    records = _records(models)
    graphs = {
        title: record.with_tentative if options["tentative"] else record.graph
        for title, record in records.items()
    }
    rings = {
        title: _rings(title, record) if options["rings"] else None
        for title, record in records.items()
    }
    shared = {
        "labels": _labels(records) or True,
        "groups": options["groups"],
        "edge_labels": options["edge_labels"] or False,
    }
    if len(graphs) > 1:
        return lambda plots: plots.networks(graphs, predictability=rings, **shared)
    ((title, graph),) = graphs.items()
    if not shared["groups"]:
        shared |= groups_of(records[title])
    return lambda plots: plots.network(graph, predictability=rings[title], **shared)


def _rings(title: str, record: FitRecord) -> dict[str, Predictability | None]:
    measures = (record.findings.measures if record.findings else None) or {}
    if "accuracy" not in measures:
        raise SettingError(
            f"the fit {title!r} has no predictability; fit it again with --predictability."
        )
    found = zip(record.names, measures["accuracy"], measures["base_rate"], strict=True)
    return {
        name: None if ours is None or base is None else Predictability(ours, base)
        for name, ours, base in found
    }


def _labels(records: Records) -> dict[str, str]:
    labels: dict[str, str] = {}
    for record in records.values():
        known = (record.findings.labels if record.findings else None) or ()
        labels |= {n: label for n, label in zip(record.names, known, strict=False) if label}
    return labels


def _adjacency(models: Sequence[str], options: Mapping[str, Any]) -> Callable[[Any], Any]:
    (record,) = _records(models).values()
    graph = record.with_tentative if options["tentative"] else record.graph
    return lambda plots: plots.adjacency(graph)


def _centrality(models: Sequence[str], options: Mapping[str, Any]) -> Callable[[Any], Any]:
    records = _records(models)
    of = records if len(records) > 1 else next(iter(records.values()))
    return lambda plots: plots.centrality(of, labels=_labels(records))


#: What reads the files of each kind, and returns what draws them.
KINDS = {
    "network": _network,
    "adjacency": _adjacency,
    "centrality": _centrality,
}
