"""Every format by its name, and one function that writes any of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from isinglass.errors import SettingError
from isinglass.exports.factors import uai
from isinglass.exports.networks import cytoscape, gexf, graphml
from isinglass.exports.rscripts import isingsampler, qgraph
from isinglass.exports.tables import edges_csv
from isinglass.files import check_file, check_side_files, write_files
from isinglass.graph import Graph
from isinglass.model import FitRecord, MarkovField
from isinglass.parameters import check_value, checked
from isinglass.parameters.kinds import Word

_OF_GRAPHS: dict[str, Callable[[Graph, Path], dict[Path, bytes]]] = {
    "csv": lambda graph, path: {path: edges_csv(graph)},
    "cytoscape": lambda graph, path: {path: cytoscape(graph)},
    "gexf": lambda graph, path: {path: gexf(graph)},
    "graphml": lambda graph, path: {path: graphml(graph)},
    "qgraph": qgraph,
}
_OF_MODELS: dict[str, Callable[[MarkovField, Path], dict[Path, bytes]]] = {
    "isingsampler": isingsampler,
    "uai": uai,
}
FORMATS = tuple(sorted([*_OF_GRAPHS, *_OF_MODELS]))
GRAPH_FORMATS = tuple(_OF_GRAPHS)


@checked
def write(
    what: Graph | MarkovField,
    path: str | os.PathLike[str],
    to: str,
    *,
    fit: FitRecord | None = None,
    overwrite: bool = False,
) -> tuple[str, ...]:
    """Write a graph, or a model and its graph, in one of `FORMATS`; all files or none.

    A model alone has no strength, evidence or tier: formats of graphs take these from the record of
    its `fit`, or omit them.

    Parameters
    ----------
    what : Graph or MarkovField
    path : str or path
        Replaced if it is there.
    to : str
        The format.
    fit : FitRecord, optional
    overwrite : bool
        Whether a file that goes beside `path` may replace one that is not from isinglass.

    Returns
    -------
    tuple of str
        The files written: `path`, and what goes beside it.
    """
    check_file(path)
    check_value("to", to, Word(*FORMATS))
    if to in _OF_GRAPHS:
        contents = _OF_GRAPHS[to](_graph(what, fit, to), Path(path))
    elif isinstance(what, MarkovField):
        contents = _OF_MODELS[to](what, Path(path))
    else:
        raise SettingError(f"{to} holds parameters, and a graph has none; give a MarkovField.")
    check_side_files(contents, Path(path), overwrite=overwrite)
    write_files(contents)
    return tuple(map(str, contents))


def _graph(what: Graph | MarkovField, fit: FitRecord | None, to: str) -> Graph:
    if fit is not None:
        return fit.with_tentative if to == "csv" else fit.graph
    return what.graph if isinstance(what, MarkovField) else what
