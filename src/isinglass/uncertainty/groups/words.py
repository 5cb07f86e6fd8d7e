"""A comparison of groups in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from isinglass.wording import counted, listed

if TYPE_CHECKING:
    from isinglass.uncertainty.groups.result import EdgeDifference, GroupComparison

#: Where the parts of the comparison come from.
REFERENCES = (
    "Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian "
    "Journal of Statistics 6."
)


def p_words(p_value: float) -> str:
    """A p-value as papers write it.

    >>> p_words(0.0123), p_words(1e-7)
    ('p = 0.012', 'p < 0.001')
    """
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}" if p_value < 0.995 else "p = 1"


def sentence(found: GroupComparison) -> str:
    """What was found, in a sentence or two."""
    names = listed([group.name for group in found.groups])
    if not found.edges:
        return f"The graph of all rows has no edge that could differ between {names}."
    said = (
        f"Links {_differ(found)} between the groups of {found.by} ({names}): all "
        f"{counted(len(found.edges), 'edge')} together {p_words(found.omnibus.p_value)}"
    )
    named = [_name(edge) for edge in found.different[:3]]
    more = len(found.different) - len(named)
    if not named:
        return f"{said}; no single edge differs at level {found.level:g} (Holm)."
    also = f" and {counted(more, 'other')}" if more > 0 else ""
    verb = "differs" if len(found.different) == 1 else "differ"
    return f"{said}; {listed(named)}{also} {verb} at level {found.level:g} (Holm)."


def _differ(found: GroupComparison) -> str:
    sure = found.omnibus.p_value <= found.level or found.different
    return "differ" if sure else "are not shown to differ"


def _name(edge: EdgeDifference) -> str:
    return f"{edge.source} – {edge.target}"


def paragraph(found: GroupComparison) -> str:
    """Methods and results, for a paper."""
    sizes = listed([f"{group.name} (n = {group.rows:,.6g})" for group in found.groups])
    adjusted = f" and {listed(found.adjusted)}" if found.adjusted else ""
    units = "clusters" if found.clustered else "observations"
    text = (
        f"We compared the links of {sizes}. One graph was estimated from all observations, "
        f"adjusted for {found.by}{adjusted}; it has {counted(len(found.edges), 'edge')}. Its "
        "parameters were then estimated in each group by maximum pseudo-likelihood, with sandwich "
        f"standard errors over {units}. For every edge, equality of its parameters was tested by "
        "a Wald test, with p-values adjusted by Holm's method; all edges together were tested by "
        "the sum of these statistics, compared with a scaled F distribution that has its mean and "
        f"variance. {_results(found)}"
    )
    if found.exploratory:
        edges = counted(len(found.exploratory), "edge")
        were = "was" if len(found.exploratory) == 1 else "were"
        text += (
            f" In an exploratory search of each group alone, {edges} {were} found in some groups "
            "only; these differences were not tested."
        )
    return text


def _results(found: GroupComparison) -> str:
    test = found.omnibus
    text = (
        f"Together, the edges {'differed' if test.p_value <= found.level else 'did not differ'} "
        f"({p_words(test.p_value)})."
    )
    if found.different:
        parts = [f"{_name(edge)} ({_sizes(found, edge)})" for edge in found.different[:5]]
        text += f" Single edges that differed: {listed(parts)}."
    else:
        text += " No single edge differed."
    untested = sum(bool(edge.untested) for edge in found.edges)
    if untested:
        text += f" {counted(untested, 'edge')} could not be tested."
    strengths = listed([f"{group.strength:.2f} in {group.name}" for group in found.groups])
    return (
        f"{text} Global strength, the sum of the sizes of all couplings, was {strengths} "
        f"({p_words(found.strength.p_value)})."
    )


def _sizes(found: GroupComparison, edge: EdgeDifference) -> str:
    """Log odds ratios by group, where there are any, and the p-value."""
    p = f"adjusted {p_words(edge.adjusted)}"
    if any(value is None for value in edge.log_odds):
        return p
    values = zip(edge.log_odds, found.groups, strict=True)
    sizes = listed([f"{value:.2f} in {group.name}" for value, group in values])
    return f"log odds ratio {sizes}, {p}"
