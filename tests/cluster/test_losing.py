"""Workers that die, clients that die, Ctrl-C, and two fits at once."""

import os
import signal
import subprocess
import sys
import time
from threading import Thread

import numpy as np
import pytest

from isinglass import GreedyGraph
from isinglass.cluster import columns
from isinglass.errors import ClusterError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are sent the POSIX way")

# Minutes of work: every column takes all the others, with a cell for each row.
LONG_FIT = """
import sys
import numpy as np
from distributed import Client
from isinglass import GreedyGraph

def progress(done, total):
    print("started", flush=True)

if __name__ == "__main__":
    X = np.random.default_rng(0).integers(0, 2, size=(6000, 80))
    client = Client(sys.argv[1])
    try:
        GreedyGraph(1e-9).fit(X, client=client, progress=progress)
        print("finished")
    except KeyboardInterrupt:
        print("interrupted")
"""


def pids(client) -> list[int]:
    return list(client.run(os.getpid).values())


def searching(client) -> bool:
    """Whether a search runs on some worker."""

    def busy() -> bool:
        from isinglass.cluster.working import BUSY

        return BUSY.locked()

    return any(client.run(busy).values())


def wait_until(holds, seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    return holds()


def chain(seed: int, p: int, n: int = 2000) -> np.ndarray:
    """Columns that are like the one before them in two rows of three."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(n, p))
    for j in range(1, p):
        same = rng.random(n) < 2 / 3
        X[same, j] = X[same, j - 1]
    return X


@pytest.fixture
def table() -> np.ndarray:
    return chain(7, 40)


@pytest.mark.parametrize("killed", [pytest.param(1, marks=pytest.mark.long), 2])
def test_workers_killed_half_way(client, table, killed, monkeypatch):
    """One of the two; and all that had the table."""
    monkeypatch.setattr(columns, "LEAST", 1)
    here = GreedyGraph(n_jobs=1).fit(table)
    victims, seen = pids(client)[:killed], []

    def kill_once(done: int, total: int) -> None:
        if done > 4 and victims:
            os.kill(victims.pop(), signal.SIGKILL)
        seen.append(done)

    there = GreedyGraph().fit(table, client=client, progress=kill_once)
    assert not victims
    assert there.graph_.links == here.graph_.links
    assert seen == sorted(seen)


def test_two_fits_at_once(cluster, client, table):
    from distributed import Client

    other = chain(8, 30)
    found = {}

    def fit(name: str, X: np.ndarray, at) -> None:
        found[name] = GreedyGraph().fit(X, client=at)

    with Client(cluster, set_as_default=False) as second:
        threads = [
            Thread(target=fit, args=("one", table, client)),
            Thread(target=fit, args=("other", other, second)),
            Thread(target=fit, args=("same client", other, client)),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found["one"].graph_.links == GreedyGraph().fit(table).graph_.links
    links = GreedyGraph().fit(other).graph_.links
    assert found["other"].graph_.links == found["same client"].graph_.links == links


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(signal.SIGINT, id="ctrl-c", marks=pytest.mark.long),
        pytest.param(signal.SIGKILL, id="killed"),
    ],
)
def test_a_client_that_stops_leaves_no_running_searches(cluster, client, sent):
    command = [sys.executable, "-c", LONG_FIT, cluster.scheduler_address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "started\n"
            assert wait_until(lambda: searching(client))
            process.send_signal(sent)
            said, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert said.splitlines()[-1:] == (["interrupted"] if sent == signal.SIGINT else [])
    assert wait_until(lambda: not searching(client))
    X = chain(9, 6)
    assert GreedyGraph().fit(X, client=client).graph_.links == GreedyGraph().fit(X).graph_.links


def test_ctrl_c_stops_the_workers(client):
    """What it raises here; the workers would be busy for minutes."""
    X = np.random.default_rng(0).integers(0, 2, size=(6000, 80))

    def stop(done: int, total: int) -> None:
        assert wait_until(lambda: searching(client))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        GreedyGraph(1e-9).fit(X, client=client, progress=stop)
    assert wait_until(lambda: not searching(client))
    assert not client.futures


@pytest.mark.long
def test_a_scheduler_that_goes_away(table):
    from distributed import Client, LocalCluster

    shape = {"n_workers": 1, "threads_per_worker": 1, "processes": True}
    cluster = LocalCluster(**shape, dashboard_address=":0", silence_logs=50)
    client = Client(cluster, set_as_default=False)

    def close(done: int, total: int) -> None:
        cluster.close()

    X = np.random.default_rng(0).integers(0, 2, size=(6000, 80))
    with pytest.raises(ClusterError, match="the connection to Dask's scheduler was lost") as raised:
        GreedyGraph(1e-9).fit(X, client=client, progress=close)
    assert "\n" not in str(raised.value)
    client.close()
