"""What the commands share on the terminal: progress, and a summary of a fit."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from isinglass.cli import lines
from isinglass.report.markdown import edge_cells, have_forms
from isinglass.report.texts import adjusted_for, states_per_column
from isinglass.wording import counted, one_line


def new_console(*, stderr: bool = False) -> Console:
    """A console that prints names as they are: no markup, no emoji codes, no colouring."""
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


class Bar:
    """Called with what is done and how much there is; `tell` adds words."""

    def __init__(self, bar: Progress, task: TaskID, what: str) -> None:
        self._bar, self._task, self._what = bar, task, what

    def __call__(self, done: int, total: int) -> None:
        self._bar.update(self._task, completed=done, total=total)

    def tell(self, words: str) -> None:
        """Say in a few words what is being done."""
        self._bar.update(self._task, description=f"{self._what}: {words}")


@contextmanager
def _shown(what: str, *columns: ProgressColumn, **settings: Any) -> Iterator[Bar | lines.Work]:
    """A line on standard error, gone when the work is done; silent when not on a terminal."""
    if lines.wanted():
        yield lines.Work(what)
        return
    console = new_console(stderr=True)
    settings = {"transient": True, "disable": not console.is_terminal} | settings
    with Progress(*columns, console=console, **settings) as line:
        yield Bar(line, line.add_task(what), what)


def progress_bar(what: str, *, steady: bool = False) -> AbstractContextManager[Bar | lines.Work]:
    """A bar for work of known length.

    The time left goes by the speed of the last half minute, or, if `steady`, of the whole work.
    """
    words = TextColumn("{task.description}", markup=False)
    columns = (words, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return _shown(what, *columns, speed_estimate_period=1e9 if steady else 30.0)


@contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """A line for work of unknown length: what is done, and since when; called, it adds words."""
    words = TextColumn("{task.description}", markup=False)
    with _shown(what, SpinnerColumn(), TimeElapsedColumn(), words) as line:
        yield line.tell


def table(
    heads: Iterable[str], rows: Iterable[Iterable[str]], left: Container[str] = (), title: str = ""
) -> Table:
    """Cells as they are, without lines: numbers at the right, columns in `left` at the left.

    In a narrow terminal heads of numbers take several lines; numbers are never cut.
    """
    cells = [list(row) for row in rows]
    made = Table(box=None, pad_edge=False, header_style="dim", title=title or None)
    made.title_justify, made.title_style = "left", "bold"
    for at, head in enumerate(heads):
        if head in left:
            made.add_column(head, overflow="fold")
            continue
        widest = max((cell_len(row[at]) for row in cells), default=0)
        made.add_column(head, justify="right", overflow="fold", min_width=widest)
    for row in cells:
        made.add_row(*map(Text, row))
    return made


def table_of(formats: Mapping[str, str], things: Iterable[Any], left: Container[str] = ()) -> Table:
    """A table with one row per thing; each head has the format of its cells."""
    rows = ([text.format(thing) for text in formats.values()] for thing in things)
    return table(formats, rows, left)


def print_summary(console: Console, summary: dict[str, Any], top: int) -> None:
    """Rows, columns, states, what was unusual, and the strongest edges."""
    console.print(
        f"{counted(summary['rows'], 'row')}, {counted(summary['columns'], 'column')}, "
        f"{states_per_column(summary)} per column{adjusted_for(summary)}",
        style="bold",
    )
    if summary["suppress"]:
        console.print(f"groups of fewer than {summary['suppress']:g} rows are hidden")
    else:
        search = f"threshold {summary['threshold']:.4g}, searched down to {summary['floor']:.4g}"
        console.print(search)
    console.print(_indented(summary["selector"], style="dim"))
    _print_diagnostics(console, summary["diagnostics"])
    _print_edges(console, summary, top)


def _indented(text: str, by: int = 2, style: str = "") -> Padding:
    """Text whose every line, wrapped ones too, begins a little to the right."""
    return Padding(Text(one_line(text), style=style), (0, 0, 0, by), expand=False)


def _print_diagnostics(console: Console, notes: list[dict[str, Any]], most: int = 3) -> None:
    """Notes by kind, the first few of each."""
    if not notes:
        return
    console.print("\nWhat was unusual", style="bold")
    kinds: dict[str, list[str]] = {}
    for note in notes:
        where = "" if note["column"] is None else f"{note['column']!r}: "
        kinds.setdefault(note["what"], []).append(where + note["done"])
    for what, said in kinds.items():
        times = f" ({len(said)} times)" if len(said) > 1 else ""
        console.print(_indented(what + times, style="yellow"))
        for line in said[:most]:
            console.print(_indented(line, by=4))
        if len(said) > most:
            console.print(_indented(f"and {len(said) - most} more; --json lists all", by=4))


def _print_edges(console: Console, summary: dict[str, Any], top: int) -> None:
    edges = summary["edges"]
    pairs = summary["columns"] * (summary["columns"] - 1) // 2
    order = ", strongest first" if len(edges) > 1 else ""
    head = f"\n{counted(len(edges), 'edge')} of {pairs:,} possible{order}"
    console.print(head, style="bold")
    if edges and top:
        console.print(_edge_table(edges[:top]))
    if len(edges) > top:
        console.print(f"and {len(edges) - top:,} weaker" if top else "use --top to print some")
    if summary.get("tentative"):
        more = counted(len(summary["tentative"]), "tentative link")
        console.print(f"{more} below the threshold: --json and edges.csv list them", style="dim")


def _edge_table(edges: list[dict[str, Any]]) -> Table:
    """One row per edge, the names last, where they have room; empty columns are left out."""
    forms = ("form", "per step") if have_forms(edges) else ()
    heads = ("strength", "relative", "sign", "log-odds", *forms, "evidence", "entry")
    heads = (*heads, "link", "chosen by")
    rows = [_cells(edge) for edge in edges]
    kept = [head for head in heads if any(row[head] for row in rows)]
    if all(row["chosen by"] == "both" for row in rows):
        kept.remove("chosen by")
    cells = ([row[head] for head in kept] for row in rows)
    return table(kept, cells, left=("sign", "form", "link", "chosen by"))


def _cells(edge: dict[str, Any]) -> dict[str, str]:
    cells = edge_cells(edge)
    ends = " -- ".join(one_line(edge[end], 48) for end in ("source", "target"))
    by = one_line(cells["chosen by"], 16)
    return cells | {"sign": cells["sign"].replace("−", "-"), "link": ends, "chosen by": by}
