"""Which threshold? The default beside the best constant, on many designs.

Each design is tried at seven numbers of rows around the one where the default recovers 95 % of
the graphs; that one was found by a first pass with few graphs over a wide range.

nine    the paper's designs: chain, grid, star; p = 36, 64, 100; couplings +-0.5
others  other graphs, couplings, intercepts, states; n from 50 to 100,000
large   1000 columns, few graphs
false   how many false edges there are, where none, all or few of the links can be found
"""

from __future__ import annotations

from functools import partial

from isinglass.experiments.cuts import all_cuts
from isinglass.experiments.plan import Method

#: Multiples of the rows that the default needs.
AROUND = (0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5)
#: Graphs a point, and of a thousand columns.
GRAPHS, FEW = 200, 20
PARTS = ("nine", "others", "large", "false")

DEFAULT = Method("cuts", all_cuts, ours=True)
NO_FIELDS = Method("cuts-no-fields", partial(all_cuts, intercept=False, rules=("or",)), ours=True)


def around(need: float) -> tuple[float, ...]:
    """Betas near the one that is needed, of three digits.

    >>> around(2.0)
    (1.4, 1.6, 1.8, 2.0, 2.2, 2.5, 3.0)
    """
    return tuple(float(f"{need * factor:.3g}") for factor in AROUND)
