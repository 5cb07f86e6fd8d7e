"""``isinglass desk``: the same in a page on this machine."""

from __future__ import annotations

import threading
import webbrowser

import click

from isinglass.cli import declare as opt
from isinglass.desk.serving import serve

#: Bytes of the largest file that the page takes.
MOST_BYTES = 5e8


@opt.command(
    opt.whole("--port N", "The port; by default any that is free.", least=0),
    opt.option(
        "--max-size BYTES",
        "The largest file that the page takes.",
        MOST_BYTES,
        type=click.FloatRange(1),
        show_default="500 MB",
    ),
    opt.flag("--no-browser", "Only print the address; open it yourself."),
    examples="""
        isinglass desk
        isinglass desk --max-size 2e9 --no-browser
    """,
)
def command(port: int | None, max_size: float, *, no_browser: bool) -> None:
    """Open a page in the browser: drop a file, look at its columns, learn, read the report.

    The page is for this machine alone: its address contains a secret, and nothing is sent
    anywhere else. Files that are dropped on it are copied to a temporary folder. Ctrl-C ends the
    desk and removes them, with all results that you have not saved.
    """

    def ready(address: str) -> None:
        click.echo(f"The desk is at {address}\nKeep this window open; Ctrl-C ends the desk.")
        if not no_browser:  # some browsers only return when they are closed
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    serve(port=port or 0, most_bytes=int(max_size), ready=ready)
    click.echo("The desk has ended; its temporary files are gone.", err=True)
