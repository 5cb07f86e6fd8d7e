"""Searches as plain values, read without trust."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from isinglass.documents.document import (
    Fault,
    choice,
    items,
    member,
    number,
    numbers,
    or_none,
    table,
    text,
    whole,
)
from isinglass.losses.conditional import NodeFit
from isinglass.solvers.path import Path, Step
from isinglass.table.coding.labels import plain

Document = dict[str, Any]


def path_to_json(path: Path) -> Document:
    """A search as plain values."""
    return {
        "status": path.status,
        "required": [int(j) for j in path.required],
        "start": _fit_to_json(path.start),
        "steps": [
            {
                "kind": step.kind,
                "variable": int(step.variable),
                "gain": plain(step.gain),
                "cost": plain(step.cost),
                "support": [int(j) for j in step.support],
                **_fit_to_json(step.fit),
            }
            for step in path.steps
        ],
    }


def path_from_json(
    value: Any,
    at: int,
    floor: float,
    names: tuple[str, ...],
    states: tuple[tuple[Hashable, ...], ...],
) -> Path:
    """The search at one column; Fault if anything is odd."""
    where = f"path {at}"
    steps = items(member(value, "steps", where), f"the steps of {where}")
    # Older files know nothing of required columns.
    required = _columns(value.get("required", []), f"the required of {where}", len(names))
    return Path(
        tuple(_step_from_json(step, f"a step of {where}", states) for step in steps),
        _fit_from_json(member(value, "start", where), f"the start of {where}", required, states),
        floor,
        text(member(value, "status", where), f"the status of {where}"),
        names,
        required,
    )


def _step_from_json(step: Any, where: str, states: tuple[tuple[Hashable, ...], ...]) -> Step:
    p = len(states)
    kind = choice(member(step, "kind", where), f"the kind of {where}", ("add", "drop"))
    support = _columns(member(step, "support", where), f"the support of {where}", p)
    gain = or_none(number, member(step, "gain", where), f"the gain of {where}")
    cost = or_none(number, member(step, "cost", where), f"the cost of {where}")
    if (gain is None) is (kind == "add") or (cost is None) is (kind == "drop"):
        raise Fault(f"{where} must have a gain if it adds, a cost if it drops")
    return Step(
        "add" if kind == "add" else "drop",
        whole(member(step, "variable", where), f"the variable of {where}", p),
        gain,
        cost,
        support,
        _fit_from_json(step, where, support, states),
    )


def _fit_to_json(fit: Any) -> Document:
    return {
        "loss": float(fit.loss),
        "intercept": np.asarray(fit.intercept).tolist(),
        "coef": [np.asarray(fit.coef[j]).tolist() for j in sorted(fit.coef)],
        "unbounded": sorted(map(int, fit.unbounded)),
    }


def _fit_from_json(
    value: Any,
    where: str,
    support: tuple[int, ...],
    states: tuple[tuple[Hashable, ...], ...],
) -> NodeFit:
    intercept = numbers(member(value, "intercept", where), f"the intercept of {where}")
    tables = items(member(value, "coef", where), f"the coefficients of {where}", len(support))
    named = f"a coefficient of {where}"
    coef = {
        j: np.array(table(rows, named, len(intercept), len(states[j])))
        for j, rows in zip(support, tables, strict=True)
    }
    unbounded = items(member(value, "unbounded", where), f"the unbounded of {where}")
    return NodeFit(
        coef,
        np.array(intercept),
        number(member(value, "loss", where), f"the loss of {where}"),
        frozenset(choice(j, f"an unbounded variable of {where}", support) for j in unbounded),
    )


def _columns(value: Any, where: str, p: int) -> tuple[int, ...]:
    columns = [whole(column, where, p) for column in items(value, where)]
    if columns != sorted(set(columns)):
        raise Fault(f"{where} must be increasing")
    return tuple(columns)
