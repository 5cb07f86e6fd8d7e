"""Models for pgmpy, and back: its Markov networks of discrete factors."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import MissingExtra, SettingError
from isinglass.model import MarkovField

Array = NDArray[np.float64]

#: The largest span of the log-potentials of a factor: beyond, a potential would be zero.
SPAN = 690.0


def to_pgmpy(field: MarkovField) -> Any:
    """Return a pgmpy ``DiscreteMarkovNetwork``: one factor per column and one per edge.

    States keep their labels. Each factor is divided by its largest entry, which changes nothing
    but the partition function.
    """
    try:
        from pgmpy.factors.discrete import DiscreteFactor
        from pgmpy.models import DiscreteMarkovNetwork
    except ModuleNotFoundError as error:
        raise MissingExtra("a pgmpy network needs pgmpy: pip install pgmpy") from error

    def factor(columns: Sequence[int], table: Array) -> Any:
        names = [field.names[v] for v in columns]
        if np.ptp(table) > SPAN:
            raise SettingError(
                f"the potentials of {' and '.join(map(repr, names))} span exp({np.ptp(table):.4g});"
                f" pgmpy holds up to exp({SPAN:g})."
            )
        return DiscreteFactor(
            names,
            table.shape,
            np.exp(table - table.max()),
            state_names={field.names[v]: list(field.states[v]) for v in columns},
        )

    network = DiscreteMarkovNetwork()
    network.add_nodes_from(field.names)
    network.add_edges_from([(field.names[i], field.names[j]) for i, j in field.couplings])
    network.add_factors(
        *(factor([v], intercept) for v, intercept in enumerate(field.intercepts)),
        *(factor(pair, table) for pair, table in field.couplings.items()),
    )
    return network


def from_pgmpy(network: Any, library: str | None = None) -> MarkovField:
    """Make a model of a pgmpy Markov network whose factors have one or two columns.

    Factors on the same columns are multiplied. Names become text; states keep their labels.
    Zero potentials, which rule rows out, are refused.
    """
    factors = list(network.get_factors())
    states = _states(network, factors)
    number = {node: v for v, node in enumerate(states)}
    intercepts = [np.zeros(len(labels)) for labels in states.values()]
    couplings: dict[tuple[int, int], Array] = {}
    for factor in factors:
        columns = [number[node] for node in factor.scope()]
        table = _logs(factor, columns)
        if len(columns) == 1:
            intercepts[columns[0]] += table
        else:
            i, j = sorted(columns)
            table = table if columns == [i, j] else table.T
            couplings[i, j] = couplings.get((i, j), np.zeros(table.shape)) + table
    return MarkovField.from_potentials(
        [str(node) for node in states], list(states.values()), intercepts, couplings, library
    )


def _states(network: Any, factors: Sequence[Any]) -> dict[Hashable, list[Hashable]]:
    """The labels of each node, in the network's order."""
    known: dict[Hashable, list[Hashable]] = {}
    for factor in factors:
        for node in factor.scope():
            labels = list(factor.state_names[node])
            if known.setdefault(node, labels) != labels:
                raise SettingError(f"two factors give {str(node)!r} different states.")
    unknown = [node for node in network.nodes if node not in known]
    if unknown:
        raise SettingError(f"{str(unknown[0])!r} is in no factor, so its states are not known.")
    return {node: known[node] for node in network.nodes}


def _logs(factor: Any, columns: Sequence[int]) -> Array:
    if len(columns) > 2:
        raise SettingError(
            f"a factor joins {len(columns)} columns; a pairwise model has two at most."
        )
    potentials = np.asarray(factor.values, dtype=np.float64)
    if not (np.isfinite(potentials).all() and (potentials > 0).all()):
        names = " and ".join(repr(str(node)) for node in factor.scope())
        raise SettingError(f"a potential of {names} is not a positive finite number.")
    return np.log(potentials)
