"""``isinglass reproduce``: the paper's experiment, and the study of the default threshold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from isinglass.cli.terminal import new_console, progress_bar
from isinglass.errors import MissingExtra, SettingError
from isinglass.experiments import choosing
from isinglass.experiments.methods import EXTRAS
from isinglass.experiments.paper.figures import FULL, QUICK, Size, studies
from isinglass.experiments.paper.reproduce import Reproduction
from isinglass.experiments.run import RECORDS
from isinglass.experiments.study import Outcome, Study, points_csv
from isinglass.files import check_folder, write_all
from isinglass.wording import counted

EPILOG = """\b
Examples:
  isinglass reproduce                       the first figure, small: some minutes
  isinglass reproduce --full --out full/    all figures; hours; may be stopped and started again
  isinglass reproduce --coupling 1          couplings +-1, as the paper's text has it
  isinglass reproduce --study choosing      the default threshold beside the best constant
"""


#: Graphs a point of a small run of the study of the default threshold.
FEW_GRAPHS = 20


@click.command(epilog=EPILOG)
@click.option(
    "--study",
    type=click.Choice(["paper", "choosing"]),
    default="paper",
    show_default=True,
    help="The paper's experiment; or which threshold to choose.",
)
@click.option("--out", default="isinglass-reproduce", show_default=True, metavar="DIR")
@click.option(
    "--quick/--full",
    default=True,
    show_default=True,
    help="A small run (of the paper, the first figure), or all with up to 200 graphs a point.",
)
@click.option(
    "--coupling",
    type=click.Choice(["0.5", "1"]),
    default="0.5",
    show_default=True,
    help="Size of the couplings in the first figure: the caption's, or the text's.",
)
@click.option(
    "--also",
    multiple=True,
    type=click.Choice(EXTRAS),
    help="One more method; may be given several times.",
)
@click.option(
    "--figure",
    "figures",
    multiple=True,
    type=click.Choice(["1", "2", "3"]),
    help="Only these figures.",
)
@click.option(
    "--part",
    "parts",
    multiple=True,
    type=click.Choice(choosing.PARTS),
    help="Only these parts of the study of the threshold.",
)
@click.option("--graphs", type=click.IntRange(2), metavar="N", help="Graphs a point.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Processes; one a core.")
@click.option("--draw-only", is_flag=True, help="Write what is there, and run nothing.")
def command(study: str, out: str, jobs: int | None, draw_only: bool, **options: Any) -> None:
    """Run the paper's experiment: how many rows until the whole graph is recovered?

    Chain, grid and star graphs, greedy beside node-wise l1 and others, success against
    n / (20 d log p). What is done is kept in DIR: after Ctrl-C, or worse, the same command goes
    on where it stopped, and ends with the same files.
    """
    check_folder(out)
    of_threshold = study == "choosing"
    work = Reproduction((_choosing if of_threshold else _studies)(**options), out, jobs)
    console = new_console()
    if not draw_only:
        _run(console, work)
    (_write_choosing if of_threshold else _write)(console, out, work)


def _studies(
    *,
    quick: bool,
    coupling: str,
    figures: tuple[str, ...],
    parts: tuple[str, ...],
    graphs: int | None,
    **options: Any,
) -> list[Study]:
    if parts:
        raise SettingError("the paper's experiment has figures; --part is for --study choosing.")
    size = _sized(QUICK if quick else FULL, figures, graphs)
    return studies(size, coupling=float(coupling), **options)


def _choosing(
    *, quick: bool, parts: tuple[str, ...], graphs: int | None, seed: int, **of_the_paper: Any
) -> list[Study]:
    if of_the_paper["coupling"] != "0.5" or of_the_paper["also"] or of_the_paper["figures"]:
        raise SettingError("--coupling, --also and --figure are for --study paper.")
    number = graphs or (FEW_GRAPHS if quick else choosing.GRAPHS)
    return choosing.studies(parts or choosing.PARTS, number, seed=seed)


def _sized(size: Size, figures: tuple[str, ...], graphs: int | None) -> Size:
    if figures:
        size = replace(size, figures=tuple(sorted(int(number) for number in figures)))
    if graphs is None:
        return size
    fewer, fewest = (min(graphs, some) for some in (size.fewer, size.fewest))
    return replace(size, repetitions=graphs, fewer=fewer, fewest=fewest, others=graphs)


def _run(console: Console, work: Reproduction) -> None:
    missing, total = work.missing(), len(work.cells)
    console.print(f"{total:,} fits in all, {total - missing:,} of them done before.", style="bold")
    if not missing:
        return
    with progress_bar("estimating") as progress:
        seconds = work.estimate(progress)
    console.print(
        f"About {in_words(seconds)} on {work.jobs} {'core' if work.jobs == 1 else 'cores'}. "
        "Ctrl-C keeps what is done; the same command goes on."
    )
    with progress_bar("running", steady=True) as progress:
        shares = work.run(progress)
    console.print(f"Time: {shares}.")


def _write(console: Console, out: str, work: Reproduction) -> None:
    from isinglass.report.experiment import report_markdown

    outcomes = work.outcomes()
    _tell_failures(console, work, "results.csv says why")
    contents = {**work.tables(), "tables.md": report_markdown(outcomes).encode()}
    contents |= _drawn(_pictures, outcomes)
    write_all(out, contents)
    for outcome in outcomes:
        _tell(console, outcome)
    click.echo(f"\nwrote {', '.join(contents)} to {out}")


def _write_choosing(console: Console, out: str, work: Reproduction) -> None:
    from isinglass.plots.choosing import choosing_figures
    from isinglass.report.choosing import choosing_markdown

    outcomes = work.outcomes()
    _tell_failures(console, work, f"{RECORDS} says why")
    page = choosing_markdown(outcomes)
    contents = {
        "choosing.md": page.encode(),
        "points.csv": points_csv(outcomes),
        **_drawn(choosing_figures, outcomes),
    }
    write_all(out, contents)
    click.echo(f"\n{page}")
    click.echo(f"wrote {', '.join(contents)} to {out}")


def _tell_failures(console: Console, work: Reproduction, where: str) -> None:
    failed = sum("failed" in record for record in work.records().values())
    if failed:
        console.print(f"{counted(failed, 'fit')} failed; {where}.", style="yellow")


def _drawn(
    draw: Callable[[list[Outcome]], dict[str, bytes]], outcomes: list[Outcome]
) -> dict[str, bytes]:
    """Pictures; none, and a line that says so, without the extra that draws them."""
    try:
        return draw(outcomes)
    except MissingExtra as error:
        click.echo(f"no pictures: {error}")
        return {}


def _tell(console: Console, outcome: Outcome) -> None:
    """The smallest betas, one row a design."""
    from isinglass.report.experiment import short_table

    console.print(f"\n{outcome.study.title}", style="bold")
    console.print(
        "Smallest beta = n / (20 d log p) with 95 % of the graphs recovered; each constant was "
        "chosen on other graphs of the same design (tables.md has the other ways).",
        style="dim",
    )
    heads, rows = short_table(outcome)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for head in heads:
        table.add_column(head, justify="left" if head == "graph" else "right")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console.print(table)


def _pictures(outcomes: list[Outcome]) -> dict[str, bytes]:
    from isinglass.plots.experiment import figures

    return {name: content for outcome in outcomes for name, content in figures(outcome).items()}


def in_words(seconds: float) -> str:
    """A time as people say it.

    >>> in_words(40), in_words(200), in_words(9000)
    ('40 seconds', '3 minutes', '2.5 hours')
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} seconds"
    if seconds < 5400:
        return f"{round(seconds / 60)} minutes"
    return f"{seconds / 3600:.1f} hours"
