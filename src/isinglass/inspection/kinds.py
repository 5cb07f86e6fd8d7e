"""What a column looks like, by its values and its name."""

from __future__ import annotations

import re

from isinglass.inspection.facts import Facts

#: A column of numbers with more distinct values is binned rather than taken as it is.
LONGEST_SCALE = 12
#: `fit` refuses columns with more states, unless it is told otherwise.
MOST_STATES = 32

_ID = re.compile(
    r"(^|[_. -])(id|ids|uuid|guid|key|code|nr|no|number|num|index|row|case|caseid|record|"
    r"respondent|participant|subject|person|patient|pid|sid|uid|serial|rollnumber|email|e-mail|phone|ip|token)"
    r"($|[_. -]|\d)|id$|^(id|respid|resp|participant|subj)",
    re.IGNORECASE,
)
_WEIGHT = re.compile(
    r"(^|[_. -])(weights?|wgt|wght|wt|wts|pweight|fweight|aweight|sampweight|pspwght|dweight|"
    r"gewicht|peso|poids|vikt|vekt|pond)($|[_. -]|\d)|(weight|wght|wgt)$",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"(counts?|freq|frequency|frequencies|n|rows|anzahl|nombre|frecuencia|antal|len)", re.IGNORECASE
)
_CLUSTER = re.compile(
    r"(^|[_. -])(cluster|psu|school|classroom|household|hh|hhid|family|site|clinic|hospital|"
    r"ward|village|team|interviewer|centre|center|firm|group)([_. -]?(id|no|nr|code|number))?$|"
    r"(^|[_. -])class[_. -]?(id|no|nr|code|number)$",  # "class" alone may be what is asked about
    re.IGNORECASE,
)


def kind_of(facts: Facts) -> str:
    """What a column looks like: one of the words of `MEANINGS`."""
    if facts.distinct == 0:
        return "empty"
    if facts.distinct == 1:
        return "constant"
    if is_weight(facts):
        return "weight"
    if facts.is_date and not _is_short(facts):
        return "date"
    if is_id(facts):
        return "id"
    if facts.distinct == 2:
        return "yes/no"
    if facts.reads_as_numbers and (facts.distinct > LONGEST_SCALE or not _few(facts)):
        return "number"
    if facts.has_order:
        return "ordered" if facts.distinct <= MOST_STATES else "many categories"
    return _kind_of_words(facts)


def _few(facts: Facts) -> bool:
    """Whether each state of a number is seen often enough to be one."""
    return facts.whole or facts.distinct <= 6 or facts.seen >= 10 * facts.distinct


def _is_short(facts: Facts) -> bool:
    """Two dates are two groups."""
    return facts.distinct <= 2


def _kind_of_words(facts: Facts) -> str:
    if facts.distinct <= MOST_STATES:
        rare = facts.seen < 2 * facts.distinct
        return "text" if rare and facts.is_text and facts.seen > 10 else "unordered"
    return "text" if 4 * facts.distinct > facts.seen else "many categories"


#: What is said of a column of each kind.
MEANINGS = {
    "empty": "no value in any row",
    "constant": "the same value in every row",
    "yes/no": "two states",
    "ordered": "states with an order",
    "unordered": "states without an order",
    "many categories": f"more than {MOST_STATES} states",
    "number": "a number of many values",
    "date": "dates or times",
    "id": "an identifier",
    "text": "free text",
    "weight": "weights of the rows",
    "cluster": "clusters of rows",
}


def is_id(facts: Facts) -> bool:
    """Whether a column only identifies rows."""
    if facts.distinct < 0.95 * facts.seen or facts.seen < 10 or facts.distinct <= 12:
        return False
    if facts.is_text:
        spaces = sum(" " in str(value) for value in facts.values)
        return bool(_ID.search(facts.name)) or 10 * spaces < len(facts.values)
    if not facts.is_number or not facts.whole or facts.distinct < facts.seen:
        return False
    dense = (facts.highest or 0) - (facts.lowest or 0) < 1.5 * facts.seen
    return dense or bool(_ID.search(facts.name))


def is_weight(facts: Facts) -> bool:
    """Whether a column looks like sampling weights: its name, and values around one."""
    if not facts.is_number or not _WEIGHT.search(facts.name):
        return False
    if facts.lowest is None or facts.lowest < 0 or facts.whole or facts.missing:
        return False
    total = sum(value * count for value, count in facts.states)
    mean = total / max(sum(count for _, count in facts.states), 1)
    return 0.2 <= mean <= 5 and facts.distinct > 1


def is_count(facts: Facts) -> bool:
    """Whether a column may say how often each row was seen: its name, and whole numbers."""
    if not facts.is_number or not _COUNT.fullmatch(facts.name) or facts.missing:
        return False
    return facts.whole and (facts.lowest or 0) >= 0 and (facts.highest or 0) > 1


def is_cluster(facts: Facts) -> bool:
    """Whether rows with one value of the column probably belong together: pupils of a school."""
    if not _CLUSTER.search(facts.name) or facts.missing or facts.distinct < 10:
        return False
    return 1.5 * facts.distinct <= facts.seen
