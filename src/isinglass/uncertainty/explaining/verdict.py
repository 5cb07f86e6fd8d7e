"""For every pair of columns: linked, not linked, or cannot tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from isinglass.engine import Progress
from isinglass.errors import SettingError
from isinglass.estimators import GreedyGraph
from isinglass.estimators.adjusting import adjusted_for
from isinglass.frames import by_field, frame
from isinglass.graph import position_of
from isinglass.losses.forms import PRODUCT, TABLE, table_df
from isinglass.losses.information import Information, information
from isinglass.losses.steps import step_log_odds
from isinglass.parameters import checked
from isinglass.selection import TENTATIVE
from isinglass.uncertainty.explaining.searches import Search, checked_estimator, kept_out, searches
from isinglass.uncertainty.power.smallest_link import least_in_states, least_length, least_log_odds
from isinglass.wording import number, rounded_up

Array = NDArray[np.float64]

LINKED, NOT_LINKED, CANNOT_TELL = "linked", "not linked", "cannot tell"
#: What an odds ratio of columns with several states is.
SHAPES = ", on average over the shapes a link may take"


@dataclass(frozen=True)
class Verdict:
    """What can be said about one pair.

    Attributes
    ----------
    source, target : str
    verdict : "linked", "not linked" or "cannot tell"
    evidence : float
        Of the edge; or, if there is none, what it would gain, at the end where that is more.
    odds_ratio : float
        A link with a larger one would be found with the power asked for. Infinite where no link
        would be found. For columns of more than two states it is a typical one, and the power a
        mean over the shapes that a link may take.
    state_odds_ratio : float
        The same for a link of one state of each column only, which then occur together more often,
        at the two states where it is hardest to find. For columns of two states, `odds_ratio`.
    rows_needed : float
        Rows that would decide, roughly; infinite if no number would, NaN where the pair is decided,
        or where the selector decides.
    sentence : str
    step_odds_ratio : float
        Where links may be products of scores: one with a larger odds ratio per step of both columns
        would be found. NaN elsewhere.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
    >>> ig.verdict(est).of("x0", "x1").verdict
    'linked'
    """

    source: str
    target: str
    verdict: str
    evidence: float
    odds_ratio: float
    state_odds_ratio: float
    rows_needed: float
    sentence: str
    step_odds_ratio: float = float("nan")

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, eq=False, repr=False)
class Verdicts:
    """What can be said about every pair of columns, in column order.

    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
    >>> len(ig.verdict(est)), len(ig.verdict(est, columns=["x0", "x1"]))
    (3, 1)
    """

    pairs: tuple[Verdict, ...]
    names: tuple[str, ...]
    library: str | None = None

    @checked
    def of(self, a: str, b: str) -> Verdict:
        """The verdict on one pair, its columns in any order."""
        first, second = sorted((position_of(a, self.names), position_of(b, self.names)))
        if first == second:
            raise SettingError(f"a pair needs two columns; both are {a!r}.")
        found = self._by_pair.get((self.names[first], self.names[second]))
        if found is None:
            raise SettingError(f"{a!r} and {b!r} were not both among the columns judged.")
        return found

    @cached_property
    def _by_pair(self) -> dict[tuple[str, str], Verdict]:
        return {(pair.source, pair.target): pair for pair in self.pairs}

    @checked
    def to_frame(self, library: str | None = None) -> Any:
        """One row per pair."""
        return frame(by_field(Verdict, self.pairs), library or self.library)

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self.pairs)

    def __repr__(self) -> str:
        counts = Counter(pair.verdict for pair in self.pairs)
        words = ", ".join(f"{counts[word]} {word}" for word in (LINKED, NOT_LINKED, CANNOT_TELL))
        return f"Verdicts({len(self.pairs)} pairs: {words})"


@checked
def verdict(
    estimator: GreedyGraph,
    *,
    columns: Sequence[str] | None = None,
    matters: float = 2.0,
    power: float = 0.8,
    progress: Progress | None = None,
) -> Verdicts:
    """Say of every pair of columns whether it is linked, not linked, or undecided.

    A pair that was not found is *not linked* only down to a size: the smallest odds ratio that
    would have been found with the power asked for, given the columns that the search had chosen. If
    that size is above the one that matters, or the evidence is that of a tentative link, the answer
    is *cannot tell*, with the number of rows that would decide. The answer is the same where a
    setting excludes a pair: a forbidden link, the rule "and", ``max_degree``, a selector that asks
    for more than the threshold. With clusters or sampling weights, rows are divided by the design
    effect of the pair; where missing values were filled, only the remaining share of information
    counts.

    Parameters
    ----------
    estimator : GreedyGraph
        Fitted.
    columns : sequence of str, optional
        Judge only pairs of these columns; all by default.
    matters : float
        The smallest odds ratio that matters, above 1. For columns of more than two states it is a
        typical one: the exponential of the root mean square of the log odds ratios of all
        two-by-two parts of the pair's table. A link in one rare state only may be much larger there
        and not be found; ``state_odds_ratio`` is the size from which it would be found.
    power : float
        The probability of finding a link of the size named; above one half.
    progress : function of (columns done, columns in all), optional

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(4), coupling=0.5, signs="positive")
    >>> verdicts = ig.verdict(ig.GreedyGraph().fit(field.sample(1500, seed=1)))
    >>> verdicts
    Verdicts(6 pairs: 3 linked, 3 not linked, 0 cannot tell)
    >>> print(verdicts.of("x0", "x3"))
    x0 and x3: not linked down to an odds ratio of ... (a larger one: found with 80 % power)
    """
    checked_estimator(estimator)
    names = estimator.table_.names
    wanted = sorted({position_of(name, names) for name in (names if columns is None else columns)})
    judge = _Judge(estimator, float(np.log(float(matters))), power)
    judge.look(wanted, progress or (lambda done, total: None))
    pairs = tuple(judge.verdict(a, b) for a, b in combinations(wanted, 2))
    return Verdicts(pairs, names, estimator.table_.library)


class _Judge:
    """What the searches say of each pair of columns, as matrices, and the verdicts."""

    def __init__(self, estimator: GreedyGraph, matters: float, power: float) -> None:
        table = estimator.table_
        self.estimator, self.names, self.n = estimator, table.names, table.n
        self.states = table.n_answers
        self.matters, self.power = matters, power
        self.needed = 2.0 * self.n * estimator.threshold_
        self.tentative = 2.0 * self.n * TENTATIVE.threshold(self.n, len(self.names))
        self.linked = {(e.source, e.target): float(e.evidence or 0.0) for e in estimator.graph_}

    def look(self, columns: Sequence[int], progress: Progress) -> None:
        p = len(self.names)
        evidence, least, steps = np.zeros((p, p)), *np.full((2, p, p), np.inf)
        chosen = np.zeros((p, p), dtype=int)
        in_states: dict[tuple[int, int], Array] = {}
        for done, search in enumerate(searches(self.estimator, columns), start=1):
            r, others = search.column, [t for t in columns if t in search.loss.candidates]
            evidence[r, others] = search.evidence(search.fit(search.path.support), others)
            allowed = list(self.estimator.search_.constraints.candidates(r, others))
            for t, size, by_state, of_step in self._least(search, allowed):
                least[r, t], in_states[r, t], steps[r, t] = size, by_state, of_step
            chosen[r, list(search.path.support)] = 1
            progress(done, len(columns))
        both = self.estimator.rule == "and"
        self.in_states = in_states
        #: Evidence at the end where it is more, and at the end that decides.
        self.evidence = np.maximum(evidence, evidence.T)
        self.decides = (np.minimum if both else np.maximum)(evidence, evidence.T)
        #: The least log odds ratio that would be found.
        self.least = (np.maximum if both else np.minimum)(least, least.T)
        self.steps = (np.maximum if both else np.minimum)(steps, steps.T)
        #: How many ends chose the pair.
        self.ends = chosen + chosen.T

    def _least(
        self, search: Search, others: list[int]
    ) -> Iterator[tuple[int, float, Array, float]]:
        """For each of the others, the least log odds ratio found at one end; by states; per step.

        The last one is of products of scores, infinite where these are not looked for.
        """
        either = self.estimator.rule == "or"
        power = self.power if either else (1 + self.power) / 2  # both ends must find it
        for kept, asked in _by_support(search, others):
            edges = information(search.loss, search.fit(kept), asked)
            for t, edge in zip(asked, edges, strict=True):
                yield t, *self._sizes(search, t, edge, power)

    def _sizes(
        self, search: Search, t: int, edge: Information, power: float
    ) -> tuple[float, Array, float]:
        """The least links that one end finds: of any shape, in two states, as a product."""
        states = search.loss.states, search.loss.n_states[t]
        sizes, forms = (self.needed, search.rows(t), power), search.allowed(t)
        step = self._step(search, t, edge, power)
        if forms[-1] == TABLE:
            looks = search.loss.forms.looks(search.column, t, TABLE)
            in_states = least_in_states(edge, *sizes, states, looks=looks)
            return least_log_odds(edge, *sizes, looks), in_states, step
        # Only links of the smaller form are looked for.
        design = search.loss.forms.design(search.column, t, forms[-1])
        assert design is not None
        length = least_length(edge.within(design), *sizes)
        return 2.0 * length / float(np.sqrt(table_df(*states))), np.full(states, np.inf), step

    def _step(self, search: Search, t: int, edge: Information, power: float) -> float:
        """The least log odds ratio per step of a product of scores that one end finds."""
        r, loss, forms = search.column, search.loss, search.allowed(t)
        if forms[0] != PRODUCT:
            return float("inf")
        design = loss.forms.design(r, t, PRODUCT)
        assert design is not None
        scores = loss.forms.scores[r], loss.forms.scores[t]
        step = step_log_odds(design[0], scores, PRODUCT)
        assert step is not None
        looks = loss.forms.looks(r, t, PRODUCT)
        least = least_length(edge.within(design), self.needed, search.rows(t), power, looks)
        return abs(step) * least

    def _in_states(self, a: int, b: int) -> float:
        """The least log odds ratio of a link in two states, those where it is hardest to find."""
        decides = np.maximum if self.estimator.rule == "and" else np.minimum
        none = np.full((1, 1), np.inf)
        one, other = self.in_states.get((a, b), none), self.in_states.get((b, a), none).T
        if one.shape == other.shape and not self.estimator.table_.available:
            return float(decides(one, other).max())
        return float(decides(one.max(), other.max()))  # states that were seen differ by end

    def verdict(self, a: int, b: int) -> Verdict:
        evidence, least, ends = float(self.evidence[a, b]), float(self.least[a, b]), self.ends[a, b]
        hardest, several = self._in_states(a, b), max(self.states[a], self.states[b]) > 2
        step = float(self.steps[a, b])
        barred = kept_out(self.estimator, a, b, ends)
        if (a, b) in self.linked:
            evidence = self.linked[a, b]
            word, rows = LINKED, float("nan")
            asked = ", as required" if (a, b) in self.estimator.search_.required else ""
            said = f"linked{asked} (evidence {number(evidence)})"
        elif barred and (ends or evidence > self.needed or np.isinf(least)):
            word, rows = CANNOT_TELL, self._rows_beyond(ends, float(self.decides[a, b]))
            said = f"cannot tell: {barred} (evidence {number(evidence)}"
            said += f"; a link needs {number(self.needed)})"
        else:
            word, rows, said = self._judged(evidence, least, hardest if several else None)
            said += f"; {_as_product(step)}" if np.isfinite(step) else ""
        ratio, in_states, per_step = (
            float(np.exp(size)) if size < 700 else float("inf") for size in (least, hardest, step)
        )
        said = f"{self.names[a]} and {self.names[b]}{adjusted_for(self.estimator)}: {said}"
        numbers = evidence, ratio, in_states, rows
        of_steps = per_step if np.isfinite(per_step) else float("nan")
        return Verdict(self.names[a], self.names[b], word, *numbers, said, of_steps)

    def _rows_beyond(self, ends: int, decides: float) -> float:
        """Rows that would settle a pair that a setting keeps out, although one end has enough."""
        if ends == 0:  # forbidden, or beyond the largest number of neighbours
            return float("inf")
        if ends == 1 and self.estimator.rule == "and":
            return self._rows_for(decides) if decides > 0 else float("inf")
        return float("nan")

    def _judged(
        self, evidence: float, least: float, hardest: float | None
    ) -> tuple[str, float, str]:
        """The verdict, the rows needed, and the words for it; `hardest` if there are shapes."""
        share, rows = f"{100 * self.power:.3g} % power", float("inf")
        if np.isfinite(least) and evidence <= self.tentative and least <= self.matters:
            said = f"not linked down to an odds ratio of {number(np.exp(least))}"
            if hardest is None:
                return NOT_LINKED, float("nan"), f"{said} (a larger one: found with {share})"
            if self.estimator.search_.edges == "scores":
                only = "no links but products of scores and trends were looked for"
                return (
                    NOT_LINKED,
                    float("nan"),
                    f"{said} (a larger one: found with {share}; {only})",
                )
            return NOT_LINKED, float("nan"), f"{said}{SHAPES}{_in_one_state(hardest, share)}"
        if not np.isfinite(least):
            said = "no link would have been found, whatever its size"
        elif evidence > self.tentative:
            rows = self._rows_for(evidence)
            said = (
                f"evidence {number(evidence)}, too little for a link ({number(self.needed)}) and "
                f"too much for none; about {rows:,.0f} rows would settle it"
            )
        else:
            rows = float(rounded_up(self.n * (least / self.matters) ** 2))
            said = (
                f"only odds ratios above {number(np.exp(least))} would have been found with "
                f"{share}{'' if hardest is None else SHAPES}; for {np.exp(self.matters):.3g}, "
                f"about {rows:,.0f} rows are needed"
            )
        return CANNOT_TELL, rows, f"cannot tell: {said}"

    def _rows_for(self, evidence: float) -> float:
        """Rows with which a link as strong as this one looks would be found."""
        wanted = (np.sqrt(self.needed) + float(ndtri(self.power))) ** 2
        return float(rounded_up(self.n * max(wanted / evidence, 1.0)))


def _as_product(step: float) -> str:
    """Words for the least link that is a product of scores."""
    return f"as a product of scores, from an odds ratio of {number(np.exp(step))} per step on"


def _in_one_state(hardest: float, share: str) -> str:
    """Words for links that show in one state of each column."""
    if not hardest < np.log(1e6):
        return f" (a larger one: found with {share}; not one in a rare state only)"
    return (
        f" (a larger one: found with {share}; in one state of each only, from "
        f"{number(np.exp(hardest))} on)"
    )


def _by_support(search: Search, others: list[int]) -> Iterator[tuple[list[int], list[int]]]:
    """The others, together with the support that an edge to them would be added to."""
    support = search.path.support
    yield list(support), [t for t in others if t not in support]
    for t in others:
        if t in support:
            yield [s for s in support if s != t], [t]
