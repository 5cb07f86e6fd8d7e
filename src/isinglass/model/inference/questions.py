"""Questions to a model: chances given evidence, exact by elimination or sampled."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import Setting, SettingError
from isinglass.graph import position_of
from isinglass.model.inference import elimination
from isinglass.model.inference.gibbs import Schedule
from isinglass.model.inference.sampled import Shares, sampled_shares
from isinglass.model.labelled import LabelledTable, code_of
from isinglass.model.odds import OddsShift, shift_in
from isinglass.model.potentials import MEMORY, Evidence, Potentials
from isinglass.parameters import Seed, checked

Array = NDArray[np.float64]

GIBBS_INSTEAD = ", or take ", Setting("method", "gibbs")


class Questions(Potentials):
    """What a model can be asked about its columns."""

    @checked
    def log_partition(self, *, memory: float = MEMORY) -> float:
        """Log of the sum of exp(log-potential) over all rows there could be, exactly.

        Parameters
        ----------
        memory : float
            Bytes it may take; a model that needs more is refused with the number.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.grid(10, 10), coupling=0.4, signs="positive")
        >>> round(field.log_partition(), 3)
        85.624
        """
        return self._log_partition(memory, "")

    def _log_partition(self, memory: float, way_out: str) -> float:
        order = elimination.plan(self, memory)
        elimination.check_memory(order, 0, memory, way_out)
        return elimination.log_partition(self, order)

    @checked
    def marginals(
        self,
        given: Evidence | None = None,
        *,
        method: str = "exact",
        memory: float = MEMORY,
        draws: int = 10_000,
        burn_in: int = 1000,
        thin: int = 10,
        seed: Seed = None,
    ) -> dict[str, LabelledTable]:
        """Return the chances of the states of every column that is not given.

        Parameters as in `conditional`.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), signs="positive")
        >>> field.marginals({"x0": 1})["x1"]
        chance of x1
          0.2689  -1
          0.7311  1
        """
        field = self.given(given or {})
        columns = [(v,) for v in range(len(field.names))]
        if method == "gibbs":
            shares = field._shares(draws, Schedule(burn_in=burn_in, thin=thin), seed)
            return {field.names[v]: field._sampled_table(shares, (v,)) for (v,) in columns}
        single, _ = field._chances(memory)
        return {field.names[v]: field._table((v,), single[v]) for (v,) in columns}

    @checked
    def pair_marginals(
        self,
        given: Evidence | None = None,
        *,
        method: str = "exact",
        memory: float = MEMORY,
        draws: int = 10_000,
        burn_in: int = 1000,
        thin: int = 10,
        seed: Seed = None,
    ) -> dict[tuple[str, str], LabelledTable]:
        """Return the joint chances of every two columns that are linked; not of those given.

        Parameters as in `conditional`, which answers for any two columns.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> sorted(field.pair_marginals())
        [('x0', 'x1'), ('x1', 'x2')]
        """
        field = self.given(given or {})
        named = {(i, j): (field.names[i], field.names[j]) for i, j in field.couplings}
        if method == "gibbs":
            shares = field._shares(draws, Schedule(burn_in=burn_in, thin=thin), seed)
            return {names: field._sampled_table(shares, pair) for pair, names in named.items()}
        _, pairs = field._chances(memory)
        return {names: field._table(pair, pairs[pair]) for pair, names in named.items()}

    def _chances(self, memory: float) -> tuple[list[Array], dict[tuple[int, int], Array]]:
        order = elimination.plan(self, memory)
        elimination.check_memory(order, 0, memory, *GIBBS_INSTEAD, beliefs=True)
        _, single, pairs = elimination.marginals(self, order)
        return single, pairs

    def _shares(self, draws: int, schedule: Schedule, seed: Seed) -> Shares:
        return sampled_shares(self, draws, schedule, np.random.default_rng(seed))

    def _sampled_table(self, shares: Shares, columns: Sequence[int]) -> LabelledTable:
        values, error = shares.joint(columns)
        return self._table(columns, values, error=error)

    @checked
    def conditional(
        self,
        of: str | Sequence[str],
        given: Evidence | None = None,
        *,
        method: str = "exact",
        memory: float = MEMORY,
        draws: int = 10_000,
        burn_in: int = 1000,
        thin: int = 10,
        seed: Seed = None,
    ) -> LabelledTable:
        """Return the joint chances of one or several columns, given the labels of others.

        Parameters
        ----------
        of : str or sequence of str
        given : dict, optional
            Labels of other columns, by name.
        method : "exact" or "gibbs"
            By elimination, or by sampling: then ``error`` of the answer holds standard errors,
            and a `PoorMixing` warning says where they cannot be trusted.
        memory : float
            Bytes that an exact answer may take.
        draws, burn_in, thin, seed
            For sampling, as in `sample`.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), signs="positive")
        >>> round(field.conditional("x2", given={"x0": 1})[1], 4)
        0.6068
        """
        names = self._asked(of, given)
        field = self.given(given or {})
        columns = [position_of(name, field.names) for name in names]
        if method == "gibbs":
            shares = field._shares(draws, Schedule(burn_in=burn_in, thin=thin), seed)
            return field._sampled_table(shares, columns)
        return field._table(columns, field._joint(columns, memory))

    def _joint(self, columns: Sequence[int], memory: float) -> Array:
        order = elimination.plan(self, memory, together=columns)
        elimination.check_memory(order, 0, memory, *GIBBS_INSTEAD, beliefs=True)
        return elimination.joint(self, order, columns)

    @checked
    def odds_shift(
        self,
        of: tuple[str, Any],
        when: tuple[str, Any],
        given: Evidence | None = None,
        *,
        against: Any = None,
        method: str = "exact",
        memory: float = MEMORY,
        draws: int = 10_000,
        burn_in: int = 1000,
        thin: int = 10,
        seed: Seed = None,
    ) -> OddsShift:
        """How the odds of one answer shift when another is known; columns need not be linked.

        Unlike `edge`, which holds all other columns, this averages over them: what one would
        see in a table of rows drawn from the model.

        Parameters
        ----------
        of : tuple of str and label
            The answer asked about, as ``("cough", "yes")``.
        when : tuple of str and label
            The answer that becomes known.
        given : dict, optional
            Labels of other columns that are known before and after.
        against : label, optional
            Another answer of the same column to compare with; by default, not knowing it.
        method, memory, draws, burn_in, thin, seed
            As in `conditional`; a sampled shift has an ``error``.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), signs="positive")
        >>> field.odds_shift(("x2", 1), ("x0", 1), against=-1)
        with x0 = 1 the odds of x2 = 1 are 2.38 times those with x0 = -1: a chance of 0.607 ...
        """
        names = self._asked([of[0], when[0]], given)
        answers = {name: self.states[position_of(name, self.names)] for name in names}
        of_code, when_code = (code_of(name, answers[name], label) for name, label in (of, when))
        other = None if against is None else code_of(when[0], answers[when[0]], against)

        def shift(joint: Array) -> tuple[float, float, float]:
            return shift_in(joint, of_code, when_code, other)

        field = self.given(given or {})
        columns = [position_of(name, field.names) for name in names]
        if method == "exact":
            return OddsShift(of, when, against, *shift(field._joint(columns, memory)))
        shares = field._shares(draws, Schedule(burn_in=burn_in, thin=thin), seed)
        found = shift(shares.joint(columns)[0])
        error = shares.error_of(lambda joint: shift(joint)[2], columns)
        if not np.isfinite([found[2], error]).all():
            raise SettingError(
                f"too few of {len(shares.codes):,} draws have {when[0]} = {when[1]} beside either "
                f"answer of {of[0]}; raise draws, or raise ",
                *(Setting("memory"), " and take ", Setting("method", "exact"), "."),
            )
        return OddsShift(of, when, against, *found, error)

    def _asked(self, of: str | Sequence[str], given: Evidence | None) -> list[str]:
        """Names of columns that can be asked about."""
        names = [of] if isinstance(of, str) else list(of)
        if not names or len(set(names)) < len(names):
            raise SettingError("of must name at least one column, and none twice.")
        for name in names:
            position_of(name, self.names)
            if name in (given or {}):
                raise SettingError(f"{name!r} is given already; ask about another column.")
        return names

    @checked
    def most_likely(
        self, given: Evidence | None = None, *, memory: float = MEMORY
    ) -> dict[str, Hashable]:
        """Return a row of the highest probability among those with the labels given.

        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), signs="positive")
        >>> field.most_likely({"x0": 1})
        {'x0': 1, 'x1': 1, 'x2': 1}
        """
        codes = self._evidence(given)
        free = [v for v in range(len(self.names)) if v not in codes]
        if free:
            field = self._reduced(codes) if codes else self
            order = elimination.plan(field, memory)
            elimination.check_memory(order, 0, memory, "")
            best = elimination.most_likely(field, order).tolist()
            codes |= dict(zip(free, best, strict=True))
        return {name: self.states[v][codes[v]] for v, name in enumerate(self.names)}
