"""Words that everybody puts in the same order: never, sometimes, always."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_SCALES = """
    never | almost never, hardly ever | rarely, seldom | occasionally | sometimes | regularly |
        often, frequently | usually, mostly | very often | almost always, nearly always | always
    none, not at all, nothing, absent | very low, very little, minimal, very mild | low, a little,
        slightly, little, mild, a little bit | medium, moderate, moderately, some, somewhat, middle,
        average, intermediate | high, quite a bit, a lot, much, strong, severe, considerably |
        very high, very much, a great deal, very severe, very strong, extremely, extreme
    strongly disagree, completely disagree, totally disagree | disagree | somewhat disagree,
        slightly disagree, tend to disagree | neutral, neither agree nor disagree, neither,
        undecided | somewhat agree, slightly agree, tend to agree | agree |
        strongly agree, completely agree, totally agree
    very dissatisfied | dissatisfied | somewhat dissatisfied | neutral,
        neither satisfied nor dissatisfied | somewhat satisfied | satisfied | very satisfied
    terrible, awful | very bad, very poor | bad, poor | fair, so-so | okay, ok | good | very good |
        excellent, perfect
    very unlikely | unlikely | neutral, neither | likely | very likely
    very unimportant, not important, unimportant | slightly important | moderately important |
        important | very important | extremely important
    tiny | small | medium, middle | large, big | huge
    worse, much worse | same, the same, unchanged | better | much better
    less than high school, no school, primary school, primary, elementary school |
        high school, secondary school, secondary | some college | college |
        university degree, bachelor, bachelor's degree, university |
        graduate degree, master, master's degree, postgraduate | doctorate, phd
    daily, every day | several times a week | weekly, once a week | monthly, once a month |
        yearly, once a year | never
    nie | selten | manchmal, gelegentlich | oft, häufig | sehr oft | meistens | immer
    gar nicht, überhaupt nicht | wenig, kaum | etwas, mittel, mäßig | ziemlich, stark |
        sehr, sehr stark
    nunca | casi nunca | raramente, rara vez | a veces | a menudo | casi siempre | siempre
    jamais | rarement | parfois | souvent | toujours
"""


def _read(text: str) -> list[dict[str, int]]:
    """Scales as the place of each word; a scale begins at an indentation of four."""
    scales: list[str] = []
    for line in text.splitlines():
        if line.startswith("     "):
            scales[-1] += " " + line.strip()
        elif line.strip():
            scales.append(line.strip())
    return [
        {
            word.strip(): place
            for place, words in enumerate(scale.split("|"))
            for word in words.split(",")
            if word.strip()
        }
        for scale in scales
    ]


SCALES = _read(_SCALES)


def in_order(words: Sequence[Any]) -> list[str] | None:
    """Three words or more from low to high, if all are on one scale, each at its own place.

    >>> in_order(["Often", "never", "Sometimes"]), in_order(["often", "blue", "never"])
    (['never', 'Sometimes', 'Often'], None)
    >>> in_order(["low", "little", "high"])
    """
    if len(words) < 3 or not all(isinstance(word, str) for word in words):
        return None
    folded = [" ".join(word.casefold().replace("_", " ").split()) for word in words]
    for scale in SCALES:
        places = [scale.get(word) for word in folded]
        if None not in places and len(set(places)) == len(words):
            return [word for _, word in sorted(zip(places, words, strict=True))]
    return None
