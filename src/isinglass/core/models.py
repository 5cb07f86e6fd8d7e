"""What models ask of the core: draws, completed rows, and the loss of all columns together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.core import Codes, Progress, Weights, _core
from isinglass.core.gate import checked_threads
from isinglass.core.stopping import watched


def gibbs_sample(
    model: Mapping[str, NDArray[Any]],
    *,
    chains: int,
    burn_in: int,
    thin: int,
    draws: int,
    seed: int,
    threads: int,
    progress: Progress | None = None,
) -> NDArray[np.uint8]:
    """Codes (column-major) of a pairwise model: row d * chains + c is draw d of chain c.

    The arrays of `model` are described in ``core/sampling/gibbs.hpp``. A seed gives the same codes
    whatever the number of threads.
    """
    codes: NDArray[np.uint8] = _core.gibbs(
        **model,
        chains=chains,
        burn_in=burn_in,
        thin=thin,
        draws=draws,
        seed=seed,
        threads=checked_threads(threads),
        progress=watched(progress),
    )
    return codes.reshape(len(model["states"]), -1).T


def complete_rows(
    model: Mapping[str, NDArray[Any]],
    codes: Codes,
    streams: NDArray[np.uint64],
    *,
    draws: int,
    seed: int,
    threads: int,
    most_cells: int = 2**12,
    sweeps: int = 100,
    progress: Progress | None = None,
) -> tuple[NDArray[np.uint8], int]:
    """Draw the missing cells of rows given the seen ones: codes beyond a column's states.

    Returns the draws, (draws, missing cells), cells row by row; and in how many rows some had to
    be drawn by Gibbs sweeps, since a table of more than `most_cells` would have been needed. The
    arrays of `model` are those of `gibbs_sample`; a row has the same draws wherever it stands, if
    its stream is the same.
    """
    found = _core.complete(
        **model,
        codes=np.ascontiguousarray(codes, dtype=np.uint8).ravel(),
        streams=np.ascontiguousarray(streams, dtype=np.uint64),
        draws=draws,
        most_cells=most_cells,
        sweeps=sweeps,
        seed=seed,
        threads=checked_threads(threads),
        progress=watched(progress),
    )
    return found["codes"].reshape(draws, -1), int(found["rows_by_gibbs"])


def joint_loss(
    codes: Codes,
    weights: Weights,
    n_states: Sequence[int],
    edges: Sequence[tuple[int, int]],
    *,
    ridge: float,
    intercept: bool,
    memory: float,
    threads: int,
    adjusted: int = 0,
) -> _core.JointLoss:
    """The pseudo-likelihood of all columns together, to be minimised; codes beyond are missing.

    Numbers are those of ``core/joint/layout.hpp``: one per state of each column, then one per pair
    of states of each edge, in the order given. `weights` are shares of all rows. So many of the
    last columns as `adjusted` says are given, and not explained.
    """
    return _core.joint_loss(
        np.asfortranarray(codes, dtype=np.uint8),
        np.asarray(n_states, dtype=np.int32),
        np.ascontiguousarray(weights, dtype=np.float64),
        np.asarray(edges, dtype=np.int64).ravel(),
        ridge,
        intercept,
        memory,
        checked_threads(threads),
        adjusted,
    )


def add_scaled(
    matrix: NDArray[np.float32],
    positions: NDArray[np.intp],
    part: NDArray[np.float64],
    scale: NDArray[np.float64],
) -> None:
    """Add to a symmetric matrix a part of it, rows and columns times their scales, in place.

    Only the upper triangle of the matrix is written.
    """
    _core.add_scaled(matrix, positions.astype(np.int64), np.ascontiguousarray(part), scale)
