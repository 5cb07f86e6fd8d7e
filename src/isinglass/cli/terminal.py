"""What the commands share on the terminal: progress, and a summary of a fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from isinglass.engine.neighbourhoods import Progress as Callback


@contextmanager
def progress_bar(what: str) -> Iterator[Callback]:
    """A bar on standard error, gone when the work is done; silent when not on a terminal."""
    console = Console(stderr=True)
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def print_summary(console: Console, summary: dict[str, Any], top: int) -> None:
    """Rows, columns, states, what was odd, and the strongest edges."""
    counts = sorted(len(states) for states in summary["states"].values())
    states = f"{counts[0]}" if counts[0] == counts[-1] else f"{counts[0]} to {counts[-1]}"
    console.print(
        f"[bold]{summary['rows']:,}[/] rows, [bold]{summary['columns']:,}[/] columns, "
        f"{states} states a column"
    )
    console.print(
        f"threshold {summary['threshold']:.4g}  [dim]{escape(summary['selector'])}[/]"
    )
    _print_diagnostics(console, summary["diagnostics"])
    _print_edges(console, summary, top)


def _print_diagnostics(console: Console, notes: list[dict[str, Any]], most: int = 10) -> None:
    if not notes:
        return
    console.print("\n[bold]What was odd[/]")
    for note in notes[:most]:
        where = "the table" if note["column"] is None else repr(note["column"])
        console.print(f"  [yellow]{escape(note['what'])}[/], {escape(where)}: {escape(note['done'])}")
    if len(notes) > most:
        console.print(f"  and {len(notes) - most} more; --json lists them all")


def _print_edges(console: Console, summary: dict[str, Any], top: int) -> None:
    edges = summary["edges"]
    pairs = summary["columns"] * (summary["columns"] - 1) // 2
    console.print(f"\n[bold]{len(edges):,} edges[/] of {pairs:,} possible, strongest first")
    if not edges:
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for head in ("", "", "strength", "sign", "log-odds", "evidence", "chosen by"):
        table.add_column(head, justify="right" if head in ("strength", "evidence", "log-odds") else "left")
    for edge in edges[:top]:
        table.add_row(
            escape(edge["source"]),
            escape(edge["target"]),
            f"{edge['strength']:.3f}",
            {1: "+", -1: "−"}.get(edge["sign"], ""),
            _log_odds(edge),
            f"{edge['evidence']:.1f}",
            escape(edge["selected_by"]),
        )
    console.print(table)
    if len(edges) > top:
        console.print(f"and {len(edges) - top:,} weaker ones")


def _log_odds(edge: dict[str, Any]) -> str:
    if edge["unbounded"]:
        return "unbounded"
    return "" if edge["log_odds"] is None else f"{edge['log_odds']:+.2f}"
