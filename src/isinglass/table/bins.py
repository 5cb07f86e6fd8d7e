"""Measurements as a few ordered states: cut points at quantiles, and readable labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import SettingError
from isinglass.table.codes import GAP, code_dtype
from isinglass.table.factor import Factor
from isinglass.table.labels import are_numbers, are_texts_of_numbers
from isinglass.table.settings import column_named
from isinglass.table.wording import quoted

__all__ = ["bin_factor", "check_bins", "cut_points", "no_number"]


def check_bins(bins: Any, names: Sequence[str], *, unnamed: bool) -> dict[str, int]:
    """Column name to number of bins; a column without a name may be given by position."""
    if bins is None:
        return {}
    if not isinstance(bins, Mapping):
        raise SettingError(
            f"bins must be a dict of column name to number of bins, got {quoted(bins)}."
        )
    return {column_named("bins", at, names, unnamed=unnamed): _count(at, bins[at]) for at in bins}


def _count(at: Any, n_bins: Any) -> int:
    if isinstance(n_bins, bool) or not isinstance(n_bins, Integral) or n_bins < 2:
        raise SettingError(
            f"bins={{{at!r}: {quoted(n_bins)}}}: the number of bins must be a whole number, "
            "2 or more."
        )
    return int(n_bins)


def cut_points(
    name: str, factor: Factor, weights: NDArray[np.float64], n_bins: int
) -> tuple[float, ...]:
    """Inner cut points that share the rows out evenly; fewer where values repeat.

    Each is a value of the column: the smallest with at least k/n_bins of the weight at or
    below it. So a weight of two is two rows, and no bin is empty.
    """
    _check_numbers(name, factor)
    values = factor.labels.astype(np.float64)
    order = np.argsort(values)
    seen = ~factor.gaps
    mass = np.bincount(factor.codes[seen], weights[seen], minlength=len(values))[order]
    # Counting from the total keeps whole weights exact, whatever their number.
    reached = np.cumsum(mass) * n_bins
    shares = np.arange(1, n_bins) * mass.sum()
    at = np.minimum(np.searchsorted(reached, shares), len(values) - 1)
    cuts = values[order[at]] if len(values) else values
    return tuple(float(cut) for cut in np.unique(cuts[cuts < values.max(initial=-np.inf)]))


def bin_factor(factor: Factor, cuts: Sequence[float]) -> Factor:
    """Replace each value by its bin; a value equal to a cut point falls below it."""
    if len(factor.labels) == 0:
        return factor
    labels = _bin_labels(cuts)
    table = np.full(len(factor.labels) + 1, GAP, dtype=code_dtype(len(labels)))
    table[:-1] = np.searchsorted(np.asarray(cuts), factor.labels.astype(np.float64))
    used = np.array(labels, dtype=object)
    return replace(factor, codes=table[factor.codes], labels=used, categories=labels)


def _check_numbers(name: str, factor: Factor) -> None:
    if factor.reads_as_numbers:
        return
    raise SettingError(
        f"column {name!r} is to be binned but holds {quoted(no_number(factor))}, which is no "
        "number; take it out of bins, or drop the column."
    )


def no_number(factor: Factor) -> Any:
    """The first label that is no number and no text of one, or that is not of the others' kind."""
    labels = factor.plain_labels()
    alike = are_texts_of_numbers if are_texts_of_numbers(labels[:1]) else are_numbers
    return next(label for label in labels if not alike([label]))


def _bin_labels(cuts: Sequence[float]) -> tuple[str, ...]:
    if not cuts:
        return ("any value",)
    edges = [repr(cut).removesuffix(".0") for cut in cuts]
    between = [f"> {low} to {high}" for low, high in pairwise(edges)]
    return (f"<= {edges[0]}", *between, f"> {edges[-1]}")
