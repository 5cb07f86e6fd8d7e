"""The record of a fit: what was asked, what was found, and every step on the way."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from isinglass.engine import KeptRuns, join
from isinglass.engine.runs import WorthAtCuts
from isinglass.errors import BelowFloor, SettingError
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
from isinglass.model.tally import Tally, tally_from_json
from isinglass.selection import Tiers
from isinglass.solvers.path import Path, Step, checked_threshold
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
    ordered : tuple of bool
        Whether the order of each column's states means something.
    n_answers : tuple of int
        States of each column; without the gap, which comes last, where gaps are left out.
    graph : Graph
    paths : tuple of Path
        What the search did at each column, down to `floor`.
    worths : tuple of dict, or None
        What each column's edges are worth wherever its path may be cut: from numbers of steps to
        dicts from columns to nats per row. None in files of the first schema.
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
    tally : Tally or None
        How often each state was seen, and how each pair goes together with nothing else held.

    Examples
    --------
    >>> import isinglass as ig
    >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
    >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
    >>> record = est.record()
    >>> record.graph == est.graph_, record.rows
    (True, 1000.0)
    """

    names: tuple[str, ...]
    states: tuple[tuple[Hashable, ...], ...]
    ordered: tuple[bool, ...]
    n_answers: tuple[int, ...]
    graph: Graph
    paths: tuple[Path, ...]
    worths: tuple[WorthAtCuts, ...] | None
    threshold: float
    floor: float
    selector: str
    diagnostics: tuple[Note, ...]
    settings: Mapping[str, Any]
    rows: float
    fingerprint: str
    version: str
    tally: Tally | None = None

    def at(self, threshold: float) -> Graph:
        """Return the graph at any threshold down to `floor`, as ``GreedyGraph.at`` did.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(5))
        >>> est = ig.GreedyGraph(floor=1e-4).fit(field.sample(300, seed=0))
        >>> record = est.record()
        >>> record.at(0.001) == est.at(0.001), record.at(0.01).links == est.at(0.01).links
        (True, True)
        """
        threshold = checked_threshold(threshold)
        if threshold < self.floor:
            raise BelowFloor(
                f"the search ran to floor = {self.floor:.6g}, so {threshold:.6g} is out of reach; "
                f"fit the table again with GreedyGraph(floor={threshold:.6g})."
            )
        if self._runs is None or self._tiers is None:
            raise SettingError(
                "the record is of the first schema, which does not keep what edges are worth at "
                "other thresholds; fit the table again."
            )
        head = _Head(self.names, self.n_answers, self.ordered, self.rows, self.graph.library)
        return join(self._runs, threshold, self._rule, head, self._tiers)

    @cached_property
    def _runs(self) -> KeptRuns | None:
        if self.worths is None:
            return None
        gaps_left_out = self.n_answers != tuple(map(len, self.states))
        return KeptRuns(self.paths, self.worths, self.n_answers if gaps_left_out else None)

    @cached_property
    def _tiers(self) -> Tiers | None:
        if self._runs is None:
            return None
        required = frozenset(
            (min(r, t), max(r, t)) for r, path in enumerate(self.paths) for t in path.required
        )
        return Tiers.of(self._runs, self.floor, self._rule, self.rows, required)

    @property
    def _rule(self) -> str:
        rule = self.settings.get("rule")
        if rule not in ("or", "and"):
            raise SettingError(f"the record names the rule {rule!r}; it must be 'or' or 'and'.")
        return str(rule)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the record alone; ``MarkovField.save(path, fit=record)`` writes both.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     est.record().save(f"{folder}/fit.json")
        ...     ig.FitRecord.load(f"{folder}/fit.json").threshold == est.threshold_
        True
        """
        save_parts(path, fit=self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> FitRecord:
        """Read the record in a model file; FileError if there is none, or it is damaged.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     est.model_.save(f"{folder}/model.json", fit=est.record())
        ...     ig.FitRecord.load(f"{folder}/model.json").graph.edges
        [('x0', 'x1'), ('x1', 'x2')]
        """
        return load_part(path, "fit", record_from_json)

    def to_json(self) -> Document:
        """The record as plain values; SettingError if something cannot be saved.

        Examples
        --------
        >>> import isinglass as ig
        >>> field = ig.simulate.ising(ig.simulate.chain(3), coupling=0.8, signs="positive")
        >>> est = ig.GreedyGraph().fit(field.sample(1000, seed=0))
        >>> est.record().to_json()["rows"]
        1000.0
        """
        document: Document = {
            "isinglass": self.version,
            "fingerprint": self.fingerprint,
            "rows": self.rows,
            "threshold": self.threshold,
            "floor": self.floor,
            "selector": self.selector,
            "settings": dict(self.settings),
            "columns": [
                {
                    "name": name,
                    "states": [label_to_json(label) for label in states],
                    "ordered": bool(ordered),
                    "answers": int(answers),
                }
                for name, states, ordered, answers in zip(
                    self.names, self.states, self.ordered, self.n_answers, strict=True
                )
            ],
            "library": self.graph.library,
            "edges": [_plain_members(link) for link in self.graph.links],
            "diagnostics": [_plain_members(note) for note in self.diagnostics],
            "paths": [_path_to_json(path) for path in self.paths],
            "worths": None if self.worths is None else [_worth_to_json(w) for w in self.worths],
            "tally": None if self.tally is None else self.tally.to_json(),
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


class _Head(NamedTuple):
    names: tuple[str, ...]
    n_answers: tuple[int, ...]
    ordered: tuple[bool, ...]
    n: float
    library: str | None


def _plain_members(of: Link | Note) -> Document:
    return {key: plain(value) for key, value in vars(of).items()}


def record_from_json(document: Any) -> FitRecord:
    """The record that `FitRecord.to_json` wrote; Fault if anything is odd."""

    def part(key: str) -> Any:
        return member(document, key, "the fit")

    names, states, ordered, answers = _columns_from_json(part("columns"))
    p = len(names)
    links = [_link_from_json(edge, p) for edge in items(part("edges"), "edges")]
    floor = _positive(part("floor"), "floor")
    paths = tuple(
        _path_from_json(path, at, floor, names, states)
        for at, path in enumerate(items(part("paths"), "paths", p))
    )
    return FitRecord(
        names,
        states,
        ordered,
        answers,
        Graph(names, tuple(links), choice(part("library"), "library", LIBRARIES)),
        paths,
        _or_none(lambda worths, _: _worths_from_json(worths, paths), part("worths"), "worths"),
        _threshold(part("threshold"), floor),
        floor,
        text(part("selector"), "selector"),
        tuple(_note_from_json(note) for note in items(part("diagnostics"), "diagnostics")),
        _settings_from_json(part("settings")),
        _positive(part("rows"), "rows"),
        text(part("fingerprint"), "fingerprint"),
        text(part("isinglass"), "the version"),
        tally_from_json(document.get("tally"), tuple(map(len, states))),
    )


def _columns_from_json(
    value: Any,
) -> tuple[tuple[str, ...], tuple[tuple[Hashable, ...], ...], tuple[bool, ...], tuple[int, ...]]:
    columns = items(value, "columns")
    names = tuple(text(member(column, "name", "a column"), "a name") for column in columns)
    if not names or len(set(names)) < len(names):
        raise Fault("the names of its columns must differ, and be at least one")
    states = tuple(
        states_from_json(member(column, "states", "a column"), "a state") for column in columns
    )
    ordered = tuple(
        choice(member(column, "ordered", "a column"), "whether a column is ordered", (False, True))
        for column in columns
    )
    answers = tuple(
        whole(member(column, "answers", "a column"), "the answers of a column", len(labels) + 1)
        for column, labels in zip(columns, states, strict=True)
    )
    if 0 in answers:
        raise Fault("every column must have at least one answer")
    return names, states, ordered, answers


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


def _path_from_json(
    value: Any,
    at: int,
    floor: float,
    names: tuple[str, ...],
    states: tuple[tuple[Hashable, ...], ...],
) -> Path:
    where = f"path {at}"
    steps = items(member(value, "steps", where), f"the steps of {where}")
    # Older files know nothing of required columns.
    required = _places(value.get("required", []), f"the required of {where}", len(names))
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


def _worth_to_json(worth: WorthAtCuts) -> list[Document]:
    return [
        {
            "steps": int(steps),
            "columns": list(map(int, values)),
            "values": list(map(float, values.values())),
        }
        for steps, values in worth.items()
    ]


def _worths_from_json(value: Any, paths: tuple[Path, ...]) -> tuple[WorthAtCuts, ...]:
    """Worths of all that an edge can be at, so that no graph lacks a number."""
    wanted: list[set[int]] = [set() for _ in paths]
    for r, path in enumerate(paths):
        for support in (path.required, *(step.support for step in path.steps)):
            for t in support:
                wanted[t].add(r)
    return tuple(
        _worth_from_json(worth, f"the worths of path {r}", paths[r], wanted[r])
        for r, worth in enumerate(items(value, "worths", len(paths)))
    )


def _worth_from_json(value: Any, where: str, path: Path, chosen_by: set[int]) -> WorthAtCuts:
    worth = {}
    p = len(path.names or ())
    for cut in items(value, where):
        steps = whole(member(cut, "steps", where), f"the steps of {where}", len(path) + 1)
        columns = items(member(cut, "columns", where), f"the columns of {where}")
        values = numbers(member(cut, "values", where), f"the values of {where}", len(columns))
        if any(number < 0 for number in values):
            raise Fault(f"{where} must not be negative")
        places = [whole(column, f"a column of {where}", p) for column in columns]
        worth[steps] = dict(zip(places, values, strict=True))
    supports = [path.required, *(step.support for step in path.steps)]
    for steps, support in enumerate(supports):
        may_be_cut = steps == len(path) or path.steps[steps].kind == "add"
        if may_be_cut and not {*support, *chosen_by} <= worth.get(steps, {}).keys():
            raise Fault(f"{where} lack an edge after {steps} steps")
    return worth


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


def _threshold(value: Any, floor: float) -> float:
    threshold = _positive(value, "threshold")
    if threshold < floor:
        raise Fault("its threshold is below the floor that the search ran to")
    return threshold


def _or_none(read: Callable[[Any, str], Any], value: Any, where: str) -> Any:
    return None if value is None else read(value, where)
