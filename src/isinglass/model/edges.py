"""The graph of a model, and the numbers of its edges when no table is asked."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from isinglass.graph import Graph, Link, sign_of, trend_of
from isinglass.table.labels import sort_labels

if TYPE_CHECKING:
    from isinglass.model.potentials import Potentials

Array = NDArray[np.float64]


def graph_of(field: Potentials) -> Graph:
    """Which columns are coupled; see ``MarkovField.graph``."""
    ordered = [_is_ordered(labels) for labels in field.states]
    links = tuple(
        _link(i, j, table, ordered[i] and ordered[j], (i, j) in field.unbounded)
        for (i, j), table in field.couplings.items()
    )
    return Graph(field.names, links, field.library)


def _is_ordered(labels: Sequence[Hashable]) -> bool:
    """Two states always are: the second is the high one."""
    return len(labels) == 2 or sort_labels(labels, None, nominal=False) == (list(labels), True)


def _link(i: int, j: int, table: Array, ordered: bool, unbounded: bool) -> Link:
    coupling = float(table[1, 1]) if table.shape == (2, 2) else None
    return Link(
        i,
        j,
        strength=_strength_alone(table),
        sign=sign_of(trend_of(table)) if ordered else 0,
        coupling=coupling,
        log_odds=None if coupling is None else 4.0 * coupling,
        evidence=None,
        selected_by="both",
        unbounded=unbounded,
    )


def _strength_alone(table: Array) -> float:
    """sqrt(1 - exp(-2 c)), c the mutual information of two columns with this coupling only."""
    joint = np.exp(table - table.max())
    joint /= joint.sum()
    independent = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    seen = joint > 0
    c = float(np.sum(joint[seen] * np.log(joint[seen] / independent[seen])))
    return float(np.sqrt(-np.expm1(-2.0 * max(c, 0.0))))
