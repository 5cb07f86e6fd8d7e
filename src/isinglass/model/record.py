"""The record of a fit: what was asked, what was found, and every step on the way."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from isinglass.errors import SettingError
from isinglass.graph import Graph, Link
from isinglass.losses.conditional import NodeFit
from isinglass.model.document import (
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
from isinglass.model.files import LIBRARIES, load_part, save_parts, states_from_json
from isinglass.model.labels import label_to_json
from isinglass.solvers.path import Path, Step
from isinglass.table import Note
from isinglass.table.labels import plain

Document = dict[str, Any]


@dataclass(frozen=True, eq=False, repr=False)
class FitRecord:
    """What a fit left behind, without its table; ``GreedyGraph.record`` makes one.

    Attributes
    ----------
    names : tuple of str
    states : tuple of tuple
        The labels of each column's states.
    graph : Graph
    paths : tuple of Path
        What the search did at each column, down to `floor`.
    threshold, floor : float
    selector : str
        How the threshold was chosen, in words.
    diagnostics : tuple of Note
        What was odd in which column, and what was done about it.
    settings : dict
        The estimator's parameters, as plain values.
    rows : float
        The number of rows that the weights are worth.
    fingerprint : str
        A hash of the table; equal tables have equal ones, whatever library they came in.
    version : str
        The version of isinglass that made the fit.
    """

    names: tuple[str, ...]
    states: tuple[tuple[Hashable, ...], ...]
    graph: Graph
    paths: tuple[Path, ...]
    threshold: float
    floor: float
    selector: str
    diagnostics: tuple[Note, ...]
    settings: Mapping[str, Any]
    rows: float
    fingerprint: str
    version: str

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the record alone; ``MarkovField.save(path, fit=record)`` writes both."""
        save_parts(path, fit=self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> FitRecord:
        """Read the record in a model file; FileError if there is none, or it is damaged."""
        return load_part(path, "fit", record_from_json)

    def to_json(self) -> Document:
        """The record as plain values; SettingError if something cannot be saved."""
        document: Document = {
            "isinglass": self.version,
            "fingerprint": self.fingerprint,
            "rows": self.rows,
            "threshold": self.threshold,
            "floor": self.floor,
            "selector": self.selector,
            "settings": dict(self.settings),
            "columns": [
                {"name": name, "states": [label_to_json(label) for label in states]}
                for name, states in zip(self.names, self.states, strict=True)
            ],
            "library": self.graph.library,
            "edges": [_plain_members(link) for link in self.graph.links],
            "diagnostics": [_plain_members(note) for note in self.diagnostics],
            "paths": [_path_to_json(path) for path in self.paths],
        }
        try:
            record_from_json(document)  # what could not be loaded is not written
        except Fault as fault:
            raise SettingError(f"the record cannot be saved: {fault}.") from None
        return document

    def __repr__(self) -> str:
        return (
            f"FitRecord({len(self.names)} columns, {len(self.graph)} edges, "
            f"{sum(map(len, self.paths))} steps, isinglass {self.version})"
        )


def _plain_members(of: Link | Note) -> Document:
    return {key: plain(value) for key, value in vars(of).items()}


def record_from_json(document: Any) -> FitRecord:
    """The record that `FitRecord.to_json` wrote; Fault if anything is odd."""

    def part(key: str) -> Any:
        return member(document, key, "the fit")

    names, states = _columns_from_json(part("columns"))
    p = len(names)
    links = [_link_from_json(edge, p) for edge in items(part("edges"), "edges")]
    floor = _positive(part("floor"), "floor")
    paths = items(part("paths"), "paths", p)
    return FitRecord(
        names,
        states,
        Graph(names, tuple(links), choice(part("library"), "library", LIBRARIES)),
        tuple(_path_from_json(path, at, floor, names) for at, path in enumerate(paths)),
        _positive(part("threshold"), "threshold"),
        floor,
        text(part("selector"), "selector"),
        tuple(_note_from_json(note) for note in items(part("diagnostics"), "diagnostics")),
        _settings_from_json(part("settings")),
        _positive(part("rows"), "rows"),
        text(part("fingerprint"), "fingerprint"),
        text(part("isinglass"), "the version"),
    )


def _columns_from_json(value: Any) -> tuple[tuple[str, ...], tuple[tuple[Hashable, ...], ...]]:
    columns = items(value, "columns")
    names = tuple(text(member(column, "name", "a column"), "a name") for column in columns)
    if not names or len(set(names)) < len(names):
        raise Fault("the names of its columns must differ, and be at least one")
    states = (member(column, "states", "a column") for column in columns)
    return names, tuple(states_from_json(labels, "a state") for labels in states)


def _link_from_json(edge: Any, p: int) -> Link:
    def part(key: str) -> Any:
        return member(edge, key, "an edge")

    source, target = (whole(part(end), f"the {end} of an edge", p) for end in ("source", "target"))
    if source >= target:
        raise Fault("the source of an edge must come before its target")
    return Link(
        source,
        target,
        strength=number(part("strength"), "the strength of an edge"),
        sign=choice(part("sign"), "the sign of an edge", (-1, 0, 1)),
        coupling=_or_none(number, part("coupling"), "the coupling of an edge"),
        log_odds=_or_none(number, part("log_odds"), "the log-odds of an edge"),
        evidence=_or_none(number, part("evidence"), "the evidence of an edge"),
        selected_by=text(part("selected_by"), "who selected an edge"),
        unbounded=choice(part("unbounded"), "whether an edge is unbounded", (False, True)),
        tier=text(edge.get("tier", ""), "the tier of an edge"),  # older files have none
    )


def _note_from_json(note: Any) -> Note:
    column, what, done = (member(note, key, "a diagnostic") for key in ("column", "what", "done"))
    return Note(
        _or_none(text, column, "the column of a diagnostic"),
        text(what, "what a diagnostic says"),
        text(done, "what a diagnostic did"),
    )


def _settings_from_json(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Fault("settings must be an object")
    return {text(key, "a setting"): _plain(setting) for key, setting in value.items()}


def _plain(setting: Any, depth: int = 0) -> Any:
    """A setting: a scalar, or an object of them."""
    if isinstance(setting, dict) and not depth:
        return {text(key, "a setting"): _plain(part, 1) for key, part in setting.items()}
    if isinstance(setting, str):
        return text(setting, "a setting")
    if setting is None or isinstance(setting, bool):
        return setting
    number(setting, "a setting")
    return setting


def _path_to_json(path: Path) -> Document:
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


def _path_from_json(value: Any, at: int, floor: float, names: tuple[str, ...]) -> Path:
    where = f"path {at}"
    steps = items(member(value, "steps", where), f"the steps of {where}")
    # Older files know nothing of required columns.
    required = _places(value.get("required", []), f"the required of {where}", len(names))
    return Path(
        tuple(_step_from_json(step, f"a step of {where}", len(names)) for step in steps),
        _fit_from_json(member(value, "start", where), f"the start of {where}", required),
        floor,
        text(member(value, "status", where), f"the status of {where}"),
        names,
        required,
    )


def _step_from_json(step: Any, where: str, p: int) -> Step:
    kind = choice(member(step, "kind", where), f"the kind of {where}", ("add", "drop"))
    support = _places(member(step, "support", where), f"the support of {where}", p)
    gain = _or_none(number, member(step, "gain", where), f"the gain of {where}")
    cost = _or_none(number, member(step, "cost", where), f"the cost of {where}")
    if (gain is None) is (kind == "add") or (cost is None) is (kind == "drop"):
        raise Fault(f"{where} must have a gain if it adds, a cost if it drops")
    return Step(
        "add" if kind == "add" else "drop",
        whole(member(step, "variable", where), f"the variable of {where}", p),
        gain,
        cost,
        support,
        _fit_from_json(step, where, support),
    )


def _fit_to_json(fit: Any) -> Document:
    return {
        "loss": float(fit.loss),
        "intercept": np.asarray(fit.intercept).tolist(),
        "coef": [np.asarray(fit.coef[j]).tolist() for j in sorted(fit.coef)],
        "unbounded": sorted(map(int, fit.unbounded)),
    }


def _fit_from_json(value: Any, where: str, support: tuple[int, ...]) -> NodeFit:
    intercept = numbers(member(value, "intercept", where), f"the intercept of {where}")
    tables = items(member(value, "coef", where), f"the coefficients of {where}", len(support))
    named = f"a coefficient of {where}"
    coef = {
        j: np.array(table(rows, named, len(intercept)))
        for j, rows in zip(support, tables, strict=True)
    }
    unbounded = items(member(value, "unbounded", where), f"the unbounded of {where}")
    return NodeFit(
        coef,
        np.array(intercept),
        number(member(value, "loss", where), f"the loss of {where}"),
        frozenset(choice(j, f"an unbounded variable of {where}", support) for j in unbounded),
    )


def _places(value: Any, where: str, p: int) -> tuple[int, ...]:
    places = [whole(place, where, p) for place in items(value, where)]
    if places != sorted(set(places)):
        raise Fault(f"{where} must be increasing")
    return tuple(places)


def _positive(value: Any, where: str) -> float:
    size = number(value, where)
    if not size > 0:
        raise Fault(f"{where} must be positive")
    return size


def _or_none(read: Callable[[Any, str], Any], value: Any, where: str) -> Any:
    return None if value is None else read(value, where)
