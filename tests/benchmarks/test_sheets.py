"""Sheets and pictures of the study of the threshold, from records made up for the purpose."""

import numpy as np
import pytest
from benchmarks.choosing.cuts import RULES, selectors
from benchmarks.choosing.parts import studies
from benchmarks.choosing.pictures import choosing_figures
from benchmarks.choosing.sheets import choosing_markdown, describe, sheets

from isinglass.experiments.study import Outcome


def made_up(study):
    """Curves that rise with beta; none is better than the default and c = 1."""
    rng = np.random.default_rng(0)
    records = {}
    for cell in study.cells():
        betas = cell.draw.design.betas
        rise = (1 + betas.index(cell.draw.beta)) / len(betas)
        early = int(rise < 0.7)
        settings = {
            f"{rule} {name}": [early + int(rng.random() > rise), k % 2]
            for rule in RULES
            for k, name in enumerate(selectors(0.7))
        }
        settings |= {"or auto": [early, 0], "or c=1": [early, 0]}
        records[cell.key] = {"true": 9, "settings": settings, "aupr": None, "seconds": 0.0}
    return Outcome(study, records)


@pytest.fixture(scope="module")
def outcomes():
    return [made_up(study) for study in studies(graphs=4)]


def test_every_design_has_its_row(outcomes):
    by_title = {}
    for sheet in sheets(outcomes):
        by_title.setdefault(sheet.title, sheet)
        assert all(len(row) == len(sheet.heads) for row in sheet.rows)
    nine, others, _, false = (outcome.study.designs for outcome in outcomes)
    judged = by_title["The paper's nine designs"]
    assert [row[0] for row in judged.rows] == [describe(design) for design in nine]
    assert "on 9 of 9 designs" in judged.words
    assert judged.words.endswith("The default fails where a constant succeeds: nowhere.")
    assert len(by_title["Other designs"].rows) == len(others)
    assert len(by_title["False edges"].rows) == sum(len(design.betas) for design in false)
    assert len(by_title["One rule for all designs"].rows) == 20


def test_a_default_that_fails_alone_is_named():
    (study,) = studies(("nine",), graphs=4)
    outcome = made_up(study)
    first = study.designs[0]
    for key, record in outcome.records.items():
        if key.startswith(first.name):
            record["settings"]["or auto"] = [1, 0]
    words = next(sheets([outcome])).words
    assert words.endswith(f"The default fails where a constant succeeds: {describe(first)}.")


@pytest.mark.long
def test_pictures(outcomes):
    drawn = choosing_figures(outcomes)
    assert [*drawn] == [f"choosing{end}" for end in (".png", ".svg", "-cuts.png", "-cuts.svg")]


def test_without_records_there_are_heads_only():
    outcomes = [Outcome(study, {}) for study in studies()]
    assert "| graph |" in choosing_markdown(outcomes)
    assert choosing_figures(outcomes) == {}


def test_designs_have_names_of_their_own():
    for study in studies():
        words = [describe(design) for design in study.designs]
        assert len(set(words)) == len(words)
