"""The forms of edges, as the core knows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.core import _core


@dataclass(frozen=True, eq=False)
class Forms:
    """Score matrices of all columns, one after the other; see `core_forms`.

    They can be sent to other processes, each of which makes its own object of the core from them.
    """

    n_states: NDArray[np.int32]
    scores: NDArray[np.float64]
    begin: NDArray[np.int64]
    answered: NDArray[np.int64]
    own: int
    tables: bool

    @cached_property
    def compiled(self) -> _core.Forms:
        """What the core takes."""
        scores = self.scores, self.begin, self.answered
        return _core.make_forms(self.n_states, *scores, self.own, self.tables)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "compiled"}


def compiled(forms: Forms | None) -> _core.Forms | None:
    """Forms as the core takes them; None for whole tables."""
    return None if forms is None else forms.compiled


def core_forms(
    n_states: Sequence[int],
    matrices: Sequence[NDArray[np.float64]],
    answered: Sequence[int],
    *,
    own: int,
    tables: bool,
) -> Forms:
    """The forms of edges as the core knows them.

    Each column has a score matrix (states, k), of whose columns the first `answered` are about
    answers. Edges to columns from `own` on are whole tables; without `tables`, other pairs that
    have a smaller form have nothing else.
    """
    sizes = [np.size(matrix) for matrix in matrices]
    return Forms(
        np.asarray(n_states, dtype=np.int32),
        np.concatenate([np.ravel(matrix) for matrix in matrices]).astype(np.float64),
        np.cumsum([0, *sizes], dtype=np.int64),
        np.asarray(answered, dtype=np.int64),
        own,
        tables,
    )
