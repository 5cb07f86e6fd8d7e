"""Tables on which an engine of bits, counts and bounds could go wrong, drawn from a seed."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import reference
from instances import Generator, sample

EDGES = [63, 64, 65, 127, 128, 129, 191, 192, 193, 255, 256, 257]  # just beside words of bits
TIE = 1e-9


@dataclass(frozen=True)
class Case:
    """A table, the settings of a search, and the columns that are worth comparing."""

    codes: np.ndarray
    weights: np.ndarray
    threshold: float
    nu: float = 0.5
    intercept: bool = True
    max_degree: int | None = None
    targets: tuple[int, ...] | None = None  # None: all of them
    kind: str = ""


def case(seed: int) -> Case:
    """Return the case of a seed; successive seeds go through all the kinds."""
    kind, make = list(KINDS.items())[seed % len(KINDS)]
    rng = np.random.default_rng([2024, seed])
    drawn = make(rng)
    return Case(**{**vars(drawn), "kind": kind, "nu": float(rng.choice([0.3, 0.5, 0.7, 0.9]))})


def plain(rng: Generator, codes: np.ndarray, weights: np.ndarray | None = None, **settings) -> Case:
    """Return a case with a threshold of the usual size, unless the settings say otherwise."""
    weights = np.ones(len(codes)) if weights is None else np.asarray(weights, float)
    n = weights.sum()
    usual = max(np.log(n * codes.shape[1]), 0.5) / n * rng.choice([0.05, 0.2, 0.5, 1.0])
    return Case(codes, weights, **{"threshold": float(usual), **settings})


def pick(rng: Generator, p: int, count: int) -> tuple[int, ...]:
    """Return a few columns, so that the slow definition stays affordable."""
    return tuple(int(r) for r in rng.choice(p, size=min(p, count), replace=False))


def words(rng: Generator) -> Case:
    return plain(rng, sample(rng, [2] * rng.integers(3, 7), int(rng.choice(EDGES))))


def words_and_weights(rng: Generator) -> Case:
    codes = sample(rng, rng.integers(2, 5, size=4), int(rng.choice(EDGES)))
    return plain(rng, codes, rng.integers(1, 4, size=len(codes)))


def one_row(rng: Generator) -> Case:
    codes = rng.integers(0, 3, size=(1, rng.integers(1, 5)))
    return plain(rng, codes, rng.choice([1, 2, 0.5, 1000], size=1), threshold=1e-4)


def few_rows(rng: Generator) -> Case:
    codes = rng.integers(0, 3, size=(rng.integers(2, 8), rng.integers(2, 6)))
    weights = rng.choice([1, 3, 0.25, 1e-3, 1e3], size=len(codes))
    return plain(rng, codes, weights, threshold=1e-4, intercept=bool(rng.integers(2)))


def strong_fields(rng: Generator) -> Case:
    states = rng.integers(2, 4, size=rng.integers(3, 6))
    return plain(rng, sample(rng, states, int(rng.integers(100, 300)), field=4.0))


def strong_fields_ten(rng: Generator) -> Case:
    """One column of nearly always the same state, and many candidates."""
    codes = sample(rng, [2] * 10, 200, field=1.0)
    codes[:, 0] = rng.random(200) < rng.choice([0.01, 0.03, 0.97])
    codes[0, 0], codes[1, 0] = 0, 1
    return plain(rng, codes, threshold=1e-3, targets=(0, *pick(rng, 10, 1)))


def zero_cells(rng: Generator) -> Case:
    states = rng.integers(2, 4, size=rng.integers(3, 6))
    codes = sample(rng, states, int(rng.integers(20, 200)), strength=5.0)
    return plain(rng, codes, intercept=bool(rng.integers(4)))


def duplicates(rng: Generator) -> Case:
    """Exact copies, relabelled: ties to the last digit, by any weights."""
    codes = sample(rng, rng.integers(2, 4, size=3), int(rng.choice(EDGES)), strength=1.5)
    copies = codes.max(axis=0) - codes
    codes = rng.permutation(np.hstack([codes, copies[:, : rng.integers(1, 4)]]), axis=1)
    return plain(rng, codes, draw_weights(rng, len(codes)))


def draw_weights(rng: Generator, n: int) -> np.ndarray:
    """Return ones, counts (small or large), or real numbers (even or uneven)."""
    drawn = [
        np.ones(n),
        rng.integers(1, 4, size=n),
        rng.integers(1, 1001, size=n),
        rng.gamma(2.0, size=n) + 1e-3,
        np.exp(3 * rng.normal(size=n)),
    ]
    return np.asarray(drawn[rng.integers(len(drawn))], float)


def with_weights(rng: Generator) -> Case:
    states = rng.integers(2, 4, size=rng.integers(3, 6))
    codes = sample(rng, states, int(rng.integers(20, 200)), strength=1.5)
    return plain(rng, codes, draw_weights(rng, len(codes)))


def bit_planes(rng: Generator) -> Case:
    codes = sample(rng, [2] * 8, int(rng.choice(EDGES)))
    weights = rng.choice([1, 2, 255, 256, 1000, 1023, 65_536], size=len(codes))
    return plain(rng, codes, weights, threshold=1e-3, targets=pick(rng, 8, 2))


def one_row_apart(rng: Generator, weights: np.ndarray, light: float) -> tuple[np.ndarray, ...]:
    """A column twice, but for one row of little weight: gains that nearly tie."""
    codes = sample(rng, [2, 2, 2, 2], len(weights) - 1, strength=1.2)
    codes = np.vstack([codes, codes[rng.integers(len(codes))]])
    copied = rng.integers(4)
    codes = np.column_stack([codes, codes[:, copied]])
    codes[-1, 4] = 1 - codes[-1, 4]
    order = rng.permutation(5)
    return codes[:, order], np.append(weights[:-1], light)


def near_tie(rng: Generator) -> Case:
    """Gains apart by something like 1e-10 to 1e-8, with weights that are no counts."""
    n = int(rng.integers(40, 200))
    codes, weights = one_row_apart(rng, np.ones(n), n * 10 ** rng.uniform(-10.3, -8))
    return plain(rng, codes, weights, threshold=float(rng.choice([0.002, 0.01])))


def near_tie_of_counts(rng: Generator) -> Case:
    """The same with counts, so large that one row hardly matters: bit planes, and bounds."""
    n = int(rng.integers(40, 200))
    heavy = rng.integers(1, 4, size=n) * int(10 ** rng.uniform(5.5, 8))
    codes, weights = one_row_apart(rng, heavy, float(rng.integers(1, 20)))
    return plain(rng, codes, weights, threshold=float(rng.choice([0.002, 0.01])))


def near_tie_of_many(rng: Generator) -> Case:
    """Ten candidates that nearly tie: what the bounds leave must be looked at, all of it."""
    n = 120
    codes = sample(rng, [2, 2, 2], n, strength=1.5)
    codes = np.vstack([codes, codes[rng.integers(n, size=10)]])
    copies = np.repeat(codes[:, [1]], 10, axis=1)
    copies[np.arange(n, n + 10), np.arange(10)] ^= 1
    heavy = int(10 ** rng.uniform(6, 8))
    weights = np.append(np.full(n, heavy), rng.integers(1, 9, size=10))
    codes = np.column_stack([codes, copies])
    return plain(rng, codes, weights, threshold=0.005, targets=(0, 2))


def near_tie_of_removals(rng: Generator) -> Case:
    """Every row with two columns exchanged as well, but for a little: removals nearly tie."""
    causes = rng.integers(0, 2, size=(80, 3))
    noisy = causes.sum(axis=1)[:, None] - 1.5 + rng.normal(scale=[0.5, 0.8], size=(80, 2)) > 0
    half = np.column_stack([causes, noisy]).astype(int)
    codes = np.vstack([half, half[:, [1, 0, 2, 3, 4]]])
    light = rng.choice(len(codes), size=2, replace=False)
    weights = np.full(len(codes), float(int(10 ** rng.uniform(5.5, 7.5))))
    weights[light] += rng.integers(1, 9, size=2)
    return plain(rng, codes, weights, threshold=float(rng.choice([1e-4, 1e-3])))


def threshold_in_a_tie(rng: Generator) -> Case:
    """The threshold lies between two gains that tie: the first of them decides on stopping."""
    drawn = near_tie_of_counts(rng) if rng.integers(2) else near_tie(rng)
    r = int(rng.integers(5))
    node = reference.Node(drawn.codes, drawn.weights, r)
    start = node.refit(())
    gains = [node.gain(start, j) for j in range(5) if j != r and node.df(j)]
    threshold = max(max(gains) + rng.uniform(-1.5, 0.2) * TIE, 1e-7)
    return Case(drawn.codes, drawn.weights, float(threshold), targets=(r,))


def many_states(rng: Generator) -> Case:
    m = int(rng.integers(8, 21))
    codes = sample(rng, [m, int(rng.integers(2, 6)), 2], int(rng.choice([129, 200, 257])))
    return plain(rng, codes, targets=pick(rng, 3, 2))


def many_states_each(rng: Generator) -> Case:
    """Two columns of many states and some that depend on them: edges of 30 to 70 parameters."""
    n = 150
    a = rng.integers(0, rng.integers(6, 10), size=n)
    b = np.where(rng.random(n) < 0.5, a, rng.integers(0, 8, size=n))
    c = (a + b + rng.integers(0, 3, size=n)) % rng.integers(2, 5)
    return plain(rng, np.column_stack([a, b, c, a % 2]), targets=pick(rng, 4, 1))


def many_cells(rng: Generator) -> Case:
    """Three causes of five states: more than 64 cells, so rows know their cells."""
    n = int(rng.choice([255, 320]))
    causes = rng.integers(0, 5, size=(n, 3))
    total = causes @ [1.0, 0.8, -0.9]
    y = total + 0.7 * rng.normal(size=n) > np.median(total)
    codes = np.column_stack([y, causes, rng.integers(0, 2, size=(n, 2))]).astype(int)
    return plain(rng, codes, draw_weights(rng, n), threshold=1e-3, targets=(0,))


def deep(rng: Generator) -> Case:
    """A hub that takes up to twelve neighbours."""
    p, n = 14, int(rng.integers(250, 420))
    others = rng.integers(0, 2, size=(n, p - 1))
    logit = (2 * others - 1) @ rng.uniform(0.2, 0.6, size=p - 1)
    y = rng.random(n) < 1 / (1 + np.exp(-2 * logit))
    weights = np.ones(n) if rng.integers(2) else rng.integers(1, 4, size=n)
    codes = np.column_stack([y, others]).astype(int)
    return plain(rng, codes, weights, threshold=1e-6, max_degree=12, targets=(0,))


def wide(rng: Generator) -> Case:
    """More candidates than the bounds may leave open."""
    n, p = int(rng.integers(100, 260)), 24
    hidden = rng.normal(size=(n, 3))
    codes = (hidden @ rng.normal(size=(3, p)) + rng.normal(scale=1.5, size=(n, p)) > 0).astype(int)
    weights = None if rng.integers(2) else rng.integers(1, 5, size=n)
    return plain(rng, codes, weights, threshold=0.01, targets=pick(rng, p, 1))


def wide_mixed(rng: Generator) -> Case:
    n, p = 150, 12
    codes = np.digitize(rng.normal(size=(n, 2)) @ rng.normal(size=(2, p)), [-1.0, 0.2, 0.9])
    noise = rng.random((n, p)) < 0.3
    codes = np.where(noise, rng.integers(0, 4, size=(n, p)), codes)
    codes[:, ::2] //= 2
    return plain(rng, codes, targets=pick(rng, p, 2))


def parity(rng: Generator) -> Case:
    """Probabilities that no sum of single columns explains: the bounds' remainder is large."""
    n = int(rng.choice([200, 256]))
    codes = rng.integers(0, 2, size=(n, 12))
    y = codes[:, 0] & codes[:, 1] | codes[:, 2] & ~codes[:, 3] & 1
    y ^= rng.random(n) < 0.15
    extra = (codes[:, :2] ^ (rng.random((n, 2)) < 0.25)).astype(int)
    return plain(rng, np.column_stack([y, codes, extra]), threshold=2e-3, targets=(0,))


def max_degree(rng: Generator) -> Case:
    codes = sample(rng, rng.integers(2, 4, size=5), 129, strength=1.5)
    return plain(rng, codes, threshold=1e-4, max_degree=int(rng.integers(0, 4)))


def no_field(rng: Generator) -> Case:
    codes = sample(rng, [2] * rng.integers(3, 7), int(rng.choice(EDGES)), field=1.0)
    return plain(rng, codes, draw_weights(rng, len(codes)), intercept=False)


def no_field_mixed(rng: Generator) -> Case:
    states = rng.integers(2, 5, size=rng.integers(3, 5))
    codes = sample(rng, states, int(rng.integers(30, 200)), strength=1.5, field=1.0)
    weights = draw_weights(rng, len(codes))
    return plain(rng, codes, weights, intercept=False, targets=pick(rng, len(states), 3))


def no_field_wide(rng: Generator) -> Case:
    drawn = wide(rng)
    return Case(**{**vars(drawn), "intercept": False})


def no_field_near_tie(rng: Generator) -> Case:
    drawn = near_tie_of_counts(rng)
    return Case(**{**vars(drawn), "intercept": False})


KINDS: dict[str, Callable[[Generator], Case]] = {
    make.__name__.replace("_", " "): make
    for make in (
        words,
        words_and_weights,
        one_row,
        few_rows,
        strong_fields,
        strong_fields_ten,
        zero_cells,
        duplicates,
        with_weights,
        bit_planes,
        near_tie,
        near_tie_of_counts,
        near_tie_of_many,
        near_tie_of_removals,
        threshold_in_a_tie,
        many_states,
        many_states_each,
        many_cells,
        deep,
        wide,
        wide_mixed,
        parity,
        max_degree,
        no_field,
        no_field_mixed,
        no_field_wide,
        no_field_near_tie,
    )
}
