"""Graph estimators with scikit-learn's interface."""

from isinglass.estimators.greedy import GreedyGraph

__all__ = ["GreedyGraph"]
