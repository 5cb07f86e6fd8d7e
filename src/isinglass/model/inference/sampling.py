"""Tables drawn from a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.engine.learn import threads_for
from isinglass.errors import Setting
from isinglass.frames import frame
from isinglass.model.inference import elimination
from isinglass.model.inference.gibbs import Schedule, run_chains, warn_if_poor
from isinglass.model.labelled import array_type, labels_array
from isinglass.model.potentials import MEMORY, Evidence, Potentials
from isinglass.parameters import Seed, checked


class Sampling(Potentials):
    """Rows drawn from a model, exactly or by Gibbs chains."""

    @checked
    def sample(
        self,
        n: int,
        *,
        given: Evidence | None = None,
        seed: Seed = None,
        method: str = "auto",
        n_jobs: int | None = None,
        memory: float = MEMORY,
        chains: int = 32,
        burn_in: int = 1000,
        thin: int = 10,
        progress: Callable[[int, int], None] | None = None,
    ) -> Any:
        """Draw a table of n rows that can be given to ``GreedyGraph().fit``.

        Cells are the states' labels, so a state that happens not to be drawn makes no other
        state change its name. Models of arrays give an array (of small integers if the labels
        are whole numbers), others a frame of their library.

        Parameters
        ----------
        n : int
            Rows.
        given : dict, optional
            Labels of some columns, by name; the other columns are drawn given these.
        seed : int, SeedSequence, Generator, optional
            The same seed gives the same table, whatever `n_jobs`; another `memory` may not.
        method : "auto", "exact" or "gibbs"
            Exact: independent rows, by summing out columns one by one. Gibbs: many chains, with
            a `PoorMixing` warning if they disagree or move slowly. Auto: exact if memory allows.
        n_jobs : int, optional
            Threads for Gibbs sampling; None means all cores.
        memory : float
            Bytes that exact sampling may take.
        chains, burn_in, thin : int
            For Gibbs sampling: independent chains, sweeps before the first draw, sweeps from
            one draw to the next.
        progress : function of (chains done, chains in all), optional

        Returns
        -------
        array of shape (n, p), or data frame

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> field.sample(1000, seed=0).shape
        (1000, 3)
        >>> set(field.sample(10, given={"x0": 1}, seed=0)[:, 0].tolist())
        {1}
        """
        codes = self._draw(
            n,
            given=given,
            seed=seed,
            method=method,
            n_jobs=n_jobs,
            memory=memory,
            schedule=Schedule(chains, burn_in, thin),
            progress=progress,
        )
        return self._labelled(codes)

    @checked
    def sample_codes(
        self,
        n: int,
        *,
        given: Evidence | None = None,
        seed: Seed = None,
        method: str = "auto",
        n_jobs: int | None = None,
        memory: float = MEMORY,
        chains: int = 32,
        burn_in: int = 1000,
        thin: int = 10,
        progress: Callable[[int, int], None] | None = None,
    ) -> NDArray[np.uint8]:
        """Draw n rows as codes, places in ``states``; shape (n, p). Parameters as in `sample`.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> sorted(set(field.sample_codes(100, seed=0).ravel().tolist()))
        [0, 1]
        """
        return self._draw(
            n,
            given=given,
            seed=seed,
            method=method,
            n_jobs=n_jobs,
            memory=memory,
            schedule=Schedule(chains, burn_in, thin),
            progress=progress,
        )

    def _draw(
        self,
        n: int,
        *,
        given: Evidence | None,
        seed: Seed,
        method: str,
        n_jobs: int | None,
        memory: float,
        schedule: Schedule,
        progress: Callable[[int, int], None] | None,
    ) -> NDArray[np.uint8]:
        rng = np.random.default_rng(seed)
        known = self._evidence(given)
        if len(known) == len(self.names):
            return self._completed(known, np.empty((n, 0), dtype=np.uint8))
        field = self._reduced(known) if known else self
        if method != "gibbs":
            order = elimination.plan(field, memory)
            if method == "exact" or order.bytes_needed(n) <= memory:
                elimination.check_memory(order, n, memory, ", or take ", Setting("method", "gibbs"))
                return self._completed(known, elimination.draw(field, order, n, rng))
        run = run_chains(
            field,
            n,
            schedule,
            seed=int(rng.integers(2**64, dtype=np.uint64)),
            threads=threads_for(n_jobs, schedule.chains),
            progress=progress,
        )
        warn_if_poor(run.mixing, schedule)
        return self._completed(known, run.rows(n))

    def _completed(self, known: Mapping[int, int], drawn: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Rows of all columns, from those of the columns that are not known."""
        if not known:
            return drawn
        codes = np.empty((len(drawn), len(self.names)), dtype=np.uint8, order="F")
        codes[:, [v for v in range(len(self.names)) if v not in known]] = drawn
        for v, code in known.items():
            codes[:, v] = code
        return codes

    def _labelled(self, codes: NDArray[np.uint8]) -> Any:
        kind = array_type(self.states)
        labels = [labels_array(states, kind) for states in self.states]
        if self.library is None:
            table = np.empty(codes.shape, dtype=kind, order="F")
            for j, of_column in enumerate(labels):
                table[:, j] = of_column[codes[:, j]]
            return table
        columns = zip(self.names, labels, codes.T, strict=True)
        return frame({name: of[column].tolist() for name, of, column in columns}, self.library)
