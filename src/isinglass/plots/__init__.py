"""Pictures, with matplotlib (the extra ``plots``): each function takes axes and returns them."""

from isinglass.plots.adjacency import adjacency
from isinglass.plots.canvas import figure_of, new_figure, png, svg
from isinglass.plots.intervals import intervals
from isinglass.plots.network import network
from isinglass.plots.path import path, search
from isinglass.plots.selection import selection_curve
from isinglass.plots.success import success
from isinglass.plots.sure import audit, plan

__all__ = [
    "adjacency",
    "audit",
    "figure_of",
    "intervals",
    "network",
    "new_figure",
    "path",
    "plan",
    "png",
    "search",
    "selection_curve",
    "success",
    "svg",
]
