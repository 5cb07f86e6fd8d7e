"""Numbers for combinations of states, found by their labels; and models in which some are known."""

from __future__ import annotations

from collections.abc import Container, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import islice, product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from isinglass.errors import SettingError, UnseenState
from isinglass.frames import frame
from isinglass.graph import position_of
from isinglass.model.adjustment import moved
from isinglass.model.potentials import frozen
from isinglass.parameters import check, checked
from isinglass.table.coding.bins import bin_of
from isinglass.table.coding.labels import are_numbers, is_missing, key, plain
from isinglass.wording import listing, quoted

if TYPE_CHECKING:
    from isinglass.model.field import MarkovField

Array = NDArray[np.float64]
Evidence = Mapping[str, Any]

#: Lines of a printed table.
SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False)
class LabelledTable:
    """One number for each combination of states of some columns; frozen.

    `names` and `states` are those of the columns, one for each axis of `values`; `quantity` says
    what these are, "probability" or "log_odds". Numbers that were sampled or estimated have a
    standard `error`, and `condition` says what it is conditional on.

    >>> table = LabelledTable(("cough",), (("no", "yes"),), np.array([0.75, 0.25]))
    >>> table["yes"]
    0.25
    >>> table
    probability of cough
      0.75  no
      0.25  yes
    """

    names: tuple[str, ...]
    states: tuple[tuple[Hashable, ...], ...]
    values: Array
    quantity: str = "probability"
    library: str | None = None
    error: Array | None = None
    condition: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", frozen(self.values))
        if self.error is not None:
            object.__setattr__(self, "error", frozen(self.error))

    def __getitem__(self, labels: Any) -> float:
        """The number for one label per column; a tuple if there are several columns."""
        labels = (labels,) if len(self.names) == 1 else labels
        if not isinstance(labels, tuple) or len(labels) != len(self.names):
            raise SettingError(f"give one label for each of {listing(list(self.names), 8)}.")
        at = zip(self.names, self.states, labels, strict=True)
        return float(self.values[tuple(code_of(name, states, label) for name, states, label in at)])

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """Lower and upper ends of normal intervals around the numbers."""
        check("level", level)
        if self.error is None:
            raise SettingError("the numbers have no errors, so there is no interval.")
        half = -float(ndtri((1.0 - level) / 2.0)) * self.error
        return self.values - half, self.values + half

    @checked
    def to_frame(self, library: str | None = None) -> Any:
        """Return a data frame with one row for each combination."""
        rows = list(product(*self.states))
        columns: dict[str, list[Any]] = {
            name: [row[axis] for row in rows] for axis, name in enumerate(self.names)
        }
        columns[_unused(self.quantity, columns)] = self.values.ravel().tolist()
        if self.error is not None:
            columns[_unused("error", columns)] = self.error.ravel().tolist()
        return frame(columns, library or self.library)

    def __repr__(self) -> str:
        heading = f"{self.quantity.replace('_', '-')} of {', '.join(self.names)}"
        lines = [heading + (f", {self.condition}" if self.condition else "")]
        for at, labels in enumerate(islice(product(*self.states), SHOWN)):
            error = "" if self.error is None else f" ± {self.error.flat[at]:.2g}"
            lines.append(f"  {self.values.flat[at]:.4g}{error}  {', '.join(map(str, labels))}")
        hidden = self.values.size - SHOWN
        return "\n".join([*lines, *([f"  and {hidden} more"] if hidden > 0 else [])])


def table_of(
    field: MarkovField, group: Sequence[int], values: Array, error: Array | None = None, **more: str
) -> LabelledTable:
    """Numbers for the states of a group of columns of a model."""
    names, states = zip(*((field.names[v], field.states[v]) for v in group), strict=True)
    return LabelledTable(names, states, values, library=field.library, error=error, **more)


def _unused(name: str, names: Container[str]) -> str:
    while name in names:
        name += "_"
    return name


def code_of(name: str, states: Sequence[Hashable], label: Any) -> int:
    """The place of a label among the states of a column.

    >>> code_of("fever", ("no", "yes"), "perhaps")
    Traceback (most recent call last):
        ...
    isinglass.errors.UnseenState: column 'fever' has no state 'perhaps'; it has 'no', 'yes'.
    """
    wanted = key(None if is_missing(label) else plain(label))
    for code, state in enumerate(states):
        if key(state) == wanted:
            return code
    close = get_close_matches(label, map(str, states), n=1) if isinstance(label, str) else ()
    known = f"it has {listing([quoted(state) for state in states], 8)}."
    hint = f"did you mean {close[0]!r}?" if close else known
    raise UnseenState(
        f"column {name!r} has no state {quoted(label)}; {hint}", column=name, state=label
    )


def labels_array(*states: Sequence[Any]) -> list[NDArray[Any]]:
    """The labels of each column in an array, all of the smallest type that holds them all."""
    kind = _type_of([label for of_column in states for label in of_column])
    return [np.fromiter(labels, dtype=kind, count=len(labels)) for labels in states]


def _type_of(labels: Sequence[Any]) -> Any:
    """Bool, whole numbers, or objects."""
    if all(isinstance(label, bool) for label in labels):
        return np.bool_
    if not all(isinstance(label, int) and not isinstance(label, bool) for label in labels):
        return object
    for kind in (np.int8, np.int16, np.int32, np.int64):
        if np.iinfo(kind).min <= min(labels) and max(labels) <= np.iinfo(kind).max:
            return kind
    return object


def known_codes(field: MarkovField, given: Evidence | None) -> tuple[MarkovField, dict[int, int]]:
    """What is given, as positions and codes; and the model, moved to what it was adjusted for."""
    known, beside = {}, {}
    adjusted = field.adjusted
    for name, label in (given or {}).items():
        if adjusted is not None and name in adjusted.names:
            k = adjusted.names.index(name)
            beside[k] = _code(name, adjusted.states[k], adjusted.cuts.get(k), label)
        else:
            v = position_of(name, field.names)
            known[v] = _code(name, field.states[v], field.cuts.get(v), label)
    return moved(field, beside), known


def _code(name: str, states: Sequence[Hashable], cuts: tuple[float, ...] | None, label: Any) -> int:
    measured = cuts is not None and not is_missing(label) and are_numbers([plain(label)])
    return code_of(name, states, bin_of(cuts, label) if measured and cuts else label)


def given(field: MarkovField, evidence: Evidence) -> MarkovField:
    """Return the model of the other columns when some are known.

    Of columns that were adjusted for, this is the model at other states than the reference.

    >>> from isinglass import MarkovField
    >>> agree = {(0, 1): [[1.0, -1.0], [-1.0, 1.0]]}
    >>> yes_no = ("no", "yes")
    >>> field = MarkovField(("a", "b"), (yes_no, yes_no), ([0, 0], [0, 0]), agree)
    >>> field.given({"a": "yes"}).intercepts[0].tolist()
    [-1.0, 1.0]
    """
    return reduced(*known_codes(field, evidence))


def reduced(field: MarkovField, known: Mapping[int, int]) -> MarkovField:
    """The model of the columns that are not known."""
    if not known:
        return field
    free = [v for v in range(len(field.names)) if v not in known]
    if not free:
        raise SettingError("all columns are given; leave out those to ask about.")
    intercepts = []
    for v in free:
        tables = field.tables_of(v)
        shifts = [tables[t][code] for t, code in known.items() if t in tables]
        intercepts.append(np.sum([field.intercepts[v], *shifts], axis=0))
    new = {v: at for at, v in enumerate(free)}
    kept = {(i, j): (new[i], new[j]) for i, j in field.couplings if i in new and j in new}
    rest = field.from_potentials(
        [field.names[v] for v in free],
        [field.states[v] for v in free],
        intercepts,
        {kept[pair]: field.couplings[pair] for pair in kept},
        field.library,
    )
    adjusted = field.adjusted
    if adjusted is not None:
        adjusted = replace(adjusted, shifts=tuple(adjusted.shifts[v] for v in free))
    return replace(
        rest,
        adjusted=adjusted,
        unbounded=frozenset(kept[pair] for pair in field.unbounded if pair in kept),
        cuts={new[v]: cuts for v, cuts in field.cuts.items() if v in new},
        forms={kept[pair]: field.forms[pair] for pair in kept},
        scores=tuple(field.scores[v] for v in free),
    )
