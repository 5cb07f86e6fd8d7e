"""Which threshold? The default beside the best constant, on many designs.

Each design is tried at five numbers of rows around the one where the default recovers 95 % of
the graphs, two of them at a sixth. Where that is was found by a first pass of 16 graphs a point
over a wide range.

nine    the paper's designs: chain, grid, star; p = 36, 64, 100; couplings +-0.5
others  other graphs, couplings, intercepts, states; n from 50 to 100,000
large   1000 columns, few graphs
false   how many false edges there are where no link, all links or few of them can be found
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from benchmarks.choosing.cuts import RULES, all_cuts
from benchmarks.choosing.designs import (
    erdos_renyi_design,
    no_links,
    small_world_design,
    strong_links,
    tree_design,
    weak_links,
    weak_links_of_many_states,
)

from isinglass.errors import SettingError
from isinglass.experiments.designs import (
    chain_design,
    grid_design,
    potts_design,
    regular_design,
    star_design,
)
from isinglass.experiments.plan import Design, Line, Method
from isinglass.experiments.study import Study
from isinglass.simulate import erdos_renyi, grid, tree

#: Multiples of the beta that the default needs.
AROUND = (0.75, 0.9, 1.0, 1.15, 1.4)
PARTS = ("nine", "others", "large", "false")
#: Graphs a point; of 1000 columns at most so many.
GRAPHS, FEW = 200, 10
TITLES = {
    "nine": "The paper's nine designs",
    "others": "Other designs",
    "large": "A thousand columns",
    "false": "False edges",
}

DEFAULT = Method("cuts", all_cuts, ours=True)
NO_FIELDS = Method(
    "cuts-no-fields",
    partial(all_cuts, intercept=False, rules=("or",), least=0.5),
    repetitions=50,
    ours=True,
)
STRICT = Method("cuts-strict", partial(all_cuts, rules=("or",), least=0.7), ours=True)


def studies(parts: Sequence[str] = PARTS, graphs: int = GRAPHS, *, seed: int = 0) -> list[Study]:
    """The parts of the study, by name.

    >>> [len(study.designs) for study in studies(("nine", "large"))]
    [9, 1]
    """
    unknown = set(parts) - set(PARTS)
    if unknown:
        raise SettingError(f"there is no part {unknown.pop()!r}; there are {', '.join(PARTS)}.")
    makers = {"nine": nine, "others": others, "large": large, "false": false_edges}
    return [
        Study(
            part,
            TITLES[part],
            makers[part](seed),
            lines(part),
            min(graphs, FEW) if part == "large" else graphs,
        )
        for part in parts
    ]


def lines(part: str) -> list[Line]:
    """The curves of a part: by rule, and by level for OR; the default, OR by constant, first."""
    if part == "large":
        return [_by_constant("or", STRICT), _by_level(STRICT)]
    by_rule = [_by_constant(rule, DEFAULT) for rule in RULES]
    curves = [*by_rule, _by_level(DEFAULT)]
    if part == "nine":
        curves.append(Line("or, no fields", NO_FIELDS, "or c=", own="or auto"))
    return curves


def _by_constant(rule: str, method: Method) -> Line:
    return Line(rule, method, f"{rule} c=", own=f"{rule} auto")


def _by_level(method: Method) -> Line:
    return Line("levels", method, "or level=")


def nine(seed: int = 0) -> list[Design]:
    """Chain, grid and star of the paper."""
    needs: dict[Callable[..., Design], dict[int, float]] = {
        chain_design: {36: 2.1, 64: 1.87, 100: 1.95},
        grid_design: {36: 1.88, 64: 1.83, 100: 1.96},
        star_design: {36: 0.78, 64: 0.4, 100: 0.24},
    }
    return [
        make(p, around(need), seed=seed)
        for make, by_size in needs.items()
        for p, need in by_size.items()
    ]


def others(seed: int = 0) -> list[Design]:
    """What tables of one's own may be like: of two states, then of more."""
    return [
        grid_design(36, around(13.5), coupling=(0.1, 0.5), seed=seed),
        grid_design(36, around(2.45), coupling=0.3, signs="positive", seed=seed),
        grid_design(64, (2.34, 2.99, 3.64, 4.5, 5.5), intercept=(-0.5, 0.5), seed=seed),
        grid_design(16, (7.0, 14.0, 20.0, 28.0, 60.0), coupling=1.0, seed=seed),
        chain_design(10, (0.54, 1.1, 1.5, 2.0, 2.7), coupling=0.8, seed=seed),
        chain_design(20, around(24), coupling=(0.1, 0.3), seed=seed),
        chain_design(30, around(37), signs="positive", intercept=(-1.0, -0.5), seed=seed),
        tree_design(150, around(2.1), seed=seed),
        star_design(100, around(0.25), d=30, coupling=0.3, seed=seed),
        regular_design(50, 3, around(2.4), coupling=0.4, seed=seed),
        erdos_renyi_design(50, 2, around(9), coupling=(0.2, 0.5), seed=seed),
        erdos_renyi_design(
            12, 3, (150.0, 210.0, 270.0, 350.0, 670.0), coupling=(0.03, 0.1), seed=seed
        ),
        small_world_design(40, 4, around(3.7), coupling=0.3, seed=seed),
        *_of_many_states(seed),
    ]


def _of_many_states(seed: int) -> list[Design]:
    return [
        potts_design(
            "grid",
            lambda seed: grid(6, 6),
            3,
            p=36,
            degree=4,
            betas=(*around(1.45), 2.9),
            seed=seed,
        ),
        potts_design(
            "tree", lambda seed: tree(30, seed), 4, p=30, degree=2, betas=around(3.0), seed=seed
        ),
        potts_design(
            "erdos-renyi",
            lambda seed: erdos_renyi(25, 2, seed),
            (2, 3, 5),
            p=25,
            degree=2,
            betas=(*around(9.5), 19.0),
            coupling=(0.3, 0.6),
            intercept=(0.0, 0.5),
            seed=seed,
        ),
    ]


def large(seed: int = 0) -> list[Design]:
    """A thousand columns."""
    return [tree_design(1000, (2.0, 2.5), seed=seed)]


def false_edges(seed: int = 0) -> list[Design]:
    """No links; strong and equal ones; weak and unequal ones, with intercepts, of many states."""
    return [
        no_links(30, 100, 1000, seed=seed),
        no_links(100, 100, 1000, seed=seed),
        no_links(30, 100, 1000, states=(2, 3, 4), seed=seed),
        no_links(30, 100, 1000, intercept=(-1.5, -1.0), seed=seed),
        strong_links(36, 300, 600, 1200, seed=seed),
        weak_links(300, 1000, 3000, seed=seed),
        weak_links_of_many_states(300, 1000, 3000, seed=seed),
    ]


def around(need: float) -> tuple[float, ...]:
    """Betas near the one that is needed, of three digits.

    >>> around(2.0)
    (1.5, 1.8, 2.0, 2.3, 2.8)
    """
    return tuple(float(f"{need * factor:.3g}") for factor in AROUND)
