"""A question to a model, answered as people ask it: what is likely now, and what was before."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import OutOfMemory, SettingError
from isinglass.graph import position_of
from isinglass.model.inference.evidence import Evidence, positions_asked
from isinglass.model.inference.methods import (
    Exact,
    Gibbs,
    Method,
    first_that_fits,
    memory_of,
    takes_method,
)
from isinglass.model.inference.questions import probabilities
from isinglass.model.labelled import LabelledTable

if TYPE_CHECKING:
    from isinglass.model.field import MarkovField
    from isinglass.parameters import Seed

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Answer:
    """Probabilities of the states of one column, or jointly of several.

    Attributes
    ----------
    table : LabelledTable
        Probabilities given the evidence; if sampled, ``table.error`` holds standard errors.
    before : LabelledTable or None
        The same without any evidence; None if none was given.
    """

    table: LabelledTable
    before: LabelledTable | None

    @property
    def odds_ratios(self) -> Array | None:
        """The odds of each state given the evidence, over its odds without; None without any.

        >>> given = LabelledTable(("a",), (("no", "yes"),), np.array([0.2, 0.8]))
        >>> before = LabelledTable(("a",), (("no", "yes"),), np.array([0.5, 0.5]))
        >>> Answer(given, before).odds_ratios.round(9).tolist()
        [0.25, 4.0]
        """
        if self.before is None:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios: Array = _odds(self.table.values) / _odds(self.before.values)
        return ratios

    @property
    def odds_errors(self) -> Array | None:
        """Standard errors of `odds_ratios` that were sampled, by the delta method."""
        ratios = self.odds_ratios
        if ratios is None or self.before is None or self.table.error is None:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            now, before = _log_odds_error(self.table), _log_odds_error(self.before)
            errors: Array = ratios * np.hypot(now, before)
        return errors

    def rows(self, most: int | None = None) -> list[dict[str, Any]]:
        """One dict per state: labels, probability, the one without evidence, odds ratio, errors.

        Of more than `most` states, the likeliest.
        """
        columns = {
            "probability": self.table.values,
            "error": self.table.error,
            "before": None if self.before is None else self.before.values,
            "odds_ratio": self.odds_ratios,
            "odds_ratio_error": self.odds_errors,
        }
        shape = self.table.values.shape
        at = np.arange(self.table.values.size)
        if most is not None and len(at) > most:
            at = np.argsort(-self.table.values.ravel(), kind="stable")[:most]
        flat = {
            key: [None] * len(at) if of is None else list(map(_finite, of.ravel()[at]))
            for key, of in columns.items()
        }
        states = zip(*np.unravel_index(at, shape), strict=True)
        labels = (
            [of[code] for of, code in zip(self.table.states, codes, strict=True)]
            for codes in states
        )
        return [
            {"labels": dict(zip(self.table.names, own, strict=True))}
            | {key: values[row] for key, values in flat.items()}
            for row, own in enumerate(labels)
        ]


@dataclass(frozen=True, eq=False)
class Answers:
    """What a model says when it is asked.

    Attributes
    ----------
    given : dict
        The evidence, labels by column.
    method : "exact" or "gibbs"
    answers : tuple of Answer
    most_likely : dict or None
        A row of the highest probability with the evidence; None if that takes too much memory.
    """

    given: Mapping[str, Hashable]
    method: str
    answers: tuple[Answer, ...]
    most_likely: Mapping[str, Hashable] | None


@takes_method
def ask(
    field: MarkovField,
    of: Sequence[str] | None = None,
    given: Evidence | None = None,
    *,
    joint: bool = False,
    method: Method = "auto",
    seed: Seed = None,
) -> Answers:
    """Ask a model about some columns when others are known.

    Parameters
    ----------
    field : MarkovField
    of : sequence of str, optional
        Columns to ask about; all that are not given by default.
    given : dict, optional
        Labels of other columns, by name.
    joint : bool
        Whether to ask for all combinations of their states, not for each column alone.
    method, seed
        As in `MarkovField.conditional`.

    Returns
    -------
    Answers

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), signs="positive")
    >>> answers = ask(field, ["x1"], {"x0": 1})
    >>> answers.answers[0].table
    probability of x1
      0.2689  -1
      0.7311  1
    >>> answers.answers[0].odds_ratios.round(3).tolist(), answers.most_likely
    ([0.368, 2.718], {'x0': 1, 'x1': 1, 'x2': 1})
    """
    given = dict(given or {})
    names = [name for name in field.names if name not in given] if of is None else list(of)
    positions_asked(field, names, given)
    if not names:
        raise SettingError("all columns are given; leave out those to ask about.")
    names = list(dict.fromkeys(names))
    groups = [names] if joint else [[name] for name in names]
    rng = np.random.default_rng(seed)

    def tables(evidence: Evidence, how: Exact | Gibbs) -> list[LabelledTable]:
        rest = field.given(evidence)
        columns = [[position_of(name, rest.names) for name in group] for group in groups]
        return probabilities(rest, columns, how, rng)

    def answer(how: Exact | Gibbs) -> Answers:
        now = tables(given, how)
        before: Sequence[LabelledTable | None] = tables({}, how) if given else [None] * len(now)
        pairs = tuple(Answer(*pair) for pair in zip(now, before, strict=True))
        used = "exact" if isinstance(how, Exact) else "gibbs"
        return Answers(given, used, pairs, _most_likely(field, given, memory_of(method)))

    return first_that_fits(method, answer)


def _most_likely(
    field: MarkovField, given: Evidence, memory: float
) -> Mapping[str, Hashable] | None:
    try:
        return field.most_likely(given, memory=memory)
    except OutOfMemory:
        return None


def _log_odds_error(table: LabelledTable) -> Array:
    error: Array = np.asarray(table.error) / (table.values * (1.0 - table.values))
    return error


def _odds(probabilities: Array) -> Array:
    odds: Array = probabilities / (1.0 - probabilities)
    return odds


def _finite(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None
