"""The rivals' problems written out row by row: what their solvers are tested against.

Nothing here is shared with the package.
"""

import itertools

import numpy as np

from reference import Node, log_softmax


def slope(node: Node, predictor: np.ndarray, design: np.ndarray) -> np.ndarray:
    """Return the derivative of the mean softmax loss by the parameters of a design."""
    off = np.exp(log_softmax(predictor)) - np.eye(node.m)[node.y]
    return np.einsum("i,ia,iak->k", node.weights, off, design)


def edge_weight(node: Node, t: int) -> float:
    """Return what the length of an edge's table is multiplied with: sqrt(df) / sqrt(m m')."""
    return float(np.sqrt(node.df(t) / (node.m * node.states[t])))


def predictor_of(node: Node, field: np.ndarray, tables: dict[int, np.ndarray]) -> np.ndarray:
    """Return the log-potentials of each row."""
    scores = np.tile(field, (len(node.y), 1))
    for t, table in tables.items():
        scores = scores + table.T[node.columns[t]]
    return scores


def distance_from_optimal(
    node: Node,
    penalty: float,
    field: np.ndarray,
    tables: dict[int, np.ndarray],
    scales: np.ndarray | None = None,
) -> float:
    """Return the largest violation of the optimality conditions, relative to the penalty."""
    predictor = predictor_of(node, field, tables)
    worst = np.abs(slope(node, predictor, node.field_design())).max(initial=0.0) / penalty
    for t in range(len(node.columns)):
        if t == node.r or node.df(t) == 0:
            continue
        pull = penalty * edge_weight(node, t) * (1.0 if scales is None else scales[t])
        down = slope(node, predictor, node.block_design(t))
        if t in tables:
            along = tables[t] / np.linalg.norm(tables[t])
            # The design is orthonormal, so tables and their parameters have one length.
            down = down + pull * (contrast_of(node, t, along))
            worst = max(worst, np.linalg.norm(down) / pull)
        else:
            worst = max(worst, np.linalg.norm(down) / pull - 1)
    return float(worst)


def contrast_of(node: Node, t: int, table: np.ndarray) -> np.ndarray:
    """Return the parameters of a zero-sum table in the design of `node.block_design`."""
    one_of_each = {c: np.flatnonzero(node.columns[t] == c)[0] for c in range(node.states[t])}
    design = node.block_design(t)
    return sum(design[i].T @ table[:, c] for c, i in one_of_each.items())


def group_lasso(node: Node, penalty: float, steps: int = 20_000) -> float:
    """Return the least penalised loss, by proximal gradient steps with momentum."""
    others = [t for t in range(len(node.columns)) if t != node.r and node.df(t) > 0]
    designs = [node.field_design(), *(node.block_design(t) for t in others)]
    sizes = np.cumsum([0, *(design.shape[2] for design in designs)])
    design = np.concatenate(designs, axis=2)
    pulls = [penalty * edge_weight(node, t) for t in others]

    def objective(theta: np.ndarray) -> float:
        loss = -node.weights @ log_softmax(design @ theta)[np.arange(len(node.y)), node.y]
        blocks = [theta[a:b] for a, b in itertools.pairwise(sizes[1:])]
        return float(loss + sum(w * np.linalg.norm(x) for w, x in zip(pulls, blocks, strict=True)))

    steepest = 0.5 * np.linalg.norm(np.einsum("i,iak,ial->kl", node.weights, design, design), 2)
    theta = momentum = np.zeros(design.shape[2])
    for i in range(steps):
        step = momentum - slope(node, design @ momentum, design) / steepest
        for w, (a, b) in zip(pulls, itertools.pairwise(sizes[1:]), strict=True):
            length = np.linalg.norm(step[a:b])
            step[a:b] *= max(1 - w / steepest / max(length, 1e-300), 0.0)
        momentum = step + i / (i + 3) * (step - theta)
        if np.abs(step - theta).max(initial=0.0) < 1e-13 and i > 10:
            break
        theta = step
    return objective(theta)


def screening_slope(objective: str, spins: np.ndarray, r: int, field: float, theta: np.ndarray):
    """Return the loss of RISE, logRISE or RPLE at column r, and its slopes (field last)."""
    u = spins[:, r] * (field + spins @ theta)
    rows = np.column_stack([spins, np.ones(len(spins))]) * spins[:, [r]]
    rows[:, r] = 0
    if objective == "rple":
        return np.mean(np.log1p(np.exp(-2 * u))), rows.T @ (-2 / (1 + np.exp(2 * u))) / len(u)
    loss, down = np.mean(np.exp(-u)), -rows.T @ np.exp(-u) / len(u)
    return (loss, down) if objective == "rise" else (np.log(loss), down / loss)


def all_trees(p: int):
    """Yield the edges of every tree over p columns, by Pruefer's sequences."""
    for sequence in itertools.product(range(p), repeat=p - 2):
        degree = [1 + sequence.count(v) for v in range(p)]
        edges = []
        for v in sequence:
            leaf = degree.index(1)
            edges.append((min(leaf, v), max(leaf, v)))
            degree[leaf] -= 1
            degree[v] -= 1
        edges.append(tuple(v for v in range(p) if degree[v] == 1))
        yield edges
