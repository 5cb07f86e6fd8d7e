"""How long the desk takes from its start to its first page, beside uvicorn with an empty page.

    python benchmarks/desk_start.py [--repeats 5]

Both start as processes of their own, in turns, so that a busy machine slows both alike. A clock
runs from the start of the process until the whole page has arrived. Printed are the smallest times
and their ratio, elapsed and of the processor; the desk should need at most a second.
"""

from __future__ import annotations

import argparse
import http.client
import os
import platform
import re
import resource
import signal
import subprocess
import sys
import time
from importlib.metadata import version

DESK = ["-c", "from isinglass.cli import main; main()", "desk", "--no-browser"]
EMPTY = [
    "-c",
    """
import socket, uvicorn

async def page(scope, receive, send):
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
print(f"http://127.0.0.1:{listener.getsockname()[1]}/", flush=True)
uvicorn.Server(uvicorn.Config(page, log_level="critical", lifespan="off")).run([listener])
""",
]


def main() -> None:
    """Start both in turns, and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    print(f"Python {platform.python_version()}, uvicorn {version('uvicorn')}, load {load()}")
    started = [(first_page(DESK), first_page(EMPTY)) for _ in range(repeats)]
    for at, what in enumerate(("elapsed", "of the processor")):
        desk, empty = (min(one[k][at] for one in started) for k in (0, 1))
        print(f"{what}: desk {desk:.2f} s, empty page {empty:.2f} s, ratio {desk / empty:.2f}")


def load() -> str:
    """How busy the machine is."""
    return f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def first_page(command: list[str]) -> tuple[float, float]:
    """Seconds from the start until the page is there, and seconds of the processor in all."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    found = re.search(r"http://([^/]+)(/\S*)", process.stdout.readline())
    assert found is not None
    connection = http.client.HTTPConnection(found[1])
    connection.request("GET", found[2])
    answer = connection.getresponse()
    answer.read()
    elapsed = time.perf_counter() - start
    assert answer.status == 200, answer.status
    connection.close()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return elapsed, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
