"""Labels of states as JSON: each comes back with the type it had."""

from __future__ import annotations

import datetime as dt
from collections.abc import Hashable
from typing import Any

from isinglass.core import MAX_STATES
from isinglass.documents.document import LARGEST, Fault, items, member, shown, text
from isinglass.errors import SettingError
from isinglass.table.coding.labels import plain

_TIMES: dict[str, Any] = {"datetime": dt.datetime, "date": dt.date, "time": dt.time}


def label_to_json(label: Any) -> Any:
    """A label as JSON can hold it, or SettingError.

    >>> [label_to_json(label) for label in ("yes", 1, 1.0, True, None)]
    ['yes', 1, 1.0, True, None]
    >>> label_to_json(dt.date(2020, 2, 29))
    {'date': '2020-02-29'}
    """
    label = plain(label)
    if label is None or type(label) in (str, bool):
        return label
    if type(label) in (int, float) and abs(label) <= LARGEST:
        return label
    for kind, of_type in _TIMES.items():
        if type(label) is of_type:
            return {kind: label.isoformat()}
    raise SettingError(
        f"the label {shown(label)} cannot be saved; a label must be text, a finite number, true or "
        "false, a date or a time."
    )


def label_from_json(value: Any, where: str) -> Hashable:
    """The label that `label_to_json` wrote, or Fault.

    >>> label_from_json({"date": "2020-02-29"}, "a state")
    datetime.date(2020, 2, 29)
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return text(value, where)
    if isinstance(value, int | float) and -LARGEST <= value <= LARGEST:
        return value
    if isinstance(value, dict) and len(value) == 1 and (kind := next(iter(value))) in _TIMES:
        written = text(member(value, kind, where), where)
        try:
            label: Hashable = _TIMES[kind].fromisoformat(written)
        except ValueError:
            raise Fault(f"{where} is not a {kind}: {shown(written)}") from None
        return label
    raise Fault(f"{where} must be text, a finite number, true, false or a date, not {shown(value)}")


def states_from_json(value: Any, where: str) -> tuple[Any, ...]:
    """The labels of one column."""
    labels = items(value, f"the list with {where}")
    if not 1 <= len(labels) <= MAX_STATES:
        raise Fault(
            f"the list with {where} has {len(labels)} members; 1 to {MAX_STATES} are allowed"
        )
    return tuple(label_from_json(label, where) for label in labels)
