"""The page in a real browser: everything a reader does, and nothing that leaves the file."""

import csv
import io
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from isinglass import GreedyGraph, simulate, summarise
from isinglass.record.tables import link_tables
from isinglass.report import html, to_html
from isinglass.solvers.equivalent import one_parameter_gain
from report.pages import (
    FITS,
    HOSTILE,
    binary,
    chromium,
    first_schema,
    fitted,
    hostile,
    with_missing,
    write_page,
)
from selections import mostly_long

pytestmark = pytest.mark.skipif(chromium() is None, reason="there is no Chromium here")


@pytest.fixture(scope="module")
def browser():
    pytest.importorskip("playwright", reason="playwright is not installed here")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def look(browser, tmp_path):
    """Open the page of a fit; at the end nothing may have gone wrong or gone out."""
    contexts, wrong = [], []

    def open_page(fit, *, summary=None, **options):
        context = browser.new_context(**({"viewport": {"width": 1300, "height": 900}} | options))
        contexts.append(context)
        page = context.new_page()
        address = write_page(tmp_path, to_html(summary or summarise(fit, title="a table")))
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda asked: None if asked.url == address else wrong.append(asked.url))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    wrong = [said for said in wrong if not said.startswith(("blob:", "data:"))]
    assert wrong == []


@pytest.fixture(scope="module")
def small():
    return fitted(binary())


def set_slider(page, stop):
    page.locator("#slider").evaluate(
        "(slider, stop) => { slider.value = stop; slider.dispatchEvent(new Event('input')); }", stop
    )


def edges_shown(page):
    """The rows of the edge table, as (column, column) -> texts of the other cells."""
    rows = page.locator("#edge-table tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].map(cell => cell.innerText.trim()))"
    )
    return {(row[0], row[1]): row[2:] for row in rows}


def place(page, i):
    box = page.locator("#canvas").bounding_box()
    x, y = page.evaluate("i => isinglass.place(i)", i)
    return box["x"] + x, box["y"] + y


def heading(page):
    return page.locator("#panel h3").inner_text()


@pytest.mark.parametrize("name", mostly_long(FITS, 3))
def test_the_slider_shows_what_fresh_fits_find(look, name):
    make, settings = FITS[name]
    table = make()
    est = fitted(table, **settings)
    page, record = look(est), est.record()
    stops = page.evaluate("isinglass.data.stops")
    gains = {step.gain for path in est.paths_ for step in path.steps}
    assert not gains & set(stops)
    heads = page.locator("#edge-table thead th").evaluate_all(
        "heads => heads.map(head => head.innerText.trim())"
    )
    chooser = heads.index("Chosen by") - 2  # the first two columns are the key of a row
    for stop in np.linspace(0, len(stops) - 1, 5).round().astype(int).tolist():
        set_slider(page, stop)
        fresh = GreedyGraph(stops[stop], **settings).fit(table).graph_
        shown = edges_shown(page)
        assert sorted(shown) == sorted(fresh.edges)
        assert page.locator("#readout b").inner_text().split()[0] == str(len(fresh))
        kept = page.evaluate("isinglass.state.graph.edges")
        for edge, link, now in zip(kept, fresh.links, record.at(stops[stop]), strict=True):
            cells = shown[fresh.names[link.source], fresh.names[link.target]]
            assert cells[0] == f"{now.strength:.3f}"
            for key, number in (
                ("strength", now.strength),
                ("relative", now.relative_strength),
                ("evidence", now.evidence),
                ("entry", link.entry_evidence),
            ):
                assert edge[key] == (None if number is None else pytest.approx(number, rel=1e-4))
            assert edge["tier"] == now.tier
            assert (edge["sign"], edge["unbounded"]) == (link.sign, link.unbounded)
            assert edge["coupling"] == (
                None if link.coupling is None else pytest.approx(link.coupling, rel=1e-5)
            )
            assert cells[chooser] == link.selected_by
            assert edge["form"] == link.form


def test_the_slider_counts_edges_at_every_stop(look, small):
    page = look(small)
    counts = page.evaluate(
        "isinglass.data.stops.map((_, k) => { isinglass.setStop(k);"
        " return isinglass.state.graph.edges.length; })"
    )
    curve = page.locator("#curve .line").get_attribute("points").split()
    top = max(counts)
    drawn = [round((98 - float(point.split(",")[1])) / 94 * top) for point in curve]
    assert drawn == counts
    assert counts == [len(small.at(stop)) for stop in page.evaluate("isinglass.data.stops")]


def test_marks_set_the_slider(look, small):
    page = look(small)
    page.get_by_role("button", name="Tentative").click()
    expected = small.at(summarise(small)["selectors"][2]["threshold"])
    assert sorted(edges_shown(page)) == sorted(expected.edges)


def test_gains_are_standardised_as_in_python(look, small):
    page = look(small)
    cases = [
        (g, df, n) for g in (1e-5, 0.003, 0.2, 3.0) for df in (1, 2, 12, 400) for n in (50, 9e4)
    ]
    ours = page.evaluate("cases => cases.map(c => isinglass.oneParameterGain(...c))", cases)
    theirs = [float(one_parameter_gain(g, df, n)) for g, df, n in cases]
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-13)


def test_search(look, small):
    page = look(small)
    page.fill("#find", "c1")
    assert page.locator("#found li").all_inner_texts() == ["c1", "c10", "c11"]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert heading(page) == "c10"
    assert page.locator("#found").is_hidden()
    page.fill("#find", "nobody")
    assert page.locator("#found").is_hidden()


def test_click_a_dot(look, small):
    page = look(small)
    page.mouse.click(*place(page, 5))
    assert heading(page) == "c5"
    names = page.locator("#panel .rows").first.locator(".what bdi").all_inner_texts()
    assert sorted(names) == sorted(small.graph_.neighbors("c5"))
    assert page.locator("#step-column").input_value() == "5"
    page.locator("#panel .close").click()
    assert heading(page) == "Strongest links"


def test_click_a_line(look, small):
    page = look(small)
    link = max(small.graph_.links, key=lambda link: link.strength)
    (x1, y1), (x2, y2) = place(page, link.source), place(page, link.target)
    page.mouse.click((x1 + x2) / 2, (y1 + y2) / 2)
    a, b = small.graph_.names[link.source], small.graph_.names[link.target]
    assert heading(page) == f"{a} – {b}"
    facts = page.locator("#panel .facts").inner_text()
    assert f"{link.strength:.3f}" in facts
    assert f"{link.evidence:.1f}" in facts
    assert f"{link.log_odds:+.2f}".replace("-", "−") in facts
    table = link_tables(small.table_, small.graph_)[link.source, link.target]
    ratios = page.locator("#panel .odds .ratio").all_inner_texts()
    assert ratios == [f"×\u202f{ratio:.2f}" for ratio in (table.observed / table.expected).flat]
    rows = page.locator("#panel .odds .rows-of").all_inner_texts()
    assert [float(cell.split(" / ")[0]) for cell in rows] == table.observed.ravel().tolist()


SIX = ["never", "rarely", "sometimes", "often", "very often", "always"]


def six_states():
    """Two columns of six states; many combinations never occur, and one state is rare."""
    rng = np.random.default_rng(0)
    sleep = rng.integers(0, 6, 400)
    mood = np.clip(sleep + rng.integers(-1, 2, 400), 0, 4)
    mood[0] = 5
    kinds = pl.Enum(SIX)
    columns = {"sleep": sleep, "mood": mood}
    return pl.DataFrame(
        {name: pl.Series([SIX[i] for i in codes], dtype=kinds) for name, codes in columns.items()}
    )


@pytest.mark.parametrize("width", [1280, 800, 390])
def test_all_six_columns_of_a_table_are_in_sight(look, width):
    page = look(fitted(six_states()), viewport={"width": width, "height": 900})
    page.evaluate("isinglass.choose({kind: 'pair', a: 0, b: 1})")
    inner, outer = page.locator(".odds-frame").evaluate("box => [box.scrollWidth, box.clientWidth]")
    assert inner <= outer
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [1300, 1400])
def test_all_of_the_table_of_links_is_in_sight(look, width):
    """Long names, and a form of every edge: more than the measure of a line of text."""
    rng = np.random.default_rng(0)
    trait = rng.normal(size=800)
    names = [f"I was worried about situations in which I might panic, number {k}" for k in range(6)]
    columns = {
        name: np.clip(np.round(1.2 * trait + rng.normal(size=800) + 1.5), 0, 3).astype(int)
        for name in names
    }
    page = look(GreedyGraph().fit(pl.DataFrame(columns)), viewport={"width": width, "height": 900})
    frame = page.locator("#edge-table").locator("..")
    needed, there = frame.evaluate("frame => [frame.scrollWidth, frame.clientWidth]")
    assert needed <= there


def test_the_rows_behind_a_number_of_a_wide_table(look):
    est = fitted(six_states())
    page = look(est)
    page.evaluate("isinglass.choose({kind: 'pair', a: 0, b: 1})")
    page.locator(".odds tbody tr").nth(1).locator("td").nth(2).hover()
    table = link_tables(est.table_, est.graph_)[0, 1]
    assert page.locator(".pointed-at").inner_text() == (
        f"rarely with sometimes: {table.observed[1, 2]:.0f} rows observed, "
        f"{table.expected[1, 2]:.1f} expected."
    )


def test_no_ratio_where_the_rows_do_not_determine_it(look):
    est = fitted(six_states())
    page = look(est)
    page.evaluate("isinglass.choose({kind: 'pair', a: 0, b: 1})")
    table = link_tables(est.table_, est.graph_)[0, 1]
    ratios = page.locator("#panel .odds .ratio").all_inner_texts()
    assert [ratio == "" for ratio in ratios] == (table.expected < 1).ravel().tolist()
    assert 0 < ratios.count("") < 36
    assert ratios[5] == "", "sleep never, mood always"
    text = page.locator("#panel").inner_text()
    assert "No ratio where less than 1 row is expected: never with always" in text


def test_a_table_that_was_not_kept(look, small):
    record = replace(small.record(), link_tables={})
    page = look(record)
    link = small.graph_.links[0]
    page.evaluate("([a, b]) => isinglass.choose({kind: 'pair', a, b})", [link.source, link.target])
    assert "The table of this link was not kept" in page.locator("#panel").inner_text()


def test_a_crowd_begins_with_the_strongest_links(look, small, monkeypatch):
    monkeypatch.setattr(html, "CROWDED", 5)
    monkeypatch.setattr(html, "FIRST", 6)
    page = look(small)
    links = len(small.graph_)
    drawn = "isinglass.shown().edges.length"
    assert page.evaluate(drawn) == 6
    strongest = sorted((link.strength for link in small.graph_), reverse=True)[:6]
    assert page.evaluate("isinglass.shown().edges.map(e => e.strength)") == pytest.approx(
        strongest, rel=1e-5
    )
    assert f"the strongest 6 of {links} links" in page.locator("#drawn").inner_text()
    hidden = next(i for i in range(12) if i not in page.evaluate("isinglass.shown().nodes"))
    page.evaluate("i => isinglass.choose({kind: 'node', a: i})", hidden)
    assert hidden in page.evaluate("isinglass.shown().nodes"), "what is picked is drawn"
    page.evaluate("isinglass.choose(null)")
    page.get_by_role("button", name=f"Draw all {links} links").click()
    assert page.evaluate(drawn) == links
    first = page.locator("#scope option").nth(2)
    page.locator("#scope").select_option(first.get_attribute("value"))
    group, columns, inside = re.findall(r"\d+", first.inner_text())
    assert page.evaluate(drawn) == int(inside)
    assert page.evaluate("isinglass.shown().nodes.length") == int(columns)
    assert f"group {group}" in page.locator("#drawn").inner_text()
    assert len(edges_shown(page)) == links, "the table has them all"


def test_a_small_graph_is_drawn_whole(look, small):
    page = look(small)
    assert page.locator("#scope-box").is_hidden()
    assert page.evaluate("isinglass.shown().edges.length") == len(small.graph_)


def test_ask_about_a_pair_without_a_link(look, small):
    page = look(small)
    assert ("c0", "c11") not in small.graph_.edges
    page.mouse.click(*place(page, 0))
    page.keyboard.down("Shift")
    page.mouse.click(*place(page, 11))
    page.keyboard.up("Shift")
    assert heading(page) == "c0 and c11"
    text = page.locator("#panel").inner_text()
    assert "No link at this threshold" in text
    assert "With nothing held" in text
    page.locator("#panel .rows button").first.click()
    page.locator("#panel .compare input").fill("c11")
    page.keyboard.press("Enter")
    assert heading(page) == "c0 and c11"


def test_sentences_and_shares_from_elsewhere(look, small):
    link = small.graph_.links[0]
    a, b = small.graph_.names[link.source], small.graph_.names[link.target]
    summary = summarise(
        small,
        frequencies={(b, a): 0.875},
        measures=pl.DataFrame({"name": [a], "predictability": [0.25]}),
        explanations={(a, b): "because <b>so</b>"},
        verdicts=pl.DataFrame(
            {
                "verdict": ["cannot tell"] * 66,
                "odds_ratio": [1.5] * 65 + [float("inf")],
                "rows_needed": [4200.0] * 65 + [float("nan")],
            }
        ),
    )
    page = look(small, summary=summary)
    page.evaluate("([a, b]) => isinglass.choose({kind: 'pair', a, b})", [link.source, link.target])
    text = page.locator("#panel").inner_text()
    assert "88 % choose it" in text
    assert "because <b>so</b>" in text
    page.evaluate("isinglass.choose({kind: 'pair', a: 0, b: 11})")
    text = page.locator("#panel").inner_text()
    assert "Too few rows to tell. A link with an odds ratio above 1.5 would" in text
    assert "About 4,200 rows would settle it." in text
    assert "Half-samples" in page.locator("#edge-table thead").inner_text()
    assert "Predictability" in page.locator("#node-table thead").inner_text()


def test_drag_and_zoom(look, small):
    page = look(small)
    x, y = place(page, 3)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 30, steps=4)
    page.mouse.up()
    assert place(page, 3) == pytest.approx((x + 60, y + 30), abs=1)
    before = np.subtract(place(page, 0), place(page, 1))
    page.get_by_label("Zoom in").click()
    after = np.subtract(place(page, 0), place(page, 1))
    assert np.hypot(*after) == pytest.approx(1.25 * np.hypot(*before), rel=1e-6)


def test_sort_and_filter(look, small):
    page = look(small)
    strengths = [float(cells[0]) for cells in edges_shown(page).values()]
    assert strengths == sorted(strengths, reverse=True)
    page.locator("#edge-table th button", has_text=re.compile("^Evidence")).click()
    assert page.locator("#edge-table th[aria-sort]").inner_text().startswith("Evidence")
    page.locator("#edge-table th button", has_text=re.compile("^Evidence")).click()
    evidence = [float(cells[4]) for cells in edges_shown(page).values()]
    assert evidence == sorted(evidence)
    page.fill("#edge-filter", "c10")
    assert sorted(edges_shown(page)) == sorted(e for e in small.graph_.edges if "c10" in e)


def test_download(look, small):
    page = look(small)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download as CSV").click()
    assert waiting.value.suggested_filename == "edges.csv"
    rows = list(csv.DictReader(io.StringIO(waiting.value.path().read_text())))
    frame = small.graph_.to_frame("polars")
    assert [(row["source"], row["target"]) for row in rows] == small.graph_.edges
    assert [float(row["strength"]) for row in rows] == pytest.approx(
        frame["strength"].to_list(), rel=1e-5
    )
    assert [row["selected_by"] for row in rows] == frame["selected_by"].to_list()


def test_by_keyboard_alone(look, small):
    page = look(small)
    for _ in range(40):  # to the search box, past the links at the top
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "find":
            break
    page.keyboard.type("c5")
    page.keyboard.press("Enter")
    assert heading(page) == "c5"
    reached = []
    for _ in range(12):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate("document.activeElement.id || document.activeElement.className")
        )
        if reached[-1] == "slider":
            break
    assert "canvas" in reached
    assert reached[-1] == "slider"
    before = page.locator("#readout").inner_text()
    page.keyboard.press("Home")
    assert page.locator("#readout b").inner_text() == "0 links"
    page.keyboard.press("End")
    assert page.locator("#readout").inner_text() != before
    assert "links at threshold" in page.locator("#slider").get_attribute("aria-valuetext")
    page.locator("#canvas").focus()
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    assert heading(page) == "c0"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert " – " in heading(page)
    assert page.locator("#say").inner_text() != ""


def test_labels_that_attack_are_text(look):
    est = fitted(hostile())
    summary = summarise(est, title=HOSTILE[0])
    page = look(est, summary=summary)
    assert page.evaluate("window.hurt") is None
    assert page.evaluate("isinglass.data.names") == list(HOSTILE)
    assert page.locator("#title").inner_text() == HOSTILE[0]
    assert page.evaluate("document.querySelectorAll('img, iframe, main script').length") == 0
    for i in range(len(HOSTILE)):
        page.evaluate("i => isinglass.choose({kind: 'node', a: i})", i)
        page.evaluate("i => i && isinglass.choose({kind: 'pair', a: i - 1, b: i})", i)
    assert page.evaluate("window.hurt") is None
    shown = page.locator("#edge-table tbody td bdi").all_text_contents()
    assert HOSTILE[1] in shown
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert {("n" * 79 + "…"), "(blank)"} <= set(page.locator("#node-table bdi").all_text_contents())


def test_a_table_without_links_or_with_one_column(look):
    rng = np.random.default_rng(0)
    page = look(
        fitted(binary().with_columns(**{n: rng.integers(0, 2, 700) for n in binary().columns}))
    )
    assert page.locator("#panel h3").inner_text() == "Strongest links"
    one = look(GreedyGraph().fit(rng.integers(0, 2, (30, 1))))
    assert one.locator("#readout b").inner_text() == "0 links"


def test_dark_phone_and_print(look, small):
    dark = look(small, color_scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    assert dark.evaluate(background) == "rgb(20, 23, 26)"
    phone = look(small, viewport={"width": 390, "height": 800})
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    panel = phone.locator("#panel").bounding_box()
    assert panel["y"] > phone.locator("#canvas").bounding_box()["y"]
    phone.emulate_media(media="print")
    assert phone.evaluate(background) == "rgb(255, 255, 255)"
    assert phone.locator("nav").is_hidden()


def test_small_cells_are_hidden(look):
    table = binary().with_columns(rare=np.r_[np.ones(3, int), np.zeros(697, int)])
    est = fitted(table)
    summary = summarise(est, suppress=5)
    page = look(est, summary=summary)
    row = page.locator("#node-table tr", has_text="rare").inner_text()
    assert "(hidden) 0 to 5 %" in row
    for section in ("#threshold", "#search-steps"):
        assert page.locator(section).is_hidden()
    assert len(edges_shown(page)) == len(summary["edges"]) > 0
    page.evaluate("isinglass.choose({kind: 'pair', a: 0, b: 12})")
    assert "No link is shown." in page.locator("#panel").inner_text()
    edge = page.evaluate("isinglass.state.graph.edges[0]")
    page.evaluate("edge => isinglass.choose({kind: 'pair', a: edge.a, b: edge.b})", edge)
    assert "rounded to one digit" in page.locator("#panel").inner_text()
    page.evaluate("isinglass.choose({kind: 'node', a: 12})")
    assert "95 to 100 %" in page.locator("#panel").inner_text()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download as CSV").click()
    assert waiting.value.path().read_text().splitlines()[0] == "source,target,strength,sign"


@pytest.mark.long
def test_five_hundred_columns_are_drawn(look):
    field = simulate.ising(simulate.random_regular(500, 3, seed=1), coupling=0.5, seed=1)
    page = look(GreedyGraph().fit(field.sample(1500, seed=1)))
    milliseconds = page.evaluate(
        "() => { const start = performance.now(); for (let k = 0; k < 20; k += 1) isinglass.draw();"
        " return (performance.now() - start) / 20; }"
    )
    print(f"{milliseconds:.1f} ms a picture")
    assert len(edges_shown(page)) == 100


def test_a_record_of_the_first_schema(look, small, tmp_path):
    record = first_schema(small, tmp_path / "old.json")
    page = look(record)
    shown = edges_shown(page)
    assert sorted(shown) == sorted(small.graph_.edges)
    assert {cells[0] for cells in shown.values()} == {""}  # its strength was of another kind
    set_slider(page, len(page.evaluate("isinglass.data.stops")) - 1)
    assert sorted(edges_shown(page)) == sorted(small.at(small.floor_).edges)
    page.evaluate("isinglass.choose({kind: 'pair', a: 0, b: 11})")


def saved(page, button) -> bytes:
    with page.expect_download() as download:
        page.click(button)
    with open(download.value.path(), "rb") as file:
        return file.read()


def test_the_picture_is_saved_as_it_is(look, small):
    page = look(small)
    picture = saved(page, "#save-svg").decode()
    lines = re.findall(r'<path [^>]*stroke="', picture)
    assert len(lines) == len(small.graph_)
    assert picture.count("<circle") == 3 * len(small.graph_.names)
    set_slider(page, 0)
    assert len(re.findall(r'<path [^>]*stroke="', saved(page, "#save-svg").decode())) < len(lines)
    image = saved(page, "#save-png")
    box = page.locator("#canvas").bounding_box()
    assert image[1:4] == b"PNG"
    assert int.from_bytes(image[16:20], "big") == pytest.approx(3 * box["width"], abs=3)


def test_a_saved_picture_holds_hostile_names_as_text(look):
    page = look(fitted(hostile()))
    from xml.etree import ElementTree

    root = ElementTree.fromstring(saved(page, "#save-svg"))
    kinds = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert kinds <= {"svg", "rect", "path", "circle", "text"}


def test_labels_of_columns_are_shown_and_only_text(look, small):
    labels = {small.graph_.names[0]: "Do you <b>smoke</b>?", small.graph_.names[1]: "Do you cough?"}
    page = look(small, summary=summarise(small, title="t", column_labels=labels))
    assert "Do you <b>smoke</b>?" in page.locator("#node-table").inner_text()
    page.get_by_role("button", name=small.graph_.names[0], exact=True).first.click()
    assert page.locator("#panel .about").inner_text() == "Do you <b>smoke</b>?"
    page.fill("#edge-filter", "cough?")
    assert page.locator("#edge-table tbody tr").count() >= 1


def test_links_say_how_much_of_their_information_is_lost(look):
    est = GreedyGraph(missing="model").fit(with_missing())
    page = look(est)
    heads = page.locator("#edge-table th").all_inner_texts()
    at = next(k for k, head in enumerate(heads) if head.startswith("Information lost"))
    lost = {
        edge: est.filled_.information.lost[pair]
        for edge, pair in zip(est.graph_.edges, est.graph_.pairs, strict=True)
    }
    shown = {edge: float(cells[at - 2].split()[0]) for edge, cells in edges_shown(page).items()}
    assert shown == pytest.approx({e: 100 * share for e, share in lost.items()}, abs=0.51)
    assert page.locator("#settings-list").inner_text().count(" filled, of ") == 1
    page.locator("#edge-table tbody button").first.click()
    assert "Information lost" in page.locator(".panel-inner").inner_text()


def test_groups_that_somebody_made_colour_the_dots(look, small):
    groups = [("<b>mood", ["c0", "c1"], "#d55e00"), ("rest", ["c2"], None)]
    page = look(small, summary=summarise(small, groups=groups))
    legend = page.locator("#legend")
    assert "<b>mood" in legend.inner_text()
    assert legend.locator("circle").first.get_attribute("fill") == "#d55e00"
    heads = page.locator("#node-table th").all_inner_texts()
    at = [head.strip(" ↑↓") for head in heads].index("Group")
    cells = page.locator("#node-table tbody tr").evaluate_all(
        """(rows, at) => Object.fromEntries(rows.map(
            row => [row.cells[0], row.cells[at]].map(cell => cell.innerText.trim())))""",
        at,
    )
    assert [cells[name] for name in ("c0", "c1", "c2", "c3")] == ["<b>mood", "<b>mood", "rest", ""]
    with page.expect_download() as saved:
        page.click("#save-svg")
    assert saved.value.path().read_text().count('fill="#d55e00"') == 2
