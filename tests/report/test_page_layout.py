import os
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest

from isinglass.report.layout import page_positions


def random_pairs(p, count, seed):
    rng = np.random.default_rng(seed)
    pairs = list(combinations(range(p), 2))
    return [pairs[i] for i in sorted(rng.choice(len(pairs), count, replace=False))]


SHAPES = {
    "nobody linked": (7, [], []),
    "one column": (1, [], []),
    "pairs": (12, [(2 * j, 2 * j + 1) for j in range(6)], []),
    "chain": (30, [(j, j + 1) for j in range(29)], []),
    "star": (25, [(0, j) for j in range(1, 25)], []),
    "complete": (15, list(combinations(range(15), 2)), []),
    "sparse": (60, random_pairs(60, 40, 0), random_pairs(60, 30, 1)),
    "dense": (40, random_pairs(40, 150, 2), []),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_column_has_a_position_of_its_own(shape):
    at = page_positions(*SHAPES[shape])
    assert at.shape == (SHAPES[shape][0], 2)
    assert np.isfinite(at).all()
    away = np.hypot(*(at[:, None] - at[None]).T)
    assert (away + np.eye(len(at)) > 0.4).all()


def test_linked_columns_are_near():
    p, chosen, faint = SHAPES["sparse"]
    at = page_positions(p, chosen, faint)
    lengths = [np.hypot(*(at[a] - at[b])) for a, b in chosen]
    others = [np.hypot(*(at[a] - at[b])) for a, b in combinations(range(p), 2)]
    assert np.median(lengths) < 0.5 * np.median(others)


def test_a_chain_keeps_its_order():
    at = page_positions(*SHAPES["chain"])[:, 0]
    assert (np.diff(at) > 0).all() or (np.diff(at) < 0).all()


def test_the_same_in_every_process():
    code = (
        "from isinglass.report.layout import page_positions; "
        "print(page_positions(9, [(0, 1), (1, 2), (4, 5)], [(2, 4)]).round(2).tolist())"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1
