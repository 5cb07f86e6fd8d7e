"""What an edge says per step of ordered columns, where its form is one of scores.

An edge in the form "product" is ``theta u_a v_b``, u and v the scores of its two columns, centred
and scaled to a mean square of 1 over the states: one number, which for two columns of two states is
their coupling on the -1/+1 scale. In the form "trend" it is ``theta_a v_b``, one number per state
of the unordered column. People read these numbers per step: per unit of the scores as they were
given, 0, 1, 2, ... unless told.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from isinglass.errors import SettingError
from isinglass.frames import by_column, frame
from isinglass.graph import position_of
from isinglass.losses.forms import FORMS, TABLE, Forms, Scores
from isinglass.losses.steps import per_step as number_per_step
from isinglass.losses.steps import scored_ends, spread_of, step_in_words
from isinglass.model.fit.parameter_errors import CONDITION
from isinglass.model.potentials import frozen
from isinglass.parameters import check, checked
from isinglass.table.column import as_text
from isinglass.wording import listing, quoted

if TYPE_CHECKING:
    from isinglass.model.field import MarkovField

Array = NDArray[np.float64]
Pair = tuple[int, int]

#: How far a coupling may be from its form, as a share of its largest entry.
SLACK = 1e-8

COLUMNS = (
    *("source", "target", "form", "state", "theta", "log_odds", "odds_ratio"),
    *("error", "low", "high", "unit", "unbounded", "condition"),
)


@dataclass(frozen=True, eq=False, repr=False)
class PerStep:
    """An edge between ordered columns, or an ordered and an unordered one, per step; frozen.

    Attributes
    ----------
    names : tuple of two str
    form : "product" or "trend"
    states : tuple
        Of the unordered column, in the form "trend"; else empty.
    log_odds : array
        In the form "product" one number: the log odds ratio when both columns go up by one unit of
        their scores. In the form "trend" one per state of the unordered column: how much the log
        odds of this state, against the mean of all its states, change when the ordered column goes
        up by one unit; they sum to zero.
    theta : array
        The same with scores that are centred and scaled to a mean square of 1 over the states.
    error : array or None
        Standard errors of `log_odds`, where the model has errors and the edge is bounded.
    unit : str
        What a step is.
    condition : str
        What the errors are conditional on.
    """

    names: tuple[str, str]
    form: str
    states: tuple[Hashable, ...]
    log_odds: Array
    theta: Array
    error: Array | None
    unit: str
    condition: str = ""

    def __post_init__(self) -> None:
        for name in ("log_odds", "theta", "error"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, frozen(getattr(self, name)))

    @property
    def odds_ratio(self) -> Array:
        """The exponential of `log_odds`."""
        return np.asarray(np.exp(self.log_odds))

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """Lower and upper ends of normal intervals around `log_odds`."""
        check("level", level)
        if self.error is None:
            raise SettingError("the numbers have no errors, so there is no interval.")
        half = -float(ndtri((1.0 - level) / 2.0)) * self.error
        return self.log_odds - half, self.log_odds + half

    def __repr__(self) -> str:
        head = f"log odds ratio of {self.names[0]} and {self.names[1]} {self.unit}"
        lines = [head + (f", {self.condition}" if self.condition else "")]
        labels = [as_text(state) for state in self.states] or [self.form]
        errors = [None] * len(labels) if self.error is None else np.atleast_1d(self.error)
        for label, number, error in zip(labels, np.atleast_1d(self.log_odds), errors, strict=True):
            of = "" if error is None else f" ± {error:.2g}"
            lines.append(f"  {number:.4g}{of}, odds ratio {np.exp(number):.4g}  {label}")
        return "\n".join(lines)


@checked
def per_step(field: MarkovField, a: str, b: str) -> PerStep:
    """Return what an edge says per step of its ordered columns, all other columns held fixed.

    For edges in the forms "product" and "trend"; `edge` has the table of any edge.

    >>> import isinglass as ig
    >>> field = ig.simulate.ordinal(ig.simulate.chain(3), 4, coupling=0.5, signs="positive")
    >>> field.per_step("x0", "x1")
    log odds ratio of x0 and x1 per level of x0 and level of x1
      0.4, odds ratio 1.492  product
    """
    pair = _pair(field, a, b)
    if field.forms[pair] == TABLE:
        raise SettingError(
            f"the edge of {a!r} and {b!r} is a whole table, which has no number per step; "
            f"edge({a!r}, {b!r}) has its log odds ratios."
        )
    return _per_step(field, pair)


@checked
def steps(field: MarkovField, level: float = 0.95) -> Any:
    """Return a data frame of all edges with numbers per step: forms "product" and "trend".

    One row per edge, or per state of its unordered column. `log_odds` and `odds_ratio` are per
    step, in the `unit` that is named; errors and intervals are there if the model has them.

    >>> import isinglass as ig
    >>> field = ig.simulate.ordinal(ig.simulate.chain(3), 4, coupling=0.5, signs="positive")
    >>> field.steps().select("source", "target", "form", "odds_ratio").rows()
    [('x0', 'x1', 'product', 1.4918...), ('x1', 'x2', 'product', 1.4918...)]
    """
    width = -float(ndtri((1.0 - level) / 2.0))
    scored = (pair for pair, form in field.forms.items() if form != TABLE)
    rows = (row for pair in scored for row in _rows(field, pair, width))
    types = dict.fromkeys(("error", "low", "high"), nw.Float64()) | {"state": nw.String()}
    return frame(by_column(COLUMNS, rows), field.library, types)


def _rows(field: MarkovField, pair: Pair, width: float) -> Iterator[tuple[Any, ...]]:
    found = _per_step(field, pair)
    labels: list[str | None] = [as_text(state) for state in found.states] or [None]
    for at, label in enumerate(labels):
        number, theta = (float(np.atleast_1d(x)[at]) for x in (found.log_odds, found.theta))
        error = None if found.error is None else float(np.atleast_1d(found.error)[at])
        ends = (None, None) if error is None else (number - width * error, number + width * error)
        numbers = theta, number, float(np.exp(number)), error, *ends
        unbounded = pair in field.unbounded
        yield *found.names, found.form, label, *numbers, found.unit, unbounded, found.condition


def _per_step(field: MarkovField, pair: Pair) -> PerStep:
    form, names = field.forms[pair], (field.names[pair[0]], field.names[pair[1]])
    scores, errors = field.scores_of(pair), field.errors
    ends = zip(pair, scores, scored_ends(scores, form), strict=True)
    scored = {end: spread_of(own, field.n_states[end]) for end, own, is_scored in ends if is_scored}
    numbers = number_per_step(field.couplings[pair], scores, form)
    return PerStep(
        names,
        form,
        tuple(state for end in pair if end not in scored for state in field.states[end]),
        numbers,
        numbers * math.prod(scored.values()),
        None if errors is None else errors.of_steps(pair, scores, form),
        step_in_words(names, scores, form),
        "" if errors is None else CONDITION,
    )


def check_forms(
    names: Sequence[str],
    scores: Sequence[Scores | None],
    forms: Mapping[Pair, str],
    couplings: Mapping[Pair, Array],
) -> None:
    """Raise SettingError unless scores fit the states, and every coupling has its form."""
    for (i, j), form in forms.items():
        pair = f"the edge of {quoted(names[i])} and {quoted(names[j])}"
        if form not in FORMS:
            raise SettingError(f"{pair} has the form {form!r}; forms are {listing(FORMS, 8)}.")
        if form == TABLE:
            continue
        table = couplings[i, j]
        allowed = Forms(table.shape, (scores[i], scores[j])).allowed(0, 1)
        if form not in allowed:
            raise SettingError(
                f"{pair} cannot have the form {form!r}: a product is between two ordered columns, "
                "a trend between an ordered and an unordered one of three states or more."
            )
        design = Forms(table.shape, (scores[i], scores[j])).design(0, 1, form)
        assert design is not None
        within = np.tensordot(np.tensordot(design, table, 2), design, 1)
        if np.abs(table - within).max() > SLACK * max(1.0, float(np.abs(table).max())):
            raise SettingError(f"the coupling of {pair} does not have its form, {form!r}.")


def checked_scores(
    names: Sequence[str], n_states: Sequence[int], scores: Sequence[Sequence[float] | None]
) -> tuple[Scores | None, ...]:
    """Scores of each column, None where there are none; SettingError unless they rise."""
    if len(scores) not in (0, len(names)):
        raise SettingError(f"{len(scores)} columns of scores for {len(names)} columns.")
    found: list[Scores | None] = [None] * len(names)
    for v, (name, m, own) in enumerate(zip(names, n_states, scores or found, strict=True)):
        if own is None:
            continue
        given = np.asarray(own, dtype=np.float64)
        if given.shape != (m,) or not np.isfinite(given).all() or (np.diff(given) <= 0).any():
            raise SettingError(
                f"the scores of {quoted(name)} must be {m} finite rising numbers, one per state."
            )
        found[v] = tuple(given.tolist())
    return tuple(found)


def designs_of(
    n_states: Sequence[int], scores: Sequence[Scores | None], forms: Mapping[Pair, str]
) -> dict[Pair, Array]:
    """The tables that each edge is a combination of, where it may not be any table.

    Missing values may have had a score of their own in the search; here they are no states, and an
    edge that has nothing left to choose is a table again.
    """
    known = Forms(tuple(n_states), answered_scores(scores, n_states))
    found = {}
    for pair, form in forms.items():
        if form != TABLE and form in known.allowed(*pair):
            design = known.design(*pair, form)
            assert design is not None
            found[pair] = design
    return found


def answered_scores(
    scores: Sequence[Scores | None], answers: Sequence[int]
) -> tuple[Scores | None, ...]:
    """The scores of the states that are answers, which come first."""
    return tuple(None if own is None else own[:m] for own, m in zip(scores, answers, strict=True))


def _pair(field: MarkovField, a: str, b: str) -> Pair:
    i, j = sorted(position_of(name, field.names) for name in (a, b))
    if (i, j) not in field.couplings:
        raise SettingError(f"there is no edge between {a!r} and {b!r}.")
    return i, j
