"""What was unusual in the pairs and searches of a fitted table.

Oddities of single columns are noted when the table is encoded; here come those that only
show between columns: too few rows for a pair, equal columns, a column that others determine,
zero cells behind an unbounded edge, a search that was cut short.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from isinglass.errors import ManyMissing, Setting, SettingError, level_of_the_caller
from isinglass.graph import Graph
from isinglass.selection import EBIC, AnySelector, CrossValidated, Stability, StARS
from isinglass.solvers.path import Path
from isinglass.table import Note, Table
from isinglass.wording import listed

#: Fewer rows than this for each cell of a pair, and the chi-square is far off.
ROWS_PER_CELL = 5
CALIBRATED = "links are compared with their distribution for so few rows without a link."
APPROXIMATE = "the threshold is approximate there."
#: Rows times the square of the largest share that is missing in a column: from here on the study of
#: docs/missing.md has false edges with ``missing="available"``.
ROWS_TOO_MANY = 20.0
#: A column whose search ends below this loss per row is known from its neighbours.
CERTAIN = 1e-5


def diagnose(
    table: Table,
    paths: Sequence[Path],
    graph: Graph,
    required: Iterable[tuple[int, int]] = (),
    *,
    intercept: bool = True,
) -> list[Note]:
    """All notes of a fitted table, those of single columns first."""
    return [
        *table.notes,
        *_equal_columns(table, graph),
        *_determined(table, paths),
        *_sparse_pairs(table, intercept),
        *_zero_cells(table, graph),
        *_cut_short(table, paths),
        *_cannot_be(table, required),
    ]


def check_missing(table: Table, rule: AnySelector) -> None:
    """Warn where many values are missing for what is done about them; refuse what cannot be."""
    if not table.available:
        return
    if table.by_model:
        if isinstance(rule, EBIC):
            raise SettingError(
                "EBIC counts rows, but filled rows hold less information than observed ones; with ",
                *(Setting("missing", "model"), " choose the threshold by another rule, such as "),
                *(Setting("threshold", "auto"), "."),
            )
        return
    share = float(max(table.weights @ (table.codes >= np.asarray(table.n_answers))) / table.n)
    if table.n * share**2 >= ROWS_TOO_MANY:
        warnings.warn(
            ManyMissing(
                f"{share:.0%} of a column are missing in {table.n:,.6g} rows: with ",
                Setting("missing", "available"),
                " some links will be false, more of them with more rows. Use ",
                *(Setting("missing", "model"), "."),
            ),
            stacklevel=level_of_the_caller(),
        )


def check_elsewhere(table: Table, rule: AnySelector, joined: str) -> None:
    """Refuse what needs the rows one by one, if they are counted chunk by chunk."""
    if table.elsewhere is None:
        return
    if joined == "joint":
        raise SettingError(
            *(Setting("rule", "joint"), " compares both ends of an edge row by row, and the rows "),
            *("of this table are counted chunk by chunk; use ", Setting("rule", "or"), " or "),
            *(Setting("rule", "and"), "."),
        )
    if isinstance(rule, CrossValidated | Stability | StARS):
        raise SettingError(
            "this rule for the threshold fits again on other rows, and the rows of this table are "
            "counted chunk by chunk; use ",
            *(Setting("threshold", "auto"), " or a number."),
        )


def _equal_columns(table: Table, graph: Graph) -> Iterator[Note]:
    """Columns that are the same up to the names of their states."""
    linked = set(graph.pairs)
    for first, *others in _same_columns(table):
        where = "every row"
        if table.available:
            seen = int(np.count_nonzero(table.codes[:, first] < table.n_answers[first]))
            where = where if seen == len(table.codes) else f"all {seen:,} rows where it is observed"
        for other in others:
            found = (
                "; the two are linked. Drop one of them: links to other columns may be at either."
                if (first, other) in linked
                else "; the two are not linked: there are few rows, or a third column is equal too."
            )
            same_as = f"equal to {table.names[first]!r}, up to labels, in {where}"
            yield Note(table.names[other], "equal columns", same_as + found)


def _same_columns(table: Table) -> list[list[int]]:
    """Groups of columns that are the same, most of them of one column."""
    varying = [r for r, answers in enumerate(table.n_answers) if answers > 1]
    same: dict[bytes, list[int]] = defaultdict(list)
    if table.elsewhere is None:
        for r in varying:
            same[_by_first_sight(table.codes[:, r])].append(r)
        return list(same.values())
    # Equal columns have the same numbers of rows: these pairs alone are counted.
    for r in varying:
        same[np.sort(table.rows_of_states(r)).tobytes()].append(r)
    groups: list[list[int]] = []
    for alike in same.values():
        left = alike
        while left:
            first, *others = left
            tables = table.crossed([(first, r) for r in others])
            equal = [r for r, t in zip(others, tables, strict=True) if _one_to_one(t)]
            groups.append([first, *equal])
            left = [r for r in others if r not in equal]
    return sorted(groups)


def _one_to_one(counts: np.ndarray) -> bool:
    """Whether each state of one column goes with one state of the other."""
    return bool(((counts > 0).sum(axis=0) == 1).all() and ((counts > 0).sum(axis=1) == 1).all())


def _by_first_sight(codes: np.ndarray) -> bytes:
    """Codes renumbered in the order in which they first appear."""
    values, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.empty(len(values), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(values))
    return rank[inverse].tobytes()


def _determined(table: Table, paths: Sequence[Path]) -> Iterator[Note]:
    for column, path in zip(table.columns, paths, strict=True):
        if len(column.states) > 1 and path.support and path.loss < CERTAIN:
            yield Note(
                column.name,
                "determined by others",
                f"{listed([table.names[t] for t in path.support], 4)} determine it without error "
                "(a copy, a part or a total?); its links are real, but their sizes are unbounded.",
            )


def _sparse_pairs(table: Table, intercept: bool) -> Iterator[Note]:
    """Pairs with few rows per cell, listed once, at the column with more states."""
    m = np.asarray(table.n_states)
    for r, name in enumerate(table.names):
        sparse = (table.n < ROWS_PER_CELL * m[r] * m) & (m > 1) & (m[r] > 1)
        partners = [t for t in np.flatnonzero(sparse) if (m[t], r) < (m[r], t)]
        if partners:
            yield Note(
                name,
                "few rows per cell",
                f"its {m[r]} states leave fewer than {ROWS_PER_CELL} rows for each cell with "
                f"{listed([table.names[t] for t in partners], 4)}; "
                + (CALIBRATED if intercept and m[r] > 2 else APPROXIMATE),
            )


def _zero_cells(table: Table, graph: Graph) -> Iterator[Note]:
    """Combinations never seen, behind the edges that are unbounded."""
    links = [link for link in graph.links if link.unbounded]
    crossed = table.crossed([(link.source, link.target) for link in links])
    for link, counts in zip(links, crossed, strict=True):
        absent = [
            f"{table.columns[link.source].states[a]} with {table.columns[link.target].states[b]}"
            for a, b in np.argwhere(counts == 0)
        ]
        if absent:
            yield Note(
                table.names[link.source],
                "unbounded link",
                f"with {table.names[link.target]!r}: no row has {listed(absent, 4)}; the numbers "
                "of the edge are finite, but its size is unbounded.",
            )


def _cut_short(table: Table, paths: Sequence[Path]) -> Iterator[Note]:
    for name, path in zip(table.names, paths, strict=True):
        if "max_degree" in path.status:
            yield Note(name, "search cut short", path.status + ".")


def _cannot_be(table: Table, required: Iterable[tuple[int, int]]) -> Iterator[Note]:
    for a, b in sorted(required):
        constant = [t for t in (a, b) if table.n_answers[t] < 2]
        if constant:
            other = a + b - constant[0]
            yield Note(
                table.names[constant[0]],
                "required link",
                f"with {table.names[other]!r}: not drawn, since a constant column has no links.",
            )
