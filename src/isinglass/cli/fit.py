"""``isinglass fit``: a table in, a graph out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import click

from isinglass.cli.fitting import fit_file, fit_options
from isinglass.cli.pages import open_option, show, suppress_option, title_of
from isinglass.cli.terminal import new_console, print_summary, progress_bar, working
from isinglass.documents.parts import as_file
from isinglass.errors import MissingExtra, SettingError
from isinglass.estimators import GreedyGraph
from isinglass.exports import edges_csv, graphml, nodes_csv
from isinglass.files import check_folder, write_all
from isinglass.graph import Graph
from isinglass.measures import nodes
from isinglass.model import FitRecord
from isinglass.model.files import model_parts
from isinglass.record.findings import findings_of
from isinglass.report import summarise, to_html, to_json
from isinglass.report.html import MOST_COLUMNS

#: Options that need a folder, and what they are about.
GOES = {
    "--predictability": "goes to nodes.csv",
    "--verdicts": "go to report.html",
    "--half-samples": "go to report.html",
    "--open": "shows report.html",
    "--no-model": "is about model.json",
}
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
@click.option(
    "--no-model",
    is_flag=True,
    help="Fit no joint model: model.json then holds the record of the fit alone.",
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
    no_model: bool,
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

    Results are written as soon as they are found; the joint model of all columns, which may take
    longer, is added to model.json at the end. Ctrl-C keeps what has been written.
    """
    asked = {
        "--predictability": predictability,
        "--verdicts": verdicts,
        "--half-samples": half_samples is not None,
        "--open": open_it,
        "--no-model": no_model,
    }
    _check_out(out, suppress, [option for option, given in asked.items() if given])
    estimator = fit_file(data, **options)
    record, title = _recorded(estimator), title_of(data)
    result, lines = None, []
    if out and suppress:
        lines = _write_suppressed(out, record, title, suppress)
    elif out:
        result = Result(out, estimator, record, title)
        result.write_first()
        result.add(_extras(predictability, verdicts, half_samples))
        record = result.record
    with working("summing up"):
        summary = summarise(record, title=title, paths=False, suppress=suppress)
    if as_json:
        click.echo(to_json(summary))
    else:
        print_summary(new_console(), summary, top)
    for line in lines:
        click.echo(line, err=as_json)
    if result:
        result.tell_rest(as_json, model=not no_model)
    if out and open_it and len(record.names) <= MOST_COLUMNS:
        show(Path(out) / "report.html")


def _check_out(out: str | None, suppress: float, asked: list[str]) -> None:
    if out:
        check_folder(out)
    elif asked:
        raise SettingError(f"{asked[0]} {GOES[asked[0]]}; say where to put it with --out.")
    if suppress and set(asked) & {"--predictability", "--verdicts", "--half-samples"}:
        raise SettingError(
            "--suppress leaves out what --predictability, --verdicts and --half-samples find: "
            "exact numbers give small groups away. Leave one or the other out."
        )


def _recorded(estimator: GreedyGraph) -> FitRecord:
    with progress_bar("refitting without each link") as progress:
        return estimator.record(progress)


@dataclass
class Result:
    """The files of a fit, in the order in which they can be had."""

    out: str
    estimator: GreedyGraph
    record: FitRecord
    title: str
    found: dict[str, Any] = field(default_factory=dict)
    written: list[str] = field(default_factory=list)

    def write_first(self) -> None:
        """All that the search has found, and its record as a model file without a model."""
        with working("writing the report"):
            self._find({"measures": nodes(self.estimator, folds=None, library="polars")})
            edges = {"edges.csv": edges_csv(self.record.with_tentative)}
            graph = {"graph.graphml": graphml(self.estimator.graph_)}
            self._write(self._report() | edges | self._nodes() | graph | self._record())

    def add(self, extras: list[Extra]) -> None:
        """Find more for the report, and write it again."""
        with self._keeping():
            for extra in extras:
                self._find(extra(self.estimator))
            if extras:
                with working("writing the report"):
                    self._write(self._report() | self._nodes() | self._record())

    def tell_rest(self, as_json: bool, *, model: bool) -> None:
        """Add the model and the picture, and say what was written."""
        lines = []
        if len(self.record.names) > MOST_COLUMNS:
            lines.append(f"no report: it holds at most {MOST_COLUMNS:,} columns")
        with self._keeping():
            if model:
                self._add_model()
            lines += self._add_picture()
        if not model:
            lines.append("no model: model.json holds the record of the fit alone")
        for line in [f"wrote {', '.join(self.written)} to {self.out}", *lines]:
            click.echo(line, err=as_json)

    def _find(self, more: dict[str, Any]) -> None:
        self.found |= more
        findings = findings_of(self.record.names, title=self.title, **self.found)
        self.record = replace(self.record, findings=findings)

    def _nodes(self) -> dict[str, bytes]:
        return {"nodes.csv": nodes_csv(self.found["measures"])}

    def _record(self) -> dict[str, bytes]:
        return {"model.json": as_file({"fit": self.record.to_json()})}

    def _add_model(self) -> None:
        with working("fitting the model") as progress:
            model = self.estimator.fit_model(progress)
        with working("writing the model"):
            self._write({"model.json": as_file(model_parts(model, self.record))})

    def _add_picture(self) -> list[str]:
        try:
            with working("drawing"):
                self._write({"graph.png": _picture(self.estimator.graph_)})
        except MissingExtra as error:
            return [f"no picture: {error}"]
        return []

    def _report(self) -> dict[str, bytes]:
        if len(self.record.names) > MOST_COLUMNS:
            return {}
        return {"report.html": to_html(summarise(self.record)).encode()}

    def _write(self, contents: dict[str, bytes]) -> None:
        write_all(self.out, contents)
        self.written += [name for name in contents if name not in self.written]

    @contextmanager
    def _keeping(self) -> Iterator[None]:
        """Say after Ctrl-C what is there."""
        try:
            yield
        except KeyboardInterrupt:
            model = "" if "model_" in vars(self.estimator) else "; model.json holds no model yet"
            there = f"{', '.join(self.written)} are in {self.out}"
            click.echo(f"isinglass: stopped; {there}{model}", err=True)
            click.get_current_context().exit(130)


Extra = Callable[[GreedyGraph], dict[str, Any]]
"""Something more for the report that takes time, by the name it has there."""


def _extras(predictability: bool, verdicts: bool, half_samples: int | None) -> list[Extra]:
    extras: list[Extra] = []
    if predictability:
        extras.append(_predicted)
    if verdicts:
        extras += [_judged, _explained]
    if half_samples:
        extras.append(partial(_chosen_again, count=half_samples))
    return extras


def _predicted(estimator: GreedyGraph) -> dict[str, Any]:
    with progress_bar("predicting") as progress:
        return {"measures": nodes(estimator, library="polars", progress=progress)}


def _judged(estimator: GreedyGraph) -> dict[str, Any]:
    from isinglass.uncertainty.explaining.verdict import verdict

    with progress_bar("judging pairs") as progress:
        return {"verdicts": verdict(estimator, progress=progress).to_frame("polars")}


def _explained(estimator: GreedyGraph) -> dict[str, Any]:
    from isinglass.uncertainty.explaining.explain import explain

    names, linked = estimator.graph_.names, set(estimator.graph_.edges)
    pairs = [pair for pair in combinations(names, 2) if pair not in linked]
    found = {}
    with progress_bar("explaining pairs") as progress:
        for done, (a, b) in enumerate(pairs, start=1):
            found[a, b] = explain(estimator, a, b).sentence
            progress(done, len(pairs))
    return {"explanations": found}


def _chosen_again(estimator: GreedyGraph, count: int) -> dict[str, Any]:
    from isinglass.uncertainty.resampling.resample import resample

    with progress_bar("half-samples") as progress:
        return {"frequencies": dict(resample(estimator, n=count, progress=progress).frequency)}


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


def _picture(graph: Graph) -> bytes:
    from isinglass import plots

    return plots.png(plots.figure_of(plots.network(graph)))
