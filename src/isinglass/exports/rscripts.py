"""Numbers for users of R, with the three lines that read them there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import SettingError
from isinglass.exports.tables import as_csv, weights_csv
from isinglass.files import MARK
from isinglass.graph import Graph
from isinglass.model import MarkovField

Array = NDArray[np.float64]


def qgraph(graph: Graph, path: Path) -> dict[Path, bytes]:
    """A weight matrix as CSV, and beside it a script that draws it with qgraph."""
    draw = "qgraph(weights, labels = colnames(weights))"
    return _with_script(path, weights_csv(graph), "weights", "qgraph", draw)


def isingsampler(field: MarkovField, path: Path) -> dict[Path, bytes]:
    """Thresholds and couplings in 0/1 coding as CSV, and a script that gives them to IsingSampler.

    The first column of numbers holds the thresholds, the others the matrix.
    """
    couplings, thresholds = binary_parameters(field)
    numbers = np.column_stack([thresholds, couplings]).tolist()
    rows = ([name, *row] for name, row in zip(field.names, numbers, strict=True))
    table = as_csv(["", "(threshold)", *field.names], rows)
    draw = "rows <- IsingSampler(1000, model[, -1], model[, 1], responses = c(0L, 1L))"
    return _with_script(path, table, "model", "IsingSampler", draw)


def binary_parameters(field: MarkovField) -> tuple[Array, Array]:
    """Return couplings (p x p) and thresholds (p) of a model of two-state columns, coded 0 and 1.

    The log-potential of a row is the sum of thresholds[i] x_i and of couplings[i, j] x_i x_j
    over pairs, but for a constant; x_i is 1 in the second state.

    >>> from isinglass import simulate
    >>> field = simulate.ising(simulate.chain(2), signs="positive")
    >>> couplings, thresholds = binary_parameters(field)
    >>> couplings.tolist(), thresholds.tolist()
    ([[0.0, 2.0], [2.0, 0.0]], [-1.0, -1.0])
    """
    for name, m in zip(field.names, field.n_states, strict=True):
        if m != 2:
            raise SettingError(f"0/1 coding is for columns of two states; {name!r} has {m}.")
    coded = field.to_coding("01")
    return coded.matrix, np.asarray(coded.intercepts)


def _with_script(path: Path, table: bytes, name: str, package: str, call: str) -> dict[Path, bytes]:
    """A file of numbers, and a script that reads them and calls a function of a package."""
    if path.suffix.lower() == ".r":
        raise SettingError(
            f"the numbers cannot go to {path.name!r}, which is the name of the script beside them; "
            f"name {path.with_suffix('.csv').name!r}."
        )
    quoted = '"' + path.name.replace("\\", "\\\\").replace('"', '\\"') + '"'
    lines = (
        f"# {MARK.decode()}",
        f"{name} <- as.matrix(read.csv({quoted}, row.names = 1, check.names = FALSE))",
        f"library({package})",
        call,
    )
    return {path: table, path.with_suffix(".R"): ("\n".join(lines) + "\n").encode()}
