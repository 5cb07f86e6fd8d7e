"""One fixture runs a test over every table library."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

Columns = dict[str, list[Any]]


def _array(columns: Columns) -> np.ndarray:
    array = np.empty((len(next(iter(columns.values()))), len(columns)), dtype=object)
    for position, cells in enumerate(columns.values()):
        array[:, position] = cells
    return array


LIBRARIES: dict[str | None, Callable[[Columns], Any]] = {
    None: _array,
    "pandas": pd.DataFrame,
    "polars": lambda columns: pl.DataFrame(columns, strict=False),
    "pyarrow": pa.table,
}


@pytest.fixture(params=LIBRARIES, ids=lambda library: library or "numpy")
def library(request):
    return request.param


@pytest.fixture
def make(library):
    """Turn a dict of columns into a table of the library at hand."""
    return LIBRARIES[library]
