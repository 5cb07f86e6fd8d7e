"""A small experiment: noisy copies along a chain, and two quick methods."""

import os
import time

import numpy as np

from isinglass.experiments import Design, Found, Method, Plan


def chain(n, seed):
    rng = np.random.default_rng(seed)
    codes = np.empty((n, 5), dtype=np.uint8)
    codes[:, 0] = rng.integers(0, 2, n)
    for j in range(1, 5):
        codes[:, j] = codes[:, j - 1] ^ (rng.random(n) < 0.25)
    return codes, [(j, j + 1) for j in range(4)]


def by_correlation(codes):
    rank = np.abs(np.corrcoef(codes.T + 0.0))
    upper = [(a, b) for a in range(5) for b in range(a + 1, 5)]
    cuts = {f"cut={cut}": [e for e in upper if rank[e] > cut] for cut in (0.2, 0.35, 0.5)}
    return Found(cuts, rank)


def slow_nothing(codes):
    time.sleep(0.01)
    return []


def moody(codes):
    """Fails on about half of the tables."""
    if codes.sum() % 2:
        raise ValueError("an odd table\nwith a second line")
    return [(0, 1)]


def deadly(codes):
    """Kills its process on the largest tables."""
    if len(codes) > 100:
        os.kill(os.getpid(), 9)
    return []


def plan(*learners, repetitions=8):
    designs = [Design("chain/p=5", 5, 2, chain, (0.5, 1.0, 2.0))]
    names = [Method(learner.__name__, learner) for learner in learners]
    return Plan(designs, names, repetitions)
