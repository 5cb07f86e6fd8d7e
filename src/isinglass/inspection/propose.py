"""From what every column is to the settings that fit the table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import TYPE_CHECKING, Any

from isinglass.estimators import GreedyGraph
from isinglass.inspection.between import Relation
from isinglass.inspection.facts import Facts, with_nulls
from isinglass.inspection.kinds import MOST_STATES, is_cluster, is_count
from isinglass.inspection.options import Options
from isinglass.inspection.scales import in_order
from isinglass.table.codebook.variable import as_text
from isinglass.wording import counted, listed, quoted

if TYPE_CHECKING:
    import polars as pl

#: Bins of a measurement.
BINS = 4
#: A column with a larger share of missing values is dropped.
MOST_MISSING = 0.5
#: Complete rows are enough if at least this share of the rows is complete.
MOSTLY_COMPLETE = 0.9

_OF_MODEL = (
    "missing values are filled in from the model that is learned. It assumes that whether a value "
    "is missing depends only on observed values."
)

#: Why a column of a kind is dropped.
_DROPPED = {
    "empty": "it has no value in any row",
    "constant": "it never varies, so nothing can depend on it",
    "id": "it only identifies rows",
    "text": "free text has no states",
    "date": "a date has too many states; make columns of what matters, such as the year",
    "many categories": (
        f"it has more than {MOST_STATES} states without an order; merge some, or use --max-states"
    ),
}


@dataclass
class Draft:
    """What is decided so far."""

    frame: pl.DataFrame
    facts: Mapping[str, Facts]
    kinds: dict[str, str]
    options: Options
    proposals: dict[str, str] = field(default_factory=dict)
    drops: dict[str, list[str]] = field(default_factory=dict)  # why: which

    @property
    def kept(self) -> list[str]:
        """Columns that are learned from."""
        rows = (self.options.sample_weight, self.options.clusters)
        return [n for n in self.facts if n not in self.options.drop and n not in rows]

    def drop(self, name: str, why: str) -> None:
        """Leave a column out, unless it is left out already."""
        if name in self.kept:
            self.options.drop.append(name)
            self.drops.setdefault(why, []).append(name)
            self.proposals[name] = "drop"


def propose(draft: Draft, relations: Iterable[Relation]) -> None:
    """Decide on every column, then on the rows."""
    _weights(draft)
    _clusters(draft)
    for name in list(draft.facts):
        _column(draft, name)
    for relation in relations:
        _related(draft, relation)
    _incomplete_columns(draft, MOST_MISSING)
    _missing(draft)
    _forget(draft.options)
    _explain(draft)


def _weights(draft: Draft) -> None:
    names = [name for name, kind in draft.kinds.items() if kind == "weight"]
    counts = [name for name, each in draft.facts.items() if is_count(each)]
    options = draft.options
    if names:
        options.sample_weight, options.n_eff = names[0], "design"
        draft.proposals[names[0]] = "weights of the rows"
        options.because(
            f"--weight-column {names[0]}",
            f"{names[0]!r} looks like sampling weights: its name, and positive numbers around one.",
        )
        options.because(
            "--n-eff design",
            "sampling weights are not counts of rows; each pair is corrected by its design effect.",
        )
        for other in names[1:]:
            draft.drop(other, "one column of weights is used")
    elif counts and _differ(draft, counts[0]):
        options.sample_weight = counts[0]
        draft.kinds[counts[0]] = "weight"
        draft.proposals[counts[0]] = "counts of the rows"
        options.because(
            f"--weight-column {counts[0]}",
            f"{counts[0]!r} counts rows: the rows of all other columns differ from each other.",
        )


def _differ(draft: Draft, count: str) -> bool:
    """Whether no two rows of the states of all other columns are equal, as in a table of counts."""
    states = ("yes/no", "ordered", "unordered", "constant")
    others = [name for name in draft.facts if name != count]
    if not others or any(draft.kinds[name] not in states for name in others):
        return False
    return draft.frame.select(others).n_unique() == draft.frame.height > 1


def _clusters(draft: Draft) -> None:
    names = [name for name, each in draft.facts.items() if is_cluster(each)]
    if names and "clusters" in signature(GreedyGraph.fit).parameters:
        draft.options.clusters = names[0]
        draft.kinds[names[0]] = "cluster"
        draft.proposals[names[0]] = "clusters of rows"
        draft.options.because(
            f"--cluster-column {names[0]}",
            f"rows with the same {names[0]!r} probably belong together; remove the option if they "
            "are independent.",
        )


def _column(draft: Draft, name: str) -> None:
    kind, facts = draft.kinds[name], draft.facts[name]
    if kind in _DROPPED:
        draft.drop(name, _DROPPED[kind])
    elif facts.highest == float("inf") or facts.lowest == float("-inf"):
        draft.drop(name, "it holds an infinite number")
    elif kind == "unordered" and (order := in_order(facts.values)):
        draft.options.order[name] = order
        draft.proposals[name] = "keep, with an order"
    elif kind == "number" and name in draft.kept:
        draft.options.bins[name] = BINS
        draft.proposals[name] = f"cut into {BINS} bins"


def _related(draft: Draft, relation: Relation) -> None:
    others = listed([quoted(other) for other in relation.others], 4)
    if relation.what == "copy":
        draft.drop(relation.column, f"it is a copy of {others}, up to labels")
    elif relation.what == "total":
        draft.drop(
            relation.column,
            f"it is the total or the mean of {counted(len(relation.others), 'other column')}",
        )


def _incomplete_columns(draft: Draft, most: float) -> None:
    for name in draft.kept:
        each = draft.facts[name]
        if each.missing > most * each.rows:
            draft.drop(name, f"more than {most:.0%} of its values are missing")


def _missing(draft: Draft) -> None:
    """How to treat missing values, by how many there are."""
    if not _count_missing(draft):
        return
    complete = _complete(draft)
    if complete >= MOSTLY_COMPLETE * draft.frame.height:
        draft.options.missing, why = "drop", _of_drop(draft, complete)
    else:
        draft.options.missing, why = "model", _OF_MODEL
    draft.options.because(f"--missing {draft.options.missing}", why)


def _count_missing(draft: Draft) -> int:
    return sum(draft.facts[name].missing for name in draft.kept)


def _complete(draft: Draft) -> int:
    incomplete = [name for name in draft.kept if draft.facts[name].missing]
    gone = draft.frame[:, 0].is_null() & False
    for name in incomplete:
        gone |= with_nulls(draft.frame[name]).is_null()
    return draft.frame.height - int(gone.sum()) if draft.kept else 0


def _of_drop(draft: Draft, complete: int) -> str:
    return (
        f"{complete:,} of {counted(draft.frame.height, 'row')} are complete, and only these are "
        "used. It assumes that whether a value is missing has nothing to do with the values."
    )


def _forget(options: Options) -> None:
    """Say nothing about the values of columns that are dropped."""
    for name in options.drop:
        options.bins.pop(name, None)
        options.order.pop(name, None)
        options.missing_codes.pop(name, None)


def _explain(draft: Draft) -> None:
    """Why columns are recoded, dropped and binned, before the reasons about rows."""
    options, about_rows = draft.options, draft.options.reasons
    options.reasons = []
    for name, codes in options.missing_codes.items():
        where = "all columns" if name == "*" else repr(name)
        said = listed([quoted(code) for code in codes], 6)
        options.because(
            f"--missing-code {name}={','.join(map(as_text, codes))}",
            f"{said} in {where} probably {'mean' if len(codes) > 1 else 'means'} that there is no "
            "answer.",
        )
    for name, states in options.order.items():
        options.because(
            f"--order {name}={','.join(states)}",
            "these words have an order, so that links can have a sign.",
        )
    for why, names in draft.drops.items():
        options.because(f"--drop {_list(names)}", f"{why}.")
    if options.bins:
        options.because(
            f"--bin {_list([f'{name}={number}' for name, number in options.bins.items()])}",
            f"numbers with many values are cut into {BINS} bins with about as many rows each; use "
            "your own cut points if you have them, such as age=25,45.",
        )
    options.reasons += about_rows


def _list(names: Sequence[str]) -> str:
    return listed(list(names), 6)


def would_do(facts: Facts) -> str:
    """What `fit` does with a column that it is told nothing about."""
    does: list[str] = []
    if facts.distinct > MOST_STATES:
        does.append(f"refuses it: {facts.distinct:,} distinct values")
    elif facts.distinct == 0:
        does.append("takes it as a column without values")
    elif facts.distinct == 1:
        does.append("takes it as a column without links")
    else:
        order = "ordered" if facts.has_order or facts.distinct == 2 else "unordered"
        does.append(f"takes {facts.distinct} states, {order}")
    if facts.missing:
        does.append(f"asks what to do about {counted(facts.missing, 'missing value')}")
    return "; ".join(does)


def star_codes(suspects: Mapping[str, list[Any]], facts: Mapping[str, Facts]) -> dict[str, Any]:
    """Codes by column; those that several columns share, and that mean nothing else, under "*"."""
    shared: list[Any] = []
    for code in dict.fromkeys(code for codes in suspects.values() for code in codes):
        having = [name for name, each in facts.items() if _has(each, code)]
        if len(having) > 1 and all(code in suspects.get(name, ()) for name in having):
            shared.append(code)
    own = {name: [code for code in codes if code not in shared] for name, codes in suspects.items()}
    both: dict[str, Any] = {"*": shared} if shared else {}
    return both | {name: codes for name, codes in own.items() if codes}


def _has(facts: Facts, code: Any) -> bool:
    """Whether a column may hold a code; of many values not all are known."""
    if code in facts.values:
        return True
    if not facts.is_number or isinstance(code, str) or facts.distinct <= len(facts.values):
        return False
    return bool((facts.lowest or 0) <= code <= (facts.highest or 0))
