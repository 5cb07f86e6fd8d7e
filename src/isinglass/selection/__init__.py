"""Which threshold: selectors for ``GreedyGraph(threshold=...)``.

Rules (`FalseEdges`, `Auto`, `Paper`, `Theorem`) need the numbers of rows and columns only. `EBIC`,
`CrossValidated`, `Stability` and `StARS` look at the run, and at runs on parts of the rows: one
run each to the smallest threshold needed, never one for each threshold. In regressions
(``GreedyRegressor``, ``GreedyClassifier``) `FalseCoefficients` takes the place of `FalseEdges`.
"""

from isinglass.selection.choice import Look, Looking, Selection
from isinglass.selection.coefficients import (
    CoefficientSelector,
    PathLook,
    choose_coefficients,
    coefficient_selector,
)
from isinglass.selection.cross import CrossValidated
from isinglass.selection.ebic import EBIC
from isinglass.selection.names import (
    AnySelector,
    by_numbers,
    choose,
    how_chosen,
    look_below,
    selector,
)
from isinglass.selection.rules import (
    FIRM,
    TENTATIVE,
    Auto,
    FalseCoefficients,
    FalseEdges,
    Fixed,
    LookBelow,
    Paper,
    Selector,
    Theorem,
    tier_levels,
)
from isinglass.selection.stability import Stability, StARS

__all__ = [
    "EBIC",
    "FIRM",
    "TENTATIVE",
    "AnySelector",
    "Auto",
    "CoefficientSelector",
    "CrossValidated",
    "FalseCoefficients",
    "FalseEdges",
    "Fixed",
    "Look",
    "LookBelow",
    "Looking",
    "Paper",
    "PathLook",
    "Selection",
    "Selector",
    "StARS",
    "Stability",
    "Theorem",
    "by_numbers",
    "choose",
    "choose_coefficients",
    "coefficient_selector",
    "how_chosen",
    "look_below",
    "selector",
    "tier_levels",
]
