"""The sign-off in a real browser: nothing is clipped on A4, nobody is asked for anything, it is black on white."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from boards import busy_board, reading, strata
from playwright.sync_api import Browser, Page, sync_playwright

from monitor.config import Config
from monitor.in_force import own_rules
from monitor.report import Made
from streams.report_command import composed, write

pytestmark = pytest.mark.browser
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PRINTED_PX = 688
"""A4's width less the margins, 182 mm at 96 dots an inch."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start the system's Chromium."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on PATH (Debian, Ubuntu: apt-get install chromium)")
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield running
        running.close()


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    """Open a busy board's report in a dark browser, as wide as a printed page."""
    html, _ = write(tmp_path, composed(busy_board(), own_rules(Config()), Made("1.2.3", "2026-09-21", "live"), 7))
    tab = browser.new_page(viewport={"width": PRINTED_PX, "height": 900}, color_scheme="dark")
    tab.goto(html.as_uri())
    yield tab
    tab.close()


def pages_of(page: Page) -> int:
    """Return how many pages a page prints as."""
    pdf = page.pdf(prefer_css_page_size=True)
    return pdf.count(b"/Type /Page\n") or pdf.count(b"/Type /Page ") or pdf.count(b"/Type/Page/")


def test_nothing_is_wider_than_a_printed_page(page: Page) -> None:
    """No table, no hash, no name runs off the paper."""
    page.emulate_media(media="print")
    wide = page.evaluate(
        """limit => [...document.querySelectorAll('body *')]
        .filter(e => e.getBoundingClientRect().right > limit + 1).map(e => e.outerHTML.slice(0, 80))""",
        PRINTED_PX,
    )
    assert wide == []


def test_it_prints_in_pages(page: Page) -> None:
    """Chromium's own PDF: several pages, not a page for each line."""
    assert 4 <= pages_of(page) <= 20


def test_a_board_of_ninety_cells_prints_in_a_few_pages(browser: Browser, tmp_path: Path) -> None:
    """As many as somebody reads before signing: what wasn't asked for is a row, an earlier version is one."""
    spoken = ("any", "en", "nl", "es", "fr", "de")
    now = [
        reading(f"ENTITY_{n}", language, 40, 50 + n, target=0.8 if n < 2 else None)
        for n in range(8)
        for language in spoken
    ]
    before = [msgspec.structs.replace(r, version="1") for r in now]
    parts = [row for n in range(8) for language in spoken for row in strata(f"ENTITY_{n}", language, 40, 50)]
    board = msgspec.structs.replace(busy_board(), readings=(*now, *before, *parts))
    rules = own_rules(Config())
    html, _ = write(tmp_path, composed(board, rules, Made("1.2.3", "2026-09-21", "live"), 7))
    tab = browser.new_page()
    tab.goto(html.as_uri())
    pages = pages_of(tab)
    tab.close()
    assert 5 <= pages <= 20


def test_it_is_black_on_white_and_asks_nobody(page: Page) -> None:
    """Whatever the reader's setting: it's paper."""
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.reload()
    body = "getComputedStyle(document.body)"
    assert page.evaluate(f"{body}.color") == "rgb(0, 0, 0)"
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    assert [url for url in asked if not url.startswith(page.url)] == []
    assert said == []


def test_its_style_is_let_in(page: Page) -> None:
    """By its digest: without it the page would be bare."""
    size = page.evaluate("parseFloat(getComputedStyle(document.querySelector('.lead')).fontSize)")
    assert json.dumps(size) == "15.3333"
