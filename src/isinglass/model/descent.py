"""L-BFGS for models of too many parameters for Newton's method."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from isinglass.errors import StoppedEarly

Array = NDArray[np.float64]

#: Steps after which the search gives up.
STEPS = 1000


def lbfgs(objective: Callable[[Array], tuple[float, Array]], start: Array) -> Array:
    """Minimise until the gradient falls below 1e-10, or rounding leaves nothing to gain.

    A `StoppedEarly` warning says so if the steps run out before.
    """
    if not len(start):
        return start
    options = {"maxcor": 40, "ftol": 0.0, "gtol": 1e-10, "maxiter": STEPS, "maxfun": 3 * STEPS}
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    if found.status == 1:
        warnings.warn(
            f"the fit of {len(start):,} parameters took all its {found.nit:,} steps, and its "
            f"largest slope is still {np.abs(found.jac).max():.1g} (1e-10 is wanted): couplings "
            "have fewer digits, and edges that the rows leave unbounded may stop short. A larger "
            "ridge makes the fit quicker.",
            StoppedEarly,
            stacklevel=2,
        )
    answer: Array = found.x
    return answer
