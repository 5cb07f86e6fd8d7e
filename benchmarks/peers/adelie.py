"""adelie: l1 logistic regression along a path of 20 penalties, as it comes or to the end."""

import adelie
import numpy as np
from peers.nodes import others, plus_minus, report_nodes


def solve(X: np.ndarray, node: int, **settings: object) -> object:
    glm = adelie.glm.binomial((X[:, node] + 1) / 2)
    rest = np.asfortranarray(others(X, node))
    return adelie.grpnet(rest, glm, lmda_path_size=20, progress_bar=False, **settings).betas


def solve_tightly(X: np.ndarray, node: int) -> object:
    return solve(X, node, tol=1e-12, irls_tol=1e-12)


if __name__ == "__main__":
    report_nodes("adelie", plus_minus, {"": solve, "tight": solve_tightly})
