"""Small tables of every awkward kind, drawn from a seed: where fast code meets reference.py."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np

Generator = np.random.Generator


@dataclass(frozen=True)
class Instance:
    """A table and the settings of a search."""

    kind: str
    codes: np.ndarray  # (n, p) integers from 0; some may not occur, or only with weight 0
    weights: np.ndarray  # (n,) whole numbers from 0
    nu: float
    threshold: float
    intercept: bool = True


def instance(seed: int) -> Instance:
    """Return the instance of a seed; successive seeds go through all the kinds."""
    kind, make = list(KINDS.items())[seed % len(KINDS)]
    rng = np.random.default_rng(seed)
    codes = make(rng)
    weights = np.ones(len(codes), int)
    if kind in WEIGHTED:
        weights = rng.choice([0, 1, 1, 2, 5], size=len(codes))
        weights[0] += 1  # there is always a row
    return Instance(
        kind=kind,
        codes=codes,
        weights=weights,
        nu=float(rng.choice([0.5, 0.9, 0.9] if kind in DROPPING else [0.3, 0.5, 0.5, 0.7, 0.9])),
        threshold=draw_threshold(rng, kind, codes, weights),
        intercept="no field" not in kind,
    )


def draw_threshold(rng: Generator, kind: str, codes: np.ndarray, weights: np.ndarray) -> float:
    """Return the paper's threshold or a smaller one; the smallest only for small tables."""
    n = weights.sum()
    paper = max(np.log(n * codes.shape[1]), 0.5) / n
    parameters = codes.max(axis=0).sum()
    if parameters <= 14 and rng.random() < 0.4:
        return float(rng.choice([1e-6, 1e-4]))
    return float(paper * rng.choice([0.05, 0.2] if kind in DROPPING else [0.1, 0.3, 1.0]))


def sample(
    rng: Generator, states: Sequence[int], n: int, strength: float = 1.0, field: float = 0.3
) -> np.ndarray:
    """Draw n rows exactly from a random sparse model with that many states a column."""
    cells = np.stack(np.meshgrid(*map(np.arange, states), indexing="ij"), axis=-1)
    cells = cells.reshape(-1, len(states))
    energy = np.zeros(len(cells))
    for t, m in enumerate(states):
        energy += field * rng.normal(size=m)[cells[:, t]]
    for s, t in combinations(range(len(states)), 2):
        if rng.random() < 2 / len(states):
            table = strength * rng.normal(size=(states[s], states[t]))
            energy += table[cells[:, s], cells[:, t]]
    p = np.exp(energy - energy.max())
    return cells[rng.choice(len(cells), size=n, p=p / p.sum())]


def size(rng: Generator) -> int:
    """Return a number of rows, often just beside a word of bits."""
    return int(rng.choice([12, 31, 37, 63, 64, 65, 97, 127, 128, 129, 151, 199, 200]))


def binary(rng: Generator) -> np.ndarray:
    return sample(rng, [2] * rng.integers(2, 9), size(rng))


def mixed(rng: Generator) -> np.ndarray:
    return sample(rng, rng.integers(2, 6, size=rng.integers(3, 7)), size(rng))


def few_mixed(rng: Generator) -> np.ndarray:
    return sample(rng, rng.integers(2, 4, size=rng.integers(3, 5)), size(rng))


def separated(rng: Generator) -> np.ndarray:
    states = rng.integers(2, 4, size=rng.integers(4, 8))
    return sample(rng, states, int(rng.integers(15, 200)), strength=3.0)


def rare(rng: Generator) -> np.ndarray:
    return sample(rng, rng.integers(2, 4, size=rng.integers(4, 7)), size(rng), field=2.5)


def tiny(rng: Generator) -> np.ndarray:
    return rng.integers(0, 3, size=(rng.integers(1, 4), rng.integers(1, 6)))


def constant(rng: Generator) -> np.ndarray:
    """Some columns with one state only, and one whose second state has weight 0 or 1 row."""
    codes = sample(rng, [2, 3, 2, 2, 2], size(rng))
    codes[:, rng.choice(5, size=2, replace=False)] = rng.integers(0, 2)
    codes[1:, rng.integers(5)] = 0
    return codes


def equal(rng: Generator) -> np.ndarray:
    """Copies of some columns, relabelled, among the others."""
    codes = sample(rng, rng.integers(2, 4, size=4), size(rng), strength=2.0)
    copied = rng.choice(4, size=rng.integers(1, 4))
    relabelled = codes[:, copied].max(axis=0) - codes[:, copied]
    return rng.permutation(np.hstack([codes, relabelled]), axis=1)


def nested(rng: Generator) -> np.ndarray:
    """A column, a coarser version of it, and the product of two others."""
    codes = sample(rng, [4, 2, 3, 2], size(rng), strength=1.5)
    coarse, product = codes[:, 0] // 2, codes[:, 1] * 3 + codes[:, 2]
    return rng.permutation(np.column_stack([codes, coarse, product]), axis=1)


def exchangeable(rng: Generator) -> np.ndarray:
    """Every row in all orders of its entries: all columns tie."""
    p, m = rng.choice([[3, 2], [3, 3], [4, 2]])
    rows = sample(rng, [m] * p, int(rng.integers(2, 200 // len(list(permutations(range(p)))))))
    return np.vstack([rows[:, list(order)] for order in permutations(range(p))])


def factorial(rng: Generator) -> np.ndarray:
    """A full factorial design, its majority, its parity and a copy: gains of 0 and ties."""
    bits = np.stack(np.meshgrid(*[[0, 1]] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    total = bits.sum(axis=1)
    codes = np.column_stack([bits, total >= 2, total % 2, bits[:, rng.integers(3)], total])
    kept = rng.permutation(7)[: rng.integers(4, 8)]
    return np.tile(codes[:, kept], (rng.integers(1, 20), 1))


def summary(rng: Generator) -> np.ndarray:
    """Causes, a noisy summary of them, and their effects, which see the summary first."""
    causes = rng.integers(0, 2, size=(200, rng.integers(3, 5)))
    total = causes.sum(axis=1) - causes.shape[1] / 2
    noisy = total[:, None] + rng.normal(scale=[0.5, 1.0, 1.0], size=(200, 3))
    return rng.permutation(np.column_stack([causes, noisy > 0]), axis=1)


def nineteen(rng: Generator) -> np.ndarray:
    """A 19-state cause, a noisy binary copy, and effects that depend on little more."""
    cause = rng.integers(0, 19, size=200)
    side = cause < 9
    copy = side ^ (rng.random(200) < 0.06)
    logits = (2 * side - 1)[:, None] * [1.0, 1.2, 1.4] + 0.3 * rng.normal(size=(19, 3))[cause]
    effects = rng.random((200, 3)) < 1 / (1 + np.exp(-logits))
    return rng.permutation(np.column_stack([cause, copy, effects]), axis=1)


def all_at_once(rng: Generator) -> np.ndarray:
    codes = sample(rng, [2, 3, 2, 4], size(rng), strength=2.0, field=1.0)
    codes[: rng.integers(1, 6), 3] = 4  # a state of very few rows
    return np.column_stack([codes, codes[:, 3] % 2, np.zeros(len(codes), int), codes[:, 0]])


KINDS = {
    "binary": binary,
    "mixed": mixed,
    "binary, weights": binary,
    "mixed, weights": few_mixed,
    "binary, no field": binary,
    "mixed, no field": few_mixed,
    "separated": separated,
    "separated, no field": separated,
    "rare states": rare,
    "tiny": tiny,
    "constant columns": constant,
    "constant columns, weights": constant,
    "equal columns": equal,
    "nested columns": nested,
    "exchangeable columns": exchangeable,
    "factorial design": factorial,
    "factorial design, no field": factorial,
    "noisy summary": summary,
    "noisy summary, weights": summary,
    "nineteen states": nineteen,
    "all at once, weights": all_at_once,
    "all at once, no field": all_at_once,
}
WEIGHTED = {kind for kind in KINDS if "weights" in kind}
DROPPING = {kind for kind in KINDS if "summary" in kind or "nineteen" in kind}
