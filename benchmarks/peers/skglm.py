"""skglm: l1 logistic regression at a single penalty."""

import numpy as np
from peers.nodes import one_penalty, others, plus_minus, report_nodes
from skglm import SparseLogisticRegression


def solve(X: np.ndarray, node: int) -> np.ndarray:
    model = SparseLogisticRegression(alpha=one_penalty(X))
    return model.fit(np.asfortranarray(others(X, node)), X[:, node]).coef_


if __name__ == "__main__":
    report_nodes("skglm", plus_minus, {"": solve})
