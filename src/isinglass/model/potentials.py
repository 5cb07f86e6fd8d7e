"""The numbers of a model: parts that fit together, in the zero-sum gauge."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.core.gate import MAX_STATES
from isinglass.errors import SettingError
from isinglass.table.coding.labels import key
from isinglass.wording import quoted

Array = NDArray[np.float64]
Pair = tuple[int, int]


def frozen(numbers: ArrayLike) -> Array:
    """A copy that cannot be changed."""
    array = np.array(numbers, dtype=np.float64)
    array.setflags(write=False)
    return array


def zero_sum(
    intercepts: Sequence[Array], couplings: Mapping[Pair, Array]
) -> tuple[tuple[Array, ...], dict[Pair, Array]]:
    """The same distribution with intercepts and tables that sum to zero."""
    fields, tables = [np.array(intercept) for intercept in intercepts], {}
    for (i, j), table in couplings.items():
        rows, columns = table.mean(axis=1), table.mean(axis=0)
        fields[i] += rows
        fields[j] += columns
        tables[i, j] = table - rows[:, None] - columns + table.mean()
    return tuple(field - field.mean() for field in fields), tables


def check_columns(
    names: Sequence[str],
    states: Sequence[Sequence[Hashable]],
    intercepts: Sequence[Array],
    couplings: Mapping[Pair, Array],
) -> None:
    """Raise SettingError unless all parts of a model fit together."""
    p = len(names)
    if not p:
        raise SettingError("a model needs at least one column.")
    if len(set(names)) < p:
        raise SettingError("two columns of the model have the same name; give each its own.")
    if not len(states) == len(intercepts) == p:
        raise SettingError(
            f"{p} names, {len(states)} columns of states and {len(intercepts)} intercepts do not "
            "fit together; give one of each for every column."
        )
    for name, labels, intercept in zip(names, states, intercepts, strict=True):
        _check_column(name, labels, intercept)
    for (i, j), table in couplings.items():
        if not 0 <= i < j < p:
            raise SettingError(f"a coupling joins columns i < j below {p}, not {(i, j)}.")
        shape = len(states[i]), len(states[j])
        if table.shape != shape:
            raise SettingError(
                f"the coupling of {quoted(names[i])} and {quoted(names[j])} has shape "
                f"{table.shape}; their states need {shape}."
            )


def _check_column(name: str, labels: Sequence[Hashable], intercept: Array) -> None:
    m = len(labels)
    if not 1 <= m <= MAX_STATES:
        raise SettingError(f"{quoted(name)} has {m} states; 1 to {MAX_STATES} are possible.")
    if len(set(map(key, labels))) < m:
        raise SettingError(f"{quoted(name)} has two states with the same label; give each its own.")
    if intercept.shape != (m,):
        raise SettingError(
            f"the intercept of {quoted(name)} has shape {intercept.shape}; its {m} states need "
            f"({m},)."
        )


def check_zero_sum(
    names: Sequence[str], intercepts: Sequence[Array], couplings: Mapping[Pair, Array]
) -> None:
    """Raise SettingError unless all log-potentials are finite and sum to zero."""
    for name, intercept in zip(names, intercepts, strict=True):
        _check_zero_sum(intercept, f"the intercept of {quoted(name)}")
    for (i, j), table in couplings.items():
        _check_zero_sum(table, f"the coupling of {quoted(names[i])} and {quoted(names[j])}")


def _check_zero_sum(numbers: Array, what: str) -> None:
    largest = float(np.abs(numbers).max())
    if not np.isfinite(largest):
        raise SettingError(f"{what} is not finite; log-potentials must be finite numbers.")
    slack = 1e-9 * max(1.0, largest)
    sums = [np.abs(numbers.sum(axis=axis)).max() / m for axis, m in enumerate(numbers.shape)]
    if max(sums) > slack:
        raise SettingError(
            f"{what} does not sum to zero; MarkovField.from_potentials takes any log-potentials."
        )
