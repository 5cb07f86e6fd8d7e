"""A desk that runs as a process of its own, and tables to bring to it."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import polars as pl
import pytest

START = "from isinglass.cli import main; main()"


@dataclass
class Desk:
    address: str
    folder: Path  # where it keeps its files
    process: subprocess.Popen

    def ask(self, method, path, body=None, **headers):
        """A request to the desk; its status, and its answer as JSON if it is some."""
        status, content = self.bytes_of(path, method, body, **headers)
        try:
            return status, json.loads(content)
        except ValueError:
            return status, content.decode()

    def bytes_of(self, path, method="GET", body=None, **headers):
        """The status and the content of an answer."""
        parts = urlsplit(self.address)
        connection = http.client.HTTPConnection(parts.netloc, timeout=60)
        own = {"Origin": f"http://{parts.netloc}"} if method != "GET" else {}
        sent = {name.replace("_", "-"): value for name, value in (own | headers).items()}
        target = path if path.startswith("/") else parts.path + path
        connection.request(method, target, body, {k: v for k, v in sent.items() if v is not None})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, content

    def jobs(self):
        """Processes that the desk has started and that still run."""
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return path.read_text().split()

    def kept(self):
        """Files that the desk keeps now."""
        return [path for path in self.folder.rglob("*") if path.is_file()]


def start(folder, *options):
    pytest.importorskip("uvicorn", reason="the extra desk is not installed here")
    process = subprocess.Popen(
        [sys.executable, "-c", START, "desk", "--no-browser", *options],
        env={**os.environ, "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    line = process.stdout.readline()
    return Desk(re.search(r"http://\S+", line)[0], folder, process)


def end(desk):
    """Press Ctrl-C, and return the exit status and what was said."""
    desk.process.send_signal(signal.SIGINT)
    _, said = desk.process.communicate(timeout=60)
    return desk.process.returncode, said


@pytest.fixture(scope="session")
def desk(tmp_path_factory):
    """One desk for all tests; at the end Ctrl-C leaves nothing behind."""
    folder = tmp_path_factory.mktemp("desk")
    running = start(folder)
    yield running
    status, said = end(running)
    assert (status, said) == (0, "The desk has ended; its temporary files are gone.\n")
    assert list(folder.iterdir()) == []


def answers(n=400):
    """Smoking, coughing, being tired, each linked with the next; an id, an age, odd codes."""
    rng = np.random.default_rng(1)
    smokes = rng.random(n) < 0.4
    coughs = rng.random(n) < np.where(smokes, 0.8, 0.15)
    tired = rng.random(n) < np.where(coughs, 0.8, 0.15)
    return pl.DataFrame(
        {
            "person": range(1, n + 1),
            "age": rng.integers(18, 90, n),
            "smokes": np.where(smokes, "yes", "no"),
            "coughs": np.where(rng.random(n) < 0.04, 9, coughs),
            "tired": np.where(tired, "often", "never"),
        }
    )


@pytest.fixture
def survey(tmp_path):
    path = tmp_path / "survey.csv"
    answers().write_csv(path)
    return path
