"""`recallwatch report`: two files that anybody can read and check, sentences that can be signed, reasons where not."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from boards import busy_board, quiet_board, reading, share
from commands import CENSUS, MAILED, TEXT, files, replay, run
from live_board import published
from workers import Fleet

from monitor.config import Config
from monitor.readings import Agreement, BoardSnapshot, Certified, Pending, Reading, Share
from monitor.report import Made, Statement
from streams.report import render, state
from streams.report_command import composed, verified, write

MADE = Made("1.2.3", "2026-09-21", "live")
ASKED = Config().readings


def document(snapshot: BoardSnapshot) -> dict[str, Any]:
    """Return the sealed document of a board's week."""
    return composed(snapshot, Config(), MADE, 7)


def page(snapshot: BoardSnapshot) -> str:
    """Return the page of a board's week."""
    return render(json.loads(json.dumps(document(snapshot))))


def said(reading: Reading) -> Statement:
    """Return a cell's statement."""
    return state(reading, ASKED)


# sentences


def test_a_good_reading_is_a_sentence_with_its_counts_and_limits() -> None:
    """What is counted and what is estimated are told apart."""
    matched = share(402, 560)
    statement = said(reading("PERSON", "es", 402, 560, matched=matched))
    assert statement.signable
    assert statement.text == (
        "Of 560 occurrences that people found in 412 documents they read, presidio 2 found 402; with 95 % confidence, "
        f"recall over all 48,210 documents was between {matched.lower:.3f} and {matched.upper:.3f} "
        f"(estimate {matched.estimate:.3f})."
    )


@pytest.mark.parametrize(
    ("target", "ends"),
    [
        (0.95, "The target of 0.950 was missed."),
        (0.4, "The target of 0.400 was met."),
        (0.7, "The target of 0.700 is shown neither to be met nor to be missed."),
        (None, ")."),
    ],
)
def test_the_sentence_says_how_the_interval_stands_to_the_target(target: float | None, ends: str) -> None:
    """An interval that holds the target proves nothing either way."""
    assert said(reading("PERSON", "es", 402, 560, target=target)).text.endswith(ends)


LITTLE = Agreement(80, 30, kappa=0.41)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (reading("A", "en", 0, 0, status="no_label", labelled=0), "none of the 12 drawn documents is labelled"),
        (
            reading("A", "en", 0, 0, status="no_truth", matched=Share(0, 0, reason="no_truth")),
            "412 documents were read, and none holds it: there was nothing to find",
        ),
        (
            reading("A", "en", 3, 5, status="no_interval", matched=Share(3, 5, reason="unflagged_unlabelled")),
            "there is no interval: no document that nobody flagged is labelled, so what they hold is unknown",
        ),
        (reading("A", "en", status="expired"), "what is labelled is older than the window of 7 days"),
        (
            reading("A", "en", status="stale", age_s=900_000.0),
            "no label came for more than 3 days; the newest labelled document is 10 d old",
        ),
        (
            reading("A", "en", status="incomplete", completeness=0.39),
            (
                "only 39 % of the drawn documents are labelled, 50 % are asked for; labels of misses come later than "
                "those of hits, so what is in reads high"
            ),
        ),
        (
            msgspec.structs.replace(reading("A", "en", status="greyed"), agreement=LITTLE),
            "two people who read the same documents agree too little on what it is (κ 0.41)",
        ),
    ],
)
def test_what_can_not_be_signed_says_why(given: Reading, why: str) -> None:
    """Each status in plain words."""
    statement = said(given)
    assert (statement.signable, statement.why_not) == (False, why)


def test_without_an_interval_the_certified_bound_still_speaks() -> None:
    """It holds where no miss was seen."""
    sure = Certified(0.871, 38, 0, 702, 104)
    given = reading(
        "A", "en", status="no_interval", matched=Share(38, 38, 1.0, reason="unflagged_unlabelled"), certified=sure
    )
    assert "in at least 0.871 of the documents with it, every occurrence was found" in said(given).text


def test_a_mark_and_what_is_pending_are_noted() -> None:
    """A marked number is signed with the mark beside it."""
    marked = msgspec.structs.replace(
        reading("A", "en", status="marked"), agreement=Agreement(80, 30, kappa=0.71), pending=Pending(26, 0.7, 0.9)
    )
    statement = said(marked)
    assert statement.signable
    assert statement.notes == (
        "Two people who read the same documents agree only in part on what it is (κ 0.71).",
        (
            "26 drawn documents have no label yet: if all that is in them was missed, the estimate would be 0.700; "
            "if found, 0.900."
        ),
    )


# the page


def test_the_page_opens_with_what_can_be_signed_and_then_what_can_not() -> None:
    """Every current cell has a statement, in the one list or in the other."""
    text = page(busy_board())
    told = [s for s in document(busy_board())["report"]["cells"] if s["current"]]
    signed = sum(cell["statement"]["signable"] for cell in told)
    assert f"{signed} of {len(told)} statements can be signed" in text
    before, _, after = text.partition("What can't be signed, and why")
    assert before.count('<div class="statement">') == signed
    assert after.count('<div class="statement not">') == len(told) - signed - 1  # nobody asked for PASSPORT
    assert "PASSPORT, fr" in after


def test_the_page_asks_no_other_host_and_runs_nothing() -> None:
    """Self-contained: no script, no address, a policy that allows its own style alone."""
    text = page(busy_board())
    assert re.findall(r"<script|<link|<img|src=|href=|https?://|@import|url\(", text) == []
    assert "default-src 'none'; style-src 'sha256-" in html.unescape(text)


def test_names_from_outside_stay_text() -> None:
    """An entity's name is a producer's choice."""
    hostile = reading("<script>alert(1)</script>", "en", target=0.9)
    text = page(msgspec.structs.replace(busy_board(), readings=(hostile,)))
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)" in text


def test_what_is_not_there_is_a_dash_and_a_reason() -> None:
    """Never 0, never NaN, never None."""
    text = page(quiet_board())
    body = text.partition("</style>")[2]
    assert re.findall(r"\bnan\b|\bNone\b|\binf\b|Undefined", body) == []
    assert "nothing is labelled" in body
    assert "0 of 1 statement can be signed" in body
    assert "κ – : nobody read a document twice" in body
    assert "there is no interval" in body


def test_an_empty_board_is_a_page_too() -> None:
    """Nothing was counted: said, not drawn."""
    text = page(msgspec.structs.replace(quiet_board(), readings=(), queues=()))
    assert "No document has been counted." in text
    assert "0 of 0 statements can be signed" in text


def test_one_language_is_told_once() -> None:
    """Its roll-up says the same; where there are two, each says its own."""
    one = [reading("PERSON", language, target=0.9) for language in ("any", "es")]
    board = msgspec.structs.replace(busy_board(), readings=tuple(one))
    assert "1 of 1 statement can be signed" in page(board)
    assert "PERSON, any language" not in page(board)
    two = msgspec.structs.replace(board, readings=(*one, reading("PERSON", "nl", 3, 9, target=0.9)))
    assert "3 of 3 statements can be signed" in page(two)
    lower = msgspec.structs.replace(board, readings=(msgspec.structs.replace(one[0], target=0.1), one[1]))
    assert "2 of 2 statements can be signed" in page(lower)


def test_what_has_no_time_is_given_none(tmp_path: Path) -> None:
    """Decisions without a time aren't of 1970."""
    for path in reported(tmp_path, "--set", "targets.PERSON=0.9"):
        assert "1970" not in path.read_text()


def test_the_same_document_is_the_same_page() -> None:
    """Made, or read back from its file: so it can be checked."""
    made = document(busy_board())
    assert render(made) == render(json.loads(json.dumps(made)))


# files


def reported(folder: Path, *options: object) -> tuple[Path, Path]:
    """Write a report of a replay and return where page and data are."""
    out = folder / "reports"
    result = run("report", *files(folder), *CENSUS, "--out", out, *options)
    assert (result.exit_code, result.stderr) == (0, "")
    pages = [Path(line) for line in result.stdout.split()]
    assert [p.parent for p in pages] == [out, out]
    assert re.fullmatch(r"recallwatch-report-\d{4}-\d\d-\d\d\.html", pages[0].name)
    assert pages[1] == pages[0].with_suffix(".json")
    return pages[0], pages[1]


def test_a_replay_is_reported_with_the_numbers_of_its_readings(tmp_path: Path) -> None:
    """Each population reading is a cell, number for number."""
    _, data = reported(tmp_path)
    cells = {
        (c["entity"], c["language"], c["version"]): c["matched"]
        for c in json.loads(data.read_text())["report"]["cells"]
    }
    readings = replay(*files(tmp_path), *CENSUS)["readings"]
    assert cells == {(r["entity"], r["language"], r["version"]): r["matched"] for r in readings if r["stratum"] is None}


def test_no_text_and_no_document_is_in_a_report(tmp_path: Path) -> None:
    """Neither in the page nor in the data."""
    for path in reported(tmp_path):
        text = path.read_text()
        assert not [word for word in (TEXT, MAILED, "Anna", "Gouda", "example.org", "never labelled") if word in text]


def test_a_report_that_nobody_changed_is_whole(tmp_path: Path) -> None:
    """Both files; nothing else was left in the folder."""
    drawn, data = reported(tmp_path)
    result = run("report", "--verify", data)
    assert result.exit_code == 0
    assert [line.partition(": ")[2].partition(",")[0] for line in result.stdout.splitlines()] == ["whole", "whole"]
    assert sorted(p.name for p in drawn.parent.iterdir()) == sorted([drawn.name, data.name])
    drawn.unlink()
    assert "not there, not compared" in run("report", "--verify", data).stdout


def test_a_changed_report_is_told(tmp_path: Path) -> None:
    """One digit in the data, or one in the page."""
    drawn, data = reported(tmp_path)
    good = data.read_text()
    data.write_text(re.sub(r'"sampled": \d+', '"sampled": 77', good, count=1))
    assert data.read_text() != good
    result = run("report", "--verify", data)
    assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (1, "", 1)
    assert "changed since it was written" in result.stderr
    data.write_text(good)
    drawn.write_text(re.sub(r"Of \d+ ", "Of 999 ", drawn.read_text(), count=1))
    result = run("report", "--verify", data)
    assert (result.exit_code, result.stderr) == (
        1,
        f"recallwatch: {drawn}: changed since it was written: this content is drawn otherwise\n",
    )


def test_a_page_of_another_version_is_not_compared(tmp_path: Path) -> None:
    """Another version draws otherwise: that's no change of the report's."""
    write(tmp_path, document(busy_board()))
    said_of = verified(tmp_path / "recallwatch-report-2026-09-21.json")
    assert "not compared: drawn by version 1.2.3" in said_of


@pytest.mark.parametrize("content", [b"{", b"[]", b"{}", b'{"report": 1, "sha256": ""}', b"\xff"])
def test_what_is_no_report_is_one_line(tmp_path: Path, content: bytes) -> None:
    """Exit 1."""
    path = tmp_path / "x.json"
    path.write_bytes(content)
    result = run("report", "--verify", path)
    assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (1, "", 1)


def test_bad_options_are_refused(tmp_path: Path) -> None:
    """No folder, a day to come, a window that isn't configured, a day of a replay."""
    for options, word in (
        ((), "--out"),
        (("--out", tmp_path, "--as-of", "2999-01-01"), "hasn't come yet"),
        (("--out", tmp_path, "--days", "9"), "7, 28"),
        (("--out", tmp_path, *files(tmp_path), "--as-of", "2020-01-01"), "a replay speaks of all"),
    ):
        result = run("report", *options)
        assert result.exit_code == 2
        assert word in result.stderr


def test_a_folder_that_can_not_be_written_to_is_one_line(tmp_path: Path) -> None:
    """Where a file is in its place."""
    (tmp_path / "there").touch()
    result = run("report", *files(tmp_path), "--out", tmp_path / "there" / "below")
    assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (1, "", 1)


# on a broker


@pytest.fixture
def fleet(tag: str, tmp_path: Path, embedded_server: str) -> Iterator[Fleet]:
    """Give topics of their own on the embedded broker."""
    fleet = Fleet(embedded_server, tag, tmp_path, ("sampling.random_rate=1", "topics.partitions=1"))
    try:
        yield fleet
    finally:
        fleet.kill()


@pytest.mark.broker
def test_the_live_board_is_reported_and_so_is_a_day_that_is_over(fleet: Fleet, tmp_path: Path) -> None:
    """The board's own numbers; as of a day, of what was drawn until then."""
    snapshot = published(fleet)
    (expected,) = [r for r in snapshot.readings if (r.entity, r.language, r.stratum) == ("any", "any", None)]

    def first_cell(*options: str) -> dict[str, Any]:
        done = fleet.run("report", "--out", str(tmp_path / "out"), *options)
        assert (done.returncode, done.stderr) == (0, "")
        cell: dict[str, Any] = json.loads(Path(done.stdout.split()[1]).read_text())["report"]["cells"][0]
        return cell

    now = first_cell()
    assert (now["census"], now["labelled"]) == (expected.census, expected.labelled) == (40, 36)
    last = str(expected.window.first)
    before = first_cell("--as-of", last)
    assert (before["census"], before["labelled"]) == (20, 20)
    assert before["window"]["last"] == last
