"""The desk as a web application: its page, its tables, their files."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from isinglass.desk import html
from isinglass.desk.guard import Guard
from isinglass.desk.repeating import command, python_lines, stem_of
from isinglass.desk.tables import RESULTS, OpenTable, Refused, Tables

Handler = Callable[[Request], Awaitable[Response]]
#: Options of `fit` that the page may add, and the options of the command line that they become.
EXTRAS = {"predictability": ["--predictability"], "verdicts": ["--verdicts"]}
#: The report runs its own scripts in a world of its own: it cannot reach the desk.
SANDBOX = "sandbox allow-scripts allow-downloads"
#: Parts of the summary of a fit that the page shows.
SHOWN = ("title", "rows", "columns", "threshold", "rule", "edges", "texts", "diagnostics")
#: Bytes of the settings that a page may send.
MOST_SETTINGS = 20_000_000


def application(folder: Path, *, port: int, token: str, most_bytes: int) -> Starlette:
    """The application, which keeps its tables in a folder."""
    tables = Tables(folder, most_bytes)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await tables.close_all()

    desk = Desk(tables)
    at = f"/{token}"
    one = f"{at}/tables/{{key}}"
    routes = [
        Route(f"{at}/", desk.page, methods=["GET"]),
        Route(f"{at}/tables", desk.receive, methods=["POST"]),
        Route(one, desk.status, methods=["GET"]),
        Route(one, desk.close, methods=["DELETE"]),
        Route(f"{one}/columns", desk.columns, methods=["GET"]),
        Route(f"{one}/look", desk.look, methods=["POST"]),
        Route(f"{one}/learn", desk.learn, methods=["POST"]),
        Route(f"{one}/stop", desk.stop, methods=["POST"]),
        Route(f"{one}/result", desk.result, methods=["GET"]),
        Route(f"{one}/report", desk.report, methods=["GET"]),
        Route(f"{one}/files/{{name:path}}", desk.file, methods=["GET"]),
        Route(f"{one}/all.zip", desk.all_files, methods=["GET"]),
    ]
    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        middleware=[Middleware(Guard, port=port, token=token)],
        exception_handlers={Refused: _refused, HTTPException: _unknown, Exception: _unforeseen},
    )
    app.state.tables = tables
    return app


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return JSONResponse({"sentence": error.sentence}, error.status)


async def _unknown(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentence = "The desk has nothing at this address."
    return JSONResponse({"sentence": sentence}, error.status_code)


async def _unforeseen(_: Request, error: Exception) -> Response:
    sentence = f"An error that should not happen: {type(error).__name__}. Please report it."
    return JSONResponse({"sentence": sentence}, 500)


class Desk:
    """What the desk answers to each request."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables

    async def page(self, _: Request) -> Response:
        """The page itself."""
        text, policy = html.page(self.tables.most_bytes)
        return Response(text, media_type="text/html", headers={"Content-Security-Policy": policy})

    async def receive(self, request: Request) -> Response:
        """Take a file, and begin to look at it."""
        size = request.headers.get("content-length", "")
        known = int(size) if size.isascii() and size.isdecimal() else None
        name = request.query_params.get("name", "table.csv")
        try:
            key = await self.tables.receive(name, known, request.stream())
        except ClientDisconnect:
            raise Refused(400, "The file did not arrive whole; choose it again.") from None
        await self.tables.find(key).look({})
        return JSONResponse({"key": key}, 201)

    def _table(self, request: Request) -> OpenTable:
        return self.tables.find(request.path_params["key"])

    async def status(self, request: Request) -> Response:
        """How far the work on a table is."""
        job = self._table(request).job
        return JSONResponse({} if job is None else job.status())

    async def close(self, request: Request) -> Response:
        """Forget a table."""
        await self.tables.close(request.path_params["key"])
        return JSONResponse({})

    async def columns(self, request: Request) -> Response:
        """What the inspection found."""
        return JSONResponse(self._table(request).columns())

    async def look(self, request: Request) -> Response:
        """Look at the file again, read in another way."""
        await self._table(request).look(await _document(request))
        return JSONResponse({})

    async def learn(self, request: Request) -> Response:
        """Begin to learn."""
        asked = await _document(request)
        settings, extras = asked.get("settings"), asked.get("extras", [])
        if not isinstance(settings, dict) or not isinstance(extras, list):
            raise Refused(400, "The page sent something other than settings.")
        words = [word for name, some in EXTRAS.items() if name in extras for word in some]
        await self._table(request).learn(settings, [*words, *_pasted()])
        return JSONResponse({})

    async def stop(self, request: Request) -> Response:
        """Stop what is running."""
        await self._table(request).stop()
        return JSONResponse({})

    async def result(self, request: Request) -> Response:
        """What was found, the files, and the lines that do the same again."""
        table = self._table(request)
        summary = table.summary()
        return JSONResponse(
            {key: summary[key] for key in SHOWN}
            | {
                "files": [
                    {"name": name, "size": path.stat().st_size}
                    for name, path in table.files().items()
                ],
                "report": (table.results / "report.html").exists(),
                "command": command(table.name, _to_show(table.jobs["learn"].words)),
                "python": python_lines(table.name, table.settings),
                "all": f"{stem_of(table.name)}.zip",
            }
        )

    async def report(self, request: Request) -> Response:
        """The report, to be shown in place."""
        path = self._table(request).files().get("report.html")
        if path is None:
            raise Refused(404, "There is no report of this table.")
        policy = f"{SANDBOX}; frame-ancestors 'self'"
        return FileResponse(
            path, media_type="text/html", headers={"Content-Security-Policy": policy}
        )

    async def file(self, request: Request) -> Response:
        """One file of the results, to be saved."""
        name = request.path_params["name"]
        path = self._table(request).files().get(name)
        if path is None:
            raise Refused(404, "There is no such file.")
        return FileResponse(path, filename=name, media_type="application/octet-stream")

    async def all_files(self, request: Request) -> Response:
        """All files of the results in one archive."""
        table = self._table(request)
        content = await run_in_threadpool(_zipped, table.files())
        name = f"{stem_of(table.name)}.zip".encode("ascii", "replace").decode().replace("?", "_")
        disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(content, media_type="application/zip", headers=disposition)


def _zipped(files: dict[str, Path]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in files.items():
            archive.write(path, name)
    return content.getvalue()


def _pasted() -> list[str]:
    """Options for files that people paste, as far as the libraries are there that write them."""
    words = ["--word", "--methods"]
    if find_spec("xlsxwriter"):
        words.append("--excel")
    if find_spec("matplotlib"):
        words += [f"--figure={RESULTS}/network.pdf", f"--figure={RESULTS}/network.svg"]
    return words


def _to_show(words: list[str]) -> list[str]:
    """The options of a fit that add files or findings, as somebody would type them."""
    added = [word for some in EXTRAS.values() for word in some]
    return [word for word in words if word in (*added, "--word", "--methods", "--excel")]


async def _document(request: Request) -> dict[str, Any]:
    """The JSON object that a page sent."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_SETTINGS:
            raise Refused(413, "The settings are too long.")
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise Refused(400, "The page sent something other than settings.")
    return document
