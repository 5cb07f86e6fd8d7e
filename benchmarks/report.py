"""What the report adds to a fit, how large it is, and how fast a browser draws it."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from isinglass import GreedyGraph, simulate, summarise
from isinglass.report import to_html
from isinglass.selection import Auto, LookBelow

COLUMNS, ROWS = (12, 100, 500), 2000
DRAW = """() => { const start = performance.now();
  for (let k = 0; k < 30; k += 1) isinglass.draw();
  return (performance.now() - start) / 30; }"""
SLIDE = """() => { const last = isinglass.data.stops.length - 1, start = performance.now();
  for (let k = 0; k < 30; k += 1) isinglass.setStop(Math.round(last * k / 29));
  return (performance.now() - start) / 30; }"""


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = perf_counter()
    result = work()
    return result, perf_counter() - start


def in_browser(html: str) -> tuple[float, float] | None:
    """Milliseconds to draw, and to move the slider; None where there is no Chromium."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        return None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1360, "height": 900})
        path = Path(folder) / "report.html"
        path.write_text(html, encoding="utf-8")
        page.goto(path.as_uri())
        times = page.evaluate(DRAW), page.evaluate(SLIDE)
        browser.close()
    return times


def main() -> None:
    heads = ("columns", "links", "fit, s", "report, s", "size, kB", "draw, ms", "slide, ms")
    print(" | ".join(heads))
    for p in COLUMNS:
        field = simulate.ising(simulate.random_regular(p, 4, seed=1), coupling=0.4, seed=1)
        table = field.sample(ROWS, seed=1)
        fit, seconds = timed(lambda table=table: GreedyGraph(LookBelow(Auto())).fit(table))
        html, added = timed(lambda fit=fit: to_html(summarise(fit)))
        cells = [p, len(fit.graph_), f"{seconds:.2f}", f"{added:.2f}", len(html.encode()) // 1000]
        times = in_browser(html)
        print(*cells, *(("-", "-") if times is None else (f"{t:.1f}" for t in times)), sep=" | ")


if __name__ == "__main__":
    sys.exit(main())
