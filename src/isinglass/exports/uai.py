"""Models in the UAI format of inference competitions, with a file of labels beside.

A file has numbers of states, the columns of each factor, then each factor's table of
potentials, the last column of a factor running fastest
(https://personal.utdallas.edu/~vibhav.gogate/uai14-competition/modelformat.html; since 2016
lines that start with c are comments). It has no names, so these are in ``FILE.labels.json``.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.core import MAX_STATES
from isinglass.documents.document import Entry, Fault, as_bytes, read_bytes, read_document, shown
from isinglass.documents.parts import LIBRARIES, label_to_json, states_from_json
from isinglass.errors import SettingError
from isinglass.files import MARK
from isinglass.model import MarkovField
from isinglass.parameters import checked

Array = NDArray[np.float64]

#: Potentials of one factor differ by at most exp of this: smaller ones would be zero.
SPAN = 700.0


def uai(field: MarkovField, path: Path) -> dict[Path, bytes]:
    """The model as a UAI file, and the names and states beside."""
    factors: list[tuple[tuple[int, ...], Array]] = [
        *(((i,), intercept) for i, intercept in enumerate(field.intercepts)),
        *field.couplings.items(),
    ]
    lines = [
        "MARKOV",
        str(len(field.names)),
        " ".join(map(str, field.n_states)),
        str(len(factors)),
        *(" ".join(map(str, (len(scope), *scope))) for scope, _ in factors),
        *(f"{table.size}\n{_potentials(table)}" for _, table in factors),
    ]
    labels = {
        "note": MARK.decode(),
        "names": list(field.names),
        "states": [[label_to_json(label) for label in states] for states in field.states],
        "library": field.library,
    }
    return {path: ("\n".join(lines) + "\n").encode(), _beside(path): as_bytes(labels)}


@checked
def read_uai(path: str | os.PathLike[str]) -> MarkovField:
    """Read a pairwise Markov network in the UAI format.

    Names and states come from ``FILE.labels.json`` if it is there, else columns are x0, x1, ...
    and states 0, 1, ... Zero potentials, which rule rows out, are refused.
    """
    states, intercepts, couplings = read_bytes(path, _parsed)
    labels = _beside(Path(path))
    if not labels.exists():
        names = [f"x{j}" for j in range(len(states))]
        return MarkovField.from_potentials(names, [range(m) for m in states], intercepts, couplings)

    def named(document: Any) -> MarkovField:
        beside = Entry(document)
        names = [name.text() for name in beside["names"].entries("a name")]
        columns = beside["states"].entries("the states of column {}", len(states))
        library = beside.get("library").choice(*LIBRARIES)
        known = list(map(states_from_json, columns))
        return MarkovField.from_potentials(names, known, intercepts, couplings, library)

    return read_document(labels, named)


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.labels.json")


def _potentials(table: Array) -> str:
    if np.ptp(table) > SPAN:
        raise SettingError(
            f"the potentials of a factor span exp({np.ptp(table):.4g}); a UAI file holds up to "
            f"exp({SPAN:g})."
        )
    return " ".join(map(repr, np.exp(table - table.max()).ravel().tolist()))


def _parsed(content: bytes) -> tuple[list[int], list[Array], dict[tuple[int, int], Array]]:
    """Numbers of states, and log-potentials of columns and pairs, summed over factors."""
    lines = content.decode("ascii", "replace").splitlines()
    words = (word for line in lines if not line.startswith("c") for word in line.split())
    if (kind := next(words, "")) != "MARKOV":
        raise Fault(f"it must start with MARKOV, not {shown(kind)}")
    states = [_whole(words, "states", MAX_STATES) for _ in range(_whole(words, "columns"))]
    if not states or 0 in states:
        raise Fault("it has no columns, or a column without states")
    scopes = [_scope(words, len(states)) for _ in range(_whole(words, "factors"))]
    intercepts = [np.zeros(m) for m in states]
    couplings: dict[tuple[int, int], Array] = {}
    for scope in scopes:
        table = _table(words, [states[j] for j in scope])
        if len(scope) == 1:
            intercepts[scope[0]] += table
        elif len(scope) == 2:
            i, j = sorted(scope)
            table = table if scope == [i, j] else table.T
            couplings[i, j] = couplings.get((i, j), 0.0) + table
    if (rest := next(words, None)) is not None:
        raise Fault(f"it goes on after its last table, with {shown(rest)}")
    return states, intercepts, couplings


def _scope(words: Iterator[str], p: int) -> list[int]:
    size = _whole(words, "columns of a factor")
    if size > 2:
        raise Fault(f"a factor joins {size} columns; a pairwise model has two at most")
    scope = [_whole(words, "a column of a factor", p - 1) for _ in range(size)]
    if len(set(scope)) < size:
        raise Fault(f"a factor joins column {scope[0]} with itself")
    return scope


def _table(words: Iterator[str], shape: list[int]) -> Array:
    size = _whole(words, "entries of a factor")
    if size != math.prod(shape):
        raise Fault(f"a factor has {size} entries; its columns need {math.prod(shape)}")
    return np.log([_potential(words) for _ in range(size)]).reshape(shape)


def _potential(words: Iterator[str]) -> float:
    word = next(words, None)
    try:
        value = float(word or "")
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise Fault(f"a potential must be a positive finite number, not {shown(word)}")
    return value


def _whole(words: Iterator[str], what: str, most: int = 10**9) -> int:
    word = next(words, None)
    if word is None or not word.isdecimal() or len(word) > 10 or int(word) > most:
        raise Fault(f"the number for {what} must be whole, 0 to {most}, not {shown(word)}")
    return int(word)
