"""What is known, as typed: NAME=LABEL, any number of times."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from difflib import get_close_matches
from typing import Any

from isinglass.errors import SettingError, UnseenState
from isinglass.graph import position_of
from isinglass.model import MarkovField
from isinglass.table.coding.bins import bin_of
from isinglass.table.coding.labels import are_texts_of_numbers, match_label
from isinglass.wording import listing, quoted


def read_evidence(field: MarkovField, texts: Sequence[str]) -> dict[str, Hashable]:
    """Labels by column, from words such as fever=yes; a missing value is fever= alone."""
    given: dict[str, Hashable] = {}
    for text in texts:
        name, label = _split(text, field.names)
        at = position_of(name, field.names)
        if name in given:
            raise SettingError(f"--given names {name!r} twice; a column has one label.")
        given[name] = label_of(name, field.states[at], _binned(label, field.cuts.get(at)))
    return given


def _split(text: str, names: Sequence[str]) -> tuple[str, str]:
    """The name and the label; a name may hold a = itself."""
    signs = [at for at, character in enumerate(text) if character == "="]
    if not signs:
        raise SettingError(f"--given takes NAME=LABEL, such as fever=yes, not {text!r}.")
    at = next((at for at in reversed(signs) if text[:at] in names), signs[0])
    return text[:at], text[at + 1 :]


def _binned(text: str, cuts: Sequence[float] | None) -> str:
    """The label of the bin that a number falls into, if the column is binned."""
    is_number = cuts is not None and are_texts_of_numbers([text])
    return bin_of(cuts or (), float(text)) if is_number else text


def label_of(name: str, states: Sequence[Hashable], text: str) -> Hashable:
    """The state that was typed: as it is written, then whatever its case, then as a number.

    >>> label_of("age", (1.0, 2.0), "2"), label_of("fever", (False, True), "true")
    (2.0, True)
    >>> label_of("fever", ("no", "yes"), "yess")
    Traceback (most recent call last):
        ...
    isinglass.errors.UnseenState: column 'fever' has no state 'yess'; did you mean 'yes'?
    """
    at = match_label(states, text)
    if at is not None:
        return states[at]
    written = [as_text(state) for state in states]
    close = get_close_matches(text, written, n=1)
    if close:
        raise UnseenState(f"column {name!r} has no state {text!r}; did you mean {close[0]!r}?")
    known = listing([quoted(state) for state in states], 8)
    raise UnseenState(f"column {name!r} has no state {text!r}; it has {known}.")


def as_text(label: Any) -> str:
    """A label as people type it; a missing value is empty."""
    return "" if label is None else str(label)
