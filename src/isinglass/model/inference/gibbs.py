"""Gibbs sampling by the compiled core, for models too tangled for exact sampling."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isinglass.core import gibbs_sample
from isinglass.errors import Part, PoorMixing, Setting
from isinglass.model.inference.mixing import Mixing, diagnose_mixing
from isinglass.parameters import check_fields

if TYPE_CHECKING:
    from isinglass.model.potentials import Potentials

#: Draws of a chain that diagnostics need; shorter runs are continued to here.
FEWEST_DRAWS = 50


@dataclass(frozen=True)
class Schedule:
    """How long to sample.

    Attributes
    ----------
    chains : int
        Independent chains, from states drawn evenly.
    burn_in : int
        Sweeps of each chain before its first draw; a sweep draws every column once.
    thin : int
        Sweeps from one draw to the next.
    """

    chains: int = 32
    burn_in: int = 1000
    thin: int = 10

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True, eq=False)
class Chains:
    """What the chains drew: row d * chains + c of the codes is draw d of chain c."""

    codes: NDArray[np.uint8]
    mixing: Mixing

    def rows(self, n: int) -> NDArray[np.uint8]:
        """Take the first n rows, which take turns between the chains."""
        return self.codes[:n]


def run_chains(
    field: Potentials,
    n: int,
    schedule: Schedule,
    *,
    seed: int,
    threads: int,
    progress: Callable[[int, int], None] | None = None,
) -> Chains:
    """Draw at least n rows; the same for a seed, whatever the number of threads."""
    chains = schedule.chains
    codes = gibbs_sample(
        _flat(field),
        chains=chains,
        burn_in=schedule.burn_in,
        thin=schedule.thin,
        draws=max(-(-n // chains), FEWEST_DRAWS),
        seed=seed,
        threads=threads,
        progress=None if progress is None else lambda done: progress(done, chains),
    )
    return Chains(codes, diagnose_mixing(field, codes, chains))


def warn_if_poor(mixing: Mixing, schedule: Schedule) -> None:
    """Warn with `PoorMixing` if the rows are far from independent draws of the model."""
    if not mixing.is_poor:
        return
    thin, burn_in = Setting("thin"), Setting("burn_in")
    advice: tuple[Part, ...] = (thin, f" (now {schedule.thin}) to have rows that are worth more")
    if mixing.disagree:
        advice = (
            *(burn_in, f" (now {schedule.burn_in}) and ", thin),
            f" (now {schedule.thin}); if that does not help, chains stay where they "
            "started, and only exact sampling gives the model's table",
        )
    found = f"Gibbs sampling mixes poorly: {mixing.in_words()}; raise "
    warnings.warn(PoorMixing(found, *advice, "."), stacklevel=5)


def _flat(field: Potentials) -> dict[str, NDArray[Any]]:
    """The model as the core takes it: log-odds against each column's first state."""
    fields = [intercept[1:] - intercept[0] for intercept in field.intercepts]
    entries: list[list[tuple[int, NDArray[np.float64]]]] = [[] for _ in field.names]
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
