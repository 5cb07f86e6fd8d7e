"""The tables that are open: each has a folder, its file, one job at a time, and its results."""

from __future__ import annotations

import asyncio
import json
import secrets
import shutil
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from isinglass.desk.html import size_text
from isinglass.desk.jobs import Job
from isinglass.desk.repeating import settings_name, settings_text
from isinglass.shell import reading_words

#: Tables that may be open at once; each takes up room on the disk.
MOST_TABLES = 20
#: Where a fit puts its files.
RESULTS = ".results"  # no name of a file that is sent begins with a point
_ODD = frozenset('<>:"/\\|?*')


class Refused(Exception):
    """A request that cannot be granted: a status of HTTP, and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence


def clean_name(name: str) -> str:
    r"""The name of a file without its folder, and without what a disk or a shell cannot take.

    >>> clean_name("C:\\data\\my survey.sav"), clean_name("../passwd"), clean_name("-x\n.csv")
    ('my survey.sav', 'passwd', 'x_.csv')
    """
    last = name.replace("\\", "/").rpartition("/")[2]
    kept = "".join("_" if c in _ODD or not c.isprintable() else c for c in last)
    kept = kept.strip(" .").lstrip("-") or "table.csv"
    stem, dot, ending = kept.rpartition(".")
    return f"{stem[:80]}{dot}{ending[:20]}" if dot else kept[:80]


class OpenTable:
    """A file that was dropped on the page."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name
        self.job: Job | None = None
        self.jobs: dict[str, Job] = {}
        self._lock = asyncio.Lock()
        self.settings: dict[str, Any] = {}

    @property
    def results(self) -> Path:
        """Where the files of a fit are."""
        return self.folder / RESULTS

    async def look(self, reading: dict[str, Any]) -> None:
        """Begin to inspect the file."""
        words = ["inspect", self.name, "--json", "--out", settings_name(self.name)]
        try:
            words += reading_words(reading)
        except (AttributeError, TypeError):
            raise Refused(400, "The page sent something other than settings.") from None
        async with self._lock:
            await self.clear()
            self._begin("look", words)

    async def learn(self, settings: dict[str, Any], words: list[str]) -> None:
        """Begin to learn from the file, by these settings and further options."""
        try:
            text = settings_text(settings).encode()
        except (AttributeError, TypeError, ValueError) as error:
            raise Refused(400, f"These settings cannot be written down: {error}.") from None
        command = ["fit", self.name, "--settings", settings_name(self.name), "--out", RESULTS]
        async with self._lock:
            await self.clear()
            (self.folder / settings_name(self.name)).write_bytes(text)
            self.settings = settings
            self.results.mkdir()
            self._begin("learn", [*command, *words, "--json"])

    def _begin(self, what: str, words: list[str]) -> None:
        self.job = self.jobs[what] = Job(what, words, self.folder)

    async def clear(self) -> None:
        """Stop what is running, and forget results."""
        await self.stop()
        self.jobs.pop("learn", None)
        shutil.rmtree(self.results, ignore_errors=True)

    async def stop(self) -> None:
        """Stop what is running; a fit that is stopped leaves nothing behind."""
        job = self.job
        if job is not None and job.state == "running":
            await job.stop()
            for left in (self.results, job.temporary):
                shutil.rmtree(left, ignore_errors=True)

    def columns(self) -> dict[str, Any]:
        """What the inspection found, and the settings that it proposes, column by column."""
        document = self._document("look")
        path = self.folder / settings_name(self.name)
        proposed = tomllib.loads(path.read_text(encoding="utf-8"))
        by_name = proposed.get("columns", {})
        return document | {
            "name": self.name,
            "reading": proposed.get("reading", {}),
            "fit": proposed.get("fit", {}),
            "groups": list(proposed.get("groups", {}).items()),
            "settings": [by_name.get(column["name"], {}) for column in document["columns"]],
        }

    def summary(self) -> dict[str, Any]:
        """What the fit found."""
        return self._document("learn")

    def files(self) -> dict[str, Path]:
        """The files of the fit by their names, and the settings that it obeyed."""
        self._document("learn")
        found = {path.name: path for path in sorted(self.results.iterdir()) if path.is_file()}
        settings = settings_name(self.name)
        return found | {settings: self.folder / settings}

    def _document(self, what: str) -> dict[str, Any]:
        job = self.jobs.get(what)
        if job is None or job.state != "done":
            raise Refused(409, "This is not there yet; wait until the work is done.")
        document: dict[str, Any] = json.loads(job.output)
        return document


class Tables:
    """All open tables, in one folder that is gone at the end."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self.folder, self.most_bytes = folder, most_bytes
        self._open: dict[str, OpenTable] = {}

    def find(self, key: str) -> OpenTable:
        """The table with a key."""
        try:
            return self._open[key]
        except KeyError:
            raise Refused(404, "This table is no longer open; choose its file again.") from None

    async def receive(self, name: str, size: int | None, chunks: AsyncIterator[bytes]) -> str:
        """Write a file that is being sent, and return the key of its table."""
        if len(self._open) >= MOST_TABLES:
            raise Refused(
                409, f"{MOST_TABLES} tables are open, the most there may be; close one first."
            )
        self._check(name, size or 0)
        key, clean = secrets.token_urlsafe(12), clean_name(name)
        folder = self.folder / key
        folder.mkdir()
        table = self._open[key] = OpenTable(folder, clean)
        try:
            await self._write(table, chunks)
        except BaseException:
            await self.close(key)
            raise
        return key

    async def _write(self, table: OpenTable, chunks: AsyncIterator[bytes]) -> None:
        written = 0
        try:
            with (table.folder / table.name).open("xb") as file:
                async for chunk in chunks:
                    written += len(chunk)
                    self._check(table.name, written)
                    file.write(chunk)
        except OSError as error:
            raise Refused(507, f"The file could not be kept: {error.strerror}.") from None
        if not written:
            raise Refused(400, f"{table.name} is empty; choose a file with a table in it.")

    def _check(self, name: str, size: int) -> None:
        if size > self.most_bytes:
            raise Refused(
                413,
                f"{clean_name(name)} is larger than {size_text(self.most_bytes)}, the most that "
                "the desk takes; start it with a larger --max-size, or take fewer rows or columns.",
            )

    async def close(self, key: str) -> None:
        """Forget a table, with all of its files."""
        table = self._open.pop(key, None)
        if table is not None:
            await table.stop()
            shutil.rmtree(table.folder, ignore_errors=True)

    async def close_all(self) -> None:
        """Forget all tables."""
        for key in list(self._open):
            await self.close(key)

    def kill(self) -> None:
        """End all work at once, without waiting."""
        for table in self._open.values():
            if table.job is not None:
                table.job.kill()
