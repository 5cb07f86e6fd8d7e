"""The paragraphs of a report: how to read it, what to write in a paper, what it cannot show."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from isinglass.wording import counted, listed, one_line

CITATION = (
    "A. Jalali, C. C. Johnson and P. Ravikumar (2011). On Learning Discrete Graphical Models "
    "Using Greedy Methods. Advances in Neural Information Processing Systems 24."
)

DOTS_AND_LINES = (
    "Each dot is a column of the table. A line joins two columns that still say something about "
    "each other when all the other columns are held fixed. Two columns can be associated without a "
    "line between them: then other columns explain the association."
)

COLOURS = (
    "Blue means that more of one goes with more of the other, orange that more of one goes with "
    "less of the other. A grey link has no sign: its states have no order, or it has no "
    "single direction."
)

BY_BOTH = {
    "or": "Each column searched for its own neighbours. “Chosen by both” means that both searches "
    "found the link; they used the same rows, so it is not two independent confirmations.",
    "joint": "Both columns of a link decided together: its evidence is the weighted sum of the "
    "evidence at both, corrected for their correlation.",
}
HOW_TO_READ = (
    DOTS_AND_LINES,
    "The wider a line, the stronger the link: strength runs from 0 to 1 and can be compared "
    f"whatever the numbers of states. {COLOURS}",
    "Relative strength is strength as a share of the largest possible for columns with such "
    "states, so that a link between rare states can reach 1.",
    "Evidence is the likelihood ratio of a link when everything else is refitted without it, as a "
    "chi-square with one degree of freedom, whatever the numbers of states. It comes from the rows "
    "that also chose the links, so it must not be turned into a p-value. Entry evidence is the "
    "number that decided: the link is drawn at every threshold below it, and it is firm or "
    "tentative if its entry evidence is above the level of that tier.",
    "The threshold is what a link must gain, in log-likelihood per row, to be drawn. Moving the "
    "slider shows exactly the links that a new search with that threshold would find. The strength "
    "and the evidence of a link remain those of the chosen graph or, for weaker links, of the "
    "larger graph that first has them. Full lines are firm (about 0.05 false links expected in "
    "the whole graph), dashed ones tentative (about 1), dotted ones weaker than both.",
    BY_BOTH["or"],
    "The table of a link shows, for every combination of states, the rows observed, the rows "
    "expected if this one link were absent and all others kept, and their ratio. A ratio of 2 "
    "means twice as many rows as the other links explain.",
    "Unbounded: some combination of states never occurs, or columns repeat each other. The link is "
    "there, but the rows do not say how strong it is.",
)

FORMS = (
    "Links have forms. Between two ordered columns a link may be a product of scores, one number: "
    "the log of the odds ratio when both columns go up by one step, one unit of their scores. "
    "Between an ordered column and one without order it may be a trend, one number for each state "
    "of the latter. Otherwise it is a table, with one number for every combination of states: if "
    "the states have no order, or if a trend does not fit well enough."
)

SUPPRESSED = (
    DOTS_AND_LINES,
    "The wider a line, the stronger the link: strength runs from 0 to 1 and is rounded to one "
    f"digit here. {COLOURS}",
    "Small groups of rows are hidden. Shares are given in bands, and labels of rare states are "
    "hidden. Where some combination of two columns has few rows, their link is shown without "
    "numbers, as a thin grey line, or not at all. So a missing line does not mean that no link "
    "was found.",
)

LIMITS = (
    "A link is not a cause, and it has no direction. The method cannot tell whether one column "
    "acts on the other, the reverse, or both.",
    "A cause that was not measured can link two columns that do not affect each other.",
    "If rows were selected by a sum or a total of the columns (only people above a cut-off, say), "
    "the selection itself creates links, most of them negative.",
    "The absence of a line does not prove the absence of a link: a weak link may need more rows. "
    "What could have been found depends on the number of rows and on how common each state is.",
    "Only pairs are modelled. Where the effect of one column depends on a third, the line shows an "
    "average.",
)
INDEPENDENT = (
    "Rows are treated as independent. Repeated rows of the same people, places or days make the "
    "evidence look stronger than it is."
)
IN_CLUSTERS = "Rows of different clusters are treated as independent."


def all_texts(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Every paragraph about a summary."""
    return {
        "lead": lead(summary),
        "how_to_read": how_to_read(summary),
        "methods": methods(summary),
        "results": results(summary),
        "limits": [*LIMITS, IN_CLUSTERS if _has_clusters(summary) else INDEPENDENT],
        "citation": CITATION,
    }


def _has_clusters(summary: Mapping[str, Any]) -> bool:
    return any(note["what"] == "clusters" for note in summary["diagnostics"])


def how_to_read(summary: Mapping[str, Any]) -> list[str]:
    """What the numbers and lines mean."""
    if summary["suppress"]:
        return list(SUPPRESSED)
    by_both = BY_BOTH.get(summary["rule"], BY_BOTH["or"])
    words = [by_both if words == BY_BOTH["or"] else words for words in HOW_TO_READ]
    return [*words, FORMS] if _may_have_forms(summary) else words


def _may_have_forms(summary: Mapping[str, Any]) -> bool:
    return str(summary["settings"].get("edges", "table")) != "table"


def lead(summary: Mapping[str, Any]) -> str:
    """What was found, in a sentence or two."""
    pairs = summary["columns"] * (summary["columns"] - 1) // 2
    found = counted(len(summary["edges"]), "direct link")
    if summary["suppress"]:  # others may be hidden
        found = f"At least {found}"
    return (
        f"{found} among {counted(pairs, 'pair')} of {counted(summary['columns'], 'column')}, "
        f"learned from {counted(summary['rows'], 'row')}{adjusted_for(summary)}."
    )


def adjusted_for(summary: Mapping[str, Any]) -> str:
    """What the links are adjusted for, to go on a sentence with.

    >>> adjusted_for({"adjusted": ["age", "sex"]}), adjusted_for({})
    (', adjusted for age and sex', '')
    """
    names = [one_line(str(name), 60) for name in summary.get("adjusted", ())]
    return f", adjusted for {listed(names)}" if names else ""


def methods(summary: Mapping[str, Any]) -> str:
    """A paragraph for a methods section."""
    settings = summary["settings"]
    joined = {
        "or": "an edge was kept if the search of at least one of its ends chose it (OR)",
        "and": "an edge was kept if the searches of both its ends chose it (AND)",
        "joint": "the searches of both ends proposed edges, and an edge was kept if the "
        "likelihood ratios of both ends together, weighted by their information and corrected "
        "for their correlation, exceeded the threshold, the weakest edges being removed first",
    }.get(summary["rule"], f"neighbourhoods were joined by the rule {summary['rule']}")
    factor = one_line(str(settings.get("nu", 0.5)))
    intercept = "" if settings.get("intercept", True) else " without intercepts"
    return (
        f"We estimated a pairwise Markov random field of {counted(summary['columns'], 'variable')} "
        f"({states_per_column(summary)} each) from "
        f"{counted(summary['rows'], 'observation')}{intercept} with the "
        "forward-backward greedy method of Jalali, Johnson and Ravikumar (2011), run for every "
        f"variable on its conditional likelihood (backward factor {factor}); "
        f"{joined}. {_forms(summary)}Gains were standardised to those of a one-parameter edge. "
        f"{_adjusted(summary)}"
        f"{_threshold(summary)}. {_missing(summary)}{_weights(summary)}"
        f"{_bins(summary)}{_random_numbers(summary)} "
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
            f"No edge was found among {counted(pairs, 'pair')} of variables "
            f"(n = {summary['rows']:,}). {_threshold(summary)}.{_hidden(summary)}"
        )
    text = (
        f"The graph has {counted(len(edges), 'edge')} among {counted(pairs, 'pair')} of variables "
        f"(n = {summary['rows']:,}): {_signs(edges)}; {_alone(alone)}.{_strongest(summary)}"
    )
    text += _forms_found(edges)
    unbounded = sum(edge.get("unbounded", False) for edge in edges)
    if unbounded:
        text += f" The size of {counted(unbounded, 'edge')} is unbounded."
    return text + _hidden(summary)


def _forms(summary: Mapping[str, Any]) -> str:
    """Which forms edges could have, and how many have them."""
    if not _may_have_forms(summary):
        return ""
    both = summary["settings"].get("edges") == "auto"
    could = "could be" if both else "was"
    otherwise = (
        "; these competed with whole tables of log-potentials, with a correction for testing two "
        "forms per pair"
        if both
        else "; all other edges were whole tables of log-potentials"
    )
    return (
        f"Between two ordered variables an edge {could} one product of scores (a linear-by-linear "
        "association), between an ordered and an unordered one a trend for each state"
        f"{otherwise}. "
    )


def states_per_column(summary: Mapping[str, Any]) -> str:
    """How many states the columns of a summary have; a missing value is no state if left out.

    >>> states_per_column({"nodes": [{"states": [0, 1]}, {"states": ["a", "b", "c"]}]})
    '2 to 3 states'
    """
    sizes = [len(node["states"]) for node in summary["nodes"]]
    least, most = min(sizes), max(sizes)
    return counted(most, "state") if least == most else f"{least} to {most} states"


def _signs(edges: list[dict[str, Any]]) -> str:
    """How many edges have which sign; no edge is passed over.

    >>> _signs([{"sign": 1}, {"sign": 1}, {"sign": 0}])
    '2 positive and 1 without a sign'
    """
    signs = [edge["sign"] for edge in edges]
    words = {1: "positive", -1: "negative", 0: "without a sign", None: "with hidden numbers"}
    parts = [f"{signs.count(sign):,} {word}" for sign, word in words.items() if sign in signs]
    return listed(parts)


def _forms_found(edges: list[dict[str, Any]]) -> str:
    """How many edges have which form.

    >>> _forms_found([{"form": "product"}, {"form": "table"}, {"form": "product"}])
    ' 2 edges are products of scores and 1 is a whole table.'
    """
    forms = [edge.get("form", "table") for edge in edges]
    if set(forms) == {"table"}:
        return ""
    nouns = {"product": "product of scores", "trend": "trend", "table": "whole table"}
    many = {"product": "products of scores", "trend": "trends", "table": "whole tables"}
    counts = [(form, forms.count(form)) for form in nouns if form in forms]
    parts = [
        f"{number:,}{'' if at else ' edge' if number == 1 else ' edges'} "
        f"{'is a ' + nouns[form] if number == 1 else 'are ' + many[form]}"
        for at, (form, number) in enumerate(counts)
    ]
    return f" {listed(parts)}."


def _hidden(summary: Mapping[str, Any]) -> str:
    if not summary["suppress"]:
        return ""
    return (
        " Edges that would reveal a combination of states with fewer than "
        f"{summary['suppress']:g} observations are not shown."
    )


def _alone(number: int) -> str:
    if not number:
        return "every variable has at least one"
    return f"{counted(number, 'variable')} {'has' if number == 1 else 'have'} none"


def _strongest(summary: Mapping[str, Any], most: int = 3) -> str:
    digits = 1 if summary["suppress"] else 2
    named = [
        f"{one_line(edge['source'], 60)} – {one_line(edge['target'], 60)}{_strength(edge, digits)}"
        for edge in summary["edges"][:most]
    ]
    return f" The strongest {'edge is' if len(named) == 1 else 'edges are'} {listed(named)}."


def _strength(edge: Mapping[str, Any], digits: int) -> str:
    return "" if edge["strength"] is None else f" (strength {edge['strength']:.{digits}f})"


def _threshold(summary: Mapping[str, Any]) -> str:
    """What the threshold was, unless it is hidden, and what a selector says of itself."""
    how = one_line(summary["selector"].partition(": ")[2] or summary["selector"])
    if "threshold" not in summary:
        return f"The threshold was chosen by rule ({how})"
    return f"The threshold was {summary['threshold']:.4g} ({how})"


def _weights(summary: Mapping[str, Any]) -> str:
    n_eff = summary["settings"].get("n_eff", "sum")
    if n_eff == "sum":
        return ""
    by = "by a given number" if not isinstance(n_eff, str) else "by Kish's formula"
    pairs = ", and each pair of variables corrected by its own design effect (Rao and Scott, 1981)"
    return (
        f"Sampling weights were used; the number of observations they stand for was set {by}"
        f"{pairs if n_eff == 'design' else ''}. "
    )


def _adjusted(summary: Mapping[str, Any]) -> str:
    names = [one_line(str(name), 60) for name in summary.get("adjusted", ())]
    if not names:
        return ""
    return (
        f"Every conditional was adjusted for {listed(names)}, with a free effect of each of their "
        "states (numbers were cut into bins at their quantiles); they are not part of the graph. "
    )


def _bins(summary: Mapping[str, Any]) -> str:
    bins = summary["settings"].get("bins")
    if not isinstance(bins, Mapping) or not bins:
        return ""
    bins = {name: cuts for name, cuts in bins.items() if name not in summary.get("adjusted", ())}
    counts = {name: count for name, count in bins.items() if isinstance(count, int)}
    cut = ", ".join(f"{one_line(str(name), 60)} into {count}" for name, count in counts.items())
    at = ", ".join(
        f"{one_line(str(name), 60)} at {str(cuts).strip('[]()')}"
        for name, cuts in bins.items()
        if name not in counts
    )
    by_quantiles = f"Numbers were cut at their quantiles ({cut} parts). " if cut else ""
    return by_quantiles + (f"Numbers were cut at given points ({at}). " if at else "")


def _random_numbers(summary: Mapping[str, Any]) -> str:
    seed = re.search(r"seed=(\d+)", summary["selector"])
    filled = summary.get("filled")
    draws = f"Missing values were drawn with the seed {summary['settings'].get('seed', 0)}. "
    if seed:
        rows = f"Rows drawn for the choice of the threshold had the seed {seed[1]}."
        return (draws if filled else "") + rows
    if filled:
        return draws.strip()
    return "The search is deterministic and uses no random numbers."


def _missing(summary: Mapping[str, Any]) -> str:
    return {
        "model": _filled(summary),
        "drop": _dropped(summary.get("dropped")),
        "state": (
            "A missing value was treated as one more state of its variable, which links variables "
            "that are missing together. "
        ),
        "available": (
            "The neighbours of each variable were searched in the rows where it was observed; a "
            "missing value of a neighbour was one more state of that neighbour, which creates "
            "false links where many values are missing. "
        ),
    }.get(str(summary["settings"].get("missing")), "")


def _filled(summary: Mapping[str, Any]) -> str:
    filled = summary.get("filled")
    if filled is None:
        return "No observation had missing values. "
    known = (edge.get("information_lost") for edge in summary["edges"])
    lost = sorted(share for share in known if share is not None)
    end = "until it no longer changed" if filled["settled"] else "after which it still changed"
    return (
        f"Missing values were filled by {filled['draws']} draws from the model that was being "
        f"learned. The graph was searched {filled['rounds']} times, {end}. This assumes that "
        "whether a value is missing depends only on observed values. "
    ) + (
        f"The links lost {lost[0]:.0%} to {lost[-1]:.0%} of their information through the missing "
        "values; evidence counts only the remaining information. "
        if lost
        else ""
    )


def _dropped(rows: int | None) -> str:
    if rows is None:
        return "Observations with missing values were dropped. "
    if rows == 0:
        return "No observation had missing values. "
    were = "was" if rows == 1 else "were"
    return f"{counted(rows, 'observation')} with missing values {were} dropped. "
