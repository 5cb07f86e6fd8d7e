"""abess: the best subset of each size, and the best size.

As it comes it tries every size up to the number of columns; told that no node has more than
ten neighbours, it stops there.
"""

import numpy as np
from abess.linear import LogisticRegression
from peers.nodes import others, plus_minus, report_nodes


def solve(X: np.ndarray, node: int, **sizes: object) -> np.ndarray:
    return LogisticRegression(**sizes).fit(others(X, node), (X[:, node] > 0).astype(int)).coef_


def solve_few(X: np.ndarray, node: int) -> np.ndarray:
    return solve(X, node, support_size=range(11))


if __name__ == "__main__":
    report_nodes("abess", plus_minus, {"any size": solve, "sizes 0 to 10": solve_few})
