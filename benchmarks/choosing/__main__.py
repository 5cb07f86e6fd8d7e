"""Run the study of the default threshold: the default beside the best constant, on many designs.

    python -m benchmarks.choosing [--full] [--part nine] [--out choosing/]

Run from the top folder of the repository. What is done is kept in the folder: after Ctrl-C the
same command goes on where it stopped. It writes `choosing.md`, `points.csv` and two pictures.
"""

from __future__ import annotations

import click
from benchmarks.choosing.parts import GRAPHS, PARTS, studies
from benchmarks.choosing.pictures import choosing_figures
from benchmarks.choosing.sheets import choosing_markdown

from isinglass.cli.reproduce import drawn, run_all, tell_failures
from isinglass.cli.terminal import new_console
from isinglass.experiments.paper.reproduce import Reproduction
from isinglass.experiments.study import points_csv
from isinglass.files import check_folder, write_all

#: Graphs per point of a small run.
FEW_GRAPHS = 20


@click.command()
@click.option("--out", default="choosing", show_default=True, metavar="DIR")
@click.option("--full", is_flag=True, help=f"{GRAPHS} graphs per point, not {FEW_GRAPHS}.")
@click.option("--part", "parts", multiple=True, type=click.Choice(PARTS), help="Only these parts.")
@click.option("--graphs", type=click.IntRange(2), metavar="N", help="Graphs per point.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Processes (default: all cores).")
@click.option(
    "--draw-only", is_flag=True, help="Write tables and pictures of finished work, and run nothing."
)
def command(
    *,
    out: str,
    full: bool,
    parts: tuple[str, ...],
    graphs: int | None,
    seed: int,
    jobs: int | None,
    draw_only: bool,
) -> None:
    """Compare the default threshold with the best constant of c log(np)/n."""
    check_folder(out)
    number = graphs or (GRAPHS if full else FEW_GRAPHS)
    work = Reproduction(studies(parts or PARTS, number, seed=seed), out, jobs)
    console = new_console()
    if not draw_only:
        run_all(console, work)
    tell_failures(console, work, "records.jsonl says why")
    outcomes = work.outcomes()
    page = choosing_markdown(outcomes)
    contents = {
        "choosing.md": page.encode(),
        "points.csv": points_csv(outcomes),
        **drawn(choosing_figures, outcomes),
    }
    write_all(out, contents)
    click.echo(f"\n{page}\nwrote {', '.join(contents)} to {out}")


if __name__ == "__main__":
    command()
