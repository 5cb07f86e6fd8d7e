"""What is known about one column once its cells are codes."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

__all__ = ["Column"]


@dataclass(frozen=True)
class Column:
    """Name and states of one column; a code is an index into the states.

    Parameters
    ----------
    name : str
        Columns without names are x0, x1, ...
    states : tuple
        The labels seen, in order, as plain Python values. The missing state
        (``missing="state"``) is the label None, and comes last.
    ordered : bool
        Whether the order of the states means something: booleans, numbers, yes/no,
        true/false, ordered categories, binned columns. A column with the missing state is
        not ordered, since None has no place among the others, unless that state only says
        where the column is not available; nor is an unordered category that holds numbers,
        which is taken at its word.
    cuts : tuple of float, optional
        The inner cut points of a binned column: state k holds the values above
        ``cuts[k - 1]`` and up to ``cuts[k]``.

    Examples
    --------
    >>> Column("smokes", ("no", "yes"), ordered=True).states
    ('no', 'yes')
    """

    name: str
    states: tuple[Hashable, ...]
    ordered: bool
    cuts: tuple[float, ...] | None = None

    @property
    def has_missing_state(self) -> bool:
        """Whether a gap is one of the states."""
        return self.states[-1] is None
