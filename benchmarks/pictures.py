"""The pictures of docs/plots.md and docs/questionnaire.md, from two published tables.

    python benchmarks/pictures.py --data FOLDER [--docs docs]

The tables are read from the folder (see CONTRIBUTING.md) and never copied. Some minutes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl
from measure import DATA

from isinglass import (
    GreedyGraph,
    bootstrap,
    case_dropping,
    column_intervals,
    measures,
    plots,
    read_table,
    with_errors,
)
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
    scored = GreedyGraph(edges="auto").fit(table.select(items)[:1000])
    products = [link for link in scored.graph_ if link.form == "product"]
    strongest = max(products, key=lambda link: link.weight)
    ends = (scored.graph_.names[end] for end in (strongest.source, strongest.target))
    axes = {
        "adjacency": plots.adjacency(est.graph_),
        "link-table": plots.link_table(scored, *ends),
    }
    pictures = {name: plots.png(plots.figure_of(ax), dpi=90) for name, ax in axes.items()}
    return {f"plots-{name}.png": picture for name, picture in pictures.items()}


def items(data: Path) -> dict[str, bytes]:
    """What papers show, of the first half of the same questionnaire."""
    table = read_table(data / "psych" / "dass.csv.gz")
    names = [name for name in table.columns if name[-2:] in ("_D", "_A", "_S")][:21]
    scales = {"Depression": "_D", "Anxiety": "_A", "Stress": "_S"}
    groups = {
        scale: [name for name in names if name.endswith(end)] for scale, end in scales.items()
    }
    rows = table.select(names).sample(fraction=1.0, shuffle=True, seed=0)
    est, one, other = (
        GreedyGraph().fit(part) for part in (rows, rows[: len(rows) // 2], rows[len(rows) // 2 :])
    )
    found = measures.predictability(est)
    drawn = {
        "groups": plots.network(est, groups=groups, predictability=found),
        "networks": plots.networks({"first half": one, "second half": other}, groups=groups),
        "centrality": plots.centrality(column_intervals(est)),
        "predictability": plots.predictability(found),
        "dropping": plots.case_dropping(case_dropping(est, n=40)),
        "differences": plots.edge_differences(bootstrap(est), most=30),
    }
    return {f"plots-{k}.png": plots.png(plots.figure_of(ax), dpi=90) for k, ax in drawn.items()}


def questionnaire(data: Path) -> dict[str, bytes]:
    """The network of docs/questionnaire.md."""
    table = read_table(data / "psych" / "dass.csv.gz")
    names = [name for name in table.columns if name.endswith("_D")]
    schools = ["Less than high school", "High school", "University degree", "Graduate degree"]
    survey = table.select(*names, "education", "age", "gender").with_columns(
        pl.col("education").cast(pl.Enum(schools))
    )
    survey = survey.filter(pl.col("gender").is_in(["Female", "Male"]))
    est = GreedyGraph(adjust=["age", "gender"], missing="model").fit(survey)
    ax = plots.network(est, groups={"Depression": names, "Education": ["education"]})
    return {"questionnaire.png": plots.png(plots.figure_of(ax), dpi=90)}


def main() -> None:
    """Write the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--docs", type=Path, default=Path(__file__).parents[1] / "docs")
    options = parser.parse_args()
    made = (votes, dass, items, questionnaire)
    contents = {name: one for make in made for name, one in make(options.data).items()}
    write_files({options.docs / "pictures" / name: content for name, content in contents.items()})


if __name__ == "__main__":
    main()
