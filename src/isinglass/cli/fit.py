"""``isinglass fit``: a table in, a graph out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import click

from isinglass.cli import options as opt
from isinglass.cli.figures import draw_figures, groups_of
from isinglass.cli.fitting import column_groups, column_labels, fit_file
from isinglass.cli.pasting import PASTED, check_pasting, to_paste
from isinglass.cli.results import png_of, show, title_of
from isinglass.cli.terminal import new_console, print_summary, progress_bar, working
from isinglass.cluster import connected
from isinglass.documents.parts import as_file
from isinglass.errors import MissingExtra, SettingError
from isinglass.estimators import GreedyGraph
from isinglass.exports import edges_csv, graphml, nodes_csv
from isinglass.files import check_folder, write_all
from isinglass.measures import nodes
from isinglass.model import FitRecord
from isinglass.model.files import model_parts
from isinglass.record.findings import findings_of
from isinglass.report import summarise, to_html, to_json
from isinglass.report.html import MOST_COLUMNS

#: Options that need a folder, and what they are about.
GOES = {
    "predictability": "goes to nodes.csv",
    "verdicts": "go to report.html",
    "half_samples": "go to report.html",
    "open_it": "shows report.html",
    "no_model": "is about model.json",
    "excel": "writes edges.xlsx",
    "word": "writes edges.docx",
    "methods": "writes methods.txt",
}
#: Files of exact numbers, from which small groups of rows could be worked out.
EXACT = ("edges.csv", "nodes.csv", "graph.graphml", "model.json", "graph.png")


@opt.command(
    opt.DATA,
    opt.option(
        "--out DIR",
        "Write report.html, edges.csv, nodes.csv, graph.graphml, model.json, graph.png there.",
    ),
    opt.flag("--no-model", "Fit no joint model: model.json holds the record of the fit alone."),
    opt.flag("--excel", "Write edges.xlsx too: the edges and the columns as two sheets."),
    opt.flag("--word", "Write edges.docx too: the edges as a table, and paragraphs for a paper."),
    opt.flag("--methods", "Write methods.txt too: the paragraphs for a paper as plain text."),
    opt.several(
        "--figure FILE figures",
        "Draw the network to a file, such as network.pdf, network.svg or network.png.",
    ),
    opt.SUPPRESS,
    opt.OPEN,
    opt.flag(
        "--predictability",
        "Add to nodes.csv and the report how well each column is predicted (five more searches).",
    ),
    opt.flag(
        "--verdicts",
        "Add to the report, for pairs without a link, which columns explain their association and "
        "which links could have been found (slower).",
    ),
    opt.whole(
        "--half-samples N",
        "Add to the report how often N half-samples of the rows choose each link.",
        least=2,
    ),
    *opt.SEARCH,
    opt.seed("Seed of the draws that fill missing values."),
    opt.THREADS,
    opt.SCHEDULER,
    opt.whole("--top", "Edges to print.", 20, least=0),
    opt.JSON,
    examples="""
        isinglass fit votes.csv --out votes/
        isinglass fit mushroom.csv.gz --na '?' --missing state
        isinglass fit survey.csv --drop id --bin age=4 --weight-column weight --n-eff design
        isinglass fit counts.tsv --weight-column count --json > graph.json
        isinglass fit survey.csv --require fever cough --forbid-group age,sex,region
    """,
)
def command(
    data: str,
    *,
    out: str | None,
    figures: tuple[str, ...],
    suppress: float,
    top: int,
    as_json: bool,
    scheduler: str | None,
    **options: Any,
) -> None:
    """Learn which columns of DATA are directly linked.

    DATA is CSV, TSV, Parquet or Arrow, or with the extra `files` a file of SPSS, Stata, SAS, Excel
    or OpenDocument, plain or gzipped: one row per case, one column per discrete variable (yes/no,
    a few numbers, a few words). Files larger than memory are read in chunks, and so is a folder of
    files; a folder that isinglass pack wrote is opened at once.

    Results are written as soon as they are found; the joint model of all columns, which may take
    longer, is added to model.json at the end. Ctrl-C keeps what has been written.
    """
    asked = {name: options.pop(name) for name in GOES}
    _check_out(out, suppress, asked)
    check_pasting(asked, figures, suppress)
    groups = column_groups(options["codebook"])
    about: dict[str, Any] = {
        "title": title_of(data),
        "column_labels": column_labels(data, options["codebook"]),
        "groups": [(name, each.columns, each.colour) for name, each in groups.items()],
    }
    with connected(scheduler) as client:
        estimator = fit_file(data, **options, client=client)
    with progress_bar("refitting without each link") as progress:
        record = estimator.record(progress)
    record = replace(record, findings=findings_of(record.names, **about))
    result, lines = None, []
    if out and suppress:
        lines = _write_suppressed(out, record, suppress)
    elif out:
        result = Result(out, estimator, record, about)
        result.write_first()
        result.add(asked)
        record = result.record
    with working("summing up"):
        summary = summarise(record, paths=False, suppress=suppress)
    if as_json:
        click.echo(to_json(summary))
    else:
        print_summary(new_console(), summary, top)
    if result:
        result.write_more(to_paste(asked, result.record, summary))
        here = estimator.table_.elsewhere is None
        lines = result.add_rest(model=here and not asked["no_model"])
        if not here:
            lines.append("the joint model needs the rows in memory, and these are read in chunks")
    lines += draw_figures(figures, lambda plots: plots.network(record.graph, **groups_of(record)))
    for line in lines:
        click.echo(line, err=as_json)
    if out and asked["open_it"] and len(record.names) <= MOST_COLUMNS:
        show(Path(out) / "report.html")


def _check_out(out: str | None, suppress: float, asked: dict[str, Any]) -> None:
    first = next((name for name in GOES if asked[name]), None)
    if out:
        check_folder(out)
    elif first:
        option = "--open" if first == "open_it" else f"--{first.replace('_', '-')}"
        raise SettingError(f"{option} {GOES[first]}; name a folder with --out.")
    if suppress and any(asked[name] for name in (*EXTRAS, *PASTED)):
        raise SettingError(
            "--suppress hides what --predictability, --verdicts, --half-samples, --excel, "
            "--word and --methods show: exact numbers would reveal small groups. Use either "
            "--suppress or the others."
        )


@dataclass
class Result:
    """The files of a fit, in the order in which they can be had."""

    out: str
    estimator: GreedyGraph
    record: FitRecord
    about: dict[str, Any]
    found: dict[str, Any] = field(default_factory=dict)
    written: list[str] = field(default_factory=list)

    def write_first(self) -> None:
        """All that the search has found, and its record as a model file without a model."""
        with working("writing the report"):
            self._find({"measures": nodes(self.estimator, folds=None, library="polars")})
            self._write_found()

    def write_more(self, contents: dict[str, bytes]) -> None:
        """Write files that were asked for."""
        if contents:
            self._write(contents)

    def add(self, asked: dict[str, Any]) -> None:
        """Find more for the report, and write it again."""
        extras = {name: find for name, find in EXTRAS.items() if asked[name]}
        with self._keeping():
            for name, find in extras.items():
                self._find(find(self.estimator, asked[name]))
            if extras:
                with working("writing the report"):
                    self._write_found()

    def add_rest(self, *, model: bool) -> list[str]:
        """Add the model and the picture, and say what was written."""
        lines = []
        if len(self.record.names) > MOST_COLUMNS:
            lines.append(f"no report: a report shows at most {MOST_COLUMNS:,} columns")
        with self._keeping():
            if model:
                self._add_model()
            try:
                with working("drawing"):
                    self._write({"graph.png": png_of(self._draw)})
            except MissingExtra as error:
                lines.append(f"no picture: {error}")
        if not model:
            lines.append("no model: model.json holds the record of the fit alone")
        return [f"wrote {', '.join(self.written)} to {self.out}", *lines]

    def _draw(self, plots: Any) -> Any:
        return plots.network(self.record.graph, **groups_of(self.record))

    def _find(self, more: dict[str, Any]) -> None:
        self.found |= more
        findings = findings_of(self.record.names, **self.about, **self.found)
        self.record = replace(self.record, findings=findings)

    def _add_model(self) -> None:
        with working("fitting the model") as progress:
            model = self.estimator.fit_model(progress)
        with working("writing the model"):
            self._write({"model.json": as_file(model_parts(model, self.record))})

    def _write_found(self) -> None:
        page, labels = {}, self.about["column_labels"]
        if len(self.record.names) <= MOST_COLUMNS:
            page = {"report.html": to_html(summarise(self.record)).encode()}
        tables = {
            "edges.csv": edges_csv(self.record.with_tentative, labels),
            "nodes.csv": nodes_csv(self.found["measures"], labels),
            "graph.graphml": graphml(self.estimator.graph_),
        }
        self._write(page | tables | {"model.json": as_file({"fit": self.record.to_json()})})

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


def _predictability(estimator: GreedyGraph, _: bool) -> dict[str, Any]:
    with progress_bar("predicting") as progress:
        return {"measures": nodes(estimator, library="polars", progress=progress)}


def _verdicts(estimator: GreedyGraph, _: bool) -> dict[str, Any]:
    from isinglass.uncertainty.explaining.explain import explain
    from isinglass.uncertainty.explaining.verdict import verdict

    with progress_bar("judging pairs") as progress:
        verdicts = verdict(estimator, progress=progress).to_frame("polars")
    names, linked = estimator.graph_.names, set(estimator.graph_.edges)
    pairs = [pair for pair in combinations(names, 2) if pair not in linked]
    if estimator.filled_ is not None:  # `explain` needs values that were seen
        pairs = []
    explanations = {}
    with progress_bar("explaining pairs") as progress:
        for done, (a, b) in enumerate(pairs, start=1):
            explanations[a, b] = explain(estimator, a, b).sentence
            progress(done, len(pairs))
    return {"verdicts": verdicts, "explanations": explanations}


def _frequencies(estimator: GreedyGraph, count: int) -> dict[str, Any]:
    from isinglass.uncertainty.resampling.resample import resample

    with progress_bar("half-samples") as progress:
        return {"frequencies": dict(resample(estimator, n=count, progress=progress).frequency)}


#: What takes time and is found for the report if it is asked for.
EXTRAS = {
    "predictability": _predictability,
    "verdicts": _verdicts,
    "half_samples": _frequencies,
}


def _write_suppressed(out: str, record: FitRecord, suppress: float) -> list[str]:
    """Write the report alone, since every other file holds exact numbers."""
    if len(record.names) > MOST_COLUMNS:
        return [f"no report: a report shows at most {MOST_COLUMNS:,} columns"]
    summary = summarise(record, suppress=suppress)
    page = to_html(summary)
    write_all(out, {"report.html": page.encode()})
    lines = [
        f"wrote report.html to {out}",
        f"{', '.join(EXACT)} are not written with --suppress: they hold exact numbers",
    ]
    older = [name for name in EXACT if (Path(out) / name).exists()]
    if older:
        lines.append(f"do not share {', '.join(older)}, left in {out} by an earlier run")
    return lines
