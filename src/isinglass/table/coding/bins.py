"""Measurements as a few ordered states: cut points at quantiles or given, and readable labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import Setting, SettingError
from isinglass.table.coding.factor import MISSING, Factor, code_dtype
from isinglass.table.coding.labels import are_numbers, are_texts_of_numbers, plain
from isinglass.wording import quoted

_LARGEST = int(np.finfo(np.float64).max)
Cuts: TypeAlias = tuple[float, ...]


def check_bins(bins: Mapping[str, Any], most: int) -> dict[str, int | Cuts]:
    """By column, a number of bins, at most so many, or the user's own cut points."""
    return {name: _checked(name, asked, most) for name, asked in bins.items()}


def _checked(at: Any, asked: Any, most: int) -> int | Cuts:
    if isinstance(asked, Sequence | np.ndarray) and not isinstance(asked, str | bytes):
        return _checked_cuts(at, list(asked), most)
    if isinstance(asked, bool) or not isinstance(asked, Integral) or asked < 2:
        raise SettingError(
            Setting("bins", {at: asked}), ": the number of bins must be a whole number, 2 or more."
        )
    _check_most(at, int(asked), most)
    return int(asked)


def _checked_cuts(at: Any, asked: list[Any], most: int) -> Cuts:
    cuts = [float(cut) for cut in asked if are_numbers([plain(cut)]) and abs(cut) <= _LARGEST]
    rising = all(low < high for low, high in pairwise([-np.inf, *cuts, np.inf]))
    if not cuts or len(cuts) < len(asked) or not rising:
        raise SettingError(
            Setting("bins", {at: asked}),
            ": cut points must be finite numbers, each larger than the one before.",
        )
    _check_most(at, len(cuts) + 1, most)
    return tuple(cuts)


def _check_most(at: Any, count: int, most: int) -> None:
    if count > most:
        raise SettingError(
            Setting("bins"),
            f" asks for {quoted(count)} bins of column {str(at)!r}; at most {most} states are "
            "supported. Use fewer bins.",
        )


def cut_points(name: str, factor: Factor, weights: NDArray[np.float64], asked: int | Cuts) -> Cuts:
    """Inner cut points: those given, or such that they share the rows out evenly.

    Of these each is a value of the column: the smallest with at least k/n_bins of the weight at
    or below it. So a weight of two is two rows, and no bin is empty. They are fewer where values
    repeat.
    """
    if not factor.reads_as_numbers:
        raise SettingError(
            f"column {name!r} is to be binned but holds {quoted(no_number(factor))}, which is not "
            "a number; remove it from ",
            *(Setting("bins"), ", or drop the column."),
        )
    return asked if isinstance(asked, tuple) else _quantiles(factor, weights, asked)


def _quantiles(factor: Factor, weights: NDArray[np.float64], n_bins: int) -> Cuts:
    values = _as_floats(factor)
    order = np.argsort(values)
    seen = ~factor.missing
    mass = np.bincount(factor.codes[seen], weights[seen], minlength=len(values))[order]
    # Counting from the total keeps whole weights exact, whatever their number.
    reached = np.cumsum(mass) * n_bins
    shares = np.arange(1, n_bins) * mass.sum()
    at = np.minimum(np.searchsorted(reached, shares), len(values) - 1)
    cuts = values[order[at]] if len(values) else values
    return tuple(float(cut) for cut in np.unique(cuts[cuts < values.max(initial=-np.inf)]))


def bin_factor(factor: Factor, cuts: Sequence[float]) -> Factor:
    """Replace each value by its bin, below a cut point that it equals; empty bins have no label."""
    if len(factor.labels) == 0:
        return factor
    bins = np.searchsorted(np.asarray(cuts), _as_floats(factor))
    used, place = np.unique(bins, return_inverse=True)
    table = np.full(len(factor.labels) + 1, MISSING, dtype=code_dtype(len(used)))
    table[:-1] = place
    labels = bin_labels(cuts)
    seen = np.array([labels[at] for at in used], dtype=object)
    return replace(factor, codes=table[factor.codes], labels=seen, categories=labels)


def _as_floats(factor: Factor) -> NDArray[np.float64]:
    try:
        return factor.labels.astype(np.float64)
    except OverflowError:  # a whole number beyond all floats
        labels: list[Any] = list(factor.labels)
        clipped = [max(min(label, _LARGEST), -_LARGEST) for label in labels]
        return np.array(clipped, dtype=np.float64)


def no_number(factor: Factor) -> Any:
    """The first label that is no number and no text of one, or that is not of the others' kind."""
    labels = factor.plain_labels()
    alike = are_texts_of_numbers if are_texts_of_numbers(labels[:1]) else are_numbers
    return next(label for label in labels if not alike([label]))


def bin_labels(cuts: Sequence[float]) -> tuple[str, ...]:
    """The labels of the bins between cut points."""
    if not cuts:
        return ("any value",)
    edges = [repr(cut).removesuffix(".0") for cut in cuts]
    between = [f"> {low} to {high}" for low, high in pairwise(edges)]
    return (f"<= {edges[0]}", *between, f"> {edges[-1]}")


def bin_of(cuts: Sequence[float], value: float) -> str:
    """The label of the bin that a value falls into.

    >>> bin_of((25.0, 45.0), 30), bin_of((25.0, 45.0), 25)
    ('> 25 to 45', '<= 25')
    """
    return bin_labels(cuts)[int(np.searchsorted(np.asarray(cuts), value))]
