"""Designs: a family of graphs, and models on them: couplings, intercepts, states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import ceil, isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from isinglass.errors import SettingError
from isinglass.experiments.plan import Codes, Design, Edges
from isinglass.simulate import chain, grid, ising, potts, random_regular, star

if TYPE_CHECKING:
    import networkx

    from isinglass.model import MarkovField

    Family = Callable[[int], networkx.Graph]

Range = tuple[float, float]


def ising_design(
    family: str,
    graph: Family,
    *,
    p: int,
    degree: int,
    betas: tuple[float, ...],
    coupling: float | Range = 0.5,
    signs: str = "mixed",
    intercept: float | Range = 0.0,
    seed: int = 0,
) -> Design:
    """Ising models on a family of graphs.

    `graph`, a function of a seed, returns a networkx graph on p nodes: a new one for every table,
    if it is random. Another `seed` gives other tables, with keys of their own. All else is as in
    `Design` and :func:`isinglass.simulate.ising`.

    Examples
    --------
    >>> import networkx as nx
    >>> wheel = ising_design(
    ...     "wheel", lambda seed: nx.wheel_graph(9), p=9, degree=8, betas=(1.0, 2.0), coupling=0.3
    ... )
    >>> wheel.name
    'wheel/p=9/d=8/coupling=0.3'
    >>> codes, edges = wheel.sample(100, seed=0)
    >>> codes.shape, len(edges)
    ((100, 9), 16)
    """
    parts = [family, f"p={p}", f"d={degree}", f"coupling={_words(coupling)}"]
    parts += [signs] if signs != "mixed" else []
    model = partial(ising, coupling=coupling, signs=signs, intercept=intercept)
    name = _name(parts, intercept, seed)
    return Design(name, p, degree, partial(_table, graph, model), betas)


def potts_design(
    family: str,
    graph: Family,
    states: int | Sequence[int],
    *,
    p: int,
    degree: int,
    betas: tuple[float, ...],
    coupling: float | Range = 0.5,
    intercept: float | Range = 0.0,
    seed: int = 0,
) -> Design:
    """Models of any numbers of states on a family of graphs; see `ising_design`.

    A sequence of `states` is repeated over the columns.

    Examples
    --------
    >>> mixed = potts_design(
    ...     "chain", lambda seed: chain(5), (2, 3), p=5, degree=2, betas=(1.0,), coupling=0.6
    ... )
    >>> mixed.name
    'chain/p=5/d=2/states=2,3/coupling=0.6'
    >>> codes, edges = mixed.sample(1000, seed=0)
    >>> codes.max(axis=0).tolist(), len(edges)
    ([1, 2, 1, 2, 1], 4)
    """
    counts = np.atleast_1d(states).tolist()
    words = f"states={','.join(map(str, counts))}"
    parts = [family, f"p={p}", f"d={degree}", words, f"coupling={_words(coupling)}"]
    of_columns = np.resize(counts, p).tolist()
    model = partial(potts, states=of_columns, coupling=coupling, intercept=intercept)
    name = _name(parts, intercept, seed)
    return Design(name, p, degree, partial(_table, graph, model), betas)


def chain_design(p: int, betas: tuple[float, ...], **model: Any) -> Design:
    """Chains, d = 2."""
    return ising_design("chain", lambda seed: chain(p), p=p, degree=2, betas=betas, **model)


def grid_design(p: int, betas: tuple[float, ...], **model: Any) -> Design:
    """Square grids of 4 nearest neighbours, d = 4."""
    side = isqrt(p)
    if side * side != p:
        raise SettingError(f"a square grid needs a square number of columns, not {p}.")
    return ising_design("grid", lambda seed: grid(side, side), p=p, degree=4, betas=betas, **model)


def star_design(p: int, betas: tuple[float, ...], d: int | None = None, **model: Any) -> Design:
    """Stars of d leaves, the other nodes alone; d = ceil(0.1 p) by default."""
    degree = ceil(p / 10) if d is None else d
    return ising_design(
        "star", lambda seed: star(p, degree), p=p, degree=degree, betas=betas, **model
    )


def regular_design(p: int, d: int, betas: tuple[float, ...], **model: Any) -> Design:
    """Random graphs in which every node has d neighbours, a new one for every table."""
    return ising_design(
        "regular", lambda seed: random_regular(p, d, seed), p=p, degree=d, betas=betas, **model
    )


def _table(
    graph: Family, model: Callable[..., MarkovField], n: int, seed: int
) -> tuple[Codes, Edges]:
    of_graph, of_model, of_rows = (int(s) for s in np.random.SeedSequence(seed).generate_state(3))
    field = model(graph(of_graph), seed=of_model)
    codes = field.sample_codes(n, seed=of_rows, n_jobs=1)
    return codes, list(field.couplings)


def _name(parts: list[str], intercept: float | Range, seed: int) -> str:
    """The parts of a name, with those that most designs do not need."""
    more = [f"intercept={_words(intercept)}"] if intercept != 0.0 else []
    return "/".join([*parts, *more, *([f"seed={seed}"] if seed else [])])


def _words(number: float | Range) -> str:
    """'0.5', or '0.1..0.5'."""
    return f"{number[0]:g}..{number[1]:g}" if isinstance(number, tuple) else f"{number:g}"
