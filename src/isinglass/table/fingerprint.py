"""A short name for a table's content."""

from __future__ import annotations

from hashlib import sha256

from isinglass.table.table import Table


def fingerprint(table: Table) -> str:
    """Hash names, states, codes and weights: the same for equal tables of any library.

    Examples
    --------
    >>> from isinglass.table import encode
    >>> one, same, other = (encode([["a", x], ["b", 2]]) for x in (1, 1, 3))
    >>> fingerprint(one) == fingerprint(same), fingerprint(one) == fingerprint(other)
    (True, False)
    """
    content = sha256()
    for column, codes in zip(table.columns, table.codes.T, strict=True):
        content.update(repr((column.name, column.states)).encode("utf-8", "backslashreplace"))
        content.update(codes.astype("<i4").tobytes())
    content.update(table.weights.astype("<f8").tobytes())
    return f"sha256:{content.hexdigest()}"
