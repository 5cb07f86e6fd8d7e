"""The covariance of a model's parameters as plain values, read without trust."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.documents.document import Fault, choice, items, member, number, numbers
from isinglass.model.fit.layout import Layout, Pair
from isinglass.model.fit.parameter_errors import ParameterErrors
from isinglass.model.potentials import Potentials

Array = NDArray[np.float64]


def errors_to_json(errors: ParameterErrors) -> dict[str, Any]:
    """The errors as plain values; of the covariance, the part up to the diagonal."""
    order = list(errors.layout.edges)
    return {
        "intercept": errors.layout.intercept,
        "units": errors.units,
        "clustered": errors.clustered,
        "chose_graph": errors.chose_graph,
        "unbounded": [order.index(pair) for pair in sorted(errors.unbounded)],
        "covariance": [row[: at + 1].tolist() for at, row in enumerate(errors.covariance)],
    }


def errors_from_json(value: Any, field: Potentials) -> ParameterErrors:
    """The errors that `errors_to_json` wrote for a model; Fault if anything is odd."""

    def part(key: str) -> Any:
        return member(value, key, "errors")

    def yes_or_no(key: str) -> bool:
        return choice(part(key), f"{key} of the errors", (False, True))

    pairs: list[Pair] = list(field.couplings)
    layout = Layout(field.n_states, pairs, yes_or_no("intercept"))
    places = range(len(pairs))
    unbounded = items(part("unbounded"), "unbounded of the errors")
    units = number(part("units"), "units of the errors")
    if units <= 0:
        raise Fault("units of the errors must be positive")
    return ParameterErrors(
        layout,
        _covariance(part("covariance"), layout.size),
        frozenset(pairs[choice(at, "an unbounded edge", places)] for at in unbounded),
        units,
        yes_or_no("clustered"),
        yes_or_no("chose_graph"),
    )


def _covariance(value: Any, size: int) -> Array:
    rows = items(value, "the covariance", size)
    covariance = np.zeros((size, size))
    for at, row in enumerate(rows):
        covariance[at, : at + 1] = numbers(row, f"row {at} of the covariance", at + 1)
    covariance += np.tril(covariance, -1).T
    spread = np.diag(covariance)
    most = float(spread.max(initial=0.0))
    if size and np.linalg.eigvalsh(covariance)[0] < -1e-6 * max(most, 1e-300):
        raise Fault("the covariance is none: some direction would have a negative variance")
    return covariance
