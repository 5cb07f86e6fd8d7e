"""The settings that are proposed: for Python, as a command, and why each is there."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from isinglass.shell import file_word, given, reading_words
from isinglass.table.codebook.variable import as_text


@dataclass(frozen=True)
class Reason:
    """An option of the command, and why it is there."""

    option: str
    why: str


@dataclass
class Options:
    """What to tell `read_table` and `GreedyGraph` about a table."""

    reading: dict[str, Any] = field(default_factory=dict)
    missing_codes: dict[str, list[Any]] = field(default_factory=dict)
    order: dict[str, list[str]] = field(default_factory=dict)
    drop: list[str] = field(default_factory=list)
    bins: dict[str, int] = field(default_factory=dict)
    sample_weight: str | None = None
    clusters: str | None = None
    n_eff: str | None = None
    missing: str | None = None
    reasons: list[Reason] = field(default_factory=list)

    def because(self, option: str, why: str) -> None:
        """Note why an option is there."""
        self.reasons.append(Reason(option, why))

    def words(self) -> list[str]:
        """The options as the shell takes them, before they are quoted."""
        return [*reading_words(self.reading), *self._of_columns(), *self._of_rows()]

    def _of_columns(self) -> Iterator[str]:
        for name, codes in self.missing_codes.items():
            yield from ("--missing-code", f"{name}={','.join(map(as_text, codes))}")
        for name, states in self.order.items():
            yield from given("--order", f"{name}={','.join(map(_cell, states))}")
        for name in self.drop:
            yield from given("--drop", name)
        for name, number in self.bins.items():
            yield from given("--bin", f"{name}={number}")

    def _of_rows(self) -> Iterator[str]:
        for option, value in (
            ("--weight-column", self.sample_weight),
            ("--n-eff", self.n_eff),
            ("--cluster-column", self.clusters),
            ("--missing", self.missing),
        ):
            if value is not None:
                yield from given(option, value)

    def command(self, path: str, out: str | None = None) -> str:
        """The whole command, ready to be pasted into a shell.

        >>> Options(drop=["id"], bins={"age in years": 4}).command("my survey.csv")
        "isinglass fit 'my survey.csv' --drop id --bin 'age in years=4'"
        """
        into = ["--out", out] if out else []
        words = ["isinglass", "fit", file_word(path), *self.words(), *into]
        return " ".join(map(shlex.quote, words))

    def estimator(self) -> dict[str, Any]:
        """Arguments of `GreedyGraph`."""
        given = {"missing": self.missing, "n_eff": self.n_eff, "bins": self.bins or None}
        return {name: value for name, value in given.items() if value is not None}

    def fitting(self) -> dict[str, Any]:
        """Arguments of `GreedyGraph.fit`."""
        given = {"sample_weight": self.sample_weight, "clusters": self.clusters}
        return {name: value for name, value in given.items() if value is not None}


def _cell(state: str) -> str:
    """A state as it is typed in a list."""
    return f'"{state}"' if "," in state else state
