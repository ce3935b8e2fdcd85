"""The page in a real browser: loads clean, fits a phone, works by keyboard, renews itself in place."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import boards
import msgspec
import pytest
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright
from probes import WELL

from monitor.readings import Reading
from streams.http import HttpServer
from streams.scraping import Published

pytestmark = pytest.mark.browser
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
expect.set_options(timeout=20_000)  # a refresh that a busy machine missed comes again after 5 s
ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


class Stream:
    """Stands for the stream: one record, swapped in whole."""

    def __init__(self) -> None:
        self.published: Published = (boards.busy_board(), boards.worker())

    def __call__(self) -> Published:
        """Return what was published last."""
        return self.published

    def change(self, found: int) -> None:
        """Let PERSON/en have found so many of 204, and its alarm be off."""
        board = boards.busy_board()
        readings = tuple(self._changed(r, found) for r in board.readings)
        self.published = (msgspec.structs.replace(board, readings=readings), boards.worker())

    @staticmethod
    def _changed(r: Reading, found: int) -> Reading:
        is_it = (r.entity, r.language, r.version, r.stratum, r.window.days) == ("PERSON", "en", "2", None, 7)
        if not is_it:
            return r
        return msgspec.structs.replace(r, matched=boards.share(found, 204), alarm=boards.alarm())


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start the system's Chromium."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on PATH (Debian, Ubuntu: apt-get install chromium)")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield running
        running.close()


@pytest.fixture
def stream() -> Stream:
    """Return a busy board's stream."""
    return Stream()


@pytest.fixture
def server(stream: Stream) -> Iterator[HttpServer]:
    """Serve it, at the moment of its readings."""
    running = HttpServer("127.0.0.1", 0, stream, WELL, now=lambda: boards.NOW)
    running.start()
    yield running
    running.stop()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Return an empty tab whose clock the test turns."""
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.clock.install()
    yield tab
    tab.close()


def row(page: Page, entity: str, language: str) -> str:
    """Return the selector of a cell's row."""
    place = page.locator("tbody[id]").filter(has_text=f"{entity} {language}").first
    return f"#{place.get_attribute('id')}"


def test_the_page_loads_without_an_error_and_asks_no_other_host(page: Page, server: HttpServer) -> None:
    """Style and script are let in by their digests, nothing else is."""
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(server.url)
    page.clock.run_for(5_000)
    expect(page.locator("h1")).to_contain_text("5 of 21 cells need you")
    assert said == []
    assert [url for url in asked if not url.startswith((server.url, "data:"))] == []


@pytest.mark.parametrize("width", [320, 360, 768, 1060, 1280])
def test_the_page_never_scrolls_sideways(page: Page, server: HttpServer, width: int) -> None:
    """Not on a phone either, with every detail open."""
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(server.url)
    page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_long_names_do_not_widen_the_page(page: Page, stream: Stream, server: HttpServer) -> None:
    """An entity's name is a producer's choice."""
    long = boards.reading("N" * 300, "en", target=0.9)
    stream.published = (msgspec.structs.replace(boards.busy_board(), readings=(long,)), boards.worker())
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto(server.url)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_row_is_opened_by_keyboard(page: Page, server: HttpServer) -> None:
    """Tab gets there, Enter opens, and the strata are seen."""
    page.goto(server.url)
    detail = page.locator(row(page, "PERSON", "en")).locator(".more")
    expect(detail).to_be_hidden()
    for _ in range(6):  # three fields, a button, the roll-up of all, PERSON/en
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(detail).to_be_visible()
    expect(detail).to_contain_text("net and detector")


def test_new_numbers_are_swapped_in_and_the_reader_stays_where_they_were(
    page: Page, stream: Stream, server: HttpServer
) -> None:
    """Open details and focus survive, and a row that moves takes its reader along."""
    page.set_viewport_size({"width": 1280, "height": 500})
    page.goto(server.url)
    place = row(page, "PERSON", "en")
    summary = page.locator(f"{place} summary")
    summary.click()
    summary.focus()
    page.evaluate("scrollTo(0, 150)")
    top = page.evaluate("document.activeElement.getBoundingClientRect().top")
    expect(page.locator(place)).to_contain_text("118 / 204")
    stream.change(found=203)
    page.clock.run_for(5_000)
    expect(page.locator(place)).to_contain_text("203 / 204")
    expect(page.locator(place)).to_contain_text("on target")
    expect(page.locator(f"{place} .more")).to_be_visible()
    expect(summary).to_be_focused()
    assert page.evaluate("document.activeElement.getBoundingClientRect().top") == pytest.approx(top, abs=2)
    assert page.title() == "4 of 21 need you – recallwatch"


def test_a_refresh_leaves_the_scroll_alone(page: Page, stream: Stream, server: HttpServer) -> None:
    """Who only reads isn't moved, whatever the rows do."""
    page.set_viewport_size({"width": 1280, "height": 500})
    page.goto(server.url)
    page.evaluate("scrollTo(0, 300)")
    stream.change(found=203)
    page.clock.run_for(5_000)
    expect(page.locator("main")).to_contain_text("203 / 204")
    assert page.evaluate("scrollY") == 300


def test_rows_after_many_refreshes_are_those_of_a_fresh_page(page: Page, stream: Stream, server: HttpServer) -> None:
    """Swapping in place ends where loading anew would."""
    page.goto(server.url)
    for found in (203, 20, 190):
        stream.change(found)
        page.clock.run_for(5_000)
        expect(page.locator("main")).to_contain_text(f"{found} / 204")
    parts = "['top', 'main', 'below'].map((id) => document.getElementById(id).outerHTML)"
    swapped = page.evaluate(parts)
    page.goto(server.url)
    assert page.evaluate(parts) == swapped


def test_a_filter_in_use_survives_a_refresh(page: Page, stream: Stream, server: HttpServer) -> None:
    """What the reader has chosen and not yet sent stays chosen."""
    page.goto(server.url)
    page.select_option("select[name=language]", "es")
    stream.change(found=203)
    page.clock.run_for(5_000)
    expect(page.locator("main")).to_contain_text("203 / 204")
    assert page.input_value("select[name=language]") == "es"
    page.click("button")
    expect(page.locator("tbody[id]")).to_have_count(5)


def test_a_worker_that_is_gone_is_said_and_so_is_its_return(page: Page, server: HttpServer) -> None:
    """The last numbers stay, greyed, with how long nobody answered; title and icon know."""
    page.goto(server.url)

    def refuse(route: Route) -> None:
        route.abort()

    page.route("**/*", refuse)
    page.clock.run_for(10_000)
    expect(page.locator("#gone")).to_contain_text("hasn't answered for")
    assert page.title() == "no answer – recallwatch"
    page.unroute("**/*", refuse)
    page.clock.run_for(10_000)
    expect(page.locator("#gone")).to_be_hidden()
    expect(page).to_have_title("1 alarm, 5 of 21 need you – recallwatch")


@pytest.mark.parametrize(("scheme", "background"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(21, 22, 23)")])
def test_light_and_dark_follow_the_reader(browser: Browser, server: HttpServer, scheme: str, background: str) -> None:
    """By the reader's own setting."""
    tab = browser.new_page(color_scheme="dark" if scheme == "dark" else "light")
    tab.goto(server.url)
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == background
    tab.close()
