"""Pictures, with matplotlib (the extra ``plots``): each function takes axes and returns them."""

from isinglass.plots.adjacency import adjacency
from isinglass.plots.canvas import figure_of, new_figure, pdf, png, svg
from isinglass.plots.columns import centrality, predictability
from isinglass.plots.curves import audit, plan, selection_curve, success
from isinglass.plots.groups import group_differences, group_networks
from isinglass.plots.intervals import intervals
from isinglass.plots.link_table import link_table
from isinglass.plots.network import network
from isinglass.plots.path import path, search
from isinglass.plots.side_by_side import networks
from isinglass.plots.stability import case_dropping, edge_differences

__all__ = [
    "adjacency",
    "audit",
    "case_dropping",
    "centrality",
    "edge_differences",
    "figure_of",
    "group_differences",
    "group_networks",
    "intervals",
    "link_table",
    "network",
    "networks",
    "new_figure",
    "path",
    "pdf",
    "plan",
    "png",
    "predictability",
    "search",
    "selection_curve",
    "success",
    "svg",
]
