"""Both ends together beside the paper's own rules: OR, AND and "joint" on many designs.

    python -m benchmarks.rules [--graphs 200] [--seed 1] [--part nine] [--out rules/]

Run from the top folder of the repository. The designs are those of the study of the default
threshold (`benchmarks.choosing`), at more numbers of rows. What is done is kept in the folder:
after Ctrl-C the same command goes on where it stopped. It writes `rules.md`, `points.csv` and a
picture of the ratios. The part `close` has the paper's grids alone, with the default threshold
alone, at numbers of rows close to those where OR and joint arrive: for thousands of graphs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from benchmarks.choosing.judge import mean_and_error
from benchmarks.choosing.parts import TITLES, false_edges, large, nine, others
from benchmarks.choosing.pictures import draw_ratio
from benchmarks.choosing.sheets import Sheet, describe

from isinglass.cli.reproduce import run_all, tell_failures
from isinglass.cli.terminal import new_console
from isinglass.estimators import GreedyGraph
from isinglass.experiments.curves import ratio
from isinglass.experiments.measure import Found
from isinglass.experiments.paper.reproduce import Reproduction
from isinglass.experiments.plan import Codes, Design, Line, Method
from isinglass.experiments.study import Outcome, Study, mean, points_csv
from isinglass.files import check_folder, write_all
from isinglass.plots.canvas import BLUE, ORANGE, PALE, new_figure
from isinglass.plots.experiment import files_of
from isinglass.selection import Auto, FalseEdges, Paper

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The ratios that the picture shows.
SHOWN = (0.5, 1.4)
#: The c of c log(np)/n.
CONSTANTS = tuple(round(0.4 + 0.1 * k, 1) for k in range(11))
#: Multiples of the beta at which OR recovers 95 % of the graphs, about.
AROUND = (0.55, 0.7, 0.85, 1.0, 1.2, 1.45)
RULES = ("or", "and", "joint")
#: The rule joint tests each pair once, the others at both ends. With this threshold as many pairs
#: without effect pass one test as otherwise pass either of two.
ONCE, ONE_TEST = "joint, 0.1", FalseEdges(0.1)
#: The lines of which false edges are listed.
FALSE = ("or", "joint", ONCE)
CLOSE = "close"
#: Multiples of that beta close to where joint arrives on grids, and OR.
CLOSELY = (0.64, 0.7, 0.76, 0.82, 0.94, 1.0, 1.06, 1.14)
#: Graphs per point of designs with a thousand columns, at most.
FEW = 10


def by_all_rules(codes: Codes) -> Found:
    """The graphs of every rule at the default threshold and at the paper's constants."""
    n, p = codes.shape
    thresholds = {"auto": Auto().threshold(n, p), "once": ONE_TEST.threshold(n, p)}
    thresholds |= {f"c={c:g}": Paper(c).threshold(n, p) for c in CONSTANTS}
    least = min(thresholds.values())
    found = {}
    for rule in RULES:
        fit = GreedyGraph(least, rule=rule, n_jobs=1, max_states=256).fit(codes)
        for name, threshold in thresholds.items():
            found[f"{rule} {name}"] = list(fit.at(threshold).pairs)
    return Found(found)


def by_default(codes: Codes) -> Found:
    """The graphs of OR and joint at the default threshold."""
    fits = {rule: GreedyGraph(rule=rule, n_jobs=1).fit(codes) for rule in ("or", "joint")}
    return Found({rule: list(fit.graph_.pairs) for rule, fit in fits.items()})


METHOD = Method("rules", by_all_rules, ours=True)
DEFAULT = Method("default-rules", by_default, ours=True)


def grids(seed: int) -> list[Design]:
    """The paper's grids."""
    return [design for design in nine(seed) if design.name.startswith("grid/")]


PARTS = {"nine": nine, "others": others, "large": large, "false": false_edges, CLOSE: grids}


def studies(parts: Sequence[str], graphs: int, seed: int) -> list[Study]:
    """The parts of the study.

    >>> [len(study.designs) for study in studies(("nine", "false"), 20, 0)]
    [9, 7]
    """
    return [
        Study(
            part,
            TITLES.get(part, "The paper's grids, closely"),
            [_wider(design, part) for design in PARTS[part](seed)],
            lines(part),
            min(graphs, FEW) if part == "large" else graphs,
        )
        for part in parts
    ]


def lines(part: str) -> list[Line]:
    """The rules, with all their thresholds or the default one alone."""
    if part == CLOSE:
        return [Line(rule, DEFAULT, rule, own=rule) for rule in ("or", "joint")]
    rules = [Line(rule, METHOD, f"{rule} c=", own=f"{rule} auto") for rule in RULES]
    return [*rules, Line(ONCE, METHOD, "joint c=", own="joint once")]


def _wider(design: Design, part: str) -> Design:
    """More numbers of rows, and fewer, for a rule that needs fewer."""
    if part in ("false", "large"):
        return design
    middle = sorted(design.betas)[len(design.betas) // 2]
    factors = CLOSELY if part == CLOSE else AROUND
    return replace(design, betas=tuple(float(f"{middle * factor:.3g}") for factor in factors))


def sheets(outcomes: Sequence[Outcome]) -> Iterator[Sheet]:
    """Rows that each rule needs, and false edges."""
    for outcome in outcomes:
        if outcome.study.name == "false":
            yield false_sheet(outcome)
        else:
            yield from rows_sheets(outcome)


def judged(outcome: Outcome) -> Iterator[tuple[Design, dict[str, Any], dict[str, Any]]]:
    """Designs with the curves of all rules: with the default threshold, and by best constants."""
    rules = [line.label for line in outcome.study.lines]
    by_constants = () if outcome.study.name == CLOSE else RULES
    for design in outcome.study.designs:
        own = {rule: outcome.tuned(design, rule, "own") for rule in rules}
        best = {rule: outcome.tuned(design, rule, "other") for rule in by_constants}
        if not any(one is None for one in (*own.values(), *best.values())):
            yield design, own, best


def rows_figure(outcomes: Sequence[Outcome]) -> Figure:
    """One line per design: how many times the rows of OR joint needs."""
    from matplotlib.lines import Line2D

    found = [one for outcome in outcomes for one in judged(outcome)]
    figure, ax = new_figure(8.6, 0.26 * len(found) + 1.3)
    for y, (design, own, best) in enumerate(found):
        for curves, color, off in ((own, BLUE, -0.14), (best, ORANGE, 0.14)):
            both = ratio(design.betas, curves["joint"].exact, curves["or"].exact)
            draw_ratio(ax, y + off, both, color, SHOWN)
    ax.axvline(1, color=PALE, lw=0.8, zorder=0)
    ax.set_yticks(range(len(found)), [describe(design) for design, _, _ in found], fontsize=8)
    ax.set_ylim(len(found) - 0.4, -0.6)
    ax.set_xlim(*SHOWN)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("rows that joint needs / rows that OR needs", fontsize=9)
    words = {BLUE: "default threshold", ORANGE: "best constants"}
    handles = [Line2D([], [], color=color, label=label) for color, label in words.items()]
    place = {"loc": "lower center", "bbox_to_anchor": (0.4, 1.0), "ncols": 2}
    ax.legend(handles=handles, frameon=False, fontsize=8, **place)
    ax.spines[["top", "right", "left"]].set_visible(False)
    return figure


def rows_sheets(outcome: Outcome) -> Iterator[Sheet]:
    """Rows for 95 % recovery, with the default threshold and with best constants."""
    found, title = list(judged(outcome)), outcome.study.title
    ratios = (
        "and how many times the rows of OR the others need, with 95 % intervals from the same "
        "tables. inf: only OR arrives; 0: only the other does; -: neither."
    )
    words = (
        "Rows with which 95 % of the graphs are recovered exactly, each rule with the default "
        f'threshold, {ratios} "{ONCE}" is joint with FalseEdges(0.1), for it tests every pair '
        "once, not at both ends."
    )
    yield rows_sheet(title, words, [(design, own) for design, own, _ in found])
    if outcome.study.name == CLOSE:
        return
    words = (
        "Rows with which 95 % of the graphs are recovered exactly, each rule with its best "
        f"constant c of c log(np)/n, chosen on other graphs, {ratios}"
    )
    yield rows_sheet(
        f"{title}: best constants", words, [(design, best) for design, _, best in found]
    )


def rows_sheet(title: str, words: str, found: Sequence[tuple[Design, dict[str, Any]]]) -> Sheet:
    """One line per design, from the curves of some rules."""
    rows, rules = [], list(found[0][1]) if found else []
    for design, curves in found:
        needs = (f"{one.need.bound}{design.rows(one.need.beta):,}" for one in curves.values())
        ratios = (
            str(ratio(design.betas, curves[rule].exact, curves["or"].exact)) for rule in rules[1:]
        )
        rows.append([describe(design), *needs, *ratios, str(len(curves["or"].exact[0]))])
    heads = ["graph", *(f"rows, {rule}" for rule in rules)]
    heads += [*(f"{rule} / or" for rule in rules[1:]), "graphs"]
    return Sheet(title, words, heads, rows)


def false_sheet(outcome: Outcome) -> Sheet:
    """False edges and links found with the default threshold."""
    rows = []
    for design in outcome.study.designs:
        for at, beta in enumerate(design.betas):
            cells = [describe(design), f"{design.rows(beta):,}"]
            for rule in FALSE:
                tuned = outcome.tuned(design, rule, "own")
                if tuned is None:
                    continue
                false, error = mean_and_error(tuned.of(tuned.panel.false)[at])
                true = mean(tuned.panel.true[at])
                missed = mean(tuned.of(tuned.panel.missed)[at])
                found = f"{1 - missed / true:.3f}" if true else ""
                cells += [f"{false:.3f} ± {error:.3f}", found]
            rows.append(cells)
    heads = ["graph", "rows", *(f"{what}, {rule}" for rule in FALSE for what in ("false", "found"))]
    words = (
        "Mean number of false edges per table, with its standard error, and the share of links "
        "found, with the default threshold: nominally 0.05 false edges if both ends are tested "
        f'apart, 0.025 with one test per pair. "{ONCE}" is joint with FalseEdges(0.1): 0.05.'
    )
    return Sheet(outcome.study.title, words, heads, rows)


@click.command()
@click.option("--out", default="rules", show_default=True, metavar="DIR")
@click.option("--part", "parts", multiple=True, type=click.Choice(list(PARTS)))
@click.option("--graphs", type=click.IntRange(2), default=20, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Processes (default: all cores).")
@click.option(
    "--draw-only", is_flag=True, help="Write tables and pictures of finished work, and run nothing."
)
def command(
    *, out: str, parts: tuple[str, ...], graphs: int, seed: int, jobs: int | None, draw_only: bool
) -> None:
    """Compare OR, AND and joint."""
    check_folder(out)
    work = Reproduction(studies(parts or tuple(PARTS), graphs, seed), out, jobs)
    console = new_console()
    if not draw_only:
        run_all(console, work)
    tell_failures(console, work, "records.jsonl says why")
    outcomes = work.outcomes()
    page = "\n\n".join(map(str, sheets(outcomes))) + "\n"
    curves = [outcome for outcome in outcomes if outcome.study.name in ("nine", "others")]
    pictures = files_of("rules", rows_figure(curves)) if curves else {}
    write_all(out, {"rules.md": page.encode(), "points.csv": points_csv(outcomes), **pictures})
    click.echo(f"\n{page}\nwrote rules.md, points.csv and pictures to {out}")


if __name__ == "__main__":
    command()
