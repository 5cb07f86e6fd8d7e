"""The paragraphs of a report: how to read it, what to write in a paper, what it cannot tell."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from isinglass.report.words import counted, one_line

CITATION = (
    "A. Jalali, C. C. Johnson and P. Ravikumar (2011). On Learning Discrete Graphical Models "
    "Using Greedy Methods. Advances in Neural Information Processing Systems 24."
)

HOW_TO_READ = (
    "Each dot is a column of the table. A line joins two columns that still tell something about "
    "each other when all the other columns are held fixed. Two columns can go together without a "
    "line between them: then other columns carry what they share.",
    "The wider a line, the stronger the link: strength runs from 0 to 1 and can be compared "
    "whatever the numbers of states. Blue says that more of one goes with more of the other, "
    "orange that more of one goes with less of the other, grey that the states have no order or "
    "no one direction.",
    "Evidence is a chi-square with one degree of freedom, whatever the numbers of states. It comes "
    "from the rows that also chose the links, so it must not be turned into a p-value.",
    "The threshold is what a link must gain, in log-likelihood per row, to be drawn. Moving the "
    "slider shows the graph that a new search with that threshold would find, exactly; nothing is "
    "approximated. Full lines are firm (about 0.05 false links expected in the whole graph), "
    "dashed ones tentative (about 1), dotted ones weaker than both.",
    "Each column searched for its own neighbours. “Chosen by both” means that both searches found "
    "the link; they saw the same rows, so it is not two confirmations.",
    "Unbounded: some combination of states never occurs, or columns repeat each other. The link is "
    "there; how strong it can get is open.",
)

LIMITS = (
    "A link is not a cause, and it has no direction. The method cannot tell whether one column "
    "acts on the other, the other on the one, or both on each other.",
    "A cause that was not measured can link two columns that do not touch.",
    "If rows were selected by a sum or a total of the columns (only people above a cut-off, say), "
    "the selection itself makes links, most of them negative.",
    "No line does not mean no link: a weak one may need more rows than there are. What could have "
    "been found depends on the number of rows and on how common each state is.",
    "Only pairs are modelled. Where the effect of one column depends on a third, the line shows an "
    "average.",
    "Rows are taken as independent. Repeated rows of the same people, places or days make the "
    "evidence look stronger than it is.",
)


def lead(summary: Mapping[str, Any]) -> str:
    """What was found, in a sentence or two."""
    pairs = summary["columns"] * (summary["columns"] - 1) // 2
    found = counted(len(summary["edges"]), "direct link")
    return (
        f"{found} among {counted(pairs, 'pair')} of {counted(summary['columns'], 'column')}, "
        f"learned from {counted(summary['rows'], 'row')}."
    )


def methods(summary: Mapping[str, Any]) -> str:
    """A paragraph for a methods section."""
    settings = summary["settings"]
    joined = {
        "or": "an edge was kept if the search of at least one of its ends chose it (OR)",
        "and": "an edge was kept if the searches of both its ends chose it (AND)",
    }.get(summary["rule"], f"neighbourhoods were joined by the rule {summary['rule']}")
    factor = one_line(str(settings.get("nu", 0.5)))
    intercept = "" if settings.get("intercept", True) else " without intercepts"
    return (
        f"We estimated a pairwise Markov random field of {counted(summary['columns'], 'variable')} "
        f"({_states(summary)}) from {counted(summary['rows'], 'observation')}{intercept} with the "
        "forward-backward greedy method of Jalali, Johnson and Ravikumar (2011), run for every "
        f"variable on its conditional likelihood (backward factor {factor}); "
        f"{joined}. Gains were standardised to those of a one-parameter edge. The threshold was "
        f"{summary['threshold']:.4g} ({_rule(summary)}). {_gaps(summary)}{_weights(summary)}"
        f"{_bins(summary)}{_chance(summary)} "
        "Computations were done with isinglass "
        f"{summary['version']}.\n\nReference: {CITATION}"
    )


def results(summary: Mapping[str, Any]) -> str:
    """A paragraph for a results section."""
    edges = summary["edges"]
    pairs = summary["columns"] * (summary["columns"] - 1) // 2
    linked = {end for edge in edges for end in (edge["source"], edge["target"])}
    alone = summary["columns"] - len(linked)
    if not edges:
        return (
            f"At a threshold of {summary['threshold']:.4g} no edge was found among "
            f"{counted(pairs, 'pair')} of variables (n = {summary['rows']:,})."
        )
    signs = [edge["sign"] for edge in edges]
    directions = [
        f"{signs.count(sign)} {word}" for sign, word in ((1, "positive"), (-1, "negative"))
    ]
    unsigned = signs.count(0)
    if unsigned:
        directions.append(f"{unsigned} without a sign")
    text = (
        f"The graph has {counted(len(edges), 'edge')} among {counted(pairs, 'pair')} of variables "
        f"(n = {summary['rows']:,}), {', '.join(directions[:-1])} and {directions[-1]}; "
        f"{_alone(alone)}. "
        f"The strongest {'edge is' if len(edges) == 1 else 'edges are'} {_strongest(edges)}."
    )
    open_ones = sum(edge["unbounded"] for edge in edges)
    if open_ones:
        text += f" The size of {counted(open_ones, 'edge')} is unbounded."
    return text


def _alone(number: int) -> str:
    if not number:
        return "every variable has at least one"
    return f"{counted(number, 'variable')} {'has' if number == 1 else 'have'} none"


def _strongest(edges: list[dict[str, Any]], most: int = 3) -> str:
    named = [
        f"{one_line(edge['source'], 60)} – {one_line(edge['target'], 60)}"
        + ("" if edge["strength"] is None else f" (strength {edge['strength']:.2f})")
        for edge in edges[:most]
    ]
    return named[0] if len(named) == 1 else ", ".join(named[:-1]) + " and " + named[-1]


def _states(summary: Mapping[str, Any]) -> str:
    sizes = sorted(len(node["states"]) for node in summary["nodes"])
    if sizes[0] == sizes[-1]:
        return f"{counted(sizes[0], 'state')} each"
    return f"{sizes[0]} to {sizes[-1]} states each"


def _rule(summary: Mapping[str, Any]) -> str:
    """How the threshold was chosen: what a selector says of itself, without its name."""
    return one_line(summary["selector"].partition(": ")[2] or summary["selector"])


def _weights(summary: Mapping[str, Any]) -> str:
    n_eff = summary["settings"].get("n_eff", "sum")
    if n_eff == "sum":
        return ""
    by = "by Kish's formula" if n_eff == "kish" else "by a given number"
    return f"Sampling weights were used; the number of observations they stand for was set {by}. "


def _bins(summary: Mapping[str, Any]) -> str:
    bins = summary["settings"].get("bins")
    if not isinstance(bins, Mapping) or not bins:
        return ""
    counts = {name: count for name, count in bins.items() if isinstance(count, int)}
    cut = ", ".join(f"{one_line(str(name), 60)} into {count}" for name, count in counts.items())
    at = ", ".join(
        f"{one_line(str(name), 60)} at {str(cuts).strip('[]()')}"
        for name, cuts in bins.items()
        if name not in counts
    )
    by_quantiles = f"Numbers were cut at their quantiles ({cut} parts). " if cut else ""
    return by_quantiles + (f"Numbers were cut at given points ({at}). " if at else "")


def _chance(summary: Mapping[str, Any]) -> str:
    seed = re.search(r"seed=(\d+)", summary["selector"])
    if seed:
        return f"Rows drawn for the choice of the threshold had the seed {seed[1]}."
    return "The search is deterministic and uses no random numbers."


def _gaps(summary: Mapping[str, Any]) -> str:
    return {
        "drop": "Rows with missing values were left out. ",
        "state": "A missing value was taken as a state of its variable. ",
        "available": (
            "Each variable was explained on the rows where it was observed; a missing value of a "
            "neighbour was one more state of that neighbour. "
        ),
    }.get(str(summary["settings"].get("missing")), "")
