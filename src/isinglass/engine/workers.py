"""Who does the core's work on a table: this process, or the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from isinglass.core import Flat


class Workers(Protocol):
    """Two functions of the core, arrays in and arrays out, with the same arguments there.

    ``isinglass.core`` itself has them, and is who works where nobody is named. What they find for a
    column depends on no other column that is asked for with it, so that blocks of columns can be
    done anywhere.
    """

    @property
    def search_columns(self) -> Callable[..., Flat]:
        """Run Algorithm 1 for columns of a table."""
        ...

    @property
    def edge_losses(self) -> Callable[..., Flat]:
        """Fit columns with and without some neighbours."""
        ...
