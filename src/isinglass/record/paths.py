"""Searches as plain values, read without trust."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from isinglass.documents.document import Entry, to_plain
from isinglass.documents.parts import Document
from isinglass.losses.conditional import NodeFit
from isinglass.losses.forms import FORMS, TABLE
from isinglass.solvers.path import Path, Step

T = TypeVar("T")

#: No edge has more parameters.
MOST_PARAMETERS = 2**16


def path_to_json(path: Path) -> Document:
    """A search as plain values."""
    parts = ("kind", "variable", "gain", "cost", "support")
    return {
        "status": path.status,
        "required": to_plain(path.required),
        "start": _fit_to_json(path.start),
        "steps": [
            {key: to_plain(getattr(step, key)) for key in parts}
            | ({} if step.form is None else {"form": step.form})
            | _fit_to_json(step.fit)
            for step in path.steps
        ],
    }


def _fit_to_json(fit: Any) -> Document:
    support = sorted(fit.coef)
    document: Document = {
        "loss": float(fit.loss),
        "intercept": np.asarray(fit.intercept).tolist(),
        "coef": [np.asarray(fit.coef[j]).tolist() for j in support],
        "unbounded": sorted(map(int, fit.unbounded)),
    }
    if fit.forms:  # all others are whole tables
        document["forms"] = [fit.form(j) for j in support]
        document["df"] = [int(fit.df[j]) for j in support]
    return document


def path_from_json(
    path: Entry, floor: float, names: tuple[str, ...], n_states: tuple[int, ...]
) -> Path:
    """The search at one column; Fault if anything is odd."""
    required = path.get("required")  # older files know nothing of required columns
    always = required.optional(lambda some: _columns(some, len(names))) or ()
    steps = path["steps"].entries(f"a step of {path.name}")
    return Path(
        tuple(_step_from_json(step, n_states) for step in steps),
        _fit_from_json(path["start"], always, n_states),
        floor,
        path["status"].text(),
        names,
        always,
    )


def _step_from_json(step: Entry, n_states: tuple[int, ...]) -> Step:
    kind = step["kind"].choice("add", "drop")
    support = _columns(step["support"], len(n_states))
    gain, cost = (step[key].optional(Entry.number) for key in ("gain", "cost"))
    if (gain is None) is (kind == "add") or (cost is None) is (kind == "drop"):
        raise step.fault("must have a gain if it adds, a cost if it drops")
    return Step(
        "add" if kind == "add" else "drop",
        step["variable"].whole(len(n_states)),
        gain,
        cost,
        support,
        _fit_from_json(step, support, n_states),
        step.get("form").optional(lambda form: form.choice(*FORMS)),
    )


def _fit_from_json(fit: Entry, support: tuple[int, ...], n_states: tuple[int, ...]) -> NodeFit:
    intercept = np.array(fit["intercept"].numbers())
    tables = fit["coef"].entries(f"a coefficient of {fit.name}", len(support))
    unbounded = fit["unbounded"].entries(f"an unbounded variable of {fit.name}")
    forms = _of_edges(fit, "forms", support, lambda form: form.choice(*FORMS))
    return NodeFit(
        {
            j: table.table(len(intercept), n_states[j])
            for j, table in zip(support, tables, strict=True)
        },
        intercept,
        fit["loss"].number(),
        frozenset(j.choice(*support) for j in unbounded),
        parameters=_of_edges(fit, "df", support, lambda df: df.whole(MOST_PARAMETERS)),
        forms={j: form for j, form in (forms or {}).items() if form != TABLE},
    )


def _of_edges(
    fit: Entry, key: str, support: tuple[int, ...], read: Callable[[Entry], T]
) -> dict[int, T] | None:
    """What a fit says of each of its edges; None in files that do not."""

    def each(entry: Entry) -> dict[int, T]:
        said = entry.entries(f"one of the {key} of {fit.name}", len(support))
        return {j: read(one) for j, one in zip(support, said, strict=True)}

    return fit.get(key).optional(each)


def _columns(entry: Entry, p: int) -> tuple[int, ...]:
    return entry.increasing([column.whole(p) for column in entry.entries(entry.name)])
