"""The paper's experiment, and two figures that it does not have.

1. Chain, grid and star, p = 36, 64, 100, couplings +-0.5 with random signs, as in the paper.
2. The 8 x 8 grid where couplings are of different sizes, all positive, or come with intercepts.
3. p = 64 held fixed while d grows: stars, and random regular graphs whose couplings shrink with
   the root of d, as the theorem asks (and so that their samples can be trusted).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt

from isinglass.experiments.designs import chain_design, grid_design, regular_design, star_design
from isinglass.experiments.methods import lines
from isinglass.experiments.study import Study

Betas = tuple[float, ...]

#: Betas that show the whole transition of every method, by coupling and family.
BETAS: dict[float, dict[str, Betas]] = {
    0.5: {
        "chain": (0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 3.0, 3.5),
        "grid": (0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0),
        "star": (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0, 1.2),
    },
    1.0: {
        "chain": (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0),
        "grid": (2.0, 4.0, 8.0, 16.0, 24.0, 48.0, 96.0),
        "star": (0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0, 1.5, 2.0),
    },
}
FEW: dict[str, Betas] = {
    "chain": (0.5, 1.0, 1.5, 2.0, 2.5, 3.5),
    "grid": (0.5, 1.0, 1.5, 2.0, 3.0, 4.5, 6.0, 8.0),
    "star": (0.1, 0.25, 0.4, 0.6, 0.8, 1.2),
}


@dataclass(frozen=True)
class Size:
    """How much of the experiment to do."""

    columns: tuple[int, ...]  #: the p of the first figure
    repetitions: int  #: tables at each point of the first figure
    fewer: int  #: those that slower methods see
    fewest: int  #: those that the slowest sees
    others: int  #: tables at each point of the other figures, which do without the slowest
    few_betas: bool
    figures: tuple[int, ...]
    rivals: int | None = None  #: tables that other methods than the greedy search see, at most

    def for_rivals(self, some: int) -> int:
        """So many tables, or as many as rivals may see."""
        return some if self.rivals is None else min(some, self.rivals)


QUICK = Size((36, 64), 12, fewer=8, fewest=3, others=8, few_betas=True, figures=(1,))
FULL = Size((36, 64, 100), 200, fewer=50, fewest=20, others=24, few_betas=False, figures=(1, 2, 3))


def studies(
    size: Size, *, coupling: float = 0.5, also: Sequence[str] = (), seed: int = 0
) -> list[Study]:
    """All figures of a size.

    The coupling of the first figure is 0.5, as the paper's caption says, or 1, as its text does.
    Methods beyond the usual are named in `isinglass.experiments.methods.EXTRAS`.
    """
    first = partial(_first, coupling=coupling)
    makers: dict[int, Callable[..., Study]] = {1: first, 2: _second, 3: _third}
    return [makers[number](size, also=also, seed=seed) for number in size.figures]


def _first(size: Size, *, coupling: float, also: Sequence[str], seed: int) -> Study:
    betas = FEW if size.few_betas and coupling == 0.5 else BETAS[coupling]
    families = {"chain": chain_design, "grid": grid_design, "star": star_design}
    designs = [
        make(p, betas[family], coupling=coupling, seed=seed)
        for family, make in families.items()
        for p in size.columns
    ]
    # Cross-validation takes most of the rivals' time, and minutes per table where columns nearly
    # determine each other.
    few = coupling != 0.5 or size.rivals is not None
    fewest = size.for_rivals(min(size.fewest, 2) if few else size.fewest)
    title = f"The paper's experiment: couplings +-{coupling:g} with random signs"
    fewer = size.for_rivals(size.fewer)
    chosen = lines(fewer, fewest, of_l1=size.rivals, also=also)
    return Study("figure1", title, designs, chosen, size.repetitions)


def _second(size: Size, *, also: Sequence[str], seed: int) -> Study:
    """Couplings that differ, that all pull one way, and columns that lean one way."""
    wide = (1.0, 2.0, 4.0, 8.0, 16.0, 24.0, 32.0, 48.0)
    betas = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0)
    designs = [
        grid_design(64, wide, coupling=(0.1, 0.5), seed=seed),
        grid_design(64, betas, signs="positive", coupling=0.3, seed=seed),
        grid_design(64, betas, intercept=(-0.5, 0.5), seed=seed),
    ]
    title = "Couplings of different sizes; all positive; with intercepts (8 x 8 grid)"
    chosen = lines(size.for_rivals(size.others), 0, of_l1=size.rivals, intercept=True, also=also)
    return Study("figure2", title, designs, chosen, size.others)


def _third(size: Size, *, also: Sequence[str], seed: int) -> Study:
    """P = 64, d = 2, 4, 8, 16."""
    star_betas = (0.2, 0.3, 0.4, 0.6, 0.8, 1.2, 1.6, 2.4, 3.2)
    betas = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0)
    degrees = (2, 4, 8, 16)
    couplings = {d: round(0.5 * sqrt(2 / d), 3) for d in degrees}
    designs = [star_design(64, star_betas, d=d, seed=seed) for d in degrees]
    designs += [regular_design(64, d, betas, coupling=couplings[d], seed=seed) for d in degrees]
    title = "p = 64 held fixed, d = 2, 4, 8, 16: stars, and random regular graphs"
    chosen = lines(size.for_rivals(size.others), 0, of_l1=size.rivals, also=also)
    return Study("figure3", title, designs, chosen, size.others)
