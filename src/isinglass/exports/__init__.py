"""Graphs and models for other software, and back."""

from isinglass.exports.factors import from_pgmpy, read_uai, to_pgmpy, uai
from isinglass.exports.formats import FORMATS, write
from isinglass.exports.networks import (
    cytoscape,
    from_igraph,
    from_networkx,
    gexf,
    graphml,
    to_igraph,
)
from isinglass.exports.rscripts import binary_parameters, isingsampler, qgraph
from isinglass.exports.tables import edges_csv, from_frame, nodes_csv, weights, weights_csv

__all__ = [
    "FORMATS",
    "binary_parameters",
    "cytoscape",
    "edges_csv",
    "from_frame",
    "from_igraph",
    "from_networkx",
    "from_pgmpy",
    "gexf",
    "graphml",
    "isingsampler",
    "nodes_csv",
    "qgraph",
    "read_uai",
    "to_igraph",
    "to_pgmpy",
    "uai",
    "weights",
    "weights_csv",
    "write",
]
