"""Rows of a table in the codes of a model and back, and what the model says about each of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from isinglass.errors import Setting, SettingError, TableError
from isinglass.frames import frame
from isinglass.graph import position_of
from isinglass.model.adjustment import moved, with_columns
from isinglass.model.inference import elimination
from isinglass.model.inference.methods import MEMORY
from isinglass.model.labelled import labels_array
from isinglass.parameters import checked
from isinglass.table.cells import open_source
from isinglass.table.coding.factor import Factor, factorise
from isinglass.table.coding.states import look_up_states
from isinglass.table.column import Column
from isinglass.wording import listing, quoted

if TYPE_CHECKING:
    from isinglass.model.field import MarkovField

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]


def encode_rows(field: MarkovField, X: Any, columns: Iterable[int]) -> Codes:
    """Read some columns of a table; the others are not looked at, and are 0 in the answer.

    Columns of a frame are found by name, those of an array by position. A binned column may hold
    raw numbers, or the labels of its bins.
    """
    codes, factors = _open(field, X, list(columns))
    for v, factor in factors:
        codes[:, v] = look_up_states(column_of(field, v, factor), factor)
    return codes


def encode_with_missing(field: MarkovField, X: Any) -> tuple[Codes, NDArray[np.bool_]]:
    """Read all columns of the model; cells that are missing have code 0, and say so."""
    codes, factors = _open(field, X, range(len(field.names)))
    missing = np.zeros(codes.shape, dtype=bool, order="F")
    for v, factor in factors:
        missing[:, v] = factor.missing
        if field.states[v][-1] is None and factor.missing.any():
            raise SettingError(
                f"a missing value of {field.names[v]!r} is a state of this model, so there is "
                "nothing to complete; fit with ",
                *(Setting("missing", "available"), ' or "drop" instead of "state".'),
            )
        seen = factor.rows(~factor.missing)
        codes[~factor.missing, v] = look_up_states(column_of(field, v, seen), seen)
    return codes, missing


def _open(
    field: MarkovField, X: Any, columns: Sequence[int]
) -> tuple[Codes, Iterator[tuple[int, Factor]]]:
    """Codes that are all 0, and the cells of each column of the model, in turn."""
    source = open_source(X)
    at = {name: position for position, name in enumerate(source.names)}
    if source.library is None:
        if len(source.names) != len(field.names):
            raise TableError(
                f"the table has {len(source.names)} columns, but the model {len(field.names)}; "
                "give the same columns in the same order, or a data frame with names."
            )
        at = {name: position for position, name in enumerate(field.names)}
    names = [field.names[v] for v in columns]
    absent = [quoted(name) for name in names if name not in at]
    if absent:
        raise TableError(f"the table has no column {listing(absent, 8)}, which the model needs.")
    codes = np.zeros((source.n_rows, len(field.names)), dtype=np.uint8, order="F")
    factors = (factorise(name, source.cells(at[name])) for name in names)
    return codes, zip(columns, factors, strict=True)


def column_of(field: MarkovField, v: int, factor: Factor) -> Column:
    """A column of the model, as these cells have to be looked up."""
    cuts = field.cuts.get(v) if factor.reads_as_numbers else None
    return Column(field.names[v], field.states[v], ordered=False, cuts=cuts)


def log_potential(field: MarkovField, codes: NDArray[np.integer[Any]]) -> Array:
    """Log-probability of each row of codes, but for the constant `log_partition`.

    >>> from isinglass import MarkovField
    >>> field = MarkovField.from_potentials("a", [("no", "yes")], [[-1, 1]], {})
    >>> field.log_potential(np.array([[0], [1]])).tolist()
    [-1.0, 1.0]
    """
    total = np.zeros(len(codes))
    for j, intercept in enumerate(field.intercepts):
        total += intercept[codes[:, j]]
    for (i, j), table in field.couplings.items():
        total += table[codes[:, i], codes[:, j]]
    return total


@checked
def log_likelihood(field: MarkovField, X: Any, *, memory: float = MEMORY) -> Array:
    """Log-probability of each row of a table of labels, exactly; shape (n,).

    Sampling cannot give it, so a model beyond `memory` is refused; `pseudo_log_likelihood`
    answers for any model. Rows have the columns that the model was adjusted for; those of an array
    come last.

    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> common, rare = field.log_likelihood([[1, 1, 1], [1, -1, 1]])
    >>> bool(common > rare)
    True
    """
    p, wide = len(field.names), with_columns(field)
    codes = encode_rows(wide, X, range(len(wide.names)))
    order = elimination.plan_within(field, memory, ", or take pseudo_log_likelihood")
    found = np.empty(len(codes))
    beside, which = np.unique(codes[:, p:], axis=0, return_inverse=True)
    for at, states in enumerate(beside):
        rows, there = which.ravel() == at, moved(field, dict(enumerate(states.tolist())))
        found[rows] = log_potential(there, codes[rows, :p]) - elimination.log_sum(there, order)
    return found


def log_probabilities(field: MarkovField, codes: Codes, r: int) -> Array:
    """Log P(state of column r given the rest of the row), shape (n, m_r)."""
    scores = np.tile(field.intercepts[r], (len(codes), 1))
    for t, table in field.tables_of(r).items():
        scores += table[codes[:, t]]
    return np.asarray(log_softmax(scores, axis=1))


@checked
def predict_proba(field: MarkovField, X: Any, column: str) -> Array:
    """Probabilities of a column's states given the rest of each row, shape (n, m).

    Only the column's neighbours are looked at: its own cells may hold anything, and a frame
    need not have it.

    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> field.predict_proba([[1, 1, 1], [-1, 1, 1]], "x1").round(2).tolist()
    [[0.04, 0.96], [0.5, 0.5]]
    """
    r, field = position_of(column, field.names), with_columns(field)
    return np.exp(log_probabilities(field, encode_rows(field, X, field.tables_of(r)), r))


@checked
def predict(field: MarkovField, X: Any, column: str) -> NDArray[Any]:
    """The most likely label of a column given the rest of each row, shape (n,).

    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> field.predict([[1, 1, 1], [-1, 1, -1]], "x1").tolist()
    [1, -1]
    """
    (labels,) = labels_array(field.states[position_of(column, field.names)])
    return np.asarray(labels[predict_proba(field, X, column).argmax(axis=1)])


def pseudo_log_likelihood(field: MarkovField, X: Any) -> Array:
    """Sum over columns of log P(its cell given the rest of the row); shape (n,).

    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> common, rare = field.pseudo_log_likelihood([[1, 1, 1], [1, -1, 1]])
    >>> bool(common > rare)
    True
    """
    p, field = len(field.names), with_columns(field)
    codes = encode_rows(field, X, range(len(field.names)))
    total = np.zeros(len(codes))
    for r in range(p):
        logs = log_probabilities(field, codes, r)
        total += np.take_along_axis(logs, codes[:, r, None].astype(np.intp), axis=1)[:, 0]
    return total


def score_samples(field: MarkovField, X: Any) -> Array:
    """How ordinary each row is: its pseudo-log-likelihood, under scikit-learn's name.

    It needs no partition function, so any model has it; the lowest rows are the oddest.

    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> field.score_samples([[1, 1, 1], [1, -1, 1]]).argmin()  # the odd row
    np.int64(1)
    """
    return pseudo_log_likelihood(field, X)


def labelled_rows(field: MarkovField, codes: Codes) -> Any:
    """Rows of labels: an array, or a frame of the model's library."""
    labels = labels_array(*field.states)
    if field.library is None:
        table = np.empty(codes.shape, dtype=labels[0].dtype, order="F")
        for j, of_column in enumerate(labels):
            table[:, j] = of_column[codes[:, j]]
        return table
    columns = zip(field.names, labels, codes.T, strict=True)
    return frame({name: of[column].tolist() for name, of, column in columns}, field.library)


def refilled(field: MarkovField, X: Any, codes: Codes, missing: NDArray[np.bool_]) -> Any:
    """The table X with its missing values filled in by the states' labels.

    Cells that are seen, other columns, and the types of columns stay as they came. Only a binned
    column with missing values comes back as the labels of its bins.
    """
    X = nw.to_native(X, pass_through=True)
    if nw.dependencies.is_into_dataframe(X):
        return _refilled_frame(field, X, codes, missing)
    return _refilled_array(field, X, codes, missing)


def _refilled_frame(field: MarkovField, X: Any, codes: Codes, missing: NDArray[np.bool_]) -> Any:
    table = nw.from_native(X, eager_only=True)
    by_text = {str(name): name for name in table.columns}
    for v in np.flatnonzero(missing.any(axis=0)).tolist():
        labels = labels_array(field.states[v])[0][codes[:, v]]
        name = by_text[field.names[v]]
        series = None if v in field.cuts else _filled(table[name], labels, missing[:, v])
        if series is None:
            series = nw.new_series(name, labels.tolist(), backend=table.implementation)
            if table.implementation.is_pandas_like():
                series = nw.from_native(series.to_native().set_axis(X.index), series_only=True)
        table = table.with_columns(series)
    return table.to_native()


def _filled(
    cells: nw.Series[Any], labels: NDArray[Any], missing: NDArray[np.bool_]
) -> nw.Series[Any] | None:
    """A column with its missing values filled in; None if its type cannot hold the labels."""
    rows = np.flatnonzero(missing).tolist()
    values = labels[missing].tolist()
    try:
        fill = nw.new_series(cells.name, values, backend=cells.implementation)
        fill = fill if cells.dtype == nw.Object else fill.cast(cells.dtype)
        filled = cells.scatter(rows, fill)
    except Exception:  # each library has its own errors for a type that does not fit
        return None
    return filled if filled.dtype == cells.dtype and not filled.is_null().any() else None


def _refilled_array(field: MarkovField, X: Any, codes: Codes, missing: NDArray[np.bool_]) -> Any:
    numeric = isinstance(X, np.ndarray) and X.dtype.kind in "biuf"
    filled = np.array(X, dtype=object)
    binned = False
    for v in np.flatnonzero(missing.any(axis=0)).tolist():
        rows = slice(None) if v in field.cuts else missing[:, v]
        binned |= v in field.cuts
        filled[rows, v] = labels_array(field.states[v])[0][codes[rows, v]]
    return filled.astype(X.dtype) if numeric and not binned else filled
