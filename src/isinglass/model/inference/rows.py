"""New rows in the codes of a model, and each column's chances given the rest of a row."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from isinglass.errors import Setting, SettingError, TableError
from isinglass.table.coding.factor import Factor, factorise
from isinglass.table.coding.states import look_up_states
from isinglass.table.column import Column
from isinglass.table.sources.opening import open_source
from isinglass.wording import listing, quoted

if TYPE_CHECKING:
    from isinglass.model.potentials import Potentials

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]


def encode_rows(field: Potentials, X: Any, columns: Iterable[int]) -> Codes:
    """Read some columns of a table; the others are not looked at, and are 0 in the answer.

    Columns of a frame are found by name, those of an array by position. A binned column may hold
    raw numbers, or the labels of its bins.
    """
    source = open_source(X)
    at = _positions(field, source.names, named=source.library is not None)
    columns = list(columns)
    _check_there(field, [v for v in columns if v not in at])
    codes = np.zeros((source.n_rows, len(field.names)), dtype=np.uint8, order="F")
    for v in columns:
        factor = factorise(field.names[v], source.cells(at[v]))
        codes[:, v] = look_up_states(column_of(field, v, factor), factor)
    return codes


def encode_with_gaps(field: Potentials, X: Any) -> tuple[Codes, NDArray[np.bool_]]:
    """Read all columns of the model; cells that are missing have code 0, and say so.

    A column in which the model takes a gap for an answer must have none.
    """
    source = open_source(X)
    at = _positions(field, source.names, named=source.library is not None)
    _check_there(field, [v for v in range(len(field.names)) if v not in at])
    codes = np.zeros((source.n_rows, len(field.names)), dtype=np.uint8, order="F")
    missing = np.zeros(codes.shape, dtype=bool, order="F")
    for v, name in enumerate(field.names):
        factor = factorise(name, source.cells(at[v]))
        missing[:, v] = factor.missing
        _check_no_answer(field, v, factor)
        seen = factor.rows(~factor.missing)
        codes[~factor.missing, v] = look_up_states(column_of(field, v, seen), seen)
    return codes, missing


def _check_no_answer(field: Potentials, v: int, factor: Factor) -> None:
    if field.states[v][-1] is None and factor.missing.any():
        raise SettingError(
            f"a missing value of {field.names[v]!r} is a state of this model, so there is nothing "
            "to complete; fit with ",
            Setting("missing", "available"),
            ' or "drop" instead of "state".',
        )


def column_of(field: Potentials, v: int, factor: Factor) -> Column:
    """A column of the model, as these cells have to be looked up."""
    cuts = field.cuts.get(v) if factor.reads_as_numbers else None
    return Column(field.names[v], field.states[v], ordered=False, cuts=cuts)


def _positions(field: Potentials, names: tuple[str, ...], named: bool) -> dict[int, int]:
    """Where each column of the model stands in the table."""
    if named:
        place = {name: position for position, name in enumerate(names)}
        return {v: place[name] for v, name in enumerate(field.names) if name in place}
    if len(names) != len(field.names):
        raise TableError(
            f"the table has {len(names)} columns, but the model {len(field.names)}; give the "
            "same columns in the same order, or a data frame with names."
        )
    return {v: v for v in range(len(names))}


def _check_there(field: Potentials, absent: list[int]) -> None:
    if absent:
        names = listing([quoted(field.names[v]) for v in absent], 8)
        raise TableError(f"the table has no column {names}, which the model needs.")


def log_chances(field: Potentials, codes: Codes, r: int) -> Array:
    """Log P(state of column r given the rest of the row), shape (n, m_r)."""
    scores = np.tile(field.intercepts[r], (len(codes), 1))
    for t, table in field.tables_of(r).items():
        scores += table[codes[:, t]]
    chances: Array = log_softmax(scores, axis=1)
    return chances


def pseudo_log_likelihood(field: Potentials, codes: Codes) -> Array:
    """Sum over columns of log P(column given the rest), for each row."""
    total = np.zeros(len(codes))
    for r in range(len(field.names)):
        chances = log_chances(field, codes, r)
        total += np.take_along_axis(chances, codes[:, r, None].astype(np.intp), axis=1)[:, 0]
    return total
