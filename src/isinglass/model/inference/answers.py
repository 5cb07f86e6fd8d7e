"""A question to a model, answered as people ask it: what is likely now, and what was before."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import OutOfMemory, SettingError
from isinglass.model.inference.methods import (
    Exact,
    Gibbs,
    Method,
    first_that_fits,
    memory_of,
    takes_method,
)
from isinglass.model.inference.questions import asked, probabilities
from isinglass.model.labelled import Evidence, LabelledTable, known_codes

if TYPE_CHECKING:
    from isinglass.model.field import MarkovField
    from isinglass.parameters import Seed

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Answer:
    """Probabilities of the states of one column, or jointly of several."""

    table: LabelledTable
    before: LabelledTable | None  # the same without evidence; None if none was given

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
        now, before = self.table.values, self.before.values
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((now / (1.0 - now)) / (before / (1.0 - before)))

    @property
    def odds_errors(self) -> Array | None:
        """Standard errors of `odds_ratios` that were sampled, by the delta method."""
        ratios = self.odds_ratios
        if ratios is None or self.before is None or self.table.error is None:
            return None
        tables = self.table, self.before
        with np.errstate(divide="ignore", invalid="ignore"):
            of_logs = [np.asarray(t.error) / (t.values * (1.0 - t.values)) for t in tables]
            return np.asarray(ratios * np.hypot(*of_logs))

    def rows(self, most: int | None = None) -> list[dict[str, Any]]:
        """One dict per state, or for the `most` likely ones: labels, probabilities, odds ratio."""
        columns = {
            "probability": self.table.values,
            "error": self.table.error,
            "before": None if self.before is None else self.before.values,
            "odds_ratio": self.odds_ratios,
            "odds_ratio_error": self.odds_errors,
        }
        at = np.arange(self.table.values.size)
        if most is not None and len(at) > most:
            at = np.argsort(-self.table.values.ravel(), kind="stable")[:most]
        cells = zip(*np.unravel_index(at, self.table.values.shape), strict=True)
        names, states = self.table.names, self.table.states
        nothing = np.full(self.table.values.shape, np.nan)
        known = {key: nothing if of is None else of for key, of in columns.items()}
        return [
            {"labels": {name: of[c] for name, of, c in zip(names, states, cell, strict=True)}}
            | {key: float(of[cell]) if np.isfinite(of[cell]) else None for key, of in known.items()}
            for cell in cells
        ]


@dataclass(frozen=True, eq=False)
class Answers:
    """What a model says when it is asked, and a row of the highest probability."""

    given: Mapping[str, Hashable]
    method: str  # "exact" or "gibbs"
    answers: tuple[Answer, ...]
    most_likely: Mapping[str, Hashable] | None  # None if that takes too much memory


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
    """Ask a model about some columns, by default all others, when some are given.

    `joint` asks for all combinations of their states, not for each column alone. `method` and
    `seed` are those of `MarkovField.conditional`. Columns that the model was adjusted for are held
    where they are given, or at the reference, in what is compared with, too.

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
    beside = () if field.adjusted is None else field.adjusted.names
    field, _ = known_codes(field, {name: given[name] for name in given if name in beside})
    known = {name: label for name, label in given.items() if name not in beside}
    names = [name for name in field.names if name not in given] if of is None else list(of)
    if not names:
        raise SettingError("all columns are given; leave out those to ask about.")
    names = list(dict.fromkeys(names))
    rng = np.random.default_rng(seed)

    def tables(evidence: Evidence, how: Exact | Gibbs) -> list[LabelledTable]:
        rest, columns = asked(field, names, evidence)
        return probabilities(rest, [columns] if joint else [[v] for v in columns], how, rng)

    def answer(how: Exact | Gibbs) -> Answers:
        now = tables(known, how)
        before: Sequence[LabelledTable | None] = tables({}, how) if known else [None] * len(now)
        pairs = tuple(Answer(*pair) for pair in zip(now, before, strict=True))
        used = "exact" if isinstance(how, Exact) else "gibbs"
        try:
            likeliest = field.most_likely(known, memory=memory_of(method))
        except OutOfMemory:
            likeliest = None
        return Answers(given, used, pairs, likeliest)

    return first_that_fits(method, answer)
