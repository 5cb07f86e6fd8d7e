"""``isinglass groups``: which links differ between groups of rows?"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from isinglass.cli import options as opt
from isinglass.cli.fitting import pointing_to_inspect, read_and_configure
from isinglass.cli.results import print_result, show, title_of
from isinglass.cli.terminal import new_console, progress_bar, table, working
from isinglass.errors import MissingExtra
from isinglass.files import check_folder, write_all
from isinglass.report.groups import differences_csv, exploratory_csv, groups_dict, groups_html
from isinglass.uncertainty.groups.compare import compare_groups
from isinglass.uncertainty.groups.result import EdgeDifference, GroupComparison
from isinglass.wording import counted, one_line

#: Pictures: their file, what they show, and the function of `plots` that draws them.
PICTURES = {
    "networks.png": ("The links in each group, in one layout", "group_networks"),
    "differences.png": ("By how much links differ", "group_differences"),
}


@opt.command(
    opt.DATA,
    opt.needed("--by NAME", "The column that defines the groups."),
    opt.option(
        "--out DIR",
        "Write groups.html, differences.csv, exploratory.csv, paragraph.txt, networks.png and "
        "differences.png there.",
    ),
    opt.option("--level", "The probability of finding a difference where there is none.", 0.05),
    opt.OPEN,
    *opt.SEARCH,
    opt.seed("Seed of the draws that fill missing values."),
    opt.THREADS,
    opt.whole("--top", "Edges to print.", 20, least=0),
    opt.JSON,
    examples="""
        isinglass groups survey.csv --by sex --adjust age --out sex/
        isinglass groups survey.csv --by age --bin age=25, --drop id
    """,
)
def command(
    data: str,
    *,
    by: str,
    out: str | None,
    level: float,
    open_it: bool,
    top: int,
    as_json: bool,
    sample_weight: str | None,
    clusters: str | None,
    **options: Any,
) -> None:
    """Compare the links of DATA between the groups of a column.

    One graph is learned from all rows, adjusted for the groups; it is then fitted in each group,
    and every edge is tested for a difference. Edges that are firm in one group only are listed as
    exploratory, without a test.
    """
    if out:
        check_folder(out)
    estimator, rows = read_and_configure(data, **options)
    about_rows = {"sample_weight": sample_weight, "clusters": clusters}
    with progress_bar("comparing groups") as progress, pointing_to_inspect(data):
        found = compare_groups(rows, by, estimator, level=level, progress=progress, **about_rows)
    lines = _write(out, found, title_of(data)) if out else []
    print_result(as_json, groups_dict(found), partial(print_groups, found, top), lines)
    if out and open_it:
        show(Path(out) / "groups.html")


def _write(out: str, found: GroupComparison, title: str) -> list[str]:
    contents = {
        "differences.csv": differences_csv(found),
        "exploratory.csv": exploratory_csv(found),
        "paragraph.txt": f"{found.paragraph}\n".encode(),
    }
    lines, drawn = [], {}
    try:
        with working("drawing"):
            for file, (words, name) in PICTURES.items():
                contents[file], drawn[words] = _drawn(name, found)
    except MissingExtra as error:
        lines.append(f"no picture: {error}")
    contents["groups.html"] = groups_html(found, title, drawn).encode()
    write_all(out, contents)
    return [f"wrote {', '.join(contents)} to {out}", *lines]


def _drawn(name: str, found: GroupComparison) -> tuple[bytes, bytes]:
    """A picture as PNG and as SVG."""
    from isinglass import plots

    figure = plots.figure_of(getattr(plots, name)(found))
    return plots.png(figure), plots.svg(figure)


def print_groups(found: GroupComparison, top: int, console: Console | None = None) -> None:
    """The groups, the tests, and the edges with the smallest p-values."""
    console = console or new_console()
    sizes = ", ".join(f"{one_line(g.name, 24)} ({g.rows:,.6g} rows)" for g in found.groups)
    console.print(f"{counted(len(found.groups), 'group')} by {found.by}: {sizes}", style="bold")
    console.print(found.sentence)
    strengths = ", ".join(f"{g.strength:.2f} ± {g.error:.2f}" for g in found.groups)
    console.print(f"global strength {strengths} (p = {found.strength.p_value:.2g})", style="dim")
    tested = [edge for edge in found.edges if not edge.untested]
    shown = sorted(tested, key=lambda edge: edge.p_value)[:top]
    if shown:
        heads = [*(one_line(g.name, 16) for g in found.groups), "p-value", "Holm", "edge"]
        console.print("\nLog odds ratio per step, by group", style="bold")
        console.print(table(heads, map(_cells, shown), left=("edge",)))
    if len(tested) > len(shown):
        console.print(f"and {len(tested) - len(shown)} with larger p-values", style="dim")
    for edge in found.edges:
        if edge.untested:
            console.print(f"{_name(edge)}: not tested, {one_line(edge.untested)}", style="yellow")
    if found.exploratory:
        console.print("\nExploratory: firm in some groups only, not tested", style="bold")
        for one in found.exploratory[:top]:
            ends = f"{one_line(one.source, 40)} -- {one_line(one.target, 40)}"
            console.print(f"  {ends}: in {', '.join(one.firm_in)}, not in {', '.join(one.not_in)}")


def _cells(edge: EdgeDifference) -> list[str]:
    values = ["" if value is None else f"{value:.2f}" for value in edge.log_odds]
    return [*values, f"{edge.p_value:.3g}", f"{edge.adjusted:.3g}", _name(edge)]


def _name(edge: EdgeDifference) -> str:
    return f"{one_line(edge.source, 40)} -- {one_line(edge.target, 40)}"
