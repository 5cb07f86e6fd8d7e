"""Searches as plain values, read without trust."""

from __future__ import annotations

from typing import Any

import numpy as np

from isinglass.documents.document import Entry, to_plain
from isinglass.documents.parts import Document
from isinglass.losses.conditional import NodeFit
from isinglass.solvers.path import Path, Step


def path_to_json(path: Path) -> Document:
    """A search as plain values."""
    parts = ("kind", "variable", "gain", "cost", "support")
    return {
        "status": path.status,
        "required": to_plain(path.required),
        "start": _fit_to_json(path.start),
        "steps": [
            {key: to_plain(getattr(step, key)) for key in parts} | _fit_to_json(step.fit)
            for step in path.steps
        ],
    }


def _fit_to_json(fit: Any) -> Document:
    return {
        "loss": float(fit.loss),
        "intercept": np.asarray(fit.intercept).tolist(),
        "coef": [np.asarray(fit.coef[j]).tolist() for j in sorted(fit.coef)],
        "unbounded": sorted(map(int, fit.unbounded)),
    }


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
    )


def _fit_from_json(fit: Entry, support: tuple[int, ...], n_states: tuple[int, ...]) -> NodeFit:
    intercept = np.array(fit["intercept"].numbers())
    tables = fit["coef"].entries(f"a coefficient of {fit.name}", len(support))
    unbounded = fit["unbounded"].entries(f"an unbounded variable of {fit.name}")
    return NodeFit(
        {
            j: table.table(len(intercept), n_states[j])
            for j, table in zip(support, tables, strict=True)
        },
        intercept,
        fit["loss"].number(),
        frozenset(j.choice(*support) for j in unbounded),
    )


def _columns(entry: Entry, p: int) -> tuple[int, ...]:
    return entry.increasing([column.whole(p) for column in entry.entries(entry.name)])
