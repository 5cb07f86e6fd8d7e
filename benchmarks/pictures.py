"""The pictures of docs/plots.md, from two published tables.

    python benchmarks/pictures.py --data FOLDER [--docs docs]

The tables are read from the folder (see CONTRIBUTING.md) and never copied. Some seconds.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl
from measure import DATA

from isinglass import GreedyGraph, plots, read_table, with_errors
from isinglass.files import write_files

#: What the votes were about, in the order of the table.
VOTES = (
    "party", "handicapped infants", "water project", "budget", "physician fees",
    "El Salvador aid", "religion in schools", "satellite ban", "Contra aid", "MX missile",
    "immigration", "synfuels", "education", "superfund", "crime", "duty-free", "South Africa",
)  # fmt: skip


def votes(data: Path) -> dict[str, bytes]:
    """Congress, 1984: complete rows, so that a vote has two states."""
    table = read_table(data / "votes" / "housevotes84.csv")
    table = table.rename(dict(zip(table.columns, VOTES, strict=True)))
    table = table.with_columns(pl.col(VOTES[1:]) == "y")  # yes and no have an order
    est = GreedyGraph(missing="drop").fit(table)
    axes = {
        "network": plots.network(est.tentative_),
        "search": plots.search(est, "El Salvador aid"),
        "intervals": plots.intervals(with_errors(est)),
    }
    return {f"plots-{name}.png": plots.png(plots.figure_of(ax)) for name, ax in axes.items()}


def dass(data: Path) -> dict[str, bytes]:
    """A questionnaire whose items say, in their names, which scale they belong to."""
    table = read_table(data / "psych" / "dass.csv.gz")
    items = [name for name in table.columns if name[-2:] in ("_D", "_A", "_S")]
    est = GreedyGraph().fit(table.select(items))
    ax = plots.adjacency(est.graph_)
    return {"plots-adjacency.png": plots.png(plots.figure_of(ax), dpi=90)}


def main() -> None:
    """Write the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--docs", type=Path, default=Path(__file__).parents[1] / "docs")
    options = parser.parse_args()
    contents = {**votes(options.data), **dass(options.data)}
    write_files({options.docs / "pictures" / name: content for name, content in contents.items()})


if __name__ == "__main__":
    main()
