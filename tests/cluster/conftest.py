"""A cluster of two processes on this machine, for all tests of a run."""

from collections.abc import Iterator
from typing import Any

import pytest

from cli.conftest import invoke, run_main

__all__ = ["invoke", "run_main"]

pytest.importorskip("distributed")


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """Two workers of one thread each, with nannies that start them again."""
    from distributed import LocalCluster

    quiet = {"dashboard_address": ":0", "silence_logs": 50}
    shape = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "2GB"}
    with LocalCluster(processes=True, **shape, **quiet) as cluster:
        yield cluster


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    """A client of its own for every test, and both workers there."""
    from distributed import Client

    with Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        yield client
