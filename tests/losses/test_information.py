"""Curvatures from cells equal those from rows."""

import numpy as np
import pytest

from instances import instance
from isinglass.engine.readable import node_loss
from isinglass.losses.information import information
from isinglass.table import encode
from reference import Node, log_softmax


def by_rows(node: Node, support: list[int], t: int) -> tuple[np.ndarray, np.ndarray]:
    """The same Schur complements, from a Hessian summed row by row."""
    field = node.field_design()
    blocks = [node.block_design(s) for s in support]
    probability = np.exp(log_softmax(node.refit(support).predictor))
    spread = np.einsum("na,ab->nab", probability, np.eye(node.m)) - np.einsum(
        "na,nb->nab", probability, probability
    )

    def curvature(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.einsum("n,nak,nab,nbl->kl", node.weights, a, spread, b)

    def left_over(others: np.ndarray) -> np.ndarray:
        edge = node.block_design(t)
        cross = curvature(others, edge)
        own = np.linalg.pinv(curvature(others, others), rcond=1e-12, hermitian=True)
        return curvature(edge, edge) - cross.T @ own @ cross

    return left_over(field), left_over(np.concatenate([field, *blocks], axis=2))


@pytest.mark.parametrize("seed", range(12))
def test_from_cells_as_from_rows(seed):
    case = instance(seed)
    rng = np.random.default_rng(seed)
    table = encode(case.codes, case.weights, max_states=200)
    loss = node_loss(table, 0, intercept=case.intercept)
    support = sorted(rng.permutation(loss.candidates)[:2].tolist())
    others = [t for t in loss.candidates if t not in support][:3]
    node = Node(case.codes, case.weights, 0, case.intercept)
    for t, edge in zip(others, information(loss, loss.fit(support), others), strict=True):
        for ours, expected in zip((edge.held, edge.free), by_rows(node, support, t), strict=True):
            np.testing.assert_allclose(
                np.linalg.eigvalsh(ours), np.linalg.eigvalsh(expected), atol=1e-5
            )
