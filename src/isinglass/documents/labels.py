"""Labels of states as JSON: each comes back with the type it had."""

from __future__ import annotations

import datetime as dt
from collections.abc import Hashable
from typing import Any

from isinglass.core import MAX_STATES
from isinglass.documents.document import LARGEST, Entry, shown
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


def label_from_json(entry: Entry) -> Hashable:
    """The label that `label_to_json` wrote, or Fault.

    >>> label_from_json(Entry({"date": "2020-02-29"}, "a state"))
    datetime.date(2020, 2, 29)
    """
    value: Any = entry.value
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return entry.text()
    if isinstance(value, int | float) and -LARGEST <= value <= LARGEST:
        return value
    if isinstance(value, dict) and len(value) == 1 and (kind := next(iter(value))) in _TIMES:
        written = entry[kind].text()
        try:
            label: Hashable = _TIMES[kind].fromisoformat(written)
        except ValueError:
            raise entry.fault(f"is not a {kind}: {shown(written)}") from None
        return label
    raise entry.fault(f"must be text, a finite number, true, false or a date, not {shown(value)}")


def states_from_json(entry: Entry) -> tuple[Hashable, ...]:
    """The labels of one column."""
    if not 1 <= len(entry.items()) <= MAX_STATES:
        raise entry.fault(f"has {len(entry.value)} members; 1 to {MAX_STATES} are allowed")
    return tuple(label_from_json(label) for label in entry.entries(f"one of {entry.name}"))
