"""Missing values: what each way to treat them finds, misses and invents.

    python benchmarks/missing.py study [--tables 30] [--out missing/]   # resumes where it stopped
    python benchmarks/missing.py nulls [--tables 200]
    python benchmarks/missing.py coverage [--tables 200]
    python benchmarks/missing.py time

`study`: false and missed edges, and the bias of couplings. `nulls`: whether pairs without an effect
have the chi-square that they should, on a stack of filled tables. `coverage`: whether intervals by
Rubin's rules hold what they should. `time`: beside a fit of the complete table.
"""

from __future__ import annotations

import time as clock
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, product
from pathlib import Path
from typing import Any

import click
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.stats import chi2, t

import isinglass as ig
from isinglass import simulate
from isinglass.engine.deviance import expectations
from isinglass.errors import TableError
from isinglass.estimators.information import information_of
from isinglass.estimators.settling import fill_on, graph_of
from isinglass.files import write_files
from isinglass.model import MarkovField, fit_model
from isinglass.model.inference.filling import MissingCells
from isinglass.plots import png
from isinglass.repeating import Record, Task, has_failed, repeat
from isinglass.table import encode

Array = NDArray[np.float64]

DESIGNS: dict[str, Callable[[int], MarkovField]] = {
    "chain": lambda seed: simulate.ising(simulate.chain(10), coupling=0.7, seed=seed),
    "tree": lambda seed: simulate.ising(simulate.tree(12, seed), coupling=(0.3, 0.7), seed=seed),
    "grid": lambda seed: simulate.ising(
        simulate.grid(3, 4), coupling=0.4, intercept=0.2, seed=seed
    ),
    "mixed": lambda seed: simulate.potts(
        simulate.tree(8, seed), [2, 3, 2, 4, 3, 2, 4, 2], coupling=0.6, seed=seed
    ),
}
WAYS = ("complete", "drop", "state", "available", "model")
COLOURS = {"drop": "0.6", "state": "tab:orange", "available": "tab:red", "model": "tab:blue"}
#: What "model" may have: false edges per table, and times the links missed as informed.
MOST_FALSE, MOST_MISSED = 0.15, 1.2

#: A design, a kind of missingness, a share, a number of rows.
Cell = tuple[str, str, float, int]


def at_random(table: Array, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Every cell with the same probability."""
    return rng.random(table.shape) < share


def given_seen(table: Array, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Every second column, nine times as often where the column before it, always seen, is high."""
    missing = np.zeros(table.shape, dtype=bool)
    for j in range(1, table.shape[1], 2):
        missing[:, j] = rng.random(len(table)) < _uneven(table[:, j - 1], share)
    return missing


def given_unseen(table: Array, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Every second column, nine times as often where it is high itself."""
    missing = np.zeros(table.shape, dtype=bool)
    for j in range(1, table.shape[1], 2):
        missing[:, j] = rng.random(len(table)) < _uneven(table[:, j], share)
    return missing


def _uneven(by: Array, share: float) -> Array:
    return np.where(by > np.median(np.unique(by)), 1.8 * share, 0.2 * share)


KINDS = {"at random": at_random, "given seen": given_seen, "given unseen": given_unseen}


def with_missing(table: Any, missing: NDArray[np.bool_]) -> Array:
    """A table of numbers, without some cells."""
    cells = np.asarray(table, dtype=np.float64).copy()
    cells[missing] = np.nan
    return cells


def judged(field: MarkovField, est: ig.GreedyGraph) -> dict[str, Any]:
    """False and missed edges; of links between two states, the mean of coupling less truth."""
    true, found = set(field.couplings), set(est.graph_.pairs)
    shifts = [
        np.sign(table[1, 1]) * (float(link.coupling) - table[1, 1])
        for link in est.graph_.links
        if link.coupling is not None
        for table in [field.couplings.get((link.source, link.target))]
        if table is not None
    ]
    shift = float(np.mean(shifts)) if shifts else None
    return {"false": len(found - true), "missed": len(true - found), "shift": shift}


def one_table(design: str, kind: str, share: float, rows: int, *, seed: int, rule: str) -> Record:
    """All ways on one table."""
    field = DESIGNS[design](seed)
    whole = field.sample(rows, seed=seed + 10**6)
    rng = np.random.default_rng([seed, rows, int(100 * share)])
    cells = with_missing(whole, KINDS[kind](np.asarray(whole), share, rng))
    record: Record = {}
    lost = dict.fromkeys(field.couplings, 0.0)
    for way in reversed(WAYS):
        own_rule = "or" if way == "available" and rule == "joint" else rule
        est = ig.GreedyGraph(
            missing="error" if way == "complete" else way, rule=own_rule, n_jobs=1, max_states=64
        )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                est.fit(whole if way == "complete" else cells)
        except TableError:  # no row is complete
            record[way] = {"false": 0, "missed": len(field.couplings), "shift": None}
            continue
        record[way] = judged(field, est)
        if way == "model" and est.filled_ is not None:
            lost = {pair: float(est.filled_.information.lost[pair]) for pair in field.couplings}
            record[way] |= {"rounds": est.filled_.rounds, "settled": est.filled_.settled}
    missed = sum(not is_found(whole, pair, rows * (1 - lost[pair]), rule) for pair in lost)
    return {
        **record,
        "as informed": {"missed": missed},
        "lost": float(np.mean(list(lost.values()))),
    }


def is_found(whole: Any, pair: tuple[int, int], rows: float, rule: str) -> bool:
    """Whether a link is found in as many complete rows as the information about it amounts to."""
    est = ig.GreedyGraph(rule=rule, n_jobs=1).fit(np.asarray(whole)[: round(rows)])
    return pair in est.graph_.pairs


def means(records: Sequence[Record], way: str, what: str) -> tuple[float, float]:
    """A mean with its standard error."""
    values = [record[way][what] for record in records if record[way].get(what) is not None]
    if not values:
        return float("nan"), float("nan")
    return float(np.mean(values)), float(np.std(values) / np.sqrt(len(values)))


def table_line(cell: Cell, records: Sequence[Record]) -> str:
    """False edges of every way, then the links missed, as docs/missing.md shows them."""
    design, kind, share, rows = cell
    false = [means(records, way, "false")[0] for way in WAYS]
    missed = [means(records, way, "missed")[0] for way in ("model", "as informed", "drop")]
    lost = float(np.mean([record["lost"] for record in records]))
    numbers = " | ".join(f"{number:.2f}" for number in (*false, *missed, lost))
    return f"| {design}, {share:.0%} {kind}, {rows:,} rows ({len(records)}) | {numbers} |"


def beyond(records: Sequence[Record]) -> str:
    """What a cell has too much of, with standard errors; nothing if it is as it should be."""
    false, informed = means(records, "model", "false"), means(records, "as informed", "missed")
    missed, said = means(records, "model", "missed"), []
    if false[0] > MOST_FALSE:
        said.append(f"false edges {false[0]:.2f} ± {false[1]:.2f}")
    if missed[0] > MOST_MISSED * informed[0]:
        said.append(f"missed {missed[0]:.2f} ± {missed[1]:.2f}, as informed {informed[0]:.2f}")
    return "; ".join(said)


def false_figure(by_cell: Mapping[Cell, Sequence[Record]]) -> bytes:
    """False edges against rows: a panel per design and kind of missingness, a line per way."""
    share = 0.3
    kinds = [kind for kind in KINDS if any(cell[1:3] == (kind, share) for cell in by_cell)]
    figure = Figure(figsize=(10, 2.6 * len(kinds)), layout="constrained")
    grid = figure.subplots(len(kinds), len(DESIGNS), sharex=True, sharey=True, squeeze=False)
    for (kind, design), ax in zip(product(kinds, DESIGNS), grid.ravel(), strict=True):
        cells = [cell for cell in by_cell if cell[:3] == (design, kind, share)]
        for way, colour in COLOURS.items():
            numbers = [means(by_cell[cell], way, "false")[0] for cell in cells]
            ax.plot([cell[3] for cell in cells], numbers, marker="o", ms=4, color=colour, label=way)
        ax.set_xscale("log")
        ax.set_xticks([cell[3] for cell in cells], [f"{cell[3]:,}" for cell in cells])
        ax.minorticks_off()
        ax.set_title(f"{design}, {share:.0%} missing\n{kind}", fontsize=9)
    for ax in grid[:, 0]:
        ax.set_ylabel("false edges per table")
    for ax in grid[-1]:
        ax.set_xlabel("rows")
    grid[0, 0].legend(frameon=False, fontsize=8)
    return png(figure)


def print_study(by_cell: Mapping[Cell, Sequence[Record]]) -> None:
    """A line per cell, the cells that have too much of something, and how the rounds ended."""
    print(f"| tables | {' | '.join(WAYS)} | missed, model | as informed | drop | lost |")
    print("|---" * (len(WAYS) + 5) + "|")
    for cell, records in by_cell.items():
        print(table_line(cell, records))
    print(f"\nmore than {MOST_FALSE} false edges, or {MOST_MISSED} times the links missed:")
    for cell, records in by_cell.items():
        if said := beyond(records):
            print(f"  {', '.join(map(str, cell))}: {said}")
    shifts = [abs(means(records, "model", "shift")[0]) for records in by_cell.values()]
    print(f'\ncouplings with "model" off by at most {np.nanmax(shifts):.3f} in any cell')
    every = [record for records in by_cell.values() for record in records]
    rounds = [record["model"].get("rounds", 0) for record in every]
    settled = [record["model"].get("settled", True) for record in every]
    print(f"\nrounds: {np.mean(rounds):.1f}, at most {max(rounds)}; settled {np.mean(settled):.3f}")


@click.group(help=(__doc__ or "").splitlines()[0])
def command() -> None:
    """One command per question."""


@command.command()
@click.option("--tables", type=click.IntRange(1), default=100, show_default=True)
@click.option("--first", type=int, default=1000, show_default=True, help="Seed of the first table.")
@click.option("--design", "designs", type=click.Choice(list(DESIGNS)), multiple=True)
@click.option("--kind", "kinds", type=click.Choice(list(KINDS)), multiple=True)
@click.option("--share", "shares", type=float, multiple=True)
@click.option("--rows", type=int, multiple=True)
@click.option("--rule", type=click.Choice(["or", "and", "joint"]), default="or", show_default=True)
@click.option("--out", type=click.Path(), help="A file that keeps what is done.")
@click.option("--figure", type=click.Path(), help="Write a picture of the false edges there.")
def study(
    *,
    tables: int,
    first: int,
    designs: Sequence[str],
    kinds: Sequence[str],
    shares: Sequence[float],
    rows: Sequence[int],
    rule: str,
    out: str | None,
    figure: str | None,
) -> None:
    """False and missed edges of every way, per design, kind of missingness, share and rows."""
    every = list(
        product(
            designs or DESIGNS,
            kinds or KINDS,
            shares or (0.05, 0.1, 0.3, 0.4),
            rows or (500, 2000, 8000),
        )
    )
    tasks = [
        Task.single(
            _key(rule, cell, seed),
            partial(one_table, *cell, seed=seed, rule=rule),
        )
        for seed in range(first, first + tables)  # all cells have as many when it is stopped
        for cell in every
    ]
    done = repeat(tasks, work="benchmarks/missing.py", path=out, n_jobs=1)
    by_cell: dict[Cell, list[Record]] = {cell: [] for cell in every}
    for cell, seed in product(every, range(first, first + tables)):
        record = done[_key(rule, cell, seed)]
        if has_failed(record):
            raise click.ClickException(f"{_key(rule, cell, seed)}: {record}")
        by_cell[cell].append(record)
    print_study(by_cell)
    if figure:
        write_files({Path(figure): false_figure(by_cell)})


def _key(rule: str, cell: Cell, seed: int) -> str:
    return f"{rule}/{'/'.join(map(str, cell))}/{seed}"


def statistics(
    states: int, rows: int, kind: str, *, linked: bool, seed: int, share: float = 0.3
) -> Iterator[tuple[float, int, float]]:
    """Likelihood ratios of pairs without effect, degrees of freedom, and scales."""
    graph = simulate.chain(6)
    field = (
        simulate.ising(graph, coupling=0.7, signs="positive", intercept=0.3)
        if states == 2
        else simulate.potts(graph, states, coupling=0.4, seed=1)
    )
    true = frozenset(field.couplings)
    null = [pair for pair in combinations(range(6), 2) if pair not in true]
    rng = np.random.default_rng([seed, rows])
    whole = np.asarray(field.sample(rows, seed=seed + 10**6))
    table = encode(with_missing(whole, KINDS[kind](whole, share, rng)), missing="model")
    pairs = [null[k] for k in rng.choice(len(null), 2, replace=False)]
    est = ig.GreedyGraph(seed=seed, n_jobs=1)
    for pair in pairs:
        drawn_by = graph_of(table, true | {pair} if linked else true)
        filled, draws = fill_on(table, drawn_by, est)
        model = fit_model(filled, drawn_by)
        found = information_of(MissingCells.of(table), filled, draws, model)
        scale = found.scales[pair] if linked else 1.0 - found.lost[pair]
        ends = expectations(filled, sorted(true | {pair}), intercept=True, threads=1)
        for r, other in (pair, pair[::-1]):
            end = ends[r, other]
            yield 2 * rows * (end.without - end.fitted), end.null.df, float(scale)


@command.command()
@click.option("--tables", type=click.IntRange(1), default=200, show_default=True)
@click.option("--rows", type=int, default=1000, show_default=True)
def nulls(tables: int, rows: int) -> None:
    """How often pairs without effect pass a level, before and after they are scaled."""
    print(
        "| states | missing | drawing model | mean scale | mean chi-square / df, raw | scaled ",
        end="",
    )
    print("| above 0.05, raw | scaled | above 0.01, raw | scaled |\n" + "|---" * 10 + "|")
    for states, kind, linked in product((2, 4), ("at random", "given seen"), (False, True)):
        found = np.array(
            [
                numbers
                for seed in range(tables)
                for numbers in statistics(states, rows, kind, linked=linked, seed=seed)
            ]
        )
        raw, df, scales = found.T
        ratios = [(value / df).mean() for value in (raw, raw / scales)]
        above = [
            np.mean(chi2.sf(value, df) < level)
            for level in (0.05, 0.01)
            for value in (raw, raw / scales)
        ]
        cells = [f"{number:.3f}" for number in (scales.mean(), *ratios, *above)]
        word = "has the link" if linked else "lacks it"
        print(f"| {states} | 30 % {kind} | {word} | {' | '.join(cells)} |", flush=True)


def covered(kind: str, rows: int, draws: int, seed: int) -> Record:
    """Whether Rubin's interval of a margin and of a coupling holds the truth."""
    field = simulate.ising(simulate.chain(5), coupling=0.5, signs="positive", intercept=0.3)
    whole = np.asarray(field.sample(rows, seed=seed + 10**6))
    rng = np.random.default_rng([seed, rows])
    cells = with_missing(whole, KINDS[kind](whole, 0.3, rng))
    est = ig.GreedyGraph(missing="model", seed=seed, n_jobs=1).fit(cells)
    completed = ig.with_errors(est).impute(cells, draws=draws, use="inference", seed=seed)
    truth = float(field.marginals()["x1"][1])
    means = np.array([np.mean(np.asarray(table)[:, 1] > 0) for table in completed])
    inner = np.mean(means * (1 - means)) / rows
    margin = _holds(truth, means, inner)
    errors = [_coupling(np.asarray(table)) for table in completed]
    coupling = _holds(2.0, np.array([one for one, _ in errors]), np.mean([v for _, v in errors]))
    return {"margin": margin, "coupling": coupling, "off": float(means.mean() - truth)}


def _coupling(table: Array) -> tuple[float, float]:
    """The log odds ratio of the second and third column given the fourth, and its variance."""
    sums = weight = 0.0
    for state in (-1, 1):
        part = table[table[:, 3] == state]
        counts = np.array(
            [[np.sum((part[:, 1] == a) & (part[:, 2] == b)) for b in (-1, 1)] for a in (-1, 1)]
        )
        counts = counts + 0.5
        own = 1.0 / np.sum(1.0 / counts)
        sums += own * np.log(counts[0, 0] * counts[1, 1] / (counts[0, 1] * counts[1, 0]))
        weight += own
    return sums / weight, 1.0 / weight


def _holds(truth: float, estimates: Array, within: float) -> bool:
    """Whether the 95 % interval by Rubin's rules holds the truth."""
    m, between = len(estimates), float(np.var(estimates, ddof=1))
    total = within + (1 + 1 / m) * between
    df = (m - 1) * (total / max((1 + 1 / m) * between, 1e-300)) ** 2
    return bool(abs(estimates.mean() - truth) <= t.isf(0.025, df) * np.sqrt(total))


@command.command()
@click.option("--tables", type=click.IntRange(1), default=200, show_default=True)
@click.option("--rows", type=int, default=1000, show_default=True)
@click.option("--draws", type=int, default=20, show_default=True)
def coverage(tables: int, rows: int, draws: int) -> None:
    """How often 95 % intervals of completed tables hold a margin and a log odds ratio."""
    print("| missing | margin | log odds ratio | mean of the margin off by |\n|---|---|---|---|")
    for kind in ("at random", "given seen"):
        found = [covered(kind, rows, draws, seed) for seed in range(tables)]
        margin, coupling, off = (
            np.mean([record[what] for record in found]) for what in ("margin", "coupling", "off")
        )
        print(f"| 30 % {kind} | {margin:.3f} | {coupling:.3f} | {off:+.4f} |", flush=True)


@command.command()
@click.option("--rule", type=click.Choice(["or", "and", "joint"]), default="or", show_default=True)
@click.option("--large", is_flag=True, help="Also 300 columns.")
def time(rule: str, large: bool) -> None:
    """Seconds beside a fit of the complete table, one after the other, the least of some.

    The ratio of processor time is the one that other work on the machine does not change much.
    """
    cases = {
        "5,000 x 42, 4 states, 10 %": (
            simulate.potts(simulate.random_regular(42, 3, seed=1), 4, coupling=0.6, seed=1),
            5000,
        )
    }
    if large:
        field = simulate.ising(simulate.random_regular(300, 3, seed=1), coupling=0.4, seed=1)
        cases["5,000 x 300, 2 states, 10 %"] = (field, 5000)
    print("| table | complete | model | ratio | ratio of processor time | searches | copies |")
    print("|---" * 7 + "|")
    for name, (field, rows) in cases.items():
        whole = field.sample(rows, seed=0, method=ig.Gibbs(chains=rows, thin=1))
        rng = np.random.default_rng(0)
        cells = with_missing(whole, at_random(np.asarray(whole), 0.1, rng))
        est = ig.GreedyGraph(rule=rule)
        complete = np.min([_seconds(partial(est.fit, whole)) for _ in range(7)], axis=0)
        model = ig.GreedyGraph(rule=rule, missing="model")
        times = 1 if "300" in name else 3
        filled = np.min([_seconds(partial(model.fit, cells)) for _ in range(times)], axis=0)
        assert model.filled_ is not None
        ratios = " | ".join(f"{ratio:.1f}" for ratio in filled / complete)
        runs = f"{model.filled_.rounds} | {model.filled_.draws}"
        print(
            f"| {name} | {complete[0]:.2f} s | {filled[0]:.2f} s | {ratios} | {runs} |", flush=True
        )


def _seconds(work: Callable[[], Any]) -> tuple[float, float]:
    """On the clock, and of processor time."""
    begin = clock.perf_counter(), clock.process_time()
    work()
    return clock.perf_counter() - begin[0], clock.process_time() - begin[1]


if __name__ == "__main__":
    command()
