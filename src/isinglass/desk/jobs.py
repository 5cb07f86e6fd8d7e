"""A command of isinglass as a process of its own: what it says, how far it is, and its end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

#: What a new process of Python runs to be the command `isinglass`.
COMMAND = (sys.executable, "-c", "from isinglass.cli import main; main()")
#: Bytes of one line; sentences are short.
LONGEST_LINE = 1 << 20
#: Seconds that a process gets to end after it was asked to.
PATIENCE = 2.0
#: The signal that no process can ignore, where systems have one.
KILL: int = getattr(signal, "SIGKILL", signal.SIGTERM)


class Job:
    """A command that runs in a folder; `state` is "running", "done", "failed" or "stopped"."""

    def __init__(self, what: str, words: list[str], folder: Path) -> None:
        self.what, self.words, self.folder = what, words, folder
        self.temporary = folder / ".tmp"
        self.state = "running"
        self.output = b""
        self.sentences: list[str] = []
        self.ended = asyncio.Event()
        self._progress: dict[str, Any] = {}
        self._began = self._stage_began = time.monotonic()
        self._process: asyncio.subprocess.Process | None = None
        self._how_to_end: int = signal.SIGTERM
        self._task = asyncio.create_task(self._run())

    def status(self) -> dict[str, Any]:
        """How far the work is, as plain values."""
        now = time.monotonic()
        done, total = self._progress.get("done"), self._progress.get("total")
        left = None
        if done and total:
            left = (now - self._stage_began) * (total - done) / done
        return {
            "what": self.what,
            "state": self.state,
            "doing": self._progress.get("doing"),
            "words": self._progress.get("words") or "",
            "done": done,
            "total": total,
            "left": left,
            "elapsed": now - self._began,
            "sentence": self.sentences[-1] if self.state == "failed" else None,
            "notes": self.sentences[:-1] if self.state == "failed" else self.sentences,
        }

    async def stop(self) -> None:
        """End the process and all that it has started, and wait until they are gone."""
        if self.state == "running":
            self.state = "stopped"
            if self._process is not None:
                _end(self._process, signal.SIGTERM)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self.ended.wait(), PATIENCE)
                    return
                self.kill()
        await self.ended.wait()

    def kill(self) -> None:
        """End the process and all that it has started, without waiting."""
        if self.ended.is_set():
            return
        self.state, self._how_to_end = "stopped", KILL
        if self._process is not None:  # else it is being started, and ends as soon as it has
            _end(self._process, KILL)

    async def _run(self) -> None:
        try:
            process = self._process = await self._start()
            if self.state == "stopped":  # while it was being started
                _end(process, self._how_to_end)
            assert process.stdout is not None
            output, _ = await asyncio.gather(process.stdout.read(), self._listen(process))
            status = await process.wait()
            self.output = output
            if self.state == "running":
                self.state = "done" if status == 0 else "failed"
        except OSError as error:
            self.state = "failed"
            self.sentences.append(f"The work could not be started: {error.strerror}.")
        finally:
            if self.state == "failed" and not self.sentences:
                self.sentences.append(
                    "The work ended without a message; there may be too little memory. Try fewer "
                    "rows or columns."
                )
            self.ended.set()

    async def _start(self) -> asyncio.subprocess.Process:
        self.temporary.mkdir(exist_ok=True)
        return await asyncio.create_subprocess_exec(
            *COMMAND,
            *self.words,
            cwd=self.folder,
            env={**os.environ, "ISINGLASS_LINES": "1", "TMPDIR": str(self.temporary)},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=LONGEST_LINE,
            start_new_session=True,  # so that it ends with all that it has started
        )

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        async for line in process.stderr:
            with suppress(ValueError):
                self._hear(json.loads(line))

    def _hear(self, line: Any) -> None:
        if not isinstance(line, dict):
            return
        if "sentence" in line:
            self.sentences.append(str(line["sentence"]))
        elif "doing" in line:
            if line["doing"] != self._progress.get("doing"):
                self._stage_began = time.monotonic()
            self._progress = line


def _end(process: asyncio.subprocess.Process, how: int) -> None:
    """Send a signal to a process and, where systems have groups of processes, to its group."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, how)
        elif process.returncode is None:
            process.terminate()
