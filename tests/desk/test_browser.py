"""The desk in a real browser: from a file to a report, and all that can go wrong on the way."""

import base64
import re

import polars as pl
import pytest

from desk.conftest import answers
from desk.test_tables import wide
from report.pages import HOSTILE, chromium
from selections import mostly_long

pytestmark = pytest.mark.skipif(chromium() is None, reason="there is no Chromium here")
#: Milliseconds; a busy machine imports slowly.
PATIENCE = 120_000


@pytest.fixture(scope="module")
def browser():
    pytest.importorskip("playwright", reason="playwright is not installed here")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def tab(browser, desk):
    """Opens the desk in tabs; at the end nothing may have gone wrong or gone out."""
    contexts, wrong = [], []

    def open_tab(**options):
        context = browser.new_context(**({"viewport": {"width": 1300, "height": 900}} | options))
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda asked: wrong.append(asked.url) if foreign(asked) else None)
        page.goto(desk.address)
        return page

    def foreign(asked):
        return not asked.url.startswith((desk.address, "blob:", "data:"))

    yield open_tab
    for context in contexts:
        for page in context.pages:
            if page.locator("#table").is_visible():
                page.click("#other")
                page.wait_for_selector("#choose:not([hidden])")
        context.close()
    assert wrong == []
    assert desk.kept() == []
    assert desk.jobs() == []


def drop(page, path):
    """Drop a file on the page, as somebody does who drags it there."""
    handle = page.evaluate_handle(
        """async ([name, content]) => {
            const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
            const data = new DataTransfer();
            data.items.add(new File([bytes], name));
            return data;
        }""",
        [path.name, base64.b64encode(path.read_bytes()).decode()],
    )
    page.dispatch_event("#drop", "drop", {"dataTransfer": handle})
    return seen(page, "#table")


def seen(page, what):
    """Wait until a part of the page is there, or the sentence that says why it is not."""
    page.wait_for_selector(f"{what}:not([hidden]), #wrong:not([hidden])")
    return page.locator("#wrong").inner_text()


def learn(page):
    page.click("#learn")
    return seen(page, "#result")


def links(page):
    rows = page.locator("#links tbody tr").all()
    return {tuple(row.locator("td").all_inner_texts()[:2]) for row in rows}


def of(page, what, name):
    return page.get_by_label(f"{what} of {name}", exact=True)


def test_a_csv_from_drop_to_report(tab, survey):
    page = tab()
    assert drop(page, survey) == ""
    assert page.locator("#title").inner_text() == "survey.csv"
    assert of(page, "Use", "person").input_value() == "drop"
    assert of(page, "Bins", "age").input_value() == "4"
    assert of(page, "Codes for missing values", "coughs").input_value() == "9"
    assert learn(page) == ""
    assert links(page) == {("coughs", "tired"), ("smokes", "coughs")}
    assert page.locator("#links-found").inner_text().startswith("2 links among 6 pairs")
    report = page.frame_locator("#report")
    assert "2 direct links" in report.locator("#lead").inner_text()
    assert "We estimated" in page.locator("#methods-text").inner_text()
    assert page.locator("#command").inner_text().startswith("isinglass fit survey.csv --settings")
    with page.expect_download() as saved:
        page.click("#files a:text-is('edges.csv')")
    table = pl.read_csv(saved.value.path())
    assert set(zip(table["source"], table["target"], strict=True)) >= {("smokes", "coughs")}
    with page.expect_download() as saved:
        page.click("#all")
    assert saved.value.suggested_filename == "survey.zip"
    page.reload()
    assert seen(page, "#result") == ""
    assert of(page, "Use", "person").input_value() == "drop"
    assert links(page) == {("coughs", "tired"), ("smokes", "coughs")}


def write_sav(path):
    pyreadstat = pytest.importorskip("pyreadstat")
    yes = {0.0: "no", 1.0: "yes"}
    table = answers().select(
        (pl.col("smokes") == "yes").cast(float).alias("smokes"),
        pl.col("coughs").cast(float),
        (pl.col("tired") == "often").cast(float).alias("tired"),
    )
    pyreadstat.write_sav(
        table,
        path,
        column_labels={"tired": "<script>window.hurt = 1</script>"},
        variable_value_labels={
            "smokes": yes,
            "coughs": yes | {9.0: "refused"},
            "tired": {0.0: "never", 1.0: '"><img src=x onerror="window.hurt = 2">'},
        },
        missing_ranges={"coughs": [9.0]},
    )
    return path


def test_a_sav_with_a_hostile_label_and_changed_options(tab, tmp_path):
    page = tab()
    assert drop(page, write_sav(tmp_path / "answers.sav")) == ""
    assert "<script>window.hurt" in page.locator("#columns").inner_text()
    of(page, "Use", "smokes").select_option("drop")
    of(page, "Group", "coughs").fill("body")
    of(page, "Group", "tired").fill("mind <b>")
    assert page.locator("#group-colours label").count() == 2
    page.get_by_label("A link is kept if").select_option("and")
    page.get_by_label("Missing values", exact=True).select_option("state")
    assert learn(page) == ""
    assert links(page) == {("coughs", "tired")}
    assert "(AND)" in page.locator("#methods-text").inner_text()
    assert "rule='and'" in page.locator("#python").inner_text()
    page.frame_locator("#report").locator("#lead").wait_for()
    for frame in page.frames:
        assert frame.evaluate("window.hurt") is None


def test_names_that_attack_the_page(tab, tmp_path):
    names = [name for name in HOSTILE if "\0" not in name]  # no text file may hold that
    table = pl.DataFrame({name: ["<b>", "</td>", "<b>", None] * 10 for name in names})
    table.write_csv(tmp_path / "<img src=x onerror=alert(1)>.csv")
    page = tab()
    assert drop(page, tmp_path / "<img src=x onerror=alert(1)>.csv") == ""
    assert page.locator("#columns tbody tr").count() == len(names)
    assert page.evaluate("window.hurt") is None
    assert page.locator("#columns b, #columns img, #title img").count() == 0


def test_a_broken_file_and_a_large_one(tab, tmp_path):
    page = tab()
    broken = tmp_path / "broken.sav"
    broken.write_bytes(b"$FL2 but no more")
    said = drop(page, broken)
    assert "broken.sav" in said
    assert str(tmp_path) not in said
    assert page.locator("#choose").is_visible()
    page.evaluate("document.body.dataset.most = 3")
    assert "larger than 500 MB" in drop(page, broken)
    page.evaluate("document.body.dataset.most = 5e8")


def test_a_table_that_is_refused_can_be_mended(tab, survey):
    page = tab()
    drop(page, survey)
    of(page, "Use", "person").select_option("keep")
    assert "person" in learn(page)
    of(page, "Kind", "person").select_option("bins")
    of(page, "Bins", "person").fill("100; 200; 300")
    of(page, "Kind", "tired").select_option("ordered")
    page.get_by_label("Move often up").click()
    assert learn(page) == ""
    assert "'person': [100, 200, 300]" in page.locator("#python").inner_text()
    assert links(page) == {("coughs", "tired"), ("smokes", "coughs")}


@pytest.mark.long
def test_stopped_half_way_while_another_tab_works(tab, desk, tmp_path, survey):
    slow, quick = tab(), tab()
    assert drop(slow, wide(tmp_path / "wide.csv")) == ""
    slow.get_by_label("What could have been found").check()
    slow.click("#learn")
    while not slow.locator("#bar").evaluate("bar => bar.value > 0"):
        slow.wait_for_timeout(50)
    assert re.search(r"left for this step, \d+ s so far", slow.locator("#left").inner_text())
    assert drop(quick, survey) == ""
    assert slow.locator("#work").is_visible()
    slow.click("#stop")
    slow.wait_for_selector("#wrong:not([hidden])")
    assert slow.locator("#wrong").inner_text().startswith("Stopped. Nothing was kept")
    assert desk.jobs() == []
    assert quick.locator("#columns tbody tr").count() == 5
    assert quick.locator("#wrong").is_hidden()


@pytest.mark.long
def test_the_keyboard_alone(tab, survey):
    page, choosers = tab(), []
    page.on("filechooser", lambda chooser: choosers.insert(0, chooser))
    page.wait_for_timeout(500)  # the browser hears of this listener a little later
    while page.evaluate("document.activeElement.id") != "choose-button":
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    while not choosers:
        page.wait_for_timeout(50)
    choosers[0].set_files(survey)
    assert seen(page, "#table") == ""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('aria-label')") == "Use of age":
            page.keyboard.press("l")  # leave it out
        if page.evaluate("document.activeElement.id") == "learn":
            break
    page.keyboard.press("Enter")
    assert seen(page, "#result") == ""
    assert page.evaluate("document.activeElement.id") == "result-title"
    assert "['person', 'age']" in page.locator("#python").inner_text()


@pytest.mark.parametrize(
    "look",
    mostly_long([{"viewport": {"width": 390, "height": 844}}, {}, {"color_scheme": "dark"}], 1),
    ids=["phone", "light", "dark"],
)
def test_nothing_sticks_out(tab, survey, look):
    page = tab(**look)
    drop(page, survey)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
