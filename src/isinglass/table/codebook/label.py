"""A column of codes becomes a column of labels, in their order; missing codes become null."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from isinglass.errors import SettingError
from isinglass.table.codebook.variable import Variable, as_number, as_text, is_missing, is_number
from isinglass.table.coding.states import low_then_high
from isinglass.wording import listing, quoted

if TYPE_CHECKING:
    import polars as pl

#: A column with more distinct values is a measurement or free text: labels are for its codes only.
MOST_CODES = 256
#: With more distinct values than this, labels of some of them do not make a scale.
LONGEST_SCALE = 12


def labelled(cells: pl.Series, variable: Variable) -> pl.Series:
    """A column as its codebook says it is."""
    cells = with_nulls(cells, variable)
    said = bool(variable.values) or variable.order not in (None, True)
    if not said or cells.n_unique() > MOST_CODES + 1:
        return cells
    codes = _sorted(cells.unique().drop_nulls().to_list())
    texts = _texts(codes, variable)
    if texts is None:
        return cells
    states = _in_order(cells.name, codes, texts, variable)
    return _as_states(cells, codes, texts, states, ordered=_is_ordered(codes, variable))


def with_nulls(cells: pl.Series, variable: Variable) -> pl.Series:
    """Make codes for missing values null."""
    import polars as pl

    if not variable.missing:
        return cells
    if cells.dtype.is_numeric():
        numbers = cells.cast(pl.Float64)
        gone = pl.Series([False]).new_from_index(0, len(cells))
    else:
        texts = cells.cast(pl.String)
        numbers = texts.cast(pl.Float64, strict=False)
        gone = texts.is_in([as_text(code) for code in variable.missing_codes])
    codes = [as_number(code) for code in variable.missing_codes if is_number(code)]
    gone |= numbers.is_in(codes)
    for low, high in variable.missing_ranges:
        gone |= numbers.is_between(low, high)
    return cells.set(gone.fill_null(False), None)


def _sorted(codes: list[Any]) -> list[Any]:
    """Codes in the order of their numbers, if all have one."""
    return sorted(codes, key=as_number if all(map(is_number, codes)) else str)


def _texts(codes: Sequence[Any], variable: Variable) -> list[str] | None:
    """The label of each code, or its text; None if labels do not describe the column."""
    labels = _labels_by_code(variable)
    known = [labels.get(as_text(code)) for code in codes]
    # Unordered numbers without labels are told apart from ordered ones, unless they are but two.
    worth = any(known) or (variable.order is False and len(codes) > 2)
    complete = all(known) or len(codes) <= LONGEST_SCALE
    if not isinstance(variable.order, tuple) and not (worth and complete):
        return None
    texts = [label or as_text(code) for label, code in zip(known, codes, strict=True)]
    # Two codes of one label stay two answers.
    times = Counter(texts)
    return [
        f"{text} ({as_text(code)})" if times[text] > 1 else text
        for text, code in zip(texts, codes, strict=True)
    ]


def _labels_by_code(variable: Variable) -> dict[str, str]:
    """Labels by the texts of their codes, without codes for missing values."""
    labels = {}
    for code, label in variable.values.items():
        if not is_missing(variable, code):
            labels[as_text(as_number(code) if is_number(code) else code)] = label
            labels.setdefault(as_text(code), label)
    return labels


def _in_order(
    name: str, codes: Sequence[Any], texts: Sequence[str], variable: Variable
) -> list[str]:
    """The states of a column, those too that no row has, from low to high."""
    if isinstance(variable.order, tuple):
        wanted = _wanted(name, codes, texts, variable.order)
        return list(dict.fromkeys([*wanted, *texts])) if len(wanted) > 1 else list(texts)
    states = list(texts)
    if len(states) == 2:
        return [str(state) for state in low_then_high(states)]
    return states


def _wanted(
    name: str, codes: Sequence[Any], texts: Sequence[str], order: Sequence[str]
) -> list[str]:
    """States in the order that was asked for, each given by its label or its code."""
    by_code = {as_text(code): text for code, text in zip(codes, texts, strict=True)}
    wanted = [by_code.get(as_text(state), str(state)) for state in order]
    left = [text for text in texts if text not in wanted]
    if left:
        raise SettingError(
            f"the codebook gives the order of column {name!r} without "
            f"{listing([quoted(text) for text in left])}; name all its states, or declare "
            "those that are no answer as missing."
        )
    return wanted


def _is_ordered(codes: Sequence[Any], variable: Variable) -> bool:
    if len(codes) <= 2 or isinstance(variable.order, tuple):
        return True
    if variable.order is not None:
        return variable.order
    return all(map(is_number, codes))


def _as_states(
    cells: pl.Series,
    codes: Sequence[Any],
    texts: Sequence[str],
    states: Sequence[str],
    *,
    ordered: bool,
) -> pl.Series:
    import polars as pl

    kind = pl.Enum(states) if ordered else pl.Categorical()
    if not codes:
        return cells
    if cells.dtype in (pl.Categorical, pl.Enum):
        cells = cells.cast(pl.String)
    old = pl.Series(codes, dtype=cells.dtype)
    new = pl.Series(texts, dtype=pl.String)
    return cells.replace_strict(old, new, default=None, return_dtype=pl.String).cast(kind)


def with_labels(frame: pl.DataFrame, codebook: Mapping[str, Variable]) -> pl.DataFrame:
    """A table whose columns are as a codebook says; it may name columns that are not there."""
    known = [name for name in frame.columns if name in codebook]
    return frame.with_columns(labelled(frame[name], codebook[name]) for name in known)
