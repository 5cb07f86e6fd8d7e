"""Which columns do sparse regressions find? Greedy search, abess, OMP and the lasso side by side.

    python benchmarks/recovery.py [--draws 100] [--seed 1] [--records recovery.jsonl]
    python benchmarks/recovery.py --only "all alike 0.5" --rows 200 --rows 400
    python benchmarks/recovery.py --draw docs/regression.md --picture docs/pictures/regression.png

Each method chooses its own model, by its own rule. Columns are correlated: Toeplitz (0.5 and 0.9 to
the power of the distance) or all alike (0.5). Of 100 columns 6, far from each other, have effects
of +-0.5 to +-1; the noise has a standard deviation of 1. The lines of a Markdown table are printed,
and the picture is drawn from such a table. About ten minutes of one core; what is in the file of
records is not done again.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from abess.linear import LinearRegression as Abess
from sklearn.linear_model import LassoCV, OrthogonalMatchingPursuitCV

from isinglass import GreedyRegressor, plots
from isinglass.repeating import Record, Task, has_failed, repeat

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


def trial(design: str, n: int, number: int, seed: int) -> Record:
    """One draw: of each method whether the support is exact, F1, false columns, seconds."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([seed, n, number])
    X, y, true = draw(np.linalg.cholesky(DESIGNS[design]), n, rng)
    results = {}
    for name, method in METHODS.items():
        start = time.process_time()
        found = method(X, y)
        spent = time.process_time() - start
        results[name] = [float(found == true), f1(found, true), len(found - true), spent]
    return {"methods": results}


def key(design: str, n: int, number: int, seed: int) -> str:
    """What a record is found by."""
    return f"{design}, {n} rows, seed {seed}, draw {number}"


Point = tuple[str, int]
Table = dict[str, dict[int, list[list[float]]]]


def tasks(points: Sequence[Point], draws: int, seed: int) -> Iterator[Task]:
    """All draws, so that every point grows at the same pace."""
    for number in range(draws):
        for design, n in points:
            at = (design, n, number, seed)
            yield Task.single(key(*at), partial(trial, *at))


def line(records: dict[str, Record], point: Point, draws: int, seed: int) -> str:
    """Exact supports, F1 and false columns of all methods at one point."""
    design, n = point
    seen = [records[key(design, n, number, seed)] for number in range(draws)]
    cells = []
    for name in METHODS:
        values = np.mean([r["methods"][name] for r in seen if not has_failed(r)], axis=0)
        cells.append(f"{100 * values[0]:.0f} %, {values[1]:.2f}, {values[2]:.2f}")
    return f"| {design} | {n} | " + " | ".join(cells) + " |"


def read_table(path: Path) -> Table:
    """The lines of a page that are such a table: by design and rows, the numbers of each method."""
    found: Table = {design: {} for design in DESIGNS}
    for text in path.read_text().splitlines():
        design, *rest = [cell.strip() for cell in text.strip("| ").split("|")]
        if design in DESIGNS and len(rest) == 1 + len(METHODS):
            numbers = [[float(x) for x in cell.replace(" %", "").split(",")] for cell in rest[1:]]
            found[design][int(rest[0])] = numbers
    return found


def picture(table: Table) -> bytes:
    """Exact recovery over F1, one pair of axes per design."""
    figure, first = plots.new_figure(9.0, 5.0)
    first.remove()
    axes = figure.subplots(2, len(table), sharex=True, sharey="row")
    for column, (design, points) in zip(axes.T, table.items(), strict=True):
        for at, name in enumerate(METHODS):
            own = name.startswith("greedy")
            style = {"lw": 1.8 if own else 1.0, "ls": "-" if own else "--", "marker": ".", "ms": 5}
            exact, score = ([values[at][which] for values in points.values()] for which in (0, 1))
            column[0].plot(list(points), np.array(exact) / 100, label=name, **style)
            column[1].plot(list(points), score, **style)
        column[0].set_title(design, fontsize=10)
        column[1].set(xscale="log", xlabel="rows", xticks=ROWS, xticklabels=ROWS)
        column[1].minorticks_off()
    axes[0, 0].set_ylabel("exact support")
    axes[1, 0].set_ylabel("F1")
    figure.legend(
        *axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=8
    )
    return plots.png(figure)


def report(done: int, total: int) -> None:
    """Say every hundred draws how far it is."""
    if done % 100 == 0 or done == total:
        print(f"{done} of {total} draws", file=sys.stderr, flush=True)


def main() -> None:
    """Print the table, or draw the one of a page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=DESIGNS, action="append", help="a design")
    parser.add_argument("--rows", type=int, action="append", help="a number of rows")
    parser.add_argument("--records", type=Path, help="a file that draws are kept in")
    parser.add_argument("--draw", type=Path, help="a page with the table to be drawn")
    parser.add_argument("--picture", type=Path, default=Path("regression.png"))
    options: Any = parser.parse_args()
    if options.draw:
        options.picture.write_bytes(picture(read_table(options.draw)))
        return
    points = [(design, n) for design in options.only or DESIGNS for n in options.rows or ROWS]
    records = repeat(
        tasks(points, options.draws, options.seed),
        work="benchmarks/recovery.py",
        path=options.records,
        n_jobs=1,
        progress=report,
    )
    print("| columns | rows | " + " | ".join(METHODS) + " |")
    print("|---|---|" + "---|" * len(METHODS))
    for point in points:
        print(line(records, point, options.draws, options.seed))


if __name__ == "__main__":
    main()
