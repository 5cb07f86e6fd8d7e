"""scikit-learn's liblinear (1.8 or later): l1 logistic regression at a single penalty."""

import numpy as np
from peers.nodes import one_penalty, others, plus_minus, report_nodes
from sklearn.linear_model import LogisticRegression


def solve(X: np.ndarray, node: int) -> np.ndarray:
    C = 1 / (len(X) * one_penalty(X))
    model = LogisticRegression(l1_ratio=1, solver="liblinear", C=C)
    return model.fit(others(X, node), X[:, node]).coef_


if __name__ == "__main__":
    report_nodes("scikit-learn", plus_minus, {"": solve})
