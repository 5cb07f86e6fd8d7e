"""The study of the default threshold for people: sheets of numbers. Pictures are in `plots`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from benchmarks.choosing.cuts import CONSTANTS, LEVELS, RULES
from benchmarks.choosing.judge import (
    Judgement,
    against_best,
    found_at,
    judge,
    mean_and_error,
)
from numpy.typing import NDArray

from isinglass.experiments.curves import mean, smallest_beta
from isinglass.experiments.plan import Design
from isinglass.experiments.study import Outcome
from isinglass.experiments.tuning import Panel
from isinglass.report.markdown import markdown_table

#: How many times the rows of the best constant the default may need.
TARGETS = {"nine": 1.1, "others": 1.2, "large": 1.2}


@dataclass(frozen=True)
class Sheet:
    """A table for people: what it shows, its heads and its rows."""

    title: str
    words: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]

    def __str__(self) -> str:
        return f"### {self.title}\n\n{self.words}\n\n{markdown_table(self.heads, self.rows)}"


def choosing_markdown(outcomes: Sequence[Outcome]) -> str:
    """Every sheet of the study, on one page."""
    return "\n\n".join(map(str, sheets(outcomes))) + "\n"


def sheets(outcomes: Sequence[Outcome]) -> Iterator[Sheet]:
    """All tables, in the order of the study's parts."""
    curves = [outcome for outcome in outcomes if outcome.study.name in TARGETS]
    for outcome in curves:
        yield judgements_sheet(outcome)
        if outcome.study.name == "nine":
            yield judgements_sheet(outcome, "or, no fields")
    if any(judged_designs(outcome) for outcome in curves):
        yield one_for_all_sheet(curves)
    for outcome in curves:
        if outcome.study.name != "large":
            yield rules_sheet(outcome)
    if len(outcomes) > sum(outcome.study.name == "large" for outcome in outcomes):
        yield found_sheet([outcome for outcome in outcomes if outcome.study.name != "large"])
    for outcome in outcomes:
        if outcome.study.name == "false":
            yield false_sheet(outcome)


def judgements_sheet(outcome: Outcome, label: str = "or") -> Sheet:
    """The default beside the best constant, design by design."""
    target = TARGETS[outcome.study.name]
    judged = judged_designs(outcome, label)
    held = sum(one.within(target) for one in judged)
    alone = [describe(one.design) for one in judged if one.fails_alone]
    title = outcome.study.title + (", no fields fitted" if label != "or" else "")
    words = (
        f"Smallest beta with 95 % of the graphs recovered, by the default and by the best "
        f"constant c of c log(np)/n, chosen on other graphs; F1 at the first beta, the constant "
        f"chosen for it. The interval of the ratio reaches {target:g} or less on "
        f"{held} of {len(judged)} designs. The default fails where a constant succeeds: "
        f"{', '.join(alone) or 'nowhere'}."
    )
    heads = ["graph", "rows", "auto", "best c", "c = 1", "auto / best", "FalseEdges(0.025) / best"]
    heads += ["F1 auto", "F1 best", "graphs"]
    return Sheet(title, words, heads, [_row(one) for one in judged])


def _row(one: Judgement) -> list[str]:
    constants = one.best.words.replace("or c=", "")
    paper = one.best.panel.position("or c=1")
    at_one = [exact[:, paper] for exact in one.best.panel.exact]
    return [
        describe(one.design),
        f"{one.rows:,}",
        str(one.default.need),
        f"{one.best.need} ({constants})",
        str(smallest_beta(one.design.betas, at_one)),
        str(one.ratio),
        "" if one.stricter is None else str(one.stricter),
        f"{one.f1:.3f}",
        f"{one.best_f1:.3f}",
        str(one.ratio.tries),
    ]


def one_for_all_sheet(outcomes: Sequence[Outcome]) -> Sheet:
    """Levels and constants held fixed over all designs."""
    pairs = [(outcome, design) for outcome in outcomes for design in outcome.study.designs]
    pairs = [(outcome, design) for outcome, design in pairs if judge(outcome, design) is not None]
    tried = [("levels", f"or level={level:g}", f"FalseEdges({level:g})") for level in LEVELS]
    tried += [("or", f"or c={c:g}", f"Paper({c:g})") for c in CONSTANTS if 0.7 <= c <= 1.3]
    rows = []
    for label, setting, words in tried:
        tried_on = (against_best(*pair, label, setting, resamples=0) for pair in pairs)
        times = [np.nan if one is None else one.value for one in tried_on]
        panels = [outcome.panels[design.name, label] for outcome, design in pairs]
        rows.append(
            [
                *(words, *_summary(np.array(times), [design for _, design in pairs])),
                f"{np.mean([_mean_of(panel, 'exact', -1, setting) for panel in panels]):.1%}",
                f"{np.mean([_mean_of(panel, 'f1', 0, setting) for panel in panels]):.4f}",
            ]
        )
    words = (
        f"The beta that one rule needs on all {len(pairs)} designs, as a multiple of that of the "
        "best constant of each design; the mean share of graphs recovered with the most rows, and "
        "the mean F1 with the fewest."
    )
    heads = ["rule", "never reaches 95 %", "geometric mean of the others", "above 1.1", "above 1.2"]
    heads += ["worst", "recovered, most rows", "F1, fewest rows"]
    return Sheet("One rule for all designs", words, heads, rows)


def _mean_of(panel: Panel, measure: str, at: int, setting: str) -> float:
    """The mean of a measure over the tables of one beta."""
    values = getattr(panel, measure)[at]
    return mean(values[:, panel.position(setting)])


def _summary(values: NDArray[np.float64], designs: Sequence[Design]) -> list[str]:
    arrived = values[np.isfinite(values) & (values > 0)]  # 0: the best constant did not
    worst = int(np.nanargmax(np.where(np.isnan(values), -np.inf, values)))
    return [
        str(int(np.isinf(values).sum())),
        f"{np.exp(np.log(arrived).mean()):.3f}" if len(arrived) else "",
        str(int((values > 1.1).sum())),
        str(int((values > 1.2).sum())),
        f"{'∞' if np.isinf(values[worst]) else f'{values[worst]:.2f}'}: {describe(designs[worst])}",
    ]


def rules_sheet(outcome: Outcome) -> Sheet:
    """Four ways to join neighbourhoods, each with its best cut."""
    rows = []
    for design in outcome.study.designs:
        tuned = {rule: outcome.tuned(design, rule, "other") for rule in RULES}
        if any(one is None for one in tuned.values()):
            continue
        needs = [f"{one.need} ({_constants(one.words)})" for one in tuned.values() if one]
        ratios = (outcome.ratio(design, rule, "other") for rule in RULES[1:])
        rows.append([describe(design), *needs, *map(str, ratios)])
    words = (
        "Smallest beta with 95 % of the graphs recovered, each rule with the constant c of "
        "c log(np)/n that did best on other graphs, and the ratio to OR."
    )
    heads = ["graph", *(name.upper() if len(name) < 4 else name for name in RULES)]
    heads += [f"{rule} / or" for rule in RULES[1:]]
    return Sheet(f"Joining neighbourhoods: {outcome.study.title.lower()}", words, heads, rows)


def found_sheet(outcomes: Sequence[Outcome], numbers: Sequence[float] = (0.1, 1.0)) -> Sheet:
    """Share of the edges found by each rule, at equal numbers of false edges."""
    rows = []
    for outcome in outcomes:
        for design in outcome.study.designs:
            panels = [outcome.panels[design.name, rule] for rule in RULES]
            if not panels[0].settings or not np.nansum(panels[0].true[0]):
                continue
            shares = [found_at(panel, 0, false) for false in numbers for panel in panels]
            n = design.rows(design.betas[0])
            rows.append([describe(design), f"{n:,}", *map(_share, shares)])
    words = (
        "Percent of the true edges found by the cut of each rule that lets in "
        f"{' or '.join(f'{number:g}' for number in numbers)} false edges a graph on average; few "
        "rows, so that not all can be found."
    )
    heads = ["graph", "rows", *(f"{rule}, {number:g}" for number in numbers for rule in RULES)]
    return Sheet("Joining neighbourhoods at equal numbers of false edges", words, heads, rows)


def false_sheet(outcome: Outcome) -> Sheet:
    """Mean false edges of the two tiers."""
    rows = []
    for design in outcome.study.designs:
        firm, loose = outcome.panels[design.name, "or"], outcome.panels[design.name, "levels"]
        if not firm.settings:
            continue
        kinds = ((firm, firm.position("or auto")), (loose, loose.position("or level=1")))
        for at, beta in enumerate(design.betas):
            true = mean(firm.true[at])
            row = [describe(design), f"{design.rows(beta):,}", f"{true:.0f}"]
            for panel, k in kinds:
                value, error = mean_and_error(panel.false[at][:, k])
                missed = mean(panel.missed[at][:, k])
                row += [f"{value:.3f} ± {error:.3f}", f"{true - missed:.1f}" if true else ""]
            rows.append([*row, str(int(np.isfinite(firm.true[at]).sum()))])
    words = "Mean number of false edges with its standard error, and of true edges found."
    heads = ["graph", "rows", "edges", "FalseEdges(0.05): false", "found"]
    heads += ["FalseEdges(1): false", "found", "graphs"]
    return Sheet(outcome.study.title, words, heads, rows)


def describe(design: Design) -> str:
    """A design in words.

    >>> from isinglass.experiments.designs import grid_design
    >>> describe(grid_design(64, (1.0,), coupling=(0.1, 0.5), intercept=(-0.5, 0.5)))
    'grid, p = 64, ±0.1..0.5, intercepts -0.5..0.5'
    """
    family, *parts = design.name.split("/")
    facts = dict(part.partition("=")[::2] for part in parts)
    words = [family, f"p = {facts['p']}"]
    if family in ("star", "erdos-renyi", "regular", "small-world"):
        words.append(f"d = {facts['d']}")
    if "states" in facts:
        words.append(f"{facts['states']} states")
    if family != "empty":
        sign = "+" if "positive" in facts else "" if "states" in facts else "±"
        words.append(f"{sign}{facts['coupling']}")
    if "intercept" in facts:
        words.append(f"intercepts {facts['intercept']}")
    return ", ".join(words)


def judged_designs(outcome: Outcome, label: str = "or") -> list[Judgement]:
    """The default beside the best constant, where both were run."""
    judged = (judge(outcome, design, label) for design in outcome.study.designs)
    return [one for one in judged if one is not None]


def _constants(words: str) -> str:
    """'0.9 / 1' of 'mean c=0.9 / mean c=1'."""
    return " / ".join(part.partition("c=")[2] for part in words.split(" / "))


def _share(value: float) -> str:
    return "-" if np.isnan(value) else f"{100 * value:.1f}"
