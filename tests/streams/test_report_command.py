"""`recallwatch report`: sentences that can be signed, reasons where not, and the page that they stand on."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import msgspec
import pytest
from boards import alarm, busy_board, quiet_board, reading, share

from monitor.config import Config
from monitor.in_force import own_rules
from monitor.readings import Agreement, BoardSnapshot, Certified, Pending, Reading, Share
from monitor.report import Made, Statement
from streams.report import render, state
from streams.report_command import composed

MADE = Made("1.2.3", "2026-09-21", "live")
ASKED = Config().readings


def document(snapshot: BoardSnapshot) -> dict[str, Any]:
    """Return the sealed document of a board's week."""
    return composed(snapshot, own_rules(Config()), MADE, 7)


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
        f"recall of traffic like these 48,210 documents is between {matched.lower:.3f} and {matched.upper:.3f} "
        f"(estimate {matched.estimate:.3f})."
    )


def test_what_can_not_be_signed_speaks_of_traffic_too() -> None:
    """Over the documents themselves a census leaves no doubt: an interval never speaks of these."""
    text = said(reading("A", "en", 402, 560, status="stale")).text
    assert "As far as it goes, recall of traffic like these 48,210 documents is between" in text
    one = msgspec.structs.replace(reading("A", "en", 1, 2), census=1)
    assert "recall of traffic like this one document is between" in said(one).text


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


@pytest.mark.parametrize(("lower", "limit"), [(0.0, "0"), (0.0004, "<0.001")])
def test_a_certified_limit_of_nothing_is_no_finding(lower: float, limit: str) -> None:
    """Neither in the sentence nor on the page: "at least 0.000" says nothing."""
    little = Share(2, 3, 0.6, reason="unflagged_unlabelled")
    sure = Certified(lower, 1, 1, 0, 104)
    given = reading("any", "any", status="no_interval", matched=little, certified=sure, target=0.9)
    words = f"can't be told in how many of the documents with it every occurrence was found (certified limit {limit})"
    assert words in said(given).text
    text = html.unescape(page(msgspec.structs.replace(busy_board(), readings=(given,))))
    assert words.replace("with it", "with personal data") in text
    assert f"can't be told: certified limit {limit}" in text
    assert re.findall(r"(?:at least|≥) (?:<|0(?:\.0+)?\b(?!\.))", text) == []


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


def test_a_mark_for_too_few_documents_says_that() -> None:
    """It isn't said of the readers that they differ: nobody knows."""
    few = Agreement(80, 4, kappa=0.3, lower=-0.2, upper=0.8, n_eff=9.0)
    statement = said(msgspec.structs.replace(reading("A", "en", status="marked"), agreement=few))
    assert statement.signable
    expected = "Too few documents were read by two people to know whether they agree on what it is (κ 0.30)."
    assert statement.notes[0] == expected


# the page


def section(board: BoardSnapshot, heading: str) -> str:
    """Return what stands on a page under a heading, empty where it isn't there."""
    return html.unescape(page(board).partition(f">{heading}</h2>")[2].partition("<h2")[0])


def cells_named(text: str) -> list[str]:
    """Return the cells that have a statement, or a row of their own, in the order of a section."""
    return re.findall(r'(?:<div class="statement[^>]*><h3>|<tr><td>)([^<]*, [^< ]+(?: language)?)', text)


def test_every_current_cell_is_in_one_list() -> None:
    """It can be signed, says little, can't be signed, or isn't asked for and wasn't met."""
    now = [c for c in document(busy_board())["report"]["cells"] if c["current"]]
    lists = {
        "What can be signed": [c for c in now if c["statement"]["signable"]],
        "What says little": [c for c in now if c["statement"]["says_little"]],
        "What can't be signed, and why": [c for c in now if c["statement"]["why_not"]],
    }
    assert sum(map(len, lists.values())) == len(now)
    assert f"{len(lists['What can be signed'])} of {len(now)} statements can be signed" in page(busy_board())
    for heading, expected in lists.items():
        told = section(busy_board(), heading)
        idle = "PASSPORT, fr" in told
        assert len(cells_named(told)) + idle == len(expected)
    assert "PASSPORT, fr" in section(busy_board(), "What can't be signed, and why")


def test_cells_with_a_target_come_first_and_the_others_are_a_table() -> None:
    """Whoever signs reads what was asked for; without any target it's the roll-ups over languages."""
    names = [("any", "any"), ("EMAIL", "any"), ("EMAIL", "en"), ("EMAIL", "nl"), ("IBAN", "en")]
    plain = [reading(*name, found=40 + n, true=50 + n) for n, name in enumerate(names)]

    def told(readings: list[Reading]) -> tuple[list[str], list[str]]:
        text = section(msgspec.structs.replace(busy_board(), readings=tuple(readings)), "What can be signed")
        statements, _, table = text.partition("<table class=others>")
        return cells_named(statements), cells_named(table)

    asked = [msgspec.structs.replace(r, target=0.9 if r.entity == "IBAN" else None) for r in plain]
    everything = ["any entity, any language", "EMAIL, any language", "EMAIL, en", "EMAIL, nl"]
    assert told(asked) == (["IBAN, en"], everything)
    assert told(plain) == (everything[:2], [*everything[2:], "IBAN, en"])
    assert told([plain[2], plain[4]]) == (["EMAIL, en", "IBAN, en"], [])


def test_the_place_for_a_name_comes_right_after_what_can_be_signed() -> None:
    """Nobody leafs through what can't be signed to sign the rest."""
    text = page(busy_board())
    assert text.index("Signature") < text.index("What says little") < text.index("What can't be signed, and why")


@pytest.mark.parametrize(
    ("matched", "why"),
    [
        (Share(9, 9, 0.95, lower=0.9, upper=1.0), "9 true occurrences, fewer than 10"),
        (Share(1, 1, 0.95, lower=0.9, upper=1.0), "1 true occurrence, fewer than 10"),
        (Share(6, 12, 0.5, lower=0.2, upper=0.71), "the limits are 0.51 apart, more than 0.5"),
        (Share(9, 10, 0.9, lower=0.4, upper=0.9), None),
    ],
)
def test_an_interval_that_says_little_is_not_offered_for_a_name(matched: Share, why: str | None) -> None:
    """Too few occurrences, or too wide; it's listed with its limits and why."""
    little = reading("A", "en", matched=matched, target=0.9)
    statement = said(little)
    assert (statement.signable, statement.says_little, statement.why_not) == (why is None, why, None)
    board = msgspec.structs.replace(busy_board(), readings=(little,))
    assert (why is not None) == (why is not None and why in section(board, "What says little"))
    assert ("Signature" in page(board)) == (why is None)


def test_how_many_of_the_statements_will_be_wrong_is_said() -> None:
    """Each interval holds by itself; of twenty one is wrong."""
    twenty = tuple(reading(f"E{n}", "en", target=0.9) for n in range(20))
    board = msgspec.structs.replace(busy_board(), readings=twenty)
    assert "of 20 such statements about 1.0 will be wrong" in section(board, "What can be signed")
    assert "will be wrong" not in page(quiet_board())
    three = msgspec.structs.replace(board, readings=twenty[:3])
    assert "of 3 such statements about 0.15 will be wrong" in section(three, "What can be signed")


def test_a_statement_says_how_old_its_newest_label_is() -> None:
    """A replay tells no age, and the statement then none."""
    old = reading("PERSON", "en", target=0.9, age_s=7_200.0)
    board = msgspec.structs.replace(busy_board(), readings=(old,))
    assert "newest label 2 h old" in section(board, "What can be signed")
    ageless = msgspec.structs.replace(board, readings=(msgspec.structs.replace(old, age_s=None),))
    assert "newest label" not in section(ageless, "What can be signed")


def test_earlier_versions_are_a_row_each() -> None:
    """Every cell of theirs is in the JSON, and none on the page."""
    before = [
        reading(entity, language, 30, 40, version="1") for entity in ("any", "IBAN") for language in ("any", "en")
    ]
    board = msgspec.structs.replace(busy_board(), readings=(reading("PERSON", "en", target=0.9), *before))
    text = section(board, "Every number, cell by cell")
    (line,) = re.findall(r"<tr><td>presidio 1.*", text)
    assert re.sub(r"<[^>]*>", " ", line).split()[2:6] == ["4", "48,210", "30", "/"]
    assert "IBAN" not in page(board)
    assert sum(c["entity"] == "IBAN" for c in document(board)["report"]["cells"]) == 2
    lone = msgspec.structs.replace(board, readings=(reading("PERSON", "en", version="1"),))
    assert "presidio 1" in section(lone, "Every number, cell by cell")


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
    """Nothing was counted: said, not drawn, and there's nothing to put a name to."""
    empty = msgspec.structs.replace(quiet_board(), readings=(), queues=())
    text = page(empty)
    for words in (
        "Nothing: no document has been counted.",
        "0 of 0 statements can be signed",
        "Nothing was counted yet.",
    ):
        assert words in text
    assert "no target is set, and nothing was seen yet" in text
    for words in ("the decisions have no time", "Signature", "see below why", "never seen"):
        assert words not in text
    asked = page(msgspec.structs.replace(empty, unseen_targets=("PERSON", "any.en")))
    assert "targets are set, and nothing was seen yet" in asked
    assert "Target set, never seen: PERSON; any.en." in asked


def test_a_target_that_nothing_was_seen_of_is_listed() -> None:
    """A name that is misspelled would otherwise be no statement, and no reason."""
    board = msgspec.structs.replace(busy_board(), unseen_targets=("PERSN<b>.en",))
    assert document(board)["report"]["unseen_targets"] == ["PERSN<b>.en"]
    assert "Target set, never seen: PERSN&lt;b&gt;.en." in page(board)
    assert "Target set, never seen" not in page(busy_board())


def test_only_what_can_be_signed_has_a_place_for_a_name() -> None:
    """A signature under nothing would be one under anything."""
    assert "Signature" in page(busy_board())
    assert "Signature" not in page(quiet_board())


def row(board: BoardSnapshot, title: str) -> str:
    """Return the words of the first row of a page whose first words these are."""
    found = next(line for line in page(board).split("<tr>") if line.startswith(f"<td>{title}"))
    return html.unescape(re.sub(r"<[^>]*>", " ", found.partition("<dl>")[0]))


def test_what_has_no_limits_says_the_reason_of_its_own() -> None:
    """Not "nothing is labelled" of documents of which many are."""
    lone = Share(3, 5, reason="unflagged_unlabelled")
    board = msgspec.structs.replace(
        busy_board(), readings=(reading("PERSON", "en", 3, 5, status="no_interval", matched=lone, target=0.9),)
    )
    assert "no document that nobody flagged is labelled" in row(board, "if pending are all missed")
    assert "no label holds it" in row(board, "recall, read any time")


def test_any_time_limits_say_what_they_rest_on() -> None:
    """How many documents, and since which day; no day where nothing has a time."""
    cell = reading("PERSON", "en", target=0.9)
    assert cell.any_time is not None
    board = msgspec.structs.replace(busy_board(), readings=(cell,))
    assert "412 since 2026-09-01" in row(board, "recall, read any time")
    undated = msgspec.structs.replace(cell, any_time=msgspec.structs.replace(cell.any_time, since=0.0))
    text = row(msgspec.structs.replace(board, readings=(undated,)), "recall, read any time")
    assert "412" in text
    assert "since" not in text


def test_an_alarm_whose_first_period_runs_says_when_it_counts() -> None:
    """Labels of today that hold it aren't "no label holds it"."""
    waiting = msgspec.structs.replace(alarm(None, None), counts_from=1_790_035_200.0)
    cell = msgspec.structs.replace(
        reading("PERSON", "en", target=0.9, certified=Certified(0.8, 38, 0, 702, 104)), alarm=waiting
    )
    board = msgspec.structs.replace(busy_board(), readings=(cell,))
    assert "counts from 2026-09-22 00:00 UTC on, when the running period ends" in page(board)
    assert "<small>no label holds it" not in page(board)
    unheard = msgspec.structs.replace(cell, alarm=alarm(None, None))
    assert "<small>no label holds it" in page(msgspec.structs.replace(board, readings=(unheard,)))


def test_one_language_is_told_once() -> None:
    """Its roll-up says the same; where there are two, each says its own."""
    one = [reading("PERSON", language, target=0.9) for language in ("any", "es")]
    board = msgspec.structs.replace(busy_board(), readings=tuple(one))
    assert "1 of 1 statement can be signed" in page(board)
    assert "PERSON, any language" not in page(board)
    two = msgspec.structs.replace(board, readings=(*one, reading("PERSON", "nl", 30, 90, target=0.9)))
    assert "3 of 3 statements can be signed" in page(two)
    lower = msgspec.structs.replace(board, readings=(msgspec.structs.replace(one[0], target=0.1), one[1]))
    assert "2 of 2 statements can be signed" in page(lower)


def test_the_same_document_is_the_same_page() -> None:
    """Made, or read back from its file: so it can be checked."""
    made = document(busy_board())
    assert render(made) == render(json.loads(json.dumps(made)))
