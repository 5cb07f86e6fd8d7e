"""More than one machine: the work of fits on the workers of a Dask cluster."""

from isinglass.cluster.columns import ByColumns
from isinglass.cluster.connecting import check_workers, connect
from isinglass.cluster.spreading import Spread

__all__ = ["ByColumns", "Spread", "check_workers", "connect"]
