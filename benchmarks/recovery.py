"""Which columns do sparse regressions find? Greedy search, abess, OMP and the lasso side by side.

    python benchmarks/recovery.py [--draws 100] [--seed 1] [--picture docs/pictures/regression.png]

Each method chooses its own model, by its own rule. Columns are correlated: Toeplitz (0.5 and 0.9 to
the power of the distance) or all alike (0.5). Of 100 columns 6, far from each other, have effects
of +-0.5 to +-1; the noise has a standard deviation of 1. Some minutes; each point is printed when
it is done.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from abess.linear import LinearRegression as Abess
from sklearn.linear_model import LassoCV, OrthogonalMatchingPursuitCV

from isinglass import GreedyRegressor, plots

P, K = 100, 6
ROWS = (50, 80, 120, 200, 400)
Support = set[int]


def toeplitz(rho: float) -> np.ndarray:
    """Correlations that fall with the distance of two columns."""
    return rho ** np.abs(np.subtract.outer(np.arange(P), np.arange(P)))


DESIGNS = {
    "Toeplitz 0.5": toeplitz(0.5),
    "Toeplitz 0.9": toeplitz(0.9),
    "all alike 0.5": np.full((P, P), 0.5) + 0.5 * np.eye(P),
}


def nonzero(model: object) -> Support:
    """The columns with a coefficient."""
    return set(np.flatnonzero(np.ravel(model.coef_)).tolist())


METHODS: dict[str, Callable[[np.ndarray, np.ndarray], Support]] = {
    "greedy, auto": lambda X, y: nonzero(GreedyRegressor().fit(X, y)),
    "greedy, EBIC(1)": lambda X, y: nonzero(GreedyRegressor("ebic:1").fit(X, y)),
    "abess": lambda X, y: nonzero(Abess(support_size=range(21)).fit(X, y)),
    "OMP, cv": lambda X, y: nonzero(OrthogonalMatchingPursuitCV(cv=5, max_iter=20).fit(X, y)),
    "lasso, cv": lambda X, y: nonzero(LassoCV(cv=5, alphas=30).fit(X, y)),
}


def draw(
    root: np.ndarray, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, Support]:
    """Rows of correlated columns, answers, and which columns have an effect."""
    X = rng.normal(size=(n, P)) @ root.T
    step = P // K
    true = np.arange(K) * step + rng.integers(0, step, K)
    effects = rng.choice([-1, 1], K) * rng.uniform(0.5, 1.0, K)
    return X, X[:, true] @ effects + rng.normal(size=n), set(true.tolist())


def f1(found: Support, true: Support) -> float:
    """Twice the common columns over all that were named."""
    return 2 * len(found & true) / (len(found) + len(true))


def points(design: str, draws: int, seed: int) -> dict[str, np.ndarray]:
    """For each method and number of rows: exact supports, F1, false columns, seconds."""
    root = np.linalg.cholesky(DESIGNS[design])
    sums = {name: np.zeros((len(ROWS), 4)) for name in METHODS}
    for at, n in enumerate(ROWS):
        for number in range(draws):
            rng = np.random.default_rng([seed, n, number])
            X, y, true = draw(root, n, rng)
            for name, method in METHODS.items():
                start = time.process_time()
                found = method(X, y)
                spent = time.process_time() - start
                sums[name][at] += (found == true, f1(found, true), len(found - true), spent)
        for name in METHODS:
            exact, score, false, spent = sums[name][at] / draws
            print(
                f"| {design} | {n} | {name} | {100 * exact:.0f} % | {score:.2f} | {false:.2f} "
                f"| {1e3 * spent:.0f} |",
                flush=True,
            )
    return {name: total / draws for name, total in sums.items()}


def picture(results: dict[str, dict[str, np.ndarray]]) -> bytes:
    """Exact recovery over F1, one pair of axes per design."""
    figure, first = plots.new_figure(9.0, 5.0)
    first.remove()
    axes = figure.subplots(2, len(results), sharex=True, sharey="row")
    for column, (design, lines) in zip(axes.T, results.items(), strict=True):
        for name, values in lines.items():
            own = name.startswith("greedy")
            style = {"lw": 1.8 if own else 1.0, "ls": "-" if own else "--", "marker": ".", "ms": 5}
            column[0].plot(ROWS, values[:, 0], label=name, **style)
            column[1].plot(ROWS, values[:, 1], **style)
        column[0].set_title(design, fontsize=10)
        column[1].set(xscale="log", xlabel="rows", xticks=ROWS, xticklabels=ROWS)
        column[1].minorticks_off()
    axes[0, 0].set_ylabel("exact support")
    axes[1, 0].set_ylabel("F1")
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=8
    )
    return plots.png(figure)


def main() -> None:
    """Print the table, and write the picture if asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| columns | rows | method | exact support | F1 | false columns | CPU, ms |")
    print("|---|---|---|---|---|---|---|")
    results = {design: points(design, options.draws, options.seed) for design in DESIGNS}
    if options.picture:
        options.picture.write_bytes(picture(results))


if __name__ == "__main__":
    main()
