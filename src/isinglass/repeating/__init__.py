"""Repeated work that can be stopped and resumed: tasks, records, one runner."""

from isinglass.repeating.runner import RECORDS, Task, failure, has_failed, repeat, stored
from isinglass.repeating.spelling import as_recorded, formerly, that_matter, warn_renamed
from isinglass.repeating.store import Record, Sound, Store, are_pairs

__all__ = [
    "RECORDS",
    "Record",
    "Sound",
    "Store",
    "Task",
    "are_pairs",
    "as_recorded",
    "failure",
    "formerly",
    "has_failed",
    "repeat",
    "stored",
    "that_matter",
    "warn_renamed",
]
