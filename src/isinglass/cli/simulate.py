"""``isinglass simulate``: a table drawn from a model whose graph is known."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import click
import numpy as np

from isinglass import simulate
from isinglass.cli import options as opt
from isinglass.cli.terminal import new_console, progress_bar
from isinglass.errors import SettingError
from isinglass.exports import edges_csv
from isinglass.files import check_file, write_files
from isinglass.model import MarkovField
from isinglass.wording import counted


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


#: What all families take.
COMMON = (
    opt.whole("--samples", "Rows to draw.", 1000),
    opt.needed("--out FILE", "The table, as CSV."),
    opt.option("--edges FILE", "Write the true edges there, as CSV."),
    opt.option(
        "--coupling SIZE",
        "Size of every coupling, or a range to draw it from, such as 0.1:0.5.",
        "0.5",
        into=partial(_size, "coupling"),
    ),
    opt.choice(
        "--signs mixed|positive",
        "Mixed: each coupling is negative with probability one half.",
    ),
    opt.option(
        "--intercept H",
        "Intercept of the state +1 of each column, or a range to draw it from, such as -0.3:0.3.",
        "0",
        into=partial(_size, "intercept"),
    ),
    opt.option(
        "--states M",
        "States per column, or one number for each, such as 2,3,2. Two are -1 and +1 (Ising); more "
        "are 0, 1, ... with a random table on every edge (Potts).",
        "2",
        into=_state_counts,
    ),
    opt.flag(
        "--ordered",
        "States are ordered, as answers in a questionnaire are: every edge is a product of scores.",
    ),
    opt.NEW_SEED,
    *opt.METHOD,
    *opt.SWEEPS,
    opt.THREADS,
)
COLUMNS = opt.whole("--columns P p", "Columns.", required=True)
#: Every family, what it is, and its options, which are named as its arguments.
FAMILIES: dict[Callable[..., Any], tuple[str, list[click.Option]]] = {
    simulate.chain: ("Every column is linked to the next.", [COLUMNS]),
    simulate.grid: (
        "A grid: links go left, right, up and down.",
        [
            opt.whole("--rows", "Rows of the grid.", required=True),
            opt.whole("--cols", "Columns of the grid.", required=True),
        ],
    ),
    simulate.star: (
        "One column is linked to some others; the rest have no links.",
        [COLUMNS, opt.needed("--degree d", "Leaves of the star.", type=int)],
    ),
    simulate.tree: ("A random tree, all trees equally likely.", [COLUMNS]),
    simulate.random_regular: (
        "A random graph in which every column has the same number of links.",
        [COLUMNS, opt.needed("--degree d", "Links of each column.", type=int)],
    ),
    simulate.erdos_renyi: (
        "A random graph, every link drawn independently.",
        [COLUMNS, opt.needed("--degree", "Links per column, on average.", type=float)],
    ),
    simulate.small_world: (
        "A ring with a few links moved elsewhere.\n\nEvery column is linked to its nearest on the "
        "ring, then each link is moved with a small probability (Watts and Strogatz).",
        [
            COLUMNS,
            opt.needed("--nearest k", "Links of each column; an even number.", type=int),
            opt.option("--rewire", "Probability that a link is moved.", 0.1),
        ],
    ),
}


def _family(make: Callable[..., Any], what: str, options: list[click.Option]) -> click.Command:
    """A family of the library as a sub-command."""

    def callback(**given: Any) -> None:
        shape = opt.take(given, options)
        seeded = "seed" in signature(make).parameters
        _run(lambda seed: make(**shape, **({"seed": seed} if seeded else {})), **given)

    name = make.__name__.replace("_", "-")
    return click.Command(name, callback=callback, params=[*options, *COMMON], help=what)


command = click.Group(
    "simulate",
    commands=[_family(make, *about) for make, about in FAMILIES.items()],
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
      isinglass simulate chain --columns 15 --states 5 --ordered --out items.csv
      isinglass simulate small-world --columns 50 --nearest 4 --rewire 0.1 \\
        --coupling 0.1:0.5 --signs positive --intercept -0.3:0.3 --out world.csv
    """,
)


def _run(
    make_graph: Callable[[np.random.Generator], Any],
    *,
    samples: int,
    out: str,
    edges: str | None,
    seed: int,
    n_jobs: int | None,
    signs: str,
    states: int | list[int],
    ordered: bool,
    **settings: Any,
) -> None:
    for path in filter(None, (out, edges)):
        check_file(path)
    if edges and Path(edges).absolute() == Path(out).absolute():
        raise SettingError(f"--out and --edges name the same file, {out!r}; name two files.")
    method = opt.take_method(settings, "burn_in", "thin")
    for_graph, for_model, for_rows = map(
        np.random.default_rng, np.random.SeedSequence(seed).spawn(3)
    )
    settings |= {"seed": for_model}
    if ordered:
        field = simulate.ordinal(make_graph(for_graph), states, signs=signs, **settings)
    else:
        field = _model(make_graph(for_graph), states, signs, settings)
    with progress_bar("sampling") as progress:
        table = field.sample(
            samples, seed=for_rows, method=method, n_jobs=n_jobs, progress=progress
        )
    _write(field, table, out, edges)
    console = new_console()
    console.print(
        f"{counted(samples, 'row')}, {counted(len(field.names), 'column')}, "
        f"{counted(len(field.couplings), 'true edge')}; --seed {seed} draws the same table again",
        style="bold",
    )
    click.echo(f"wrote {out}" + (f", and the true edges to {edges}" if edges else ""))
    console.print(f"Can they be found?  isinglass fit {out}")


def _model(
    graph: Any, states: int | list[int], signs: str, settings: dict[str, Any]
) -> MarkovField:
    if states == 2:
        return simulate.ising(graph, signs=signs, **settings)
    if signs == "positive":
        raise SettingError("--signs positive is for two states; with more, couplings have no sign.")
    return simulate.potts(graph, states, **settings)


def _write(field: MarkovField, table: Any, out: str, edges: str | None) -> None:
    import polars as pl

    contents = {Path(out): pl.DataFrame(table, schema=list(field.names)).write_csv().encode()}
    if edges:
        contents[Path(edges)] = edges_csv(field.graph)
    write_files(contents)
