"""Graphs made by hand, for what is drawn and written."""

import pytest

from isinglass.graph import Graph, Link
from odd_names import ODD_NAMES

NAMES = (*ODD_NAMES, "tab\there", "\x01", "\x02", " ", "")


def make_link(a: int, b: int, strength: float = 0.5, **changes) -> Link:
    numbers = {
        "strength": strength,
        "sign": 1,
        "coupling": 0.25,
        "log_odds": 1.0,
        "evidence": 12.5,
        "selected_by": "both",
        "unbounded": False,
        "relative_strength": strength,
        "source_state": "yes",
        "target_state": "1",
        "entry_evidence": 11.5,
    }
    return Link(source=a, target=b, **(numbers | changes))


@pytest.fixture
def link():
    return make_link


@pytest.fixture
def small():
    """A triangle with a tail, a pair, and a column alone; numbers of every kind."""
    links = (
        make_link(0, 1, 0.9),
        make_link(0, 2, 0.1, sign=-1, coupling=-0.1, log_odds=-0.4, selected_by="a"),
        make_link(1, 2, 0.3, sign=0, coupling=None, log_odds=None)._replace(
            source_state=None, target_state=None
        ),
        make_link(2, 3, 1.0, unbounded=True),
        make_link(4, 5, 0.2),
    )
    return Graph(("a", "b", "c", "d", "e", "f", "g"), links)


@pytest.fixture
def odd():
    """A chain through names that break careless code."""
    links = [make_link(i, i + 1, selected_by=NAMES[i]) for i in range(len(NAMES) - 2)]
    return Graph(NAMES, tuple(links))
