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
    lines = (
        f"weights <- as.matrix(read.csv({_quoted(path.name)}, row.names = 1, check.names = FALSE))",
        "library(qgraph)",
        "qgraph(weights, labels = colnames(weights))",
    )
    return {_named_otherwise(path): weights_csv(graph), path.with_suffix(".R"): _script(lines)}


def isingsampler(field: MarkovField, path: Path) -> dict[Path, bytes]:
    """Thresholds and couplings in 0/1 coding as CSV, and a script that gives them to IsingSampler.

    The first column of numbers holds the thresholds, the others the matrix.
    """
    matrix, thresholds = binary_parameters(field)
    rows = (
        [name, threshold, *row]
        for name, threshold, row in zip(
            field.names, thresholds.tolist(), matrix.tolist(), strict=True
        )
    )
    lines = (
        f"model <- as.matrix(read.csv({_quoted(path.name)}, row.names = 1, check.names = FALSE))",
        "library(IsingSampler)",
        "rows <- IsingSampler(1000, model[, -1], model[, 1], responses = c(0L, 1L))",
    )
    head = ["", "(threshold)", *field.names]
    return {_named_otherwise(path): as_csv(head, rows), path.with_suffix(".R"): _script(lines)}


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


def _quoted(name: str) -> str:
    """A file's name as R reads it between quotes."""
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _named_otherwise(path: Path) -> Path:
    """The file of numbers, which must not have the name of the script."""
    if path.suffix.lower() == ".r":
        raise SettingError(
            f"the numbers cannot go to {path.name!r}, which is the name of the script beside them; "
            f"name {path.with_suffix('.csv').name!r}."
        )
    return path


def _script(lines: tuple[str, ...]) -> bytes:
    return ("\n".join((f"# {MARK.decode()}", *lines)) + "\n").encode()
