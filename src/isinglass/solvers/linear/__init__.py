"""The quick way of losses of a linear predictor: the same steps from few products with X.

The squared loss has its gains in closed form. For the others, slopes and curvatures of all
candidates bound their gains; what the bounds leave is searched exactly, side by side.
"""

from isinglass.solvers.linear.blocks import LinearBlocks, has_quick_way

__all__ = ["LinearBlocks", "has_quick_way"]
