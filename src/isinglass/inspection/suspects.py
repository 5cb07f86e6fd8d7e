"""Codes that probably stand for a missing value: -99, 8 and 9 above a scale, "refused"."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from isinglass.inspection.facts import Facts

_WORDS = """
    ?|.|-|--|---|n/a|na|n.a.|n.a|#n/a|nan|null|nil|none given|missing|(missing)|not available|
    refused|refusal|refuse|refuse to answer|refused to answer|prefer not to answer|
    prefer not to say|rather not say|decline to answer|declined|no answer|no response|
    not answered|unanswered|not applicable|not asked|inapplicable|skipped|skip|not stated|
    don't know|dont know|do not know|don’t know|dk|dk/na|dk/ref|dk/refused|don't know/refused|
    unknown|not known|unsure/refused|no data|no information|not ascertained|
    weiß nicht|weiss nicht|keine angabe|k.a.|verweigert|trifft nicht zu|
    no sabe|no contesta|ns/nc|no aplica|ne sait pas|sans réponse|refus|nsp|
    não sabe|não respondeu|weet niet|geen antwoord|vet ej|ej svar|vet ikke|non so|non risponde
"""
#: Words, in small letters, that mean that there is no answer.
NO_ANSWER = frozenset(word.strip() for word in _WORDS.split("|"))
#: Numbers that stand for no answer where all others are 0 or more.
_NEGATIVE = frozenset(
    sign * each
    for sign in (-1,)
    for digit in (6, 7, 8, 9)
    for each in (digit, 11 * digit, 90 + digit, 111 * digit, 990 + digit, 1111 * digit)
) | {-1, -2, -3, -4, -5}
#: Codes at the upper end of a scale, by their number of digits.
_UPPER = {
    1: (7, 8, 9),
    2: (66, 77, 88, 96, 97, 98, 99),
    3: (666, 777, 888, 996, 997, 998, 999),
    4: (6666, 7777, 8888, 9996, 9997, 9998, 9999),
    5: (77777, 88888, 99997, 99998, 99999),
}


def suspected_codes(facts: Facts) -> list[Any]:
    """Values of a column that probably stand for a missing value, in their order."""
    if not facts.is_number:
        # Among other codes of a few letters NA may be a country, and DK another.
        short = sum(isinstance(value, str) and len(value) <= 3 for value in facts.values)
        least = 4 if 2 * short > len(facts.values) else 1
        return [
            value
            for value in facts.values
            if is_no_answer(value) and (len(value) >= least or not value.isalpha())
        ]
    if not facts.whole or facts.lowest is None:
        return []
    values = sorted(facts.values)
    # Of a column of many values only the frequent ones are counted, and codes are frequent.
    low = _below(values)
    return [*low, *_above([value for value in values if value not in low])]


def is_no_answer(value: Any) -> bool:
    """Whether a word means that there is no answer.

    >>> is_no_answer("Refused "), is_no_answer("?"), is_no_answer("no"), is_no_answer(True)
    (True, True, False, False)
    """
    return isinstance(value, str) and value.strip().casefold() in NO_ANSWER


def _below(values: Sequence[Any]) -> list[Any]:
    """Negative codes, where all else is 0 or more.

    >>> _below([-99, -9, 0, 1, 2]), _below([-1, 0, 1]), _below([-2, 1, 2, 3])
    ([-99, -9], [], [-2])
    """
    negative = [value for value in values if value < 0]
    rest = [value for value in values if value >= 0]
    if not negative or len(rest) < 2 or not set(map(int, negative)) <= _NEGATIVE:
        return []
    # -1 beside 0 may be an answer: disagree, neither, agree.
    near = max(negative) >= -5 and rest[0] == 0
    return [] if near else negative


def _above(values: Sequence[Any]) -> list[Any]:
    """Codes above a gap at the end of a scale.

    >>> _above([1, 2, 3, 4, 5, 8, 9]), _above([1, 2, 3, 4, 99]), _above([1, 2, 3, 4, 5, 6, 7])
    ([8, 9], [99], [])
    >>> _above([0, 1, 9]), _above([18, 19, 20, 25, 30, 99]), _above([18, 30, 45, 60, 70, 99])
    ([9], [99], [])
    """
    for digits, codes in _UPPER.items():
        top = [value for value in values if int(value) in codes]
        rest = [value for value in values if value not in top]
        if not top or len(rest) < 2 or max(rest) >= min(top):
            continue
        gaps = [high - low for low, high in pairwise(rest)]
        gap = min(top) - max(rest)
        if digits == 1 and gap >= 2 and max(gaps) == 1 and max(rest) <= 6:
            return top
        if digits > 1 and gap >= 5 and gap > 3 * max(gaps):
            return top
    return []
