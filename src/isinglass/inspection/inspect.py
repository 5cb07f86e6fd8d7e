"""Look at every column once, and propose how to learn from the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from os import PathLike
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from isinglass.core import cores
from isinglass.errors import FileError
from isinglass.inspection.between import Relation, relations
from isinglass.inspection.facts import facts_of
from isinglass.inspection.kinds import MOST_STATES, kind_of
from isinglass.inspection.options import Options
from isinglass.inspection.propose import Draft, propose, star_codes, would_do
from isinglass.inspection.result import Inspected, Inspection
from isinglass.inspection.suspects import suspected_codes
from isinglass.parameters import checked
from isinglass.table.cells import Cells, open_source
from isinglass.table.codebook import Codebook, Variable
from isinglass.table.coding.labels import is_missing, plain
from isinglass.table.reading import read_file
from isinglass.table.reading.codebooks import given_codebook
from isinglass.table.reading.guess import guess_encoding, guess_reading
from isinglass.wording import listed

if TYPE_CHECKING:
    import polars as pl

#: Returns the table with these codes, by column, as missing values.
Recode = Callable[[dict[str, Any]], "pl.DataFrame"]
#: How often missing codes are looked for: numbers show once a word among them is gone.
ROUNDS = 2


@checked
def inspect(table: Any, *, codebook: Any = None) -> Inspection:
    """Say what every column of a table is, what is unusual about it, and how to learn from it.

    Parameters
    ----------
    table : array, data frame or path
        numpy, pandas, polars or pyarrow; or a file that `read_table` reads.
    codebook : path, Codebook or dict of str to Variable, optional
        What columns and codes mean, as in :func:`read_table`.

    Returns
    -------
    Inspection
        Its `columns` say what each looks like and what is proposed; `fit` learns the graph so.

    Examples
    --------
    >>> import polars as pl
    >>> import isinglass as ig
    >>> table = pl.DataFrame({
    ...     "id": range(1, 101), "age": [20 + 7 * k % 61 for k in range(100)],
    ...     "smokes": ["yes", "no"] * 50, "coughs": ["yes", "no", "no", "refused"] * 25,
    ... })
    >>> found = ig.inspect(table)
    >>> [(each.name, each.kind, each.proposal) for each in found.columns]
    [('id', 'id', 'drop'), ('age', 'number', 'cut into 4 bins'), ('smokes', 'yes/no', 'keep'),
     ('coughs', 'yes/no', 'keep')]
    >>> found.columns[3].missing_codes
    ['refused']
    """
    if isinstance(table, str | PathLike):
        return inspect_file(table, codebook=codebook)
    source = open_source(table)
    frame = given_codebook(codebook).of_columns(source.names).apply(as_polars(table))

    def recode(codes: dict[str, Any]) -> pl.DataFrame:
        book = Codebook({name: Variable(missing=tuple(some)) for name, some in codes.items()})
        return book.of_columns(frame.columns).without_missing(frame)

    return inspect_frame(frame, recode, labels=given_codebook(codebook).labels)


def inspect_file(path: str | PathLike[str], **reading: Any) -> Inspection:
    """Inspect a file; what the arguments of `read_table` leave open about its text is guessed."""
    known = dict(reading.pop("missing_codes", None) or {})
    reading = {name: value for name, value in reading.items() if value is not None}
    reading |= guess_reading(path, reading)
    try:
        file = read_file(path, **reading, missing_codes=known)
    except FileError:
        encoding = guess_encoding(path, reading)
        if encoding is None:
            raise
        reading["encoding"] = encoding
        file = read_file(path, **reading, missing_codes=known)

    def recode(codes: dict[str, Any]) -> pl.DataFrame:
        names = (*known, *(name for name in codes if name not in known))
        both = {name: [*known.get(name, []), *codes.get(name, [])] for name in names}
        return read_file(path, **reading, missing_codes=both).frame

    return inspect_frame(file.frame, recode, labels=file.codebook.labels, reading=reading)


def as_polars(table: Any) -> pl.DataFrame:
    """A table of any library in polars, as far as its cells can be; else their texts."""
    import polars as pl

    table = nw.to_native(table, pass_through=True)
    if isinstance(table, pl.DataFrame):
        return table
    source = open_source(table)
    cells = ((name, source.cells(at)) for at, name in enumerate(source.names))
    return pl.DataFrame([_series(name, each) for name, each in cells])


def _series(name: str, cells: Cells) -> pl.Series:
    import polars as pl

    if cells.categories is not None:
        kind = pl.Enum(list(map(str, cells.categories)))
        seen = pl.Series(name, list(map(str, cells.seen)), dtype=pl.String).cast(kind)
    elif cells.seen.dtype.kind in "biufM":
        seen = pl.Series(name, cells.seen, nan_to_null=True)
    else:
        seen = _of_objects(name, cells.seen.tolist())
    if cells.null is None:
        return seen
    place = pl.Series(np.cumsum(~cells.null) - 1).set(pl.Series(cells.null), None)
    return seen.gather(place)


def _of_objects(name: str, values: list[Any]) -> pl.Series:
    import polars as pl

    present = [None if is_missing(value) else plain(value) for value in values]
    try:
        return pl.Series(name, present, strict=True)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        return pl.Series(name, [None if value is None else str(value) for value in present])


def inspect_frame(
    frame: pl.DataFrame,
    recode: Recode,
    *,
    labels: Mapping[str, str],
    reading: dict[str, Any] | None = None,
) -> Inspection:
    """Inspect a polars frame; `recode` returns it with some codes as missing values."""
    with ThreadPoolExecutor(cores()) as threads:
        facts = {each.name: each for each in threads.map(facts_of, frame.get_columns())}
    options = Options(reading=reading or {})
    suspects: dict[str, list[Any]] = {}
    for _ in range(ROUNDS):
        found = {name: suspected_codes(each) for name, each in facts.items()}
        found = {name: codes for name, codes in found.items() if codes}
        if not found:
            break
        for name, codes in found.items():
            suspects.setdefault(name, []).extend(codes)
        options.missing_codes = star_codes(suspects, facts)
        frame = recode(options.missing_codes)
        changed = set(found)
        facts = {name: facts_of(frame[name]) if name in changed else facts[name] for name in facts}
    kinds = {name: kind_of(each) for name, each in facts.items()}
    related = relations(frame, facts, MOST_STATES)
    draft = Draft(frame, facts, kinds, options)
    propose(draft, related)
    columns = [
        Inspected(
            name=name,
            label=labels.get(name),
            kind=kinds[name],
            distinct=each.distinct,
            missing=each.missing,
            states=list(each.states[:MOST_STATES]),
            missing_codes=suspects.get(name, []),
            related=[_sentence(one) for one in related if name in (one.column, *_set(one))],
            fit=would_do(each),
            proposal=draft.proposals.get(name, "keep"),
        )
        for name, each in facts.items()
    ]
    return Inspection(frame.height, columns, options, frame)


def _set(relation: Relation) -> tuple[str, ...]:
    return relation.others if relation.what == "one-hot" else ()


def _sentence(relation: Relation) -> str:
    others = listed([repr(other) for other in relation.others], 4)
    if relation.what == "copy":
        return f"a copy of {others}, up to labels"
    if relation.what == "determined":
        return f"is determined by {others}: a link between them is true by construction"
    if relation.what == "total":
        return f"is the total or the mean of {others}"
    members = listed([repr(name) for name in (*relation.others, relation.column)], 6)
    return (
        f"exactly one of {members} is set in each row: links among them are true by construction; "
        "one column that says which would hold the same information"
    )
