"""The theorem at one column, from the curvature there."""

from __future__ import annotations

import numpy as np

from isinglass.theorem.conditions import Asked, Given, asked
from isinglass.theorem.curvature import Instance
from isinglass.theorem.eigenvalues import extremes
from isinglass.theorem.results import ColumnTheory
from isinglass.theorem.working import irrepresentability


def column_theory(
    name: str, instance: Instance, *, noise: float, n: float, further: int, margin: float
) -> tuple[ColumnTheory, Asked]:
    """What the theorem asks for, in a row and in its own letters."""
    _, curvature = instance.slope_and_curvature()
    blocks, support = instance.blocks, instance.support
    ends = extremes(curvature, blocks, support, further)
    sizes = instance.sizes[list(support)]
    given = Given(
        s=len(support),
        candidates=len(blocks),
        curvature=float(np.linalg.eigvalsh(curvature)[0]) if len(curvature) else 0.0,
        single=_ceiling(instance, single=True),
        ceiling=_ceiling(instance, single=False),
        reach=instance.reach,
        noise=noise,
        smallest=float(sizes.min()) if len(sizes) else float("inf"),
        n=n,
    )
    needs = asked(given)
    column = ColumnTheory(
        name=name,
        neighbours=given.s,
        candidates=given.candidates,
        further=ends.further,
        smallest_eigenvalue=ends.smallest,
        largest_eigenvalue=ends.largest,
        exact=ends.exact,
        kappa_l=needs.kappa_l,
        kappa_u=needs.kappa_u,
        condition=needs.rho,
        eta=needs.eta,
        noise=noise,
        threshold=needs.threshold,
        coefficient=needs.coefficient,
        smallest=given.smallest,
        radius=needs.radius,
        error=needs.error,
        rows=needs.rows,
        irrepresentability=irrepresentability(curvature, instance),
        margin=margin,
    )
    return column, needs


def _ceiling(instance: Instance, *, single: bool) -> float:
    """The largest eigenvalue that the curvature has anywhere, of one candidate or of all."""
    if not np.isfinite(instance.ceiling) or not instance.coef.size:
        return float("inf")
    matrix = instance.largest_curvature()
    parts = [matrix[np.ix_(b, b)] for b in instance.blocks] if single else [matrix]
    return max(float(np.linalg.eigvalsh(part)[-1]) for part in parts)
