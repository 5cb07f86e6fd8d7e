"""A model as a file of plain data: JSON, written whole, read without trust."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from isinglass.documents.document import Entry, Fault
from isinglass.documents.parts import LIBRARIES, Document, label_to_json, states_from_json
from isinglass.errors import SettingError
from isinglass.losses.forms import FORMS, TABLE
from isinglass.model.adjustment import Adjustment
from isinglass.model.field import MarkovField
from isinglass.model.fit.layout import Layout
from isinglass.model.fit.parameter_errors import ParameterErrors
from isinglass.model.steps import designs_of

if TYPE_CHECKING:
    from isinglass.record.fit_record import FitRecord


def model_parts(field: MarkovField, fit: FitRecord | None = None) -> dict[str, Document]:
    """The parts of a model file."""
    if fit is not None and fit.names != field.names:
        raise SettingError("the record and the model have different columns; save them separately.")
    return {"model": model_to_json(field)} | ({} if fit is None else {"fit": fit.to_json()})


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
                "form": field.forms[i, j],
            }
            for (i, j), coupling in field.couplings.items()
        ],
    }
    if field.adjusted is not None:
        document["adjusted"] = _adjustment_to_json(field.adjusted)
    if field.errors is not None:
        document["errors"] = _errors_to_json(field.errors)
    try:
        model_from_json(Entry(document))  # what could not be loaded is not written
    except Fault as fault:
        raise SettingError(f"the model cannot be saved: {fault}.") from None
    return document


def _column_to_json(field: MarkovField, v: int) -> Document:
    column = {
        "name": field.names[v],
        "states": [label_to_json(label) for label in field.states[v]],
        "intercept": field.intercepts[v].tolist(),
    }
    scores = field.scores[v]
    column |= {} if scores is None else {"scores": list(scores)}
    return column | ({"cuts": list(field.cuts[v])} if v in field.cuts else {})


def model_from_json(document: Entry) -> MarkovField:
    """The model that `model_to_json` wrote; Fault or SettingError if anything is wrong."""
    columns = document["columns"].entries("column {}")
    states = [states_from_json(column["states"]) for column in columns]
    couplings, forms = {}, {}
    for coupling in document["couplings"].entries("coupling {}"):
        i, j = coupling["columns"].pair(len(columns))
        if (i, j) in couplings:
            raise Fault(f"columns {i} and {j} are coupled twice")
        table = coupling["table"].table(len(states[i]), len(states[j]))
        couplings[i, j] = table, coupling.get("unbounded").optional(Entry.flag)
        # Files of the same schema may lack forms and scores.
        forms[i, j] = coupling.get("form").optional(lambda form: form.choice(*FORMS)) or TABLE
    cuts = {
        v: entry.increasing(entry.numbers())
        for v, entry in enumerate(column.get("cuts") for column in columns)
        if entry.value is not None
    }
    model = MarkovField(
        tuple(column["name"].text() for column in columns),
        tuple(states),
        tuple(np.array(column["intercept"].numbers()) for column in columns),
        {pair: table for pair, (table, _) in couplings.items()},
        document.get("library").choice(*LIBRARIES),
        frozenset(pair for pair, (_, unbounded) in couplings.items() if unbounded),
        cuts,
        forms=forms,
        scores=tuple(column.get("scores").optional(_scores) for column in columns),
    )
    errors = document.get("errors").optional(lambda entry: _errors_from_json(entry, model))
    adjusted = document.get("adjusted").optional(lambda entry: _adjustment_from_json(entry, model))
    return replace(model, errors=errors, adjusted=adjusted)


def _adjustment_to_json(adjusted: Adjustment) -> list[Document]:
    """One object for each column that was adjusted for."""
    return [
        {
            "name": name,
            "states": [label_to_json(label) for label in adjusted.states[k]],
            "reference": adjusted.reference[k],
            "shifts": [of[k].tolist() for of in adjusted.shifts],
        }
        | ({"cuts": list(adjusted.cuts[k])} if k in adjusted.cuts else {})
        for k, name in enumerate(adjusted.names)
    ]


def _adjustment_from_json(entry: Entry, field: MarkovField) -> Adjustment:
    """What `_adjustment_to_json` wrote for a model; Fault if anything is wrong."""
    columns = Entry(entry.value, "what was adjusted for").entries("column {} adjusted for")
    names = tuple(column["name"].text() for column in columns)
    if not names or len({*names, *field.names}) < len(names) + len(field.names):
        raise Fault("the columns that were adjusted for need names of their own")
    states = [states_from_json(column["states"]) for column in columns]
    shifts = [
        [
            shift.table(m, len(labels))
            for shift, m in zip(
                column["shifts"].entries("a shift", len(field.names)), field.n_states, strict=True
            )
        ]
        for column, labels in zip(columns, states, strict=True)
    ]
    cuts = ((k, column.get("cuts")) for k, column in enumerate(columns))
    adjusted = Adjustment(
        names,
        tuple(states),
        tuple(
            column["reference"].whole(len(labels))
            for column, labels in zip(columns, states, strict=True)
        ),
        tuple(zip(*shifts, strict=True)),
        {k: at.increasing(at.numbers()) for k, at in cuts if at.value is not None},
    )
    for of in adjusted.shifts:
        for shift, code in zip(of, adjusted.reference, strict=True):
            if shift[:, code].any() or not np.allclose(shift.sum(axis=0), 0.0, atol=1e-6):
                raise Fault("a shift must be zero at the reference, and sum to zero in each state")
    return adjusted


def _scores(entry: Entry) -> tuple[float, ...]:
    return tuple(entry.increasing(entry.numbers()))


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


def _errors_from_json(entry: Entry, field: MarkovField) -> ParameterErrors:
    """The errors that `_errors_to_json` wrote for a model; Fault if anything is wrong."""
    errors, pairs = Entry(entry.value, "the errors"), list(field.couplings)
    designs = designs_of(field.n_states, field.scores, field.forms)
    layout = Layout(field.n_states, pairs, errors["intercept"].flag(), designs)
    unbounded = errors["unbounded"].entries("an unbounded edge")
    return ParameterErrors(
        layout,
        _covariance(Entry(errors["covariance"].value, "the covariance"), layout.size),
        frozenset(pairs[at.choice(*range(len(pairs)))] for at in unbounded),
        errors["units"].positive(),
        errors["clustered"].flag(),
        errors["chose_graph"].flag(),
    )


def _covariance(entry: Entry, size: int) -> NDArray[np.float64]:
    covariance = np.zeros((size, size))
    for at, row in enumerate(entry.entries("row {} of the covariance", size)):
        covariance[at, : at + 1] = row.numbers(at + 1)
    covariance += np.tril(covariance, -1).T
    most = float(np.diag(covariance).max(initial=0.0))
    if size and np.linalg.eigvalsh(covariance)[0] < -1e-6 * max(most, 1e-300):
        raise Fault("the covariance is not valid: some direction has a negative variance")
    return covariance
