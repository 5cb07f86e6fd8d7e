"""Five published tables: what the package finds in them, and how that can be judged.

    python benchmarks/cases.py --data FOLDER [--only nltcs alarm dass senate protein] [--docs docs]

Writes the tables of docs/cases.md, between the marks of each case, and its pictures. The tables
are read from the folder (see CONTRIBUTING.md) and never copied. Some minutes; the protein most.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import polars as pl
from measure import DATA

from isinglass import ChowLiuTree, GreedyGraph, L1Graph, plots
from isinglass.exports import from_networkx
from isinglass.files import write_files
from isinglass.graph import Graph
from isinglass.measures import communities, nodes
from isinglass.model import fit_model
from isinglass.plots.canvas import INK
from isinglass.table import encode

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442")
LETTERS = "-ACDEFGHIKLMNPQRSTVWY"
#: The table's names of columns that its ground truth writes in full.
IN_FULL = {
    "HIST": "HISTORY", "HREK": "HREKG", "HRSA": "HRSAT", "PRSS": "PRESS", "ECO2": "EXPCO2",
    "MINV": "MINVOL", "MVS": "MINVOLSET", "HYP": "HYPOVOLEMIA", "LVF": "LVFAILURE",
    "APL": "ANAPHYLAXIS", "ANES": "INSUFFANESTH", "PMB": "PULMEMBOLUS", "INT": "INTUBATION",
    "KINK": "KINKEDTUBE", "DISC": "DISCONNECT", "LVV": "LVEDVOLUME", "STKV": "STROKEVOLUME",
    "CCHL": "CATECHOL", "ERLO": "ERRLOWOUTPUT", "ERCA": "ERRCAUTER", "SHNT": "SHUNT",
    "PVS": "PVSAT", "ACO2": "ARTCO2", "VALV": "VENTALV", "VLNG": "VENTLUNG", "VTUB": "VENTTUBE",
    "VMCH": "VENTMACH",
}  # fmt: skip
#: Å below which two residues touch, and how far apart in the chain they must be.
CONTACT, APART = 8.0, 4
#: Nats per row.
NEAR = 0.02

Pictures = dict[str, bytes]
Case = tuple[str, Pictures]


def markdown(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


# NLTCS


def nltcs(folder: Path) -> Case:
    """Held-out log-likelihood of sparse graphs, exactly, beside three anchors."""
    training, valid, test = (_nltcs_rows(folder, part) for part in ("ts", "valid", "test"))
    table = encode(training)
    est = GreedyGraph(floor=1e-5).fit(training)

    def scores(graph: Graph) -> tuple[int, float, float]:
        model = fit_model(table, graph, "likelihood")
        return len(graph), *(float(model.log_likelihood(rows).mean()) for rows in (valid, test))

    names = est.graph_.names
    full = from_networkx(nx.relabel_nodes(nx.complete_graph(len(names)), dict(enumerate(names))))
    anchors = {
        "no edge": scores(Graph(names, ())),
        "best tree (Chow and Liu)": scores(ChowLiuTree().fit(training).graph_),
        "every edge": scores(full),
    }
    path = [scores(graph) for graph in _graphs_along(est, least=20, most=100)]
    chosen = scores(est.graph_)
    near = [
        next(edges for edges, *values in path if values[at] > anchors["every edge"][at + 1] - NEAR)
        for at in (0, 1)
    ]
    rows = [
        *((what, *_shown(values)) for what, values in anchors.items()),
        ("learned, default threshold", *_shown(chosen)),
        (
            f"learned, the fewest within {NEAR:g} of every edge (validation rows)",
            *_shown(next(values for values in path if values[0] == near[0])),
        ),
    ]
    text = markdown(["graph", "edges", "validation", "test"], rows)
    text += (
        f"\n\nLog-likelihood per row, in nats. Along the path, {near[0]} edges are the fewest that "
        f"come within {NEAR:g} of all {anchors['every edge'][0]} on the validation rows, and "
        f"{near[1]} on the test rows."
    )
    return text, {"cases-nltcs.png": _nltcs_picture(path, anchors, chosen)}


def _nltcs_rows(folder: Path, part: str) -> np.ndarray:
    with gzip.open(folder / "nltcs" / f"nltcs.{part}.data.gz", "rt") as lines:
        return np.loadtxt(lines, delimiter=",", dtype=np.int8)


def _graphs_along(est: GreedyGraph, least: int, most: int) -> list[Graph]:
    """One graph for each number of edges that the path has, fewest first."""
    gains = {step.gain for path in est.paths_ for step in path.steps if step.gain is not None}
    graphs = {len(graph): graph for graph in map(est.at, sorted(gains))}
    return [graphs[edges] for edges in sorted(graphs) if least <= edges <= most]


def _shown(values: Sequence[float]) -> list[Any]:
    return [values[0], *(f"{value:.3f}" for value in values[1:])]


def _nltcs_picture(path: list[Any], anchors: dict[str, Any], chosen: Any) -> bytes:
    figure, ax = plots.new_figure(6.4, 3.8)
    ax.plot([p[0] for p in path], [p[2] for p in path], "-", color=PALETTE[0], lw=2)
    ax.plot(chosen[0], chosen[2], "o", color=PALETTE[0], ms=8)
    point = chosen[0], chosen[2]
    ax.annotate("default", point, (0, -16), textcoords="offset points", ha="center")
    for color, what in ((PALETTE[1], "best tree (Chow and Liu)"), (INK, "every edge")):
        edges, _, value = anchors[what]
        ax.axhline(value, color=color, lw=1, ls="--")
        words = f"{what}: {edges} edges"
        ax.annotate(words, (99, value), (0, 4), textcoords="offset points", ha="right", color=color)
    ax.set(xlabel="edges", ylabel="log-likelihood per test row", title="NLTCS, along one path")
    _plain(ax)
    return plots.png(figure)


def _plain(ax: Any) -> None:
    ax.spines[["top", "right"]].set_visible(False)


# Alarm


def alarm(folder: Path) -> Case:
    """Edges against the skeleton and the moral graph of the network that made the table."""
    table = pl.read_csv(folder / "alarm" / "alarm.csv.gz").rename(IN_FULL)
    truth = json.loads((folder / "alarm" / "ground_truth.json").read_text())["alarm"]
    assert {c: table[c].n_unique() for c in table.columns} == truth["states"]
    skeleton, moral = ({frozenset(edge) for edge in truth[key]} for key in ("skeleton", "moral"))
    methods = {"greedy": GreedyGraph(), "l1 (EBIC)": L1Graph(), "tree": ChowLiuTree()}
    results = []
    for n in (500, 2000, 20_000):
        for name, method in methods.items():
            started = time.perf_counter()
            found = {frozenset(edge) for edge in method.fit(table[:n]).graph_.edges}
            seconds = time.perf_counter() - started
            inside, married = len(found & skeleton), len(found & (moral - skeleton))
            results.append((n, name, len(found), inside, married, len(found - moral)))
            print(f"alarm, {n} rows, {name}: {len(found)} edges, {seconds:.1f} s", flush=True)
    heads = ["rows", "method", "edges", "of the skeleton", "only moral", "in neither"]
    text = markdown(heads, [(f"{n:,}", *rest) for n, *rest in results])
    text += f"\n\nThe skeleton has {len(skeleton)} edges, the moral graph {len(moral)}."
    return text, {"cases-alarm.png": _alarm_picture(results, len(skeleton))}


def _alarm_picture(results: list[Any], skeleton: int) -> bytes:
    figure, ax = plots.new_figure(7.2, 3.8)
    labels = [f"{name}\n{n:,}" for n, name, *_ in results]
    at = np.arange(len(results)) + np.arange(len(results)) // 3 * 0.6
    below = np.zeros(len(results))
    parts = {"of the skeleton": PALETTE[0], "only moral": PALETTE[5], "in neither": PALETTE[1]}
    for column, (words, color) in enumerate(parts.items(), start=3):
        height = np.array([row[column] for row in results])
        ax.bar(at, height, bottom=below, color=color, label=words, width=0.8)
        below += height
    ax.axhline(skeleton, color=INK, lw=1, ls="--")
    ax.set_xticks(at, labels, fontsize=8)
    ax.set(ylabel="edges", title="ALARM: edges found, by what the true network says of them")
    ax.legend(frameon=False, fontsize=8)
    _plain(ax)
    return plots.png(figure)


# DASS


def dass(folder: Path) -> Case:
    """Links inside and between the three scales of a questionnaire, which the search never saw."""
    table = pl.read_csv(folder / "psych" / "dass.csv.gz")
    table = table.select([c for c in table.columns if c.startswith("dass") and c[-2] == "_"])
    est = GreedyGraph().fit(table)
    scales = {"D": "depression", "A": "anxiety", "S": "stress"}
    graph = est.graph_
    sizes = {key: sum(name[-1] == key for name in graph.names) for key in scales}
    pairs = len(graph.names) * (len(graph.names) - 1) // 2
    chance = sum(size * (size - 1) // 2 for size in sizes.values()) / pairs
    inside = [a[-1] == b[-1] for a, b in graph.edges]
    strength = np.array([link.strength for link in graph])
    found = communities(graph)
    groups = [
        (number, len(group), *(sum(name[-1] == key for name in group) for key in scales))
        for number, group in enumerate(found.groups, start=1)
    ]
    measured = nodes(est).sort("predictability", descending=True)
    best, worst = (measured.row(at, named=True) for at in (0, -1))
    text = (
        f"{len(graph)} edges, {sum(inside)} of them ({np.mean(inside):.0%}) inside a scale; by "
        f"chance it would be {chance:.0%}. Inside edges hold "
        f"{strength[inside].sum() / strength.sum():.0%} of all strength, and of the 20 strongest "
        f"edges {sum(inside[i] for i in np.argsort(-strength)[:20])} are inside.\n\n"
    )
    text += markdown(["community", "items", *scales.values()], groups)
    text += (
        f"\n\nModularity {found.modularity:.2f}. Predictability runs from "
        f"{worst['predictability']:.2f} (`{worst['name']}`) to {best['predictability']:.2f} "
        f"(`{best['name']}`), median {measured['predictability'].median():.2f}."
    )
    colors = {name: PALETTE["DAS".index(name[-1])] for name in graph.names}
    words = dict(zip(scales.values(), PALETTE, strict=False))
    return text, {"cases-dass.png": _network_picture(graph, colors, words)}


def _network_picture(graph: Graph, colors: dict[str, str], words: dict[str, str]) -> bytes:
    from matplotlib.lines import Line2D

    ax = plots.network(graph, node_color=colors)
    figure = plots.figure_of(ax)
    dots = [
        Line2D([], [], marker="o", ls="", mfc=color, mec=INK, ms=9, label=label)
        for label, color in words.items()
    ]
    figure.legend(handles=dots, loc="upper left", frameon=False, fontsize=9)
    return plots.png(figure, dpi=80)


# Senate


def senate(folder: Path) -> Case:
    """Senators linked by their votes: do communities match parties, and who sits between."""
    votes = pl.read_csv(folder / "senate" / "S109_voteview.csv").drop("rollnumber")
    votes = votes.drop([c for c in votes.columns if votes[c].null_count() > 0.25 * len(votes)])
    est = GreedyGraph(missing="model").fit(votes)
    graph, filled = est.graph_, est.filled_
    party = {name: name.split()[-1][0] for name in graph.names}
    found = communities(graph)
    rows = []
    for number, group in enumerate(found.groups, start=1):
        counts = [sum(party[name] == which for name in group) for which in "DRI"]
        main = "DRI"[int(np.argmax(counts))]
        odd = ", ".join(name for name in group if party[name] != main)
        rows.append((number, len(group), *counts, odd))
    same = sum(max(row[2:5]) for row in rows)
    across = [
        (link.strength, link.sign, a, b)
        for link, (a, b) in zip(graph, graph.edges, strict=True)
        if {party[a], party[b]} == {"D", "R"}
    ]
    chance = 2 * _count(party, "D") * _count(party, "R") / (len(party) * (len(party) - 1))
    text = (
        f"{len(graph)} edges; {len(across)} of them ({len(across) / len(graph):.0%}) join a "
        f"Democrat and a Republican, by chance it would be {chance:.0%}. {len(found.groups)} "
        f"communities (modularity {found.modularity:.2f}); {same} of {sum(row[1] for row in rows)} "
        "senators are in one that their own party leads. "
    )
    if filled is not None:
        lost = np.median([filled.information.lost[pair] for pair in graph.pairs])
        share = filled.missing_cells.sum() / (len(votes) * len(votes.columns))
        end = "until the graph no longer changed" if filled.settled else "and it still changed"
        text += (
            f"{share:.1%} of the votes are missing; the median link lost {lost:.0%} of its "
            f"information with them. {filled.rounds} searches, {end}.\n\n"
        )
    text += markdown(["community", "senators", "D", "R", "I", "of another party"], rows)
    for sign, words in ((1, "They agree across the aisle"), (-1, "They disagree across it")):
        pairs = [f"{a} -- {b}" for _, s, a, b in sorted(across, reverse=True) if s == sign]
        text += f"\n\n{words}, strongest first: {'; '.join(pairs)}."
    text += "\n\nOn the most shortest paths of agreement (betweenness, length 1/strength): "
    text += ", ".join(f"{name} ({share:.2f})" for name, share in _between(graph)[:6]) + "."
    tone = {"D": PALETTE[0], "R": PALETTE[1], "I": PALETTE[2]}
    words = {"Democrat": tone["D"], "Republican": tone["R"], "Independent": tone["I"]}
    colors = {name: tone[party[name]] for name in graph.names}
    return text, {"cases-senate.png": _network_picture(graph, colors, words)}


def _between(graph: Graph) -> list[tuple[str, float]]:
    """Columns by the share of shortest paths, over positive links, that they lie on."""
    network = nx.Graph()
    for link, (a, b) in zip(graph, graph.edges, strict=True):
        if link.sign > 0:
            network.add_edge(a, b, length=1 / max(link.strength, 1e-9))
    between = nx.betweenness_centrality(network, weight="length")
    return sorted(between.items(), key=lambda item: (-item[1], item[0]))


def _count(party: dict[str, str], which: str) -> int:
    return sum(value == which for value in party.values())


# Protein


def protein(folder: Path, max_degree: int = 6) -> Case:
    """Links between positions of a protein family, against distances in its structure."""
    table = _sequences(folder / "protein" / "PF00014_mgap6.fasta.gz")
    with gzip.open(folder / "protein" / "PF00014_weights.gz", "rt") as lines:
        weights = np.loadtxt(lines)
    started = time.perf_counter()
    est = GreedyGraph(n_eff=float(weights.sum()), max_degree=max_degree)
    graph = est.fit(table, sample_weight=weights).graph_
    print(f"protein: {len(graph)} edges, {time.perf_counter() - started:.0f} s", flush=True)
    i, j, score, distance = np.loadtxt(folder / "protein" / "PF00014_tab_cont.txt").T
    place = {(int(a) - 1, int(b) - 1): at for at, (a, b) in enumerate(zip(i, j, strict=True))}
    far = np.abs(i - j) > APART
    published = [at for at in np.argsort(-score) if far[at]]
    ranked = sorted(graph, key=lambda link: -(link.evidence or 0.0))
    ours = [at for link in ranked if far[at := place[link.source, link.target]]]
    rows = []
    for most in (26, 53):
        for name, order in (("greedy, by evidence", ours), ("published score", published)):
            close = float(np.mean(distance[order[:most]] < CONTACT))
            rows.append((most, name, len(order[:most]), f"{close:.2f}"))
    chance = float(np.mean(distance[far] < CONTACT))
    text = markdown(["top", "ranking", "pairs", f"share below {CONTACT:g} Å"], rows)
    text += (
        f"\n\nEach position's search stops at {max_degree} neighbours; {len(table):,} sequences, "
        f"weighted to {weights.sum():.0f}. {len(graph)} edges in all, {len(ours)} of them between "
        f"positions more than {APART} apart in the chain; of all such pairs {chance:.2f} are below "
        f"{CONTACT:g} Å."
    )
    picture = _contacts_picture(i, j, distance, ours[:53], published[:53])
    return text, {"cases-protein.png": picture}


def _sequences(path: Path) -> np.ndarray:
    with gzip.open(path, "rt") as lines:
        sequences = "".join(" " if line[0] == ">" else line.strip() for line in lines).split()
    return np.array([[LETTERS.index(letter) for letter in s] for s in sequences], dtype=np.int8)


def _contacts_picture(i: Any, j: Any, distance: Any, ours: list[int], theirs: list[int]) -> bytes:
    figure, ax = plots.new_figure(5.6, 5.6)
    near = distance < CONTACT
    for a, b in ((i, j), (j, i)):
        ax.plot(a[near], b[near], "s", color="#D9D9D9", ms=5.5, zorder=1)
    ax.plot(i[ours], j[ours], "o", color=PALETTE[0], ms=5, label="greedy, above")
    ax.plot(j[theirs], i[theirs], "o", color=PALETTE[1], ms=5, label="published, below")
    ax.set(xlabel="position", ylabel="position", title="PF00014: top 53 pairs; grey is contact")
    ax.set_aspect("equal")
    ax.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=2)
    _plain(ax)
    return plots.png(figure)


CASES: dict[str, Callable[[Path], Case]] = {
    "nltcs": nltcs,
    "alarm": alarm,
    "dass": dass,
    "senate": senate,
    "protein": protein,
}


def between_marks(page: str, case: str, text: str) -> str:
    """The page with the text of one case made anew."""
    begin, end = f"<!-- {case} -->\n", f"<!-- end of {case} -->"
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{text}\n\n{end}{after}"


def main() -> None:
    """Run the cases and write what they found into the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA, help="the folder with the tables")
    parser.add_argument("--docs", type=Path, default=Path(__file__).parent.parent / "docs")
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--max-degree", type=int, default=6, help="of the protein's search")
    chosen = parser.parse_args()
    cases = CASES | {"protein": partial(protein, max_degree=chosen.max_degree)}
    for name in chosen.only:
        text, pictures = cases[name](chosen.data)
        page = chosen.docs / "cases.md"
        contents = {page: between_marks(page.read_text(), name, text).encode()}
        contents |= {chosen.docs / "pictures" / file: content for file, content in pictures.items()}
        write_files(contents)
        print(f"{name}: wrote {', '.join(path.name for path in contents)}", flush=True)


if __name__ == "__main__":
    main()
