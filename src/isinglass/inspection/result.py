"""What an inspection found: every column, what is proposed, and the command that works."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from isinglass.errors import TableError
from isinglass.estimators import GreedyGraph
from isinglass.frames import by_field, frame
from isinglass.inspection.options import Options
from isinglass.notebook import small_table
from isinglass.table.codebook import Codebook, Variable
from isinglass.wording import counted, json_value, one_line

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Inspected:
    """One column.

    Attributes
    ----------
    name, label : str
        Its name and its label; the label is None if there is none.
    kind : str
        What it looks like: "yes/no", "ordered", "unordered", "number", "id", "text", "date",
        "constant", "empty", "many categories", "weight" or "cluster".
    distinct, missing : int
        Distinct values, and missing ones, without codes for missing values.
    states : list of (value, rows)
        Its values and how often each occurs, at most 32 of them.
    missing_codes : list
        Values that probably stand for a missing value.
    related : list of str
        What it has to do with other columns.
    fit : str
        What `fit` would do with it by default.
    proposal : str
        What is proposed: "keep", "drop", "cut into 4 bins", ...
    """

    name: str
    label: str | None
    kind: str
    distinct: int
    missing: int
    states: list[tuple[Any, int]]
    missing_codes: list[Any]
    related: list[str]
    fit: str
    proposal: str


@dataclass(frozen=True, eq=False)
class Inspection:
    """What :func:`inspect` found.

    Attributes
    ----------
    rows : int
        Rows of the table.
    columns : list of Inspected
        Every column, in order.
    options : Options
        The settings that are proposed, and why.
    table : polars.DataFrame
        The table, with null for codes of missing values.

    Examples
    --------
    >>> import isinglass as ig
    >>> found = ig.inspect([["yes", 31], ["no", 45], ["no", 62], ["yes", 45]])
    >>> [each.kind for each in found.columns], found.works
    (['yes/no', 'ordered'], True)
    >>> found.command("survey.csv")
    'isinglass fit survey.csv'
    """

    rows: int
    columns: list[Inspected]
    options: Options
    table: pl.DataFrame = field(repr=False)

    @property
    def works(self) -> bool:
        """Whether a column is left to learn from."""
        return any(each.proposal not in ("drop", *_ROWS) for each in self.columns)

    def command(self, path: str = "table.csv", out: str | None = None) -> str:
        """Return the command that learns from the file, ready to be pasted into a shell."""
        return self.options.command(path, out)

    def fit(self, **settings: Any) -> GreedyGraph:
        """Learn the graph of the table as it is proposed; `settings` are those of `GreedyGraph`.

        >>> import isinglass as ig
        >>> rows = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, seed=0).sample(500, seed=0)
        >>> ig.inspect(rows).fit().graph_.edges
        [('x0', 'x1'), ('x1', 'x2')]
        """
        if not self.works:
            raise TableError("no column is left to learn from; inspect says why each is dropped.")
        estimator = GreedyGraph(**(self.options.estimator() | settings))
        return estimator.fit(self.prepared(), **self.options.fitting())

    def prepared(self) -> Any:
        """Return the table, in polars, without the columns to drop, and with the order of words."""
        ordered = {
            name: Variable(order=tuple(states)) for name, states in self.options.order.items()
        }
        return Codebook(ordered).apply(self.table).drop(self.options.drop)

    def to_frame(self, library: str | None = None) -> Any:
        """Return a data frame with one row per column of the table.

        >>> import isinglass as ig
        >>> found = ig.inspect([["yes", 1], ["no", 1], ["yes", 1]])
        >>> found.to_frame("polars").select("name", "kind", "proposal").rows()
        [('x0', 'yes/no', 'keep'), ('x1', 'constant', 'drop')]
        """
        columns = by_field(Inspected, self.columns)
        for name in ("states", "missing_codes"):
            columns[name] = [", ".join(map(_said, some)) for some in columns[name]]
        columns["related"] = ["; ".join(some) for some in columns["related"]]
        return frame(columns, library)

    def to_dict(self) -> dict[str, Any]:
        """Return all that was found as plain values, as ``isinglass inspect --json`` prints it."""
        return {
            "rows": self.rows,
            "columns": [_plain(asdict(each)) for each in self.columns],
            "reasons": [asdict(reason) for reason in self.options.reasons],
            "options": self.options.words(),
        }

    def __repr__(self) -> str:
        dropped = len(self.options.drop)
        return (
            f"Inspection({counted(self.rows, 'row')}, {counted(len(self.columns), 'column')}, "
            f"{dropped} to drop)"
        )

    def _repr_html_(self) -> str:
        heads = ("column", "looks like", "distinct", "missing", "proposal", "notes")
        rows = [
            [
                *(each.name, each.kind, str(each.distinct), str(each.missing), each.proposal),
                "; ".join(each.related),
            ]
            for each in self.columns
        ]
        return small_table(repr(self), heads, rows, "columns")


#: Proposals about rows, not about columns to learn from.
_ROWS = ("weights of the rows", "counts of the rows", "clusters of rows")


def _said(one: Any) -> str:
    if isinstance(one, tuple):
        return f"{one_line(str(one[0]))} ({one[1]:,})"
    return one_line(str(one))


def _plain(column: dict[str, Any]) -> dict[str, Any]:
    states = [[json_value(value), count] for value, count in column["states"]]
    return column | {
        "states": states,
        "missing_codes": [json_value(code) for code in column["missing_codes"]],
    }
