"""Rows drawn from a model: exactly, or by Gibbs chains in the compiled core.

Chains are for models too tangled for elimination; probabilities are then shares of their rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isinglass.core.models import gibbs_sample
from isinglass.engine.learn import threads_for
from isinglass.errors import OutOfMemory, Part, PoorMixing, Setting, level_of_the_caller
from isinglass.model.inference import elimination
from isinglass.model.inference.methods import (
    MEMORY,
    Exact,
    Gibbs,
    Method,
    first_that_fits,
    takes_method,
)
from isinglass.model.inference.mixing import Mixing, diagnose_mixing
from isinglass.model.inference.order import NUMBER
from isinglass.model.inference.rows import labelled_rows
from isinglass.model.labelled import Evidence, known_codes, reduced

if TYPE_CHECKING:
    from isinglass.model.field import MarkovField
    from isinglass.parameters import Seed

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]
Progress = Callable[[int, int], None]

#: Draws of a chain that diagnostics need; shorter runs are continued to here.
FEWEST_DRAWS = 50


@takes_method
def sample(
    field: MarkovField,
    n: int,
    *,
    given: Evidence | None = None,
    seed: Seed = None,
    method: Method = "auto",
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Any:
    """Draw a table of n rows that can be given to ``GreedyGraph().fit``.

    Cells are the states' labels, so a state that happens not to be drawn makes no other
    state change its name. Models of arrays give an array (of small integers if the labels
    are whole numbers), others a frame of their library.

    Parameters
    ----------
    given : dict, optional
        Labels of some columns, by name; the other columns are drawn given these. Of columns that
        the model was adjusted for, states other than the reference.
    seed : int, SeedSequence, Generator, optional
        The same seed gives the same table, whatever `n_jobs`; another memory may not.
    method : "auto", "exact", "gibbs", Exact, Gibbs, or (Exact, Gibbs)
        Exact: independent rows, by summing out columns one by one. Gibbs: many chains, with
        a `PoorMixing` warning if they disagree or move slowly. Auto: exact if memory allows
        it, else Gibbs; so are two objects. See `isinglass.Exact` and `isinglass.Gibbs`.
    n_jobs : int, optional
        Threads for Gibbs sampling; None means all cores.
    progress : function of (chains done, chains in all), optional

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> field.sample(1000, seed=0).shape
    (1000, 3)
    >>> set(field.sample(10, given={"x0": 1}, seed=0)[:, 0].tolist())
    {1}
    """
    codes = sample_codes(
        field, n, given=given, seed=seed, method=method, n_jobs=n_jobs, progress=progress
    )
    return labelled_rows(field, codes)


@takes_method
def sample_codes(
    field: MarkovField,
    n: int,
    *,
    given: Evidence | None = None,
    seed: Seed = None,
    method: Method = "auto",
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Codes:
    """Draw n rows as codes, positions in ``states``; shape (n, p). Parameters as in `sample`.

    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> sorted(set(field.sample_codes(100, seed=0).ravel().tolist()))
    [0, 1]
    """
    rng = np.random.default_rng(seed)
    field, known = known_codes(field, given)
    free = [v for v in range(len(field.names)) if v not in known]
    rest = reduced(field, known) if free else field

    def draw(how: Exact | Gibbs) -> Codes:
        if isinstance(how, Exact):
            order = elimination.plan_within(rest, how.memory, elimination.GIBBS_INSTEAD, rows=n)
            return elimination.draw(rest, order, n, rng)
        run = run_chains(rest, n, how, rng, n_jobs=n_jobs, progress=progress)
        warn_if_poor(run.mixing, how)
        return run.codes[:n]

    drawn = first_that_fits(method, draw) if free else np.empty((n, 0), dtype=np.uint8)
    if not known:
        return drawn
    codes = np.empty((n, len(field.names)), dtype=np.uint8, order="F")
    codes[:, free] = drawn
    for v, code in known.items():
        codes[:, v] = code
    return codes


@dataclass(frozen=True, eq=False)
class Chains:
    """What the chains drew: row d * chains + c of the codes is draw d of chain c."""

    codes: Codes
    mixing: Mixing


def run_chains(
    field: MarkovField,
    n: int,
    gibbs: Gibbs,
    rng: np.random.Generator,
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Chains:
    """Draw at least n rows; the same for a seed, whatever the number of threads."""
    chains = gibbs.chains
    codes = gibbs_sample(
        flat_model(field),
        chains=chains,
        burn_in=gibbs.burn_in,
        thin=gibbs.thin,
        draws=max(-(-n // chains), FEWEST_DRAWS),
        seed=int(rng.integers(2**64, dtype=np.uint64)),
        threads=threads_for(n_jobs, chains),
        progress=None if progress is None else lambda done: progress(done, chains),
    )
    return Chains(codes, diagnose_mixing(field, codes, chains))


def warn_if_poor(mixing: Mixing, gibbs: Gibbs) -> None:
    """Warn with `PoorMixing` if the rows are far from independent draws of the model."""
    if not mixing.is_poor:
        return
    found = f"Gibbs sampling mixes poorly: {mixing.in_words()}; raise "
    thin = Setting("thin"), f" (now {gibbs.thin})"
    advice: tuple[Part, ...] = (*thin, " for rows that are closer to independent.")
    if mixing.disagree:
        advice = (
            *(Setting("burn_in"), f" (now {gibbs.burn_in}) and ", *thin),
            "; if that does not help, chains stay where they started, and only exact sampling "
            "draws from the model.",
        )
    warnings.warn(PoorMixing(found, *advice), stacklevel=level_of_the_caller())


@dataclass(frozen=True, eq=False)
class Shares:
    """Rows drawn from a model, and the shares of states among them.

    Chains are independent of each other, draws within one are not: the error of a share is that
    of the mean of as many numbers as there are chains.
    """

    n_states: Sequence[int]
    codes: Codes
    chains: int

    def by_chain(self, columns: Sequence[int]) -> Array:
        """Shares of all combinations of states of some columns, one table per chain."""
        shape = [self.n_states[v] for v in columns]
        cell = np.ravel_multi_index([self.codes[:, v] for v in columns], shape)
        chain = np.arange(len(cell)) % self.chains
        size = prod(shape)
        counts = np.bincount(chain * size + cell, minlength=self.chains * size)
        tables = counts.reshape(self.chains, *shape)
        return np.asarray(np.multiply(tables, self.chains / len(cell), dtype=np.float64))

    def joint(self, columns: Sequence[int]) -> tuple[Array, Array]:
        """Shares of all combinations of states of some columns, and their standard errors."""
        shares = self.by_chain(columns)
        return np.asarray(shares.mean(axis=0)), shares.std(axis=0, ddof=1) / np.sqrt(self.chains)

    def error_of(self, number: Callable[[Array], float], columns: Sequence[int]) -> float:
        """The standard error of a number made of shares, by leaving out one chain at a time."""
        shares = self.by_chain(columns)
        others = (shares.sum(axis=0) - shares) / (self.chains - 1)
        left_out = np.array([number(table) for table in others])
        return float(np.sqrt((self.chains - 1) * left_out.var()))


def draw_shares(
    field: MarkovField, groups: Sequence[Sequence[int]], gibbs: Gibbs, rng: np.random.Generator
) -> Shares:
    """Draw rows to look at some groups of columns; a `PoorMixing` warning says if they are poor."""
    _check_memory(field, groups, gibbs)
    run = run_chains(field, gibbs.draws, gibbs, rng)
    warn_if_poor(run.mixing, gibbs)
    return Shares(field.n_states, run.codes, gibbs.chains)


def _check_memory(field: MarkovField, groups: Sequence[Sequence[int]], gibbs: Gibbs) -> None:
    """Raise OutOfMemory if the draws, or a table over some columns, need more than MEMORY."""
    # A byte per cell, and for each row a few numbers while the chains are compared.
    needed = gibbs.draws * (len(field.names) + 8 * NUMBER)
    what, way_out = f"{gibbs.draws:,} draws", "Take fewer draws"
    for columns in groups:
        # Every chain has a table of its own: counts, shares, and their distance from the mean.
        cells = prod(field.n_states[v] for v in columns)
        if 3 * NUMBER * gibbs.chains * cells > needed:
            needed = 3 * NUMBER * gibbs.chains * cells
            what = f"{gibbs.chains} tables over {len(columns)} columns, {cells:,} cells each,"
            way_out = "Ask about fewer columns together"
    if needed > MEMORY:
        needs, allowed = elimination.in_bytes(needed), elimination.in_bytes(MEMORY)
        raise OutOfMemory(
            f"{what} need about {needs}; at most {allowed} are allowed. {way_out}.",
            needed=needed,
            allowed=MEMORY,
        )


def flat_model(field: MarkovField) -> dict[str, NDArray[Any]]:
    """The model as the core takes it: log-odds against each column's first state."""
    fields = [intercept[1:] - intercept[0] for intercept in field.intercepts]
    entries: list[list[tuple[int, Array]]] = [[] for _ in field.names]
    for (i, j), table in field.couplings.items():
        entries[i].append((j, table.T))
        entries[j].append((i, table))
    flat = [entry for of_column in entries for entry in of_column]
    tables = [(table[:, 1:] - table[:, :1]).ravel() for _, table in flat]
    return {
        "states": np.array(field.n_states, dtype=np.int32),
        "field_begin": _begins(map(len, fields))[:-1],
        "fields": np.concatenate(fields),
        "neighbour_begin": _begins(map(len, entries)),
        "neighbours": np.array([other for other, _ in flat], dtype=np.int64),
        "table_begin": _begins(map(len, tables))[:-1],
        "tables": np.concatenate([np.empty(0), *tables]),
    }


def _begins(lengths: Any) -> NDArray[np.int64]:
    return np.cumsum([0, *lengths], dtype=np.int64)
