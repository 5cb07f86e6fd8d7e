"""A client of Dask, and workers that know the same isinglass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from isinglass.cluster.spreading import asked
from isinglass.errors import ClusterError, MissingExtra

#: Seconds to wait for a scheduler.
WAIT = 10


def connect(address: str) -> Any:
    """A client of the scheduler at an address, such as ``tcp://10.0.0.5:8786``."""
    need_dask()
    from distributed import Client

    try:
        return Client(address, timeout=WAIT, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(
            f"no scheduler of Dask answers at {address!r}; start one (dask scheduler), and give "
            "the address that it prints, such as 'tcp://10.0.0.5:8786'.",
            address=address,
        ) from error


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """A client for as long as this lasts; None without an address."""
    if address is None:
        yield None
        return
    with connect(address) as client:
        yield client


def need_dask() -> None:
    """MissingExtra unless Dask is installed."""
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise MissingExtra(
            "a cluster needs dask and distributed: pip install 'isinglass[dask]'"
        ) from error


def check_workers(client: Any) -> None:
    """ClusterError unless all workers have the isinglass that is here."""
    if getattr(client, "asynchronous", False):
        raise ClusterError(
            "the client is asynchronous; isinglass waits for its workers and needs an ordinary "
            "one: distributed.Client(address)."
        )
    if client.status in ("closed", "closing"):
        raise ClusterError("the client is closed; make another one: distributed.Client(address).")

    # A function within a function is sent as its code, to workers that lack isinglass, too.
    def own_version() -> str | None:
        from importlib.metadata import version

        try:
            import isinglass

            return str(getattr(isinglass, "__version__", version(isinglass.__name__)))
        except ImportError:
            return None

    check_versions(asked(lambda: client.run(own_version)))


def check_versions(found: Mapping[str, str | None]) -> None:
    """ClusterError if a worker has no isinglass, or another one.

    >>> check_versions({"tcp://10.0.0.5:41": None})
    Traceback (most recent call last):
    isinglass.errors.ClusterError: worker tcp://10.0.0.5:41 has no isinglass; ...
    """
    here = version("isinglass")
    for address, there in found.items():
        if there is None:
            raise ClusterError(
                f"worker {address} has no isinglass; install isinglass {here} where it runs, and "
                "start it again.",
                address=address,
            )
        if there != here:
            raise ClusterError(
                f"worker {address} has isinglass {there}, and here it is {here}; install the same "
                "version on all machines, and start the worker again.",
                address=address,
            )
