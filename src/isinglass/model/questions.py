"""Questions to a model: chances given evidence, exact by elimination or sampled."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import SettingError
from isinglass.graph import position_of
from isinglass.model import elimination
from isinglass.model.gibbs import Schedule
from isinglass.model.labelled import LabelledTable
from isinglass.model.potentials import MEMORY, Evidence, Potentials
from isinglass.model.sampled import sampled_joint
from isinglass.model.settings import Seed, check_method, check_whole

Array = NDArray[np.float64]


class Questions(Potentials):
    """What a model can be asked about its columns."""

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
        order = elimination.plan(self, memory)
        elimination.check_memory(order, 0, memory, "")
        return elimination.log_partition(self, order)

    def marginals(
        self, given: Evidence | None = None, *, memory: float = MEMORY
    ) -> dict[str, LabelledTable]:
        """Return the chances of the states of every column that is not given, exactly.

        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), signs="positive")
        >>> field.marginals({"x0": 1})["x1"]
        chance of x1
          0.2689  -1
          0.7311  1
        """
        field = self.given(given or {})
        single, _ = field._chances(memory)
        return {field.names[v]: field._table((v,), chances) for v, chances in enumerate(single)}

    def pair_marginals(
        self, given: Evidence | None = None, *, memory: float = MEMORY
    ) -> dict[tuple[str, str], LabelledTable]:
        """Return the joint chances of every two columns that are linked; not of those given.

        `conditional` answers for any two columns.
        """
        field = self.given(given or {})
        _, pairs = field._chances(memory)
        return {
            (field.names[i], field.names[j]): field._table((i, j), chances)
            for (i, j), chances in pairs.items()
        }

    def _chances(self, memory: float) -> tuple[list[Array], dict[tuple[int, int], Array]]:
        order = elimination.plan(self, memory)
        elimination.check_memory(order, 0, memory, "", beliefs=True)
        _, single, pairs = elimination.marginals(self, order)
        return single, pairs

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
        check_method(method, ("exact", "gibbs"))
        names = self._asked(of, given)
        field = self.given(given or {})
        columns = [position_of(name, field.names) for name in names]
        if method == "gibbs":
            check_whole("draws", draws, 1)
            schedule = Schedule(burn_in=burn_in, thin=thin)
            rng = np.random.default_rng(seed)
            shares, error = sampled_joint(field, columns, draws, schedule, rng)
            return field._table(columns, shares, error=error)
        order = elimination.plan(field, memory, together=columns)
        elimination.check_memory(order, 0, memory, ', or take method="gibbs"', beliefs=True)
        return field._table(columns, elimination.joint(field, order, columns))

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
