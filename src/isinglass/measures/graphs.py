"""The graph of anything that has one."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from isinglass.errors import SettingError
from isinglass.estimators.base import GraphEstimator
from isinglass.graph import Graph
from isinglass.model import FitRecord, MarkovField

HasGraph = GraphEstimator | Graph | MarkovField | FitRecord


def graph_of(of: Any) -> Graph:
    """Return the graph of a fitted estimator, a model or a record; a graph is its own."""
    if isinstance(of, Graph):
        return of
    if isinstance(of, GraphEstimator):
        check_is_fitted(of)
        return of.graph_
    if isinstance(of, MarkovField | FitRecord):
        return of.graph
    raise SettingError(
        f"this takes a fitted estimator, a Graph, a MarkovField or a FitRecord, not a "
        f"{type(of).__name__}."
    )
