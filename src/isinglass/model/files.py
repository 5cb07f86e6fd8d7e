"""A model as a file of plain data: JSON, written whole, read without trust."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isinglass.documents.document import (
    Fault,
    choice,
    items,
    member,
    number,
    numbers,
    table,
    text,
    whole,
)
from isinglass.documents.labels import label_to_json, states_from_json
from isinglass.documents.parts import LIBRARIES, Document, load_part, save_parts
from isinglass.errors import SettingError
from isinglass.model.field import MarkovField
from isinglass.model.fit.layout import Layout
from isinglass.model.fit.parameter_errors import ParameterErrors

if TYPE_CHECKING:
    from isinglass.record.fit_record import FitRecord


def save_model(
    field: MarkovField, path: str | os.PathLike[str], fit: FitRecord | None = None
) -> None:
    """Write a model, and the record of its fit if there is one."""
    save_parts(path, **model_parts(field, fit))


def model_parts(field: MarkovField, fit: FitRecord | None = None) -> dict[str, Document]:
    """The parts of a model file."""
    if fit is not None and fit.names != field.names:
        raise SettingError("the record and the model have different columns; save them separately.")
    return {"model": model_to_json(field)} | ({} if fit is None else {"fit": fit.to_json()})


def load_model(path: str | os.PathLike[str]) -> MarkovField:
    """Read the model of a file."""
    return load_part(path, "model", model_from_json)


def model_to_json(field: MarkovField) -> Document:
    """The model as plain values; SettingError if a label or a name cannot be saved."""
    document: Document = {
        "library": field.library,
        "columns": [_column_to_json(field, v) for v in range(len(field.names))],
        "couplings": [
            {
                "columns": [i, j],
                "table": coupling.tolist(),
                "unbounded": (i, j) in field.unbounded,
            }
            for (i, j), coupling in field.couplings.items()
        ],
    }
    if field.errors is not None:
        document["errors"] = _errors_to_json(field.errors)
    try:
        model_from_json(document)  # what could not be loaded is not written
    except Fault as fault:
        raise SettingError(f"the model cannot be saved: {fault}.") from None
    return document


def _column_to_json(field: MarkovField, v: int) -> Document:
    column = {
        "name": field.names[v],
        "states": [label_to_json(label) for label in field.states[v]],
        "intercept": field.intercepts[v].tolist(),
    }
    return column | ({"cuts": list(field.cuts[v])} if v in field.cuts else {})


def model_from_json(document: Any) -> MarkovField:
    """The model that `model_to_json` wrote; Fault or SettingError if anything is wrong."""
    columns = items(member(document, "columns", "the model"), "columns")
    names, states, intercepts = [], [], []
    cuts: dict[int, tuple[float, ...]] = {}
    for at, column in enumerate(columns):
        where = f"column {at}"
        names.append(text(member(column, "name", where), f"the name of {where}"))
        states.append(states_from_json(member(column, "states", where), f"a state of {where}"))
        intercept = member(column, "intercept", where)
        intercepts.append(np.array(numbers(intercept, f"the intercept of {where}")))
        if column.get("cuts") is not None:
            cuts[at] = _cuts_from_json(column["cuts"], f"the cuts of {where}")
    couplings = {}
    unbounded = set()
    for at, coupling in enumerate(items(member(document, "couplings", "the model"), "couplings")):
        where = f"coupling {at}"
        pair = items(member(coupling, "columns", where), f"columns of {where}", 2)
        i, j = (whole(end, f"a column of {where}", len(names)) for end in pair)
        if (i, j) in couplings:
            raise Fault(f"columns {i} and {j} are coupled twice")
        rows = table(
            member(coupling, "table", where),
            f"the table of {where}",
            len(states[i]),
            len(states[j]),
        )
        couplings[i, j] = np.array(rows)
        if choice(coupling.get("unbounded", False), f"unbounded of {where}", (False, True)):
            unbounded.add((i, j))
    library = choice(document.get("library"), "library", LIBRARIES)
    model = MarkovField(
        tuple(names),
        tuple(states),
        tuple(intercepts),
        couplings,
        library,
        frozenset(unbounded),
        cuts,
    )
    if document.get("errors") is None:
        return model
    return replace(model, errors=_errors_from_json(document["errors"], model))


def _cuts_from_json(value: Any, where: str) -> tuple[float, ...]:
    cuts = numbers(value, where)
    if cuts != sorted(set(cuts)):
        raise Fault(f"{where} must be increasing")
    return tuple(cuts)


def _errors_to_json(errors: ParameterErrors) -> dict[str, Any]:
    """The errors as plain values; of the covariance, the part up to the diagonal."""
    order = list(errors.layout.edges)
    return {
        "intercept": errors.layout.intercept,
        "units": errors.units,
        "clustered": errors.clustered,
        "chose_graph": errors.chose_graph,
        "unbounded": [order.index(pair) for pair in sorted(errors.unbounded)],
        "covariance": [row[: at + 1].tolist() for at, row in enumerate(errors.covariance)],
    }


def _errors_from_json(value: Any, field: MarkovField) -> ParameterErrors:
    """The errors that `_errors_to_json` wrote for a model; Fault if anything is wrong."""

    def part(key: str) -> Any:
        return member(value, key, "errors")

    def yes_or_no(key: str) -> bool:
        return choice(part(key), f"{key} of the errors", (False, True))

    pairs = list(field.couplings)
    layout = Layout(field.n_states, pairs, yes_or_no("intercept"))
    positions = range(len(pairs))
    unbounded = items(part("unbounded"), "unbounded of the errors")
    units = number(part("units"), "units of the errors")
    if units <= 0:
        raise Fault("units of the errors must be positive")
    return ParameterErrors(
        layout,
        _covariance(part("covariance"), layout.size),
        frozenset(pairs[choice(at, "an unbounded edge", positions)] for at in unbounded),
        units,
        yes_or_no("clustered"),
        yes_or_no("chose_graph"),
    )


def _covariance(value: Any, size: int) -> NDArray[np.float64]:
    rows = items(value, "the covariance", size)
    covariance = np.zeros((size, size))
    for at, row in enumerate(rows):
        covariance[at, : at + 1] = numbers(row, f"row {at} of the covariance", at + 1)
    covariance += np.tril(covariance, -1).T
    spread = np.diag(covariance)
    most = float(spread.max(initial=0.0))
    if size and np.linalg.eigvalsh(covariance)[0] < -1e-6 * max(most, 1e-300):
        raise Fault("the covariance is not valid: some direction has a negative variance")
    return covariance
