"""Pictures as files: the ending says which kind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isinglass.cli import options as opt
from isinglass.cli.results import Draw
from isinglass.cli.terminal import working
from isinglass.errors import SettingError
from isinglass.files import check_file, write_files
from isinglass.model import FitRecord

#: Endings, and the function of `plots` that writes each.
ENDINGS = {".pdf": "pdf", ".svg": "svg", ".png": "png"}
FIGURE = opt.several(
    "--figure FILE figures",
    "Draw the result to a .pdf, .svg or .png file; may be given several times.",
)


def groups_of(record: FitRecord) -> dict[str, Any]:
    """Arguments of `plots.network` for the groups of columns that a settings file has."""
    groups = (record.findings.groups if record.findings else None) or ()
    named = [(group, [record.names[i] for i in group.columns]) for group in groups]
    colors = {name: group.colour for group, names in named for name in names if group.colour}
    return {
        "groups": {group.name: names for group, names in named} or None,
        "node_color": colors or None,
    }


def check_figures(paths: Sequence[str], option: str = "--figure") -> None:
    """Raise before the work begins if a picture cannot be drawn or written."""
    if paths:
        from isinglass import plots

        plots.new_figure(1, 1)
    for path in map(Path, paths):
        if path.suffix.lower() not in ENDINGS:
            known = ", ".join(ENDINGS)
            raise SettingError(f"{option} takes a file that ends in {known}, not {str(path)!r}.")
        check_file(path)


def draw_figures(paths: Sequence[str], draw: Draw) -> list[str]:
    """Draw to files, if any, and say so; `draw` makes axes or a figure with the room `plots`."""
    if not paths:
        return []
    from isinglass import plots

    with working("drawing"):
        figure = plots.figure_of(draw(plots))
        contents = {
            Path(path): getattr(plots, ENDINGS[Path(path).suffix.lower()])(figure) for path in paths
        }
    write_files(contents)
    return [f"wrote {', '.join(paths)}"]
