"""Exact answers of a pairwise model: columns are summed out one by one, then drawn backwards.

Every column leaves a message to the columns it met. Backwards, each column's probabilities given
those columns are known, so a row is drawn without approximation. On a chain, a star or any
tree this is ancestral sampling. See Koller and Friedman, Probabilistic Graphical Models (2009),
chapters 9 and 12.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from isinglass.errors import OutOfMemory, Part, Setting, Wording
from isinglass.model.inference.order import Elimination, plan_elimination

if TYPE_CHECKING:
    from isinglass.model.field import MarkovField

Array = NDArray[np.float64]

#: What to do where memory is short, at the end of a sentence.
GIBBS_INSTEAD = Wording(', or take method="gibbs"', ", or take --method gibbs")


def plan(field: MarkovField, memory: float, together: Sequence[int] = ()) -> Elimination:
    """Find an order; columns to stay `together` are all in the scope of the first of them to go."""
    m = field.n_states
    edges = [(i, j) for i, j in field.couplings if min(m[i], m[j]) > 1]  # one state says nothing
    edges += combinations(together, 2)
    return plan_elimination(m, edges, memory)


def plan_within(
    field: MarkovField,
    memory: float,
    way_out: Part = "",
    *,
    rows: int = 0,
    together: Sequence[int] = (),
    beliefs: bool = False,
) -> Elimination:
    """Find an order, and raise OutOfMemory if it needs more than `memory` bytes."""
    order = plan(field, memory, together)
    check_memory(order, memory, way_out, rows=rows, beliefs=beliefs)
    return order


def check_memory(
    order: Elimination, memory: float, way_out: Part, *, rows: int = 0, beliefs: bool = False
) -> None:
    """Raise OutOfMemory if the tables of an order need more than `memory` bytes."""
    needed = order.bytes_needed(rows, beliefs=beliefs)
    if needed > memory:
        raise OutOfMemory(
            f"exact elimination needs about {in_bytes(needed)}, since up to "
            f"{max(map(len, order.scopes))} columns have to be summed over together; at most "
            f"{in_bytes(memory)} are allowed. Raise ",
            *(Setting("memory"), way_out, "."),
            needed=needed,
            allowed=memory,
        )


def in_bytes(count: float) -> str:
    """An amount of memory, however large."""
    whole = int(count)
    return f"{whole:,} bytes" if whole < 10**15 else f"10^{len(str(whole)) - 1} bytes"


def log_sum(field: MarkovField, order: Elimination) -> float:
    """Log of the sum of exp(log-potential) over all combinations of states."""
    return _log_sum(_in_turn(field, order, _sum))


def _log_sum(tables: Iterable[_SummedOut]) -> float:
    return sum(float(table.message) for table in tables if not table.message.ndim)


def draw(
    field: MarkovField, order: Elimination, n: int, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """Draw codes of n independent rows, shape (n, p); columns are contiguous."""
    below_each = [_cumulative(table) for table in _in_turn(field, order, _sum)]
    codes = np.zeros((len(field.names), n), dtype=np.uint8)
    for (v, *others), below in zip(reversed(order.scopes), reversed(below_each), strict=True):
        at = np.zeros(n, dtype=np.intp)  # the number of each row's combination of the others
        for u in others:
            at *= field.n_states[u]
            at += codes[u]
        uniform = rng.random(n)
        for bound in below:
            codes[v] += uniform >= bound[at]
    return codes.T


def marginals(
    field: MarkovField, order: Elimination
) -> tuple[float, list[Array], dict[tuple[int, int], Array]]:
    """The log-partition function, and the probabilities of all states and all coupled pairs."""
    tables = list(_in_turn(field, order, _sum))
    beliefs = _beliefs(order, tables)
    single = [_onto(beliefs[v], (v,)) for v in range(len(field.names))]
    pairs = {}
    for i, j in field.couplings:
        first, other = (i, j) if j in beliefs[i][0] else (j, i)
        if other not in beliefs[first][0]:  # one of them has one state only
            pairs[i, j] = np.outer(single[i], single[j])
            continue
        pairs[i, j] = _onto(beliefs[first], (i, j))
    return _log_sum(tables), single, pairs


def joint(field: MarkovField, order: Elimination, columns: Sequence[int]) -> Array:
    """Probabilities of all combinations of states of columns that the order keeps together."""
    beliefs = _beliefs(order, list(_in_turn(field, order, _sum)))
    first = next(scope[0] for scope in order.scopes if scope[0] in columns)
    return _onto(beliefs[first], columns)


def most_likely(field: MarkovField, order: Elimination) -> NDArray[np.intp]:
    """Codes of a row of the highest probability; of several, one that is always the same."""
    best = [state for state, _ in _in_turn(field, order, _maximised)]
    codes = np.zeros(len(field.names), dtype=np.intp)
    for (v, *others), state in zip(reversed(order.scopes), reversed(best), strict=True):
        codes[v] = state[tuple(codes[others])]
    return codes


Belief = tuple[tuple[int, ...], Array]
"""Some columns, and the probabilities of all combinations of their states."""


def _beliefs(order: Elimination, tables: list[_SummedOut]) -> dict[int, Belief]:
    """The joint probabilities of each column and those it met, last column first."""
    beliefs: dict[int, Belief] = {}
    for scope, table in zip(reversed(order.scopes), reversed(tables), strict=True):
        probabilities = table.weights / table.total
        if len(scope) > 1:  # all that it met are in the scope of the first of them, known by now
            probabilities *= _onto(beliefs[scope[1]], scope[1:])
        beliefs[scope[0]] = scope, probabilities
    return beliefs


def _onto(belief: Belief, columns: Sequence[int]) -> Array:
    """Sum out all but some columns, which then are the axes, in the order they are given in."""
    scope, probabilities = belief
    gone = tuple(axis for axis, v in enumerate(scope) if v not in columns)
    left = [v for v in scope if v in columns]
    return np.asarray(probabilities.sum(axis=gone).transpose([left.index(v) for v in columns]))


class _SummedOut(NamedTuple):
    """One column's table, its own states first, then those of the columns it meets."""

    weights: Array  # probabilities of its states, up to a factor per combination of the others
    total: Array  # the sums of the weights over its states
    message: Array  # log of the sums, in full


Kept = TypeVar("Kept", bound=tuple[Any, ...])
"""What is kept of a column that was taken out; its last part is the message."""


def _in_turn(
    field: MarkovField, order: Elimination, take_out: Callable[[Array], Kept]
) -> Iterator[Kept]:
    """Take out the columns in turn; each message goes to the first column it is about."""
    position = {scope[0]: at for at, scope in enumerate(order.scopes)}
    waiting = _first_factors(field, position)
    for scope in order.scopes:
        log_weights = np.zeros([field.n_states[v] for v in scope])
        for about, factor in waiting.pop(scope[0]):  # both are in the order of elimination
            length = dict(zip(about, factor.shape, strict=True))
            log_weights += factor.reshape([length.get(v, 1) for v in scope])
        kept = take_out(log_weights)
        if len(scope) > 1:
            waiting[scope[1]].append((scope[1:], kept[-1]))
        yield kept


def _sum(log_weights: Array) -> _SummedOut:
    """Sum out the first axis; the array given is used up."""
    top = log_weights.max(axis=0)
    log_weights -= top
    weights = np.exp(log_weights, out=log_weights)
    total = weights.sum(axis=0)
    return _SummedOut(weights, total, np.log(total) + top)


def _maximised(log_weights: Array) -> tuple[NDArray[np.intp], Array]:
    """The best state for each combination of the others, and its log-weight."""
    return np.asarray(log_weights.argmax(axis=0)), log_weights.max(axis=0)


def _first_factors(
    field: MarkovField, position: dict[int, int]
) -> dict[int, list[tuple[Sequence[int], Array]]]:
    """Intercepts and couplings, each with the first of its columns to be summed out."""
    waiting: dict[int, list[tuple[Sequence[int], Array]]] = {
        v: [((v,), intercept)] for v, intercept in enumerate(field.intercepts)
    }
    for (i, j), table in field.couplings.items():
        if min(table.shape) == 1:
            continue  # zero, by the gauge
        if position[i] < position[j]:
            waiting[i].append(((i, j), table))
        else:
            waiting[j].append(((j, i), table.T))
    return waiting


def _cumulative(table: _SummedOut) -> Array:
    """P(at most each state) for all states but the last, flat over the others' combinations."""
    below = np.cumsum(table.weights[:-1], axis=0)
    below /= table.total
    return below.reshape(len(below), table.total.size)
