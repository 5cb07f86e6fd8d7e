"""``isinglass simulate``: a table drawn from a model whose graph is known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np

from isinglass import simulate
from isinglass.cli.drawing import method_options, sweep_options, take_method
from isinglass.cli.terminal import new_console, progress_bar
from isinglass.errors import SettingError
from isinglass.exports import edges_csv
from isinglass.files import check_file, write_files
from isinglass.model import MarkovField
from isinglass.wording import counted

COUNT = click.IntRange(1)
COLUMNS = click.Option(["--columns", "p"], type=COUNT, required=True, metavar="P", help="Columns.")
COMMON = (
    click.Option(["--samples"], type=COUNT, default=1000, show_default=True, help="Rows to draw."),
    click.Option(["--out"], required=True, metavar="FILE", help="The table, as CSV."),
    click.Option(["--edges"], metavar="FILE", help="Write the true edges there, as CSV."),
    click.Option(
        ["--coupling"],
        default="0.5",
        show_default=True,
        metavar="SIZE",
        help="Size of every coupling, or a range to draw it from, such as 0.1:0.5.",
    ),
    click.Option(
        ["--signs"],
        type=click.Choice(["mixed", "positive"]),
        default="mixed",
        show_default=True,
        help="Mixed: each coupling is negative with probability one half.",
    ),
    click.Option(
        ["--intercept"],
        default="0",
        show_default=True,
        metavar="H",
        help="How far each column leans to +1, or a range to draw it from, such as -0.3:0.3.",
    ),
    click.Option(
        ["--states"],
        default="2",
        show_default=True,
        metavar="M",
        help="States per column, or one number for each, such as 2,3,2. Two are -1 and +1 (Ising); "
        "more are 0, 1, ... with a random table on every edge (Potts).",
    ),
    click.Option(
        ["--seed"], type=click.IntRange(0), metavar="N", help="To get the same table again."
    ),
    *click.command("drawing")(method_options(sweep_options(lambda: None))).params,
    click.Option(["--jobs"], type=int, metavar="N", help="Threads; all cores by default."),
)

command = click.Group(
    "simulate",
    subcommand_metavar="FAMILY [OPTIONS]",
    short_help="Draw a table from a model whose graph is known.",
    help="""Draw a table from a model whose graph is known, to try methods on.

    Each FAMILY of graphs is a command of its own; `isinglass simulate FAMILY --help` says
    what it needs.
    """,
    epilog="""\b
    Examples:
      isinglass simulate grid --rows 10 --cols 10 --samples 2000 --out grid.csv
      isinglass simulate star --columns 64 --degree 7 --out star.csv --edges truth.csv
      isinglass simulate tree --columns 30 --states 3 --coupling 0.8 --out tree.csv --seed 7
      isinglass simulate small-world --columns 50 --nearest 4 --rewire 0.1 \\
        --coupling 0.1:0.5 --signs positive --intercept -0.3:0.3 --out world.csv
    """,
)


def _add_family(
    make: Callable[..., Any], what: str, *options: click.Option, seeded: bool = True
) -> None:
    """Add a family of the library as a sub-command; options are named as its arguments."""

    def callback(**given: Any) -> None:
        shape = {option.name: given.pop(option.name) for option in options}
        _run(lambda seed: make(**shape, **({"seed": seed} if seeded else {})), **given)

    name = make.__name__.replace("_", "-")
    command.add_command(
        click.Command(name, callback=callback, params=[*options, *COMMON], help=what)
    )


def _degree(name: str, kind: type, what: str) -> click.Option:
    return click.Option(["--degree", name], type=kind, required=True, help=what)


_add_family(simulate.chain, "Every column is linked to the next.", COLUMNS, seeded=False)
_add_family(
    simulate.grid,
    "A sheet: links go left, right, up and down.",
    click.Option(["--rows"], type=COUNT, required=True, help="Rows of the sheet."),
    click.Option(["--cols"], type=COUNT, required=True, help="Columns of the sheet."),
    seeded=False,
)
_add_family(
    simulate.star,
    "One column is linked to some others; the rest are alone.",
    COLUMNS,
    _degree("d", int, "Leaves of the star."),
    seeded=False,
)
_add_family(simulate.tree, "A random tree, all trees equally probable.", COLUMNS)
_add_family(
    simulate.random_regular,
    "A random graph in which every column has the same number of links.",
    COLUMNS,
    _degree("d", int, "Links of each column."),
)
_add_family(
    simulate.erdos_renyi,
    "A random graph, every link drawn independently.",
    COLUMNS,
    _degree("degree", float, "Links per column, on average."),
)
_add_family(
    simulate.small_world,
    "A ring with a few links moved elsewhere.\n\nEvery column is linked to its nearest on the "
    "ring, then each link is moved with a small probability (Watts and Strogatz).",
    COLUMNS,
    click.Option(["--nearest", "k"], type=int, required=True, help="Links of each; even."),
    click.Option(
        ["--rewire"],
        type=float,
        default=0.1,
        show_default=True,
        help="Probability that a link is moved.",
    ),
)


def _run(
    make_graph: Callable[[np.random.Generator], Any],
    *,
    samples: int,
    out: str,
    edges: str | None,
    seed: int | None,
    jobs: int | None,
    coupling: str,
    signs: str,
    intercept: str,
    states: str,
    **sampling: Any,
) -> None:
    _check_files(out, edges)
    method = take_method(sampling, "burn_in", "thin")
    seed = int(np.random.default_rng().integers(1, 10**9)) if seed is None else seed
    for_graph, for_model, for_rows = map(
        np.random.default_rng, np.random.SeedSequence(seed).spawn(3)
    )
    settings = {
        "coupling": _size("coupling", coupling),
        "intercept": _size("intercept", intercept),
        "seed": for_model,
    }
    field = _model(make_graph(for_graph), states, signs, settings)
    with progress_bar("sampling") as progress:
        table = field.sample(samples, seed=for_rows, method=method, n_jobs=jobs, progress=progress)
    _write(field, table, out, edges)
    _say(field, samples, out, edges, seed)


def _check_files(out: str, edges: str | None) -> None:
    for path in filter(None, (out, edges)):
        check_file(path)
    if edges and Path(edges).absolute() == Path(out).absolute():
        raise SettingError(f"--out and --edges are one file, {out!r}; name two.")


def _model(graph: Any, states: str, signs: str, settings: dict[str, Any]) -> MarkovField:
    counts = _state_counts(states)
    if counts == 2:
        return simulate.ising(graph, signs=signs, **settings)
    if signs == "positive":
        raise SettingError("--signs positive is for two states; more have tables without a sign.")
    return simulate.potts(graph, counts, **settings)


def _write(field: MarkovField, table: Any, out: str, edges: str | None) -> None:
    import polars as pl

    contents = {Path(out): pl.DataFrame(table, schema=list(field.names)).write_csv().encode()}
    if edges:
        contents[Path(edges)] = edges_csv(field.graph)
    write_files(contents)


def _say(field: MarkovField, samples: int, out: str, edges: str | None, seed: int) -> None:
    console = new_console()
    links = len(field.couplings)
    console.print(
        f"{counted(samples, 'row')}, {counted(len(field.names), 'column')}, "
        f"{counted(links, 'true edge')}; the same again with --seed {seed}",
        style="bold",
    )
    click.echo(f"wrote {out}" + (f", and the true edges to {edges}" if edges else ""))
    console.print(f"Can they be found?  isinglass fit {out}")


def _size(name: str, text: str) -> float | tuple[float, float]:
    """A number, or a range written as low:high."""
    try:
        ends = [float(part) for part in text.split(":")]
    except ValueError:
        ends = []
    if len(ends) not in (1, 2):
        raise SettingError(f"--{name} takes a number or a range, such as 0.1:0.5, not {text!r}.")
    return ends[0] if len(ends) == 1 else (ends[0], ends[1])


def _state_counts(text: str) -> int | list[int]:
    try:
        counts = [int(part) for part in text.split(",")]
    except ValueError:
        raise SettingError(
            f"--states takes a number, or one for each column, such as 2,3,2, not {text!r}."
        ) from None
    return counts[0] if len(counts) == 1 else counts
