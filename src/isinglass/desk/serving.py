"""The desk from its start to its end: an address on this machine, and a folder of its own."""

from __future__ import annotations

import secrets
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from isinglass.errors import MissingExtra, SettingError

#: This machine and no other.
HOST = "127.0.0.1"
#: Seconds that open requests get when the desk ends.
GRACE = 1


def serve(*, port: int, most_bytes: int, ready: Callable[[str], None]) -> None:
    """Serve until Ctrl-C; `ready` is told the address once the desk listens."""
    try:
        import uvicorn

        from isinglass.desk.application import application
    except ModuleNotFoundError as error:
        if error.name not in ("uvicorn", "starlette"):
            raise
        raise MissingExtra(
            f"the desk needs {error.name}, which is not installed; "
            "install it with: pip install 'isinglass[desk]'"
        ) from None
    token = secrets.token_urlsafe(24)
    with (
        _listening(port) as listener,
        tempfile.TemporaryDirectory(prefix="isinglass-", ignore_cleanup_errors=True) as folder,
    ):
        port = listener.getsockname()[1]
        app = application(Path(folder), port=port, token=token, most_bytes=most_bytes)
        server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_level="critical",
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=GRACE,
            )
        )
        listener.listen()  # who asks before the server is up waits that long
        ready(f"http://{HOST}:{port}/{token}/")
        try:
            _run(server, listener)
        finally:  # a second Ctrl-C leaves no time to stop them gently
            app.state.tables.kill()


def _listening(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if sys.platform != "win32":  # there, two programs could then listen at once
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except OSError as error:
        listener.close()
        raise SettingError(
            f"port {port} is not available ({error.strerror}); choose another with --port."
        ) from None
    return listener


def _run(server: Any, listener: socket.socket) -> None:
    """Serve until a signal; uvicorn sends it on once all has ended, and here it is swallowed."""
    handlers = {
        each: signal.signal(each, lambda *_: None) for each in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        server.run([listener])
    finally:
        for each, handler in handlers.items():
            signal.signal(each, handler)
