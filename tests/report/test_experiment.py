"""Pictures and tables of an experiment, from records made up for the purpose."""

import numpy as np
import pytest

from isinglass.experiments.paper.figures import Size, studies
from isinglass.experiments.study import Outcome
from isinglass.plots.experiment import figures
from isinglass.report.experiment import needs_table, quality_table, short_table

SETTINGS = {
    "greedy": ["or auto", "or c=1", "or c=1.2", "and auto", "and c=0.5"],
    "greedy-joint": ["joint auto", "joint c=1", "joint c=1.2"],
    "l1": ["or ebic", "or c=2", "or c=3", "and ebic", "and c=2"],
    "l1-refit": ["or c=1 cut=0.2"],
    "l1-cv": ["or cv", "and cv"],
    "logRISE": ["gap", "cut=0.2", "cut=0.3"],
}
SMALL = Size(
    (36, 64), repetitions=6, fewer=4, fewest=2, others=4, few_betas=True, figures=(1, 2, 3)
)


def made_up(study):
    """Curves that rise with beta; later for every next method."""
    rng = np.random.default_rng(0)
    records = {}
    for cell in study.cells():
        place = list(SETTINGS).index(cell.method.name)
        rise = 1 / (
            1 + np.exp(-8 * (cell.draw.beta / cell.draw.design.betas[-1] - 0.2 - place / 9))
        )
        errors = {name: [int(rng.random() > rise), 0] for name in SETTINGS[cell.method.name]}
        records[cell.key] = {"true": 9, "settings": errors, "aupr": float(rise), "seconds": 0.0}
    return Outcome(study, records)


@pytest.fixture(scope="module")
def outcomes():
    return [made_up(study) for study in studies(SMALL)]


@pytest.mark.long
def test_pictures(outcomes):
    names = [name for outcome in outcomes for name in figures(outcome)]
    assert names == [
        *("figure1.png", "figure1.svg", "figure1-methods.png", "figure1-methods.svg"),
        *("figure2.png", "figure2.svg", "figure2-f1.png", "figure2-f1.svg"),
        *("figure3.png", "figure3.svg"),
    ]


def test_the_same_records_give_the_same_bytes(outcomes):
    third = outcomes[2]
    assert figures(third) == figures(Outcome(third.study, third.records))


def test_tables(outcomes):
    first = outcomes[0]
    rows = needs_table(first).splitlines()
    assert len(rows) == 2 + 6 * len(first.study.lines)
    assert rows[0].startswith("| graph | p | d | method | own rule | one constant for all |")
    greedy, cross_validated = rows[2].split(" | "), rows[7].split(" | ")
    assert greedy[-3:-1] == ["1", "1"]
    assert greedy[-1] == "6 |"
    assert cross_validated[3] == "l1, cross-validated"
    assert cross_validated[5:8] == ["", "", ""]  # it has no constant to choose
    assert quality_table(first).count("\n") == 1 + 6 * len(first.study.lines)
    heads, short = short_table(first)
    assert heads[:3] == ["graph", "p", "greedy"]
    assert len(short) == 6
