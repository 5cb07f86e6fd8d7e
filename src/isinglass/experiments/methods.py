"""The methods under test: each a small function from a table of codes to what it found.

One fit serves many settings: the greedy search and the l1 path hold every constant at once, and
both ways to join neighbourhoods. Every function runs in one thread, so that times compare.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import SettingError
from isinglass.estimators import GreedyGraph
from isinglass.experiments.measure import Found
from isinglass.experiments.plan import Codes, Line, Method
from isinglass.rivals import ChowLiuTree, InteractionScreening, L0Graph, L1Graph
from isinglass.rivals.base import adjacency
from isinglass.rivals.penalties import EBIC
from isinglass.selection import Auto
from isinglass.solvers import Path
from isinglass.solvers.cuts import edges_at

Numbers = NDArray[np.float64]
#: The c of eps = c log(np)/n.
GREEDY_CONSTANTS = tuple(round(0.3 + 0.1 * k, 1) for k in range(16))
#: The c of lambda = c sqrt(log(p)/n); the low ones only let EBIC look further down the path.
L1_CONSTANTS = tuple(round(0.8 * 1.08**k, 2) for k in range(27))
LOW_L1_CONSTANTS = (0.4, 0.5, 0.65)
CV_CONSTANTS = np.geomspace(0.3, 3.0, 12)
#: Penalties before a refit, and the couplings below which an edge is then dropped: small steps
#: where couplings are +-0.5 or less, larger ones on to where they are +-1.
REFIT_CONSTANTS = (1.0, 1.4, 2.0)
CUTS = (*(round(0.1 + 0.025 * k, 3) for k in range(13)), 0.5, 0.6, 0.7, 0.8)


def greedy(codes: Codes, *, intercept: bool, rules: Sequence[str] = ("or", "and")) -> Found:
    """The greedy search with c log(np)/n for many c, and with the default threshold, by rule.

    Joining by OR and AND takes one run; "joint" is a run of its own.
    """
    n, p = codes.shape
    unit = float(np.log(n * p)) / n
    thresholds = {"auto": Auto().threshold(n, p)}
    thresholds |= {f"c={c:g}": c * unit for c in GREEDY_CONSTANTS}
    least = min(thresholds.values())
    found = GreedyGraph(least, rule=rules[0], intercept=intercept, n_jobs=1).fit(codes)
    paths = list(found.paths_)  # each is made when it is asked for
    rank = np.zeros((p, p))
    for r, path in enumerate(paths):
        for reached, support in states(path):
            rank[r, list(support)] = np.maximum(rank[r, list(support)], reached)
    graphs = {
        f"{rule} {name}": edges_at(paths, threshold, rule)
        for rule in rules
        for name, threshold in thresholds.items()
    }
    return Found(graphs, rank)


def states(path: Path) -> Iterator[tuple[float, tuple[int, ...]]]:
    """The support of a search after each step, and below which threshold it got there."""
    reached = float("inf")
    for step in path.steps:
        if step.gain is not None:
            reached = min(reached, step.gain)
        yield reached, step.support


def l1(codes: Codes, *, intercept: bool) -> Found:
    """Node-wise l1 with c sqrt(log(p)/n) for many c, and with EBIC, by OR and AND."""
    n, p = codes.shape
    unit = float(np.sqrt(np.log(p) / n))
    penalties = [c * unit for c in (*LOW_L1_CONSTANTS, *L1_CONSTANTS)]
    found = _l1_path(codes, penalties, intercept)
    best = EBIC(gamma=0.25).values(found.paths_, n).argmin(axis=1)
    by_ebic = [found.paths_.support(r, int(k)).tolist() for r, k in enumerate(best)]
    graphs = {}
    for rule in ("or", "and"):
        graphs[f"{rule} ebic"] = pairs(adjacency(by_ebic, rule))
        for c in L1_CONSTANTS:
            graphs[f"{rule} c={c:g}"] = pairs(found.adjacency_at(c * unit, rule))
    return Found(graphs, _entry_penalties(found))


def _l1_path(codes: Codes, penalties: list[float], intercept: bool) -> L1Graph:
    estimator = L1Graph(max(penalties), lambdas=penalties, intercept=intercept, n_jobs=1)
    return estimator.fit(codes)


def _entry_penalties(found: L1Graph) -> Numbers:
    """Rank of each pair by the largest penalty that lets it in; then by its coupling there."""
    rank = np.zeros((found.n_features_in_, found.n_features_in_))
    for level, penalty in enumerate(sorted(found.lambdas_)):
        size = np.abs(found.couplings_at(penalty))
        rank = np.where(size > 0, 1 + level + size / (1 + size), rank)
    return rank


def l1_refitted(codes: Codes, *, intercept: bool) -> Found:
    """Few penalties, couplings refitted without penalty, small ones dropped; by OR."""
    n, p = codes.shape
    unit = float(np.sqrt(np.log(p) / n))
    found = _l1_path(codes, [c * unit for c in REFIT_CONSTANTS], intercept)
    found.set_params(refit=True)
    graphs = {}
    for c in REFIT_CONSTANTS:
        size = np.abs(found.couplings_at(c * unit))
        for cut in CUTS:
            graphs[f"or c={c:g} cut={cut:g}"] = pairs((size > cut) | (cut < size.T))
    return Found(graphs)


def l1_cross_validated(codes: Codes, *, intercept: bool) -> Found:
    """One constant for all columns, by five-fold cross-validation, as in the paper."""
    n, p = codes.shape
    penalties = (CV_CONSTANTS * np.sqrt(np.log(p) / n)).tolist()
    found = L1Graph("cv", lambdas=penalties, intercept=intercept, n_jobs=1).fit(codes)
    penalty = float(found.penalties_[0])
    return Found({f"{rule} cv": pairs(found.adjacency_at(penalty, rule)) for rule in ("or", "and")})


def screening(codes: Codes, *, objective: str, intercept: bool) -> Found:
    """Interaction screening with its authors' penalty, cut at many sizes and at the widest gap."""
    estimator = InteractionScreening(objective, intercept=intercept, n_jobs=1)
    found = estimator.fit(codes)
    cuts = {"gap": found.threshold_, **{f"cut={cut:g}": cut for cut in CUTS}}
    graphs = {name: pairs(found.adjacency_at(cut)) for name, cut in cuts.items()}
    return Found(graphs, np.abs(found.couplings_))


def subsets(codes: Codes, *, intercept: bool) -> Found:
    """Best subsets of each column's neighbours, their number by a criterion."""
    graphs = {}
    for criterion in ("gic", "ebic", "bic"):
        found = L0Graph(criterion, max_degree=20, intercept=intercept, n_jobs=1).fit(codes)
        for rule in ("or", "and"):
            graphs[f"{rule} {criterion}"] = pairs(adjacency(found.neighbours_, rule))
    return Found(graphs)


def tree(codes: Codes) -> Found:
    """The best tree, and the forest of those of its edges that pass the default threshold."""
    whole = ChowLiuTree(n_jobs=1).fit(codes)
    forest = ChowLiuTree("auto", n_jobs=1).fit(codes)
    graphs = {"tree": whole.graph_, "forest": forest.graph_}
    return Found(graphs, whole.mutual_information_)


def pairs(linked: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Pairs of columns that a symmetric matrix links.

    >>> pairs(np.array([[False, True], [True, False]]))
    [(0, 1)]
    """
    return [(int(a), int(b)) for a, b in zip(*np.nonzero(np.triu(linked, 1)), strict=True)]


#: Methods that a study includes only if asked to.
EXTRAS = ("rise", "rple", "l0", "tree")


def lines(
    fewer: int,
    fewest: int,
    *,
    of_l1: int | None = None,
    intercept: bool = False,
    also: Sequence[str] = (),
) -> list[Line]:
    """The lines of a study, ours first, and those of some of the `EXTRAS`.

    `fewer` and `fewest` are the numbers of tables that slower methods see, and the slowest, which
    is left out if it sees none; `of_l1` is that of the l1 path, all by default. The paper's
    experiments have no intercept.
    """
    ours = Method("greedy", partial(greedy, intercept=intercept), ours=True)
    by_both = partial(greedy, intercept=intercept, rules=("joint",))
    together = Method("greedy-joint", by_both, ours=True)
    path = Method("l1", partial(l1, intercept=intercept), of_l1)
    refitted = Method("l1-refit", partial(l1_refitted, intercept=intercept), fewer)
    validated = Method("l1-cv", partial(l1_cross_validated, intercept=intercept), fewest)
    usual = [
        Line("greedy", ours, "or ", own="or auto"),
        Line("greedy, AND", ours, "and ", own="and auto"),
        Line("greedy, joint", together, "joint ", own="joint auto"),
        Line("l1, OR", path, "or ", own="or ebic"),
        Line("l1, AND", path, "and ", own="and ebic"),
        Line("l1, cross-validated", validated, "or ", own="or cv"),
        Line("l1, refitted, cut", refitted, "or "),
        _screening_line("logRISE", intercept, fewer),
    ]
    best_subsets = Method("l0", partial(subsets, intercept=intercept), fewer)
    extras = {
        "rise": _screening_line("RISE", intercept, fewer),
        "rple": _screening_line("RPLE", intercept, fewer),
        "l0": Line("best subsets", best_subsets, "or ", own="or gic"),
        "tree": Line("tree", Method("tree", tree, fewer), own="forest"),
    }
    unknown = [name for name in also if name not in extras]
    if unknown:
        raise SettingError(f"there is no method {unknown[0]!r}; there are {', '.join(extras)}.")
    chosen = [*usual, *(extras[name] for name in also)]
    return [line for line in chosen if line.method.repetitions != 0]


def _screening_line(label: str, intercept: bool, repetitions: int) -> Line:
    learn = partial(screening, objective=label.lower(), intercept=intercept)
    return Line(label, Method(label, learn, repetitions), own="gap")
