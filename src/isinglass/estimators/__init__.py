"""Estimators with scikit-learn's interface: graphs, regressions, classifiers."""

from isinglass.estimators.classifier import GreedyClassifier
from isinglass.estimators.greedy import GreedyGraph
from isinglass.estimators.regressor import GreedyRegressor

__all__ = ["GreedyClassifier", "GreedyGraph", "GreedyRegressor"]
