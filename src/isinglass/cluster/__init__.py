"""More than one machine: the work of fits on the workers of a Dask cluster."""

from isinglass.cluster.calling import call_all
from isinglass.cluster.collections import (
    give_rows,
    is_collection,
    learn_where_it_fits,
    present_client,
)
from isinglass.cluster.columns import ByColumns
from isinglass.cluster.connecting import connect, connected

__all__ = [
    "ByColumns",
    "call_all",
    "connect",
    "connected",
    "give_rows",
    "is_collection",
    "learn_where_it_fits",
    "present_client",
]
