"""Models as factors on columns and pairs: UAI files and pgmpy networks, out and in.

A UAI file, as inference competitions use it, has numbers of states, the columns of each factor,
then each factor's table of potentials, the last column of a factor running fastest
(https://personal.utdallas.edu/~vibhav.gogate/uai14-competition/modelformat.html; since 2016
lines that start with c are comments). It has no names, so these are in ``FILE.labels.json``.
"""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isinglass.core.gate import MAX_STATES
from isinglass.documents import document as doc
from isinglass.documents.document import Fault, shown
from isinglass.documents.parts import LIBRARIES, label_to_json, states_from_json
from isinglass.errors import MissingExtra, SettingError
from isinglass.files import MARK
from isinglass.losses.forms import TABLE
from isinglass.model import MarkovField
from isinglass.parameters import checked

Array = NDArray[np.float64]
Factor = tuple[Sequence[int], Array]
"""Columns, and the logarithms of potentials."""

#: The largest span of the log-potentials of a factor: beyond, a potential would be zero.
SPANS = {"pgmpy": 690.0, "a UAI file": 700.0}


def _factors(field: MarkovField, who: str) -> list[tuple[tuple[int, ...], Array]]:
    """Columns and potentials, one factor per column and edge, divided by its largest potential."""
    logs: list[tuple[tuple[int, ...], Array]] = [
        *(((i,), intercept) for i, intercept in enumerate(field.intercepts)),
        *field.couplings.items(),
    ]
    for scope, table in logs:
        if np.ptp(table) > SPANS[who]:
            names = " and ".join(repr(field.names[v]) for v in scope)
            raise SettingError(
                f"the potentials of {names} span exp({np.ptp(table):.4g}); {who} holds up to "
                f"exp({SPANS[who]:g})."
            )
    return [(scope, np.exp(table - table.max())) for scope, table in logs]


def _model(
    names: Sequence[str],
    states: Sequence[Sequence[Hashable]],
    factors: Iterable[Factor],
    library: str | None = None,
) -> MarkovField:
    """The model of some factors; those on the same columns are multiplied."""
    intercepts = [np.zeros(len(labels)) for labels in states]
    couplings: dict[tuple[int, int], Array] = {}
    for scope, table in factors:
        if len(scope) == 1:
            intercepts[scope[0]] += table
        elif len(scope) == 2:
            i, j = sorted(scope)
            upright = table if scope[0] == i else table.T
            couplings[i, j] = couplings.get((i, j), np.zeros(upright.shape)) + upright
    return MarkovField.from_potentials(names, states, intercepts, couplings, library)


def to_pgmpy(field: MarkovField) -> Any:
    """Return a pgmpy ``DiscreteMarkovNetwork``: one factor per column and one per edge.

    States keep their labels. Each factor is divided by its largest entry, which changes nothing
    but the partition function.
    """
    try:
        from pgmpy.factors.discrete import DiscreteFactor
        from pgmpy.models import DiscreteMarkovNetwork
    except ModuleNotFoundError as error:
        raise MissingExtra("a pgmpy network needs pgmpy: pip install pgmpy") from error
    network = DiscreteMarkovNetwork()
    network.add_nodes_from(field.names)
    network.add_edges_from([(field.names[i], field.names[j]) for i, j in field.couplings])
    for scope, table in _factors(field, "pgmpy"):
        states = {field.names[v]: list(field.states[v]) for v in scope}
        network.add_factors(DiscreteFactor(list(states), table.shape, table, state_names=states))
    return network


def from_pgmpy(network: Any, library: str | None = None) -> MarkovField:
    """Make a model of a pgmpy Markov network whose factors have one or two columns.

    Factors on the same columns are multiplied. Names become text; states keep their labels.
    Zero potentials, which rule rows out, are refused.
    """
    factors = list(network.get_factors())
    states = _states(network, factors)
    number = {node: v for v, node in enumerate(states)}
    logs = [([number[node] for node in factor.scope()], _logs(factor)) for factor in factors]
    return _model([str(node) for node in states], list(states.values()), logs, library)


def _states(network: Any, factors: Sequence[Any]) -> dict[Hashable, list[Hashable]]:
    """The labels of each node, in the network's order."""
    known: dict[Hashable, list[Hashable]] = {}
    for factor in factors:
        for node in factor.scope():
            labels = list(factor.state_names[node])
            if known.setdefault(node, labels) != labels:
                raise SettingError(f"two factors give {str(node)!r} different states.")
    unknown = [node for node in network.nodes if node not in known]
    if unknown:
        raise SettingError(f"{str(unknown[0])!r} is in no factor, so its states are not known.")
    return {node: known[node] for node in network.nodes}


def _logs(factor: Any) -> Array:
    columns = len(factor.scope())
    if columns > 2:
        raise SettingError(f"a factor joins {columns} columns; a pairwise model has two at most.")
    potentials = np.asarray(factor.values, dtype=np.float64)
    if not (np.isfinite(potentials).all() and (potentials > 0).all()):
        names = " and ".join(repr(str(node)) for node in factor.scope())
        raise SettingError(f"a potential of {names} is not a positive finite number.")
    return np.log(potentials)


def uai(field: MarkovField, path: Path) -> dict[Path, bytes]:
    """The model as a UAI file, and the names and states beside."""
    factors = _factors(field, "a UAI file")
    lines = [
        "MARKOV",
        str(len(field.names)),
        " ".join(map(str, field.n_states)),
        str(len(factors)),
        *(" ".join(map(str, (len(scope), *scope))) for scope, _ in factors),
        *(f"{table.size}\n{' '.join(map(repr, table.ravel().tolist()))}" for _, table in factors),
    ]
    labels = {
        "note": MARK.decode(),
        "names": list(field.names),
        "states": [[label_to_json(label) for label in states] for states in field.states],
        "library": field.library,
        # What an edge is, where it is no whole table; a UAI file has tables only.
        "scores": [None if scores is None else list(scores) for scores in field.scores],
        "forms": [[*pair, form] for pair, form in field.forms.items() if form != TABLE],
    }
    return {path: ("\n".join(lines) + "\n").encode(), _beside(path): doc.as_bytes(labels)}


@checked
def read_uai(path: str | os.PathLike[str]) -> MarkovField:
    """Read a pairwise Markov network in the UAI format.

    Names and states come from ``FILE.labels.json`` if it is there, else columns are x0, x1, ...
    and states 0, 1, ... Zero potentials, which rule rows out, are refused.
    """
    states, factors = doc.read_bytes(path, _parsed)
    labels = _beside(Path(path))
    if not labels.exists():
        return _model([f"x{j}" for j in range(len(states))], [range(m) for m in states], factors)

    def named(document: Any) -> MarkovField:
        beside = doc.Entry(document)
        names = [name.text() for name in beside["names"].entries("a name")]
        columns = beside["states"].entries("the states of column {}", len(states))
        library = beside.get("library").choice(*LIBRARIES)
        found = _model(names, list(map(states_from_json, columns)), factors, library)
        return replace(found, scores=_scores(beside), forms=_forms(beside, len(states)))

    return doc.read_document(labels, named)


def _scores(beside: doc.Entry) -> tuple[tuple[float, ...] | None, ...]:
    """The scores of all columns; none in older files."""
    given = beside.get("scores").optional(lambda some: some.entries("the scores of column {}"))
    return tuple(one.optional(lambda own: tuple(own.numbers())) for one in given or ())


def _forms(beside: doc.Entry, p: int) -> dict[tuple[int, int], str]:
    given = beside.get("forms").optional(lambda some: some.entries("one of the forms")) or ()
    found = {}
    for one in given:
        *pair, form = one.items(3)
        found[doc.Entry(pair, "the columns of a form").pair(p)] = doc.Entry(form, "a form").text()
    return found


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.labels.json")


def _parsed(content: bytes) -> tuple[list[int], list[Factor]]:
    """Numbers of states, and the factors."""
    lines = content.decode("ascii", "replace").splitlines()
    words = (word for line in lines if not line.startswith("c") for word in line.split())
    if (kind := next(words, "")) != "MARKOV":
        raise Fault(f"it must start with MARKOV, not {shown(kind)}")
    states = [_whole(words, "states", MAX_STATES) for _ in range(_whole(words, "columns"))]
    if not states or 0 in states:
        raise Fault("it has no columns, or a column without states")
    scopes = [_scope(words, len(states)) for _ in range(_whole(words, "factors"))]
    factors: list[Factor] = [(scope, _table(words, [states[j] for j in scope])) for scope in scopes]
    if (rest := next(words, None)) is not None:
        raise Fault(f"it continues after its last table, with {shown(rest)}")
    return states, factors


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
