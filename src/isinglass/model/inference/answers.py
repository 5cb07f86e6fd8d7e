"""A question to a model, answered as people ask it: what is likely now, and what was before."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import OutOfMemory, SettingError
from isinglass.graph import position_of
from isinglass.model.field import MarkovField
from isinglass.model.inference.gibbs import Schedule
from isinglass.model.inference.sampled import sampled_shares
from isinglass.model.labelled import LabelledTable
from isinglass.model.potentials import MEMORY, Evidence
from isinglass.parameters import Seed, checked

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Answer:
    """Chances of the states of one column, or jointly of several.

    Attributes
    ----------
    table : LabelledTable
        Chances given the evidence; ``table.error`` holds standard errors if they were sampled.
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

    def rows(self) -> list[dict[str, Any]]:
        """One dict a state: labels, chance, the chance without evidence, odds ratio, errors."""
        columns = {
            "chance": self.table.values,
            "error": self.table.error,
            "before": None if self.before is None else self.before.values,
            "odds_ratio": self.odds_ratios,
            "odds_ratio_error": self.odds_errors,
        }
        flat = {
            key: [None] * self.table.values.size if of is None else list(map(_finite, of.ravel()))
            for key, of in columns.items()
        }
        return [
            {"labels": dict(zip(self.table.names, labels, strict=True))}
            | {key: values[at] for key, values in flat.items()}
            for at, labels in enumerate(product(*self.table.states))
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


@checked
def ask(
    field: MarkovField,
    of: Sequence[str] | None = None,
    given: Evidence | None = None,
    *,
    joint: bool = False,
    method: str = "auto",
    memory: float = MEMORY,
    draws: int = 10_000,
    burn_in: int = 1000,
    thin: int = 10,
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
    method : "auto", "exact" or "gibbs"
        By elimination, by sampling with error bars, or the first if its memory allows it.
    memory : float
        Bytes that exact answers may take.
    draws, burn_in, thin, seed
        For sampling, as in `MarkovField.conditional`.

    Returns
    -------
    Answers

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), signs="positive")
    >>> answers = ask(field, ["x1"], {"x0": 1})
    >>> answers.answers[0].table
    chance of x1
      0.2689  -1
      0.7311  1
    >>> answers.answers[0].odds_ratios.round(3).tolist(), answers.most_likely
    ([0.368, 2.718], {'x0': 1, 'x1': 1, 'x2': 1})
    """
    given = dict(given or {})
    groups = _groups(field, of, given, joint)
    schedule = Schedule(burn_in=burn_in, thin=thin)
    rng = np.random.default_rng(seed)

    def answer(used: str) -> Answers:
        def tables(evidence: Evidence) -> list[LabelledTable]:
            if used == "exact":
                return _exact(field, groups, evidence, memory)
            return _sampled(field, groups, evidence, draws=draws, schedule=schedule, rng=rng)

        now = tables(given)
        before: Sequence[LabelledTable | None] = tables({}) if given else [None] * len(now)
        pairs = tuple(Answer(*pair) for pair in zip(now, before, strict=True))
        return Answers(given, used, pairs, _most_likely(field, given, memory))

    if method != "auto":
        return answer(method)
    try:
        return answer("exact")
    except OutOfMemory:
        return answer("gibbs")


def _groups(
    field: MarkovField, of: Sequence[str] | None, given: Evidence, joint: bool
) -> list[list[str]]:
    """The columns of each answer."""
    names = [name for name in field.names if name not in given] if of is None else list(of)
    for name in names:
        position_of(name, field.names)
        if name in given:
            raise SettingError(f"{name!r} is given already; ask about another column.")
    if not names:
        raise SettingError("all columns are given; leave out those to ask about.")
    names = list(dict.fromkeys(names))
    return [names] if joint else [[name] for name in names]


def _exact(
    field: MarkovField, groups: Sequence[Sequence[str]], given: Evidence, memory: float
) -> list[LabelledTable]:
    if len(groups) == 1:
        return [field.conditional(groups[0], given, memory=memory)]
    tables = field.marginals(given, memory=memory)
    return [tables[name] for (name,) in groups]


def _sampled(
    field: MarkovField,
    groups: Sequence[Sequence[str]],
    given: Evidence,
    *,
    draws: int,
    schedule: Schedule,
    rng: np.random.Generator,
) -> list[LabelledTable]:
    """All answers from the same draws."""
    rest = field.given(given)
    columns = [[position_of(name, rest.names) for name in group] for group in groups]
    drawn = sampled_shares(rest, draws, schedule, rng)
    answers = []
    for group in columns:
        shares, error = drawn.joint(group)
        answers.append(rest._table(group, shares, error=error))
    return answers


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


def _odds(chances: Array) -> Array:
    odds: Array = chances / (1.0 - chances)
    return odds


def _finite(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None
