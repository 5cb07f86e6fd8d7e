"""From a column's distinct labels to its states: learned in fit, looked up afterwards."""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from isinglass.errors import Setting, SettingError, TableError, UnseenState
from isinglass.table.coding.bins import bin_factor, no_number
from isinglass.table.coding.factor import Codes, Factor
from isinglass.table.coding.labels import (
    are_texts_of_numbers,
    has_infinity,
    key,
    match_label,
    sort_labels,
)
from isinglass.table.column import Column
from isinglass.wording import listing, quoted


def check_finite(name: str, factor: Factor) -> None:
    """Raise TableError if the column holds an infinite number."""
    kind = factor.labels.dtype.kind
    infinite = (
        bool(np.isinf(factor.labels).any())
        if kind == "f"
        else kind == "O" and has_infinity(factor.labels)
    )
    if infinite:
        raise TableError(
            f"column {name!r} holds an infinite number (inf); replace it by a finite one, or "
            "by NaN if the value is unknown."
        )


def learn_states(
    name: str, factor: Factor, missing: str, high: Mapping[str, Any]
) -> tuple[Column, Codes]:
    """The states of a column in their order, and its rows in codes of them."""
    states, ordered = sort_labels(factor.plain_labels(), factor.categories, factor.nominal)
    incomplete, counted = bool(factor.missing.any()), missing == "state"
    if len(states) == 2 and not ordered:
        states, ordered = low_then_high(states), True
    if name in high:
        if incomplete and counted:
            raise SettingError(
                *(Setting("high"), f" names a state of column {name!r}, whose missing values are "),
                *("a state of their own (", Setting("missing", "state"), "), always the last "),
                "one. Leave this column out.",
            )
        states, ordered = high_last(name, states, high[name]), True
    if incomplete:
        # Two states have an order even if one of them is the missing state, the high one.
        states, ordered = [*states, None], len(states) == 1 if counted else ordered
    column = Column(name, tuple(states), ordered)
    return column, look_up_states(column, factor)


def look_up_states(column: Column, factor: Factor) -> Codes:
    """The rows of a column in codes of states that are known already."""
    if column.cuts is not None:
        if not factor.reads_as_numbers:
            raise _unseen(column, no_number(factor))
        factor = bin_factor(factor, column.cuts)
    place = {key(state): code for code, state in enumerate(column.states)}
    # MISSING, being -1, finds the last entry: the missing state, which is last as well.
    table = np.full(len(factor.labels) + 1, len(column.states) - 1)
    for position, label in enumerate(factor.plain_labels()):
        if key(label) not in place:
            raise _unseen(column, label)
        table[position] = place[key(label)]
    if not column.has_missing_state and factor.missing.any():
        raise _unseen(column, None)
    return table.astype(np.uint8)[factor.codes]


def _unseen(column: Column, label: Any) -> UnseenState:
    what = "a missing value" if label is None else quoted(label)
    known = listing([quoted(state) for state in column.states], 8)
    return UnseenState(
        f"column {column.name!r} holds {what}, which fit never saw; it knows {known}.",
        column=column.name,
        state=label,
    )


_LOW = """
    no n false f off absent nay negative neg - disagree never none nothing control controls
    low lower wrong incorrect fail failed failure reject rejected against unexposed loss lost
    without nein falsch aus abwesend negativ niemals dagegen ohne nee onwaar afwezig oneens
    nej nei falsk av ei väärin non faux absente négatif négative jamais contre
    falso ausente negativo nunca contra não nao desacordo assente contro
    nie fałsz ne nepravda нет ложь ні не nu fals nem hamis hayır hayir yanlış yok
    όχι ψευδές لا خطأ לא שקר नहीं tidak bukan salah không sai hapana
    否 不 无 無 沒有 没有 不是 假 阴性 陰性 反对 いいえ ない なし 偽 아니오 아니요 거짓 없음
"""
_HIGH = """
    yes y true t on present yea aye positive pos + agree ever always some case cases
    high higher right correct pass passed success accept accepted for exposed win won with
    ja wahr richtig ein anwesend vorhanden positiv immer dafür mit waar aanwezig eens
    sant sann på já kyllä jah oikein oui vrai vraie présent présente positif toujours pour
    sí si verdadero cierto presente positivo siempre sim verdadeiro sempre vero acuerdo
    tak prawda ano pravda так да правда da adevărat igen igaz evet doğru var
    ναι αληθές نعم صحيح כן אמת हाँ हां ya benar có đúng ndiyo
    是 有 对 對 真 阳性 陽性 赞成 はい ある あり 예 네 참 있음
"""
_NEGATIONS = """
    no not non un in im dis without nicht kein keine ohne sans senza sin não не
"""


def _folded(text: str) -> str:
    """The text whatever its case, and however its accents are written."""
    return unicodedata.normalize("NFKC", text).strip().casefold()


_WORDS = dict.fromkeys(_folded(_LOW).split(), 0) | dict.fromkeys(_folded(_HIGH).split(), 2)


def low_then_high(labels: Sequence[Any]) -> list[Any]:
    """Put two labels, given in their usual order, in the order low, high.

    >>> low_then_high(["ja", "nein"]), low_then_high(["non-smoker", "smoker"])
    (['nein', 'ja'], ['non-smoker', 'smoker'])
    """
    first, second = labels
    if not (isinstance(first, str) and isinstance(second, str)):
        return [first, second]
    if are_texts_of_numbers(labels):
        return sorted(labels, key=float)
    if _negates(first, second) != _negates(second, first):
        return [first, second] if _negates(first, second) else [second, first]
    return sorted([first, second], key=lambda label: _WORDS.get(_folded(label), 1))


def _negates(label: str, other: str) -> bool:
    label, other = _folded(label), _folded(other)
    before = label.removesuffix(other).strip(" -_") if label.endswith(other) else ""
    return before in _NEGATIONS.split()


def high_last(name: str, states: Sequence[Hashable], high: Any) -> list[Hashable]:
    """Put the two states of a column in the order that the user asked for."""
    if len(states) < 2:  # as in a part of the rows
        return list(states)
    if len(states) > 2:
        raise SettingError(
            Setting("high"),
            f" names a state of column {name!r}, which has {len(states)} states; only columns "
            "with two states have a high one. Leave this column out.",
        )
    at = match_label(states, high)
    if at is None:
        known = listing([quoted(state) for state in states])
        raise SettingError(
            Setting("high"),
            f" names {quoted(high)}, which is not a state of column {name!r}; "
            f"its states are {known}.",
        )
    return [states[1 - at], states[at]]
