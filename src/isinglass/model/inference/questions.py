"""Questions to a model: probabilities given evidence, exact by elimination or sampled."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import Setting, SettingError
from isinglass.graph import position_of
from isinglass.model.inference import elimination
from isinglass.model.inference.methods import (
    MEMORY,
    Exact,
    Gibbs,
    Method,
    first_that_fits,
    takes_method,
)
from isinglass.model.inference.sampling import draw_shares
from isinglass.model.labelled import (
    Evidence,
    LabelledTable,
    code_of,
    known_codes,
    reduced,
    table_of,
)
from isinglass.parameters import Seed, checked

if TYPE_CHECKING:
    from isinglass.model.field import MarkovField

Array = NDArray[np.float64]
Groups = Sequence[Sequence[int]]


@checked
def log_partition(field: MarkovField, *, memory: float = MEMORY) -> float:
    """Log of the sum of exp(log-potential) over all possible rows, exactly.

    A model that needs more than `memory` bytes is refused, with the number of bytes.

    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.grid(10, 10), coupling=0.4, signs="positive")
    >>> round(field.log_partition(), 3)
    85.624
    """
    return elimination.log_sum(field, elimination.plan_within(field, memory))


@takes_method
def marginals(
    field: MarkovField,
    given: Evidence | None = None,
    *,
    method: Method = "exact",
    seed: Seed = None,
) -> dict[str, LabelledTable]:
    """Return the probabilities of the states of every column that is not given.

    Parameters as in `conditional`.

    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), signs="positive")
    >>> field.marginals({"x0": 1})["x1"]
    probability of x1
      0.2689  -1
      0.7311  1
    """
    rest = reduced(*known_codes(field, given))
    groups = [(v,) for v in range(len(rest.names))]
    tables = first_that_fits(method, lambda how: probabilities(rest, groups, how, seed))
    return dict(zip(rest.names, tables, strict=True))


@takes_method
def pair_marginals(
    field: MarkovField,
    given: Evidence | None = None,
    *,
    method: Method = "exact",
    seed: Seed = None,
) -> dict[tuple[str, str], LabelledTable]:
    """Return the joint probabilities of every two linked columns that are not given.

    Parameters as in `conditional`, which answers for any two columns.

    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> sorted(field.pair_marginals())
    [('x0', 'x1'), ('x1', 'x2')]
    """
    rest = reduced(*known_codes(field, given))
    groups = list(rest.couplings)
    tables = first_that_fits(method, lambda how: probabilities(rest, groups, how, seed))
    return dict(zip(rest.graph.edges, tables, strict=True))


@takes_method
def conditional(
    field: MarkovField,
    of: str | Sequence[str],
    given: Evidence | None = None,
    *,
    method: Method = "exact",
    seed: Seed = None,
) -> LabelledTable:
    """Return the joint probabilities of one or several columns, given the labels of others.

    Parameters
    ----------
    of : str or sequence of str
    given : dict of column to label, optional
    method : "exact", "gibbs", "auto", Exact, Gibbs, or (Exact, Gibbs)
        By elimination, or by sampling: then ``error`` of the answer holds standard errors,
        and a `PoorMixing` warning says where they cannot be trusted. "auto" is exact if its
        memory allows it, else sampled; so are two objects. See `isinglass.Exact` and
        `isinglass.Gibbs` for their settings.
    seed : int, SeedSequence, Generator, optional

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), signs="positive")
    >>> round(field.conditional("x2", given={"x0": 1})[1], 4)
    0.6068
    """
    rest, columns = asked(field, [of] if isinstance(of, str) else list(of), given)
    return first_that_fits(method, lambda how: probabilities(rest, [columns], how, seed)[0])


def asked(
    field: MarkovField, names: Sequence[str], given: Evidence | None
) -> tuple[MarkovField, list[int]]:
    """The model of all columns that are not given, and where those asked about stand in it."""
    if not names or len(set(names)) < len(names):
        raise SettingError("of must name at least one column, and none twice.")
    for name in names:
        position_of(name, field.names)
        if name in (given or {}):
            raise SettingError(f"{name!r} is given already; ask about another column.")
    rest = reduced(*known_codes(field, given))
    return rest, [position_of(name, rest.names) for name in names]


def probabilities(
    field: MarkovField, groups: Groups, how: Exact | Gibbs, seed: Seed
) -> list[LabelledTable]:
    """The joint probabilities of each group of columns."""
    at = _condition(field)
    if isinstance(how, Exact):
        exact = zip(groups, _by_elimination(field, groups, how.memory), strict=True)
        return [table_of(field, group, values, condition=at) for group, values in exact]
    shares = draw_shares(field, groups, how, np.random.default_rng(seed))
    return [table_of(field, group, *shares.joint(group), condition=at) for group in groups]


def _condition(field: MarkovField) -> str:
    """What probabilities take for granted: where what was adjusted for is."""
    return "" if field.adjusted is None else f"given {field.adjusted.words}"


def _by_elimination(field: MarkovField, groups: Groups, memory: float) -> list[Array]:
    """One group of any columns; or several, each of one column or of the two ends of an edge."""
    together = groups[0] if len(groups) == 1 else ()
    order = elimination.plan_within(
        field, memory, elimination.GIBBS_INSTEAD, together=together, beliefs=True
    )
    if together:
        return [elimination.joint(field, order, together)]
    _, single, pairs = elimination.marginals(field, order)
    return [single[v] if not other else pairs[v, other[0]] for v, *other in groups]


@checked
def most_likely(
    field: MarkovField, given: Evidence | None = None, *, memory: float = MEMORY
) -> dict[str, Hashable]:
    """Return a row of the highest probability among those with the labels given.

    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), signs="positive")
    >>> field.most_likely({"x0": 1})
    {'x0': 1, 'x1': 1, 'x2': 1}
    """
    field, codes = known_codes(field, given)
    free = [v for v in range(len(field.names)) if v not in codes]
    if free:
        rest = reduced(field, codes)
        order = elimination.plan_within(rest, memory)
        codes |= dict(zip(free, elimination.most_likely(rest, order).tolist(), strict=True))
    return {name: field.states[v][codes[v]] for v, name in enumerate(field.names)}


@dataclass(frozen=True)
class OddsShift:
    """The odds of one answer with and without another; frozen.

    `before` and `after` are the probabilities of the answer ``of`` without and with ``when``, which
    is compared with the answer ``against``, or with not knowing it; `log_odds` is the log of the
    ratio of the odds after to the odds before, with a standard `error` if it was sampled.
    """

    of: tuple[str, Hashable]
    when: tuple[str, Hashable]
    against: Hashable | None
    before: float
    after: float
    log_odds: float
    error: float | None = None

    @property
    def odds_ratio(self) -> float:
        """The odds after, over the odds before."""
        return float(np.exp(self.log_odds))

    @property
    def sentence(self) -> str:
        """The answer in words."""
        other = "not knowing" if self.against is None else f"{self.when[0]} = {self.against}"
        error = "" if self.error is None else f" (log-odds {self.log_odds:.2f} ± {self.error:.2g})"
        return (
            f"with {self.when[0]} = {self.when[1]} the odds of {self.of[0]} = {self.of[1]} are "
            f"{self.odds_ratio:.3g} times those with {other}{error}: a probability of "
            f"{self.after:.3g} instead of {self.before:.3g}"
        )

    def __repr__(self) -> str:
        return self.sentence


@takes_method
def odds_shift(
    field: MarkovField,
    of: tuple[str, Any],
    when: tuple[str, Any],
    given: Evidence | None = None,
    *,
    against: Any = None,
    method: Method = "exact",
    seed: Seed = None,
) -> OddsShift:
    """How the odds of one answer shift when another is known; columns need not be linked.

    Unlike `edge`, which holds all other columns fixed, this averages over them, as in a table
    of rows drawn from the model.

    Parameters
    ----------
    of, when : tuple of str and label
        The answer asked about, as ``("cough", "yes")``, and the one that becomes known.
    given, method, seed
        As in `conditional`; a sampled shift has an ``error``.
    against : label, optional
        Another answer of the same column to compare with; by default, not knowing it.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), signs="positive")
    >>> field.odds_shift(("x2", 1), ("x0", 1), against=-1)
    with x0 = 1 the odds of x2 = 1 are 2.38 times those with x0 = -1: a probability of 0.607 ...
    """
    rest, columns = asked(field, [of[0], when[0]], given)
    of_states, when_states = (rest.states[v] for v in columns)
    of_code, when_code = code_of(of[0], of_states, of[1]), code_of(when[0], when_states, when[1])
    other = None if against is None else code_of(when[0], when_states, against)

    def shift(joint: Array) -> tuple[float, float, float]:
        return shift_in(joint, of_code, when_code, other)

    def answer(how: Exact | Gibbs) -> OddsShift:
        if isinstance(how, Exact):
            (joint,) = _by_elimination(rest, [columns], how.memory)
            return OddsShift(of, when, against, *shift(joint))
        shares = draw_shares(rest, [columns], how, np.random.default_rng(seed))
        found = shift(shares.joint(columns)[0])
        error = shares.error_of(lambda joint: shift(joint)[2], columns)
        if not np.isfinite([found[2], error]).all():
            raise SettingError(
                f"too few of {len(shares.codes):,} draws have {when[0]} = {when[1]} together with "
                f"either answer of {of[0]}; raise ",
                *(Setting("draws"), ", or raise ", Setting("memory"), " and take "),
                *(Setting("method", "exact"), "."),
            )
        return OddsShift(of, when, against, *found, error)

    return first_that_fits(method, answer)


def shift_in(joint: Array, of: int, when: int, against: int | None) -> tuple[float, float, float]:
    """Probability before and after, and the log odds ratio, from a joint table of two columns.

    >>> joint = np.array([[0.4, 0.1], [0.1, 0.4]])
    >>> before, after, shift = shift_in(joint, 1, 1, None)
    >>> round(before, 3), round(after, 3), round(float(np.exp(shift)), 3)
    (0.5, 0.8, 4.0)
    """
    without = joint.sum(axis=1) if against is None else joint[:, against]
    before, after = (_probability_and_log_odds(each, of) for each in (without, joint[:, when]))
    return before[0], after[0], after[1] - before[1]


def _probability_and_log_odds(weights: Array, of: int) -> tuple[float, float]:
    yes, no = weights[of], np.delete(weights, of).sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(yes / (yes + no)), float(np.log(yes) - np.log(no))
