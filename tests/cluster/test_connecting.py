"""What is said of clusters that cannot be used."""

import re
import sys

import numpy as np
import pytest

from isinglass import GreedyGraph
from isinglass.cluster import connect, working
from isinglass.cluster.shipping import ShippedTable
from isinglass.errors import ClusterError, MissingExtra, SettingError

X = np.random.default_rng(0).integers(0, 2, size=(50, 4))


@pytest.fixture
def said_of(client):
    """What is said after some code ran on the workers."""

    def said(code: str) -> str:
        client.run(exec, code)
        with pytest.raises(ClusterError) as raised:
            GreedyGraph().fit(X, client=client)
        return str(raised.value)

    yield said
    client.run(exec, "import sys; sys.modules.pop('isinglass', None)")
    client.run(exec, "import isinglass; vars(isinglass).pop('__version__', None)")


def test_a_worker_without_isinglass(said_of):
    said = said_of("import sys; sys.modules['isinglass'] = None")
    assert re.fullmatch(r"worker tcp://\S+ has no isinglass; install isinglass .* again\.", said)


def test_a_worker_with_another_version(said_of):
    said = said_of("import isinglass; isinglass.__version__ = '0.0.7'")
    assert re.match(r"worker tcp://\S+ has isinglass 0\.0\.7, and here it is", said)
    assert "\n" not in said


def test_a_dead_scheduler(monkeypatch):
    from isinglass.cluster import connecting

    monkeypatch.setattr(connecting, "WAIT", 0.5)
    for address in ("tcp://127.0.0.1:9", "nowhere"):
        with pytest.raises(ClusterError, match="no scheduler of Dask answers at") as raised:
            connect(address)
        assert "\n" not in str(raised.value)


def test_a_client_that_is_none():
    with pytest.raises(SettingError, match="client must be a client of Dask"):
        GreedyGraph().fit(X, client="tcp://127.0.0.1:9")


def test_a_client_that_is_closed(cluster):
    from distributed import Client

    client = Client(cluster, set_as_default=False)
    client.close()
    with pytest.raises(ClusterError, match="the client is closed"):
        GreedyGraph().fit(X, client=client)


def test_dask_is_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match=r"isinglass\[dask\]"):
        connect("tcp://127.0.0.1:9")


def test_a_table_too_large_for_a_worker(client, monkeypatch):
    """Without its error on the wire: the check itself, in a worker's place."""

    class Worker:
        address = "tcp://10.0.0.5:41"

        class memory_manager:  # noqa: N801
            memory_limit = 1000

    table = ShippedTable.of(X, np.ones(50), [2] * 4, 50.0)
    with pytest.raises(ClusterError, match=r"the table takes .* on each worker, and worker tcp"):
        working.prepared(table, Worker, 1)
    assert not table.is_prepared
