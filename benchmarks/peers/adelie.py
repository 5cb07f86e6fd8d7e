"""adelie: l1 logistic regression along a path of 20 penalties."""

import adelie
import numpy as np
from peers.nodes import others, plus_minus, report_nodes


def solve(X: np.ndarray, node: int) -> object:
    glm = adelie.glm.binomial((X[:, node] + 1) / 2)
    rest = np.asfortranarray(others(X, node))
    return adelie.grpnet(rest, glm, lmda_path_size=20, progress_bar=False).betas


if __name__ == "__main__":
    report_nodes("adelie", plus_minus, {"": solve})
