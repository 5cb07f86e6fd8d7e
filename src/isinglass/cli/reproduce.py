"""``isinglass reproduce``: the paper's experiment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click
from rich.console import Console

from isinglass.cli import options as opt
from isinglass.cli.terminal import new_console, progress_bar, table
from isinglass.cluster import connected
from isinglass.errors import MissingExtra
from isinglass.experiments.methods import EXTRAS
from isinglass.experiments.paper.figures import FULL, QUICK, studies
from isinglass.experiments.paper.reproduce import Reproduction
from isinglass.experiments.study import Outcome, Study
from isinglass.files import check_folder, write_all
from isinglass.wording import counted


@opt.command(
    opt.option(
        "--out DIR",
        "Write tables and pictures there, and keep finished work.",
        "isinglass-reproduce",
    ),
    opt.option(
        "--quick/--full",
        "The first figure with few graphs, or all figures with up to 200 graphs per point.",
        True,
    ),
    opt.choice(
        "--coupling 0.5|1",
        "Size of the couplings in the first figure: the caption's, or the text's.",
    ),
    opt.several(f"--also {'|'.join(EXTRAS)}", "One more method; may be given several times."),
    opt.several("--figure 1|2|3 figures", "Only these figures."),
    opt.whole("--graphs N", "Graphs per point.", least=2),
    opt.whole(
        "--rivals N",
        "Graphs per point for the rivals of greedy, at most (cross-validation: 2).",
        least=2,
    ),
    opt.seed("Seed of the graphs and tables drawn."),
    opt.PROCESSES,
    opt.SCHEDULER,
    opt.flag("--draw-only", "Write tables and pictures of finished work, and run nothing."),
    examples="""
        isinglass reproduce                       the first figure, small: some minutes
        isinglass reproduce --full --out full/    all figures: hours; can be stopped and resumed
        isinglass reproduce --coupling 1          couplings +-1, as in the paper's text
    """,
)
def command(
    out: str, n_jobs: int | None, scheduler: str | None, draw_only: bool, **options: Any
) -> None:
    """Run the paper's experiment: how many rows until the whole graph is recovered?

    Compares the greedy search with node-wise l1 and others on chain, grid and star graphs, by
    the share of graphs recovered at each
    n / (20 d log p). Finished work is kept in DIR: after Ctrl-C or a crash, the same command
    continues where it stopped, and ends with the same files.
    """
    check_folder(out)
    console, studies = new_console(), _studies(**options)
    with connected(None if draw_only else scheduler) as client:
        work = Reproduction(studies, out, n_jobs, client)
        if not draw_only:
            run_all(console, work)
    _write(console, out, work)


def _studies(
    *,
    quick: bool,
    coupling: str,
    figures: tuple[str, ...],
    graphs: int | None,
    rivals: int | None,
    **options: Any,
) -> list[Study]:
    size = replace(QUICK if quick else FULL, rivals=rivals)
    if figures:
        size = replace(size, figures=tuple(sorted(map(int, figures))))
    if graphs is not None:
        fewer, fewest = (min(graphs, some) for some in (size.fewer, size.fewest))
        size = replace(size, repetitions=graphs, fewer=fewer, fewest=fewest, others=graphs)
    return studies(size, coupling=float(coupling), **options)


def run_all(console: Console, work: Reproduction) -> None:
    """Do what is missing, with the time it will take, and where it went."""
    missing, total = work.missing(), len(work.cells)
    console.print(f"{total:,} fits in all, {total - missing:,} of them already done.", style="bold")
    if not missing:
        return
    with progress_bar("estimating") as progress:
        seconds = work.estimate(progress)
    console.print(
        f"About {in_words(seconds)} on {work.n_jobs} {'core' if work.n_jobs == 1 else 'cores'}. "
        "Ctrl-C keeps finished work; the same command continues it."
    )
    with progress_bar("running", steady=True) as progress:
        shares = work.run(progress)
    console.print(f"Time: {shares}.")


def _write(console: Console, out: str, work: Reproduction) -> None:
    from isinglass.report.experiment import report_markdown

    outcomes = work.outcomes()
    tell_failures(console, work, "results.csv says why")
    contents = {**work.tables(), "tables.md": report_markdown(outcomes).encode()}
    contents |= drawn(_pictures, outcomes)
    write_all(out, contents)
    for outcome in outcomes:
        _tell(console, outcome)
    click.echo(f"\nwrote {', '.join(contents)} to {out}")


def tell_failures(console: Console, work: Reproduction, where: str) -> None:
    """Say how many fits failed, and where to read why."""
    failed = sum("failed" in record for record in work.records().values())
    if failed:
        console.print(f"{counted(failed, 'fit')} failed; {where}.", style="yellow")


def drawn(
    draw: Callable[[list[Outcome]], dict[str, bytes]], outcomes: list[Outcome]
) -> dict[str, bytes]:
    """Pictures; none, and a line that says so, without the extra that draws them."""
    try:
        return draw(outcomes)
    except MissingExtra as error:
        click.echo(f"no pictures: {error}")
        return {}


def _tell(console: Console, outcome: Outcome) -> None:
    """The smallest betas, one row per design."""
    from isinglass.report.experiment import short_table

    console.print(f"\n{outcome.study.title}", style="bold")
    console.print(
        "Smallest beta = n / (20 d log p) with 95 % of the graphs recovered; each constant was "
        "chosen on other graphs of the same design (tables.md has the other ways).",
        style="dim",
    )
    console.print(table(*short_table(outcome), left=("graph",)))


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
