"""Redacted outputs where a user looks: page, terminal, status, sign-off, series; each has the snapshot's numbers."""

from __future__ import annotations

import html
import io
import json
import re

import boards
import msgspec
import output_boards
import pytest
from rich.console import Console
from traffic import CONFIG

from monitor import metrics as m
from monitor.exposition import samples
from monitor.in_force import own_rules
from monitor.leaks.findings import KINDS
from monitor.readings import ANY, BoardSnapshot, OutputReading
from monitor.report import Made, seal
from streams.page import Selection, outputs, render
from streams.report import render as draw_report
from streams.report_command import composed
from streams.status_command import print_status, status_document
from streams.terminal import print_snapshot

SHOWN = [("presidio", "2")]
HEAD = "Redacted output: what it still shows"


def board(*readings: OutputReading) -> BoardSnapshot:
    """Return a busy board with these outputs alone."""
    return msgspec.structs.replace(boards.busy_board(), outputs=readings)


def page_of(snapshot: BoardSnapshot, selection: Selection | None = None) -> str:
    """Return the page's section as a reader sees it; nothing where there is none."""
    page = render(snapshot, boards.worker(), boards.NOW, selection)
    found = re.search(r"<section id=outputs>.*?</section>", page, re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", found.group())).split()) if found else ""


def printed(snapshot: BoardSnapshot, width: int = 80) -> str:
    """Return what a replay prints."""
    stream = io.StringIO()
    print_snapshot(Console(file=stream, width=width), snapshot)
    return stream.getvalue()


def test_the_page_has_a_row_a_language_and_the_version_before() -> None:
    """The roll-up first; of an older version it alone, to compare with."""
    found = outputs.section(boards.busy_board(), SHOWN, Selection())
    assert found is not None
    assert [(r.language, r.version) for r in found.rows] == [
        (ANY, "2"),
        ("en", "2"),
        ("es", "2"),
        ("nl", "2"),
        (ANY, "1"),
    ]
    assert {r.window.days for r in found.rows} == {7}
    assert found.several


def test_the_page_has_the_readings_numbers() -> None:
    """Counts beside every rate, limits, and how old they are."""
    r = output_boards.output("en")
    seen = page_of(board(r))
    assert "0.0127 0.0099–0.0162 61 / 4,820" in seen
    assert f"{r.unaligned} 4.5 % 0.081 0.064–0.102 412 / 5,120 71.4 42.8–107.1 29 / 702 391 / 412" in seen
    assert seen.index("12 s label 42 s") > 0
    assert "PERSON 61 / 2,410 part masked 62, at its edge 31," in seen
    assert "EMAIL_ADDRESS" not in seen


def test_a_board_without_outputs_has_no_section() -> None:
    """Nothing is said of what wasn't looked at."""
    assert page_of(board()) == ""
    assert HEAD in page_of(boards.busy_board())


def test_no_label_is_a_dash_and_a_word() -> None:
    """Never 0; the counts of the traffic stand."""
    seen = page_of(board(output_boards.output("nl", 0, 810, labelled=0)))
    assert "0.0000 0.0000–0.0047 0 / 810" in seen
    assert "– 0 / 0 – 0 / 0 no label yet 0 / 412" in seen


def test_one_language_is_told_once() -> None:
    """Its roll-up says the same; two of them are summed up."""
    one = board(output_boards.output("en"), output_boards.output(ANY))
    found = outputs.section(one, SHOWN, Selection())
    assert found is not None
    assert [r.language for r in found.rows] == ["en"]


def test_the_selection_chooses_language_and_entity() -> None:
    """As it does for the cells."""
    found = outputs.section(boards.busy_board(), SHOWN, Selection(language="es", entity="PHONE_NUMBER"))
    assert found is not None
    assert [r.language for r in found.rows] == ["es"]
    assert [(leak.entity, leak.documents) for leak in found.leaks] == [("PHONE_NUMBER", 4)]
    assert page_of(boards.busy_board(), Selection(language="zz")) == ""


def test_entities_beyond_the_bound_are_counted() -> None:
    """Those with most leaking documents are told."""
    many = tuple(output_boards.entity(f"E{i:02}", i + 1, 100, 1) for i in range(15))
    seen = page_of(board(output_boards.output("en", entities=many)))
    assert "3 more entities with a leak." in seen
    assert "E14 15 / 100" in seen
    assert "E02 " not in seen


def test_no_name_smuggles_markup() -> None:
    """An entity is a producer's idea."""
    bad = (output_boards.entity("<script>x</script>\u202e", 3, 9, 1),)
    page = render(board(output_boards.output("<b>", entities=bad)), boards.worker(), boards.NOW)
    assert "<script>x" not in page
    assert "<b>" not in page[page.index("<section id=outputs>") :].partition("</section>")[0]
    assert "\u202e" not in page


def test_the_terminal_has_the_readings_numbers() -> None:
    """Shares with what they rest on; leaks by entity and kind under their own names."""
    r = output_boards.output("en")
    text = printed(board(r), width=120)
    lines = [line.split() for line in text.splitlines()]
    assert ["en", "outputs", "61/4820", "0.0127", "0.0099", "0.0162", "4,820"] in lines
    assert ["en", "redactions", "69/14460", "0.0048", "0.0038", "0.0060", "10,122"] in lines
    assert ["en", "4", "4.5", "%", "412/5120", "0.081", "0.064", "0.102"] in lines
    assert ["any", "en", "29/702", "71.4", "42.8", "107.1", "391/412"] in lines
    assert "partial_mask 62, edge_fragment 31, survives_elsewhere 21" in text


def test_the_terminal_says_nothing_of_what_has_no_data() -> None:
    """No table without a row, no number without a label."""
    assert "Redacted outputs" not in printed(board())
    text = printed(board(output_boards.output("nl", 0, 810, labelled=0)))
    assert "Personal data readable" not in text
    assert "Leaks by entity and kind" not in text
    (line,) = [line.split() for line in text.splitlines() if line.startswith("nl ") and "%" in line]
    assert line[-4:] == ["–"] * 4


@pytest.mark.parametrize("name", ["PERSON", "X" * 64])
def test_eighty_columns_are_enough_for_outputs(name: str) -> None:
    """Large numbers are whole; names are folded."""
    wide = output_boards.output(name, 123_456, 2_345_678, entities=(output_boards.entity(name, 12_345, 234_567, 6),))
    text = printed(board(wide))
    assert max(len(line.rstrip()) for line in text.splitlines()) <= 80
    assert "123456/2345678" in text


def test_the_status_says_it_in_a_line_and_as_json() -> None:
    """Of the current version, all languages together."""
    stream = io.StringIO()
    print_status(Console(file=stream, width=200), boards.busy_board(), boards.NOW)
    assert (
        "Outputs: 73 of 7,270 have a leak, 0.0100 (0.0080–0.0126); 7 not aligned; "
        "in 1,000 documents 71.4 (42.8–107.1) pieces of personal data can still be read.\n"
    ) in stream.getvalue()
    told = json.loads(msgspec.json.encode(status_document(boards.busy_board(), boards.NOW)))["outputs"]
    assert {(r["language"], r["version"], r["window"]["days"]) for r in told} >= {("en", "2", 7), (ANY, "1", 7)}
    bare = msgspec.structs.replace(boards.busy_board(), outputs=())
    assert status_document(bare, boards.NOW)["outputs"] == []


@pytest.mark.parametrize(
    ("reading", "said"),
    [
        (output_boards.output(ANY, labelled=0), "what can still be read isn't known: no label yet."),
        (output_boards.output(ANY, status="stale"), "71.4 (42.8–107.1, no label lately) pieces"),
        (output_boards.output(ANY, 1), "1 of 4,820 has a leak"),
    ],
    ids=["no label", "stale", "one"],
)
def test_the_sentence_says_how_it_stands(reading: OutputReading, said: str) -> None:
    """A number of another day is marked, one that isn't there is told of."""
    assert said in outputs.sentence(reading)


def test_words_of_kinds_are_all_there() -> None:
    """Each kind that a check finds has some."""
    assert set(outputs.SHORT) == set(KINDS)


def signed(snapshot: BoardSnapshot) -> tuple[dict[str, object], str]:
    """Return a sign-off and its page."""
    document = composed(snapshot, own_rules(CONFIG), Made("1", "2026-09-21", "live"), 7)
    read = json.loads(json.dumps(document, allow_nan=False))
    return read, " ".join(html.unescape(re.sub(r"<[^>]*>", " ", draw_report(read))).split())


def test_the_sign_off_holds_the_outputs_of_its_window_and_hashes_them() -> None:
    """All that must stand beside the rates; another number is another hash."""
    document, page = signed(boards.busy_board())
    report = document["report"]
    assert isinstance(report, dict)
    told = report["outputs"]
    assert [(r["language"], r["version"], r["current"]) for r in told] == [
        (ANY, "2", True),
        ("en", "2", True),
        ("es", "2", True),
        ("nl", "2", True),
        (ANY, "1", False),
    ]
    beside = {"weight_min", "weight_max", "completeness", "agreement", "window", "detector", "version", "net", "config"}
    assert all(beside <= r.keys() for r in told)
    assert "73 / 7,270 0.0100 0.0080–0.0126" in page
    assert "29 / 702 71.4 42.8–107.1 readable of the true 29 / 702 0.041 0.028–0.060" in page
    assert "412 / 5,120 0.081 0.064–0.102 210" in page
    assert "391 of 412 drawn, 94.9 %" in page
    assert "partial mask 74, edge fragment 37" in page
    assert "es, presidio 2 12 / 1,640 0.0073 0.0042–0.0127" in page
    assert "any language, presidio 1 90 / 7,100" in page
    told[0]["documents"]["count"] += 1
    assert seal(report) != document["sha256"]


def test_the_sign_off_says_where_no_output_was_looked_at() -> None:
    """And not that there was no leak."""
    _, page = signed(board())
    assert "no redacted output was looked at in this window" in page


def test_series_have_the_readings_numbers() -> None:
    """By language, and by entity and kind; what has no value has no sample."""
    found = {(s.metric.name, s.labels): s.value for s in samples(boards.busy_board(), boards.worker())}
    en, person = ("en", "presidio", "2", "7d"), ("PERSON", "en", "presidio", "2", "7d")
    assert found[m.OUTPUTS.name, en] == 4_820
    assert found[m.LEAKING.name, en] == 61
    assert found[m.LEAKS.name, (*person, "partial_mask")] == 62
    assert found[m.DISCLOSURE_UPPER.name, (ANY, *en)] == pytest.approx(107.1)
    assert found[m.COUNTED_AT.name, en] == boards.NOW - 2 - 12
    nl = ("nl", "presidio", "2", "7d")
    assert (m.OVER_MASKING_ESTIMATE.name, nl) not in found
    assert (m.DISCLOSURE_ESTIMATE.name, (ANY, *nl)) not in found
    assert found[m.DISCLOSURE_CURRENT.name, (ANY, *nl)] == 0
    assert found[m.DISCLOSURE_CURRENT.name, (ANY, *en)] == 1


def test_cells_of_outputs_are_bounded_and_counted() -> None:
    """Current versions stay."""
    many = tuple(output_boards.entity(f"E{i}", 1, 9, 1) for i in range(m.MAX_CELLS))
    crowded = board(output_boards.output("en", version="1", entities=many), output_boards.output("en"))
    found = list(samples(crowded, boards.worker()))
    cells = {s.labels for s in found if s.metric == m.ENTITY_DOCUMENTS}
    assert len(cells) == m.MAX_CELLS
    assert ("PERSON", "en", "presidio", "2", "7d") in cells
    assert [s.value for s in found if s.metric == m.OUTPUT_CELLS_WITHHELD] == [3]
