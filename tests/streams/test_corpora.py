"""Corpora and recorded decisions: both shapes of a label, one line at a time, bad lines reported and passed by."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from monitor.decoding import Limits
from monitor.errors import SourceError
from monitor.records import Decision, Label, Span
from streams.corpora import BadLine, find_story, read_decisions, read_labels, read_lines, read_truth

TEXT = "Anna met Bo"
ANNA = {"start": 0, "end": 4, "entity": "PERSON", "annotator": "jo"}
BO = {"start": 9, "end": 11, "entity": "PERSON", "annotator": "kim"}


def line(labels: list[object], **fields: object) -> dict[str, object]:
    """Return a line in the shape of a corpus."""
    return {"doc_id": "d1", "lang": "en", "text": TEXT, "labels": labels, **fields}


def write(path: Path, *lines: object) -> Path:
    """Write lines, each as JSON unless it's bytes already, and return where."""
    encoded = [item if isinstance(item, bytes) else json.dumps(item).encode() for item in lines]
    path.write_bytes(b"\n".join(encoded) + b"\n")
    return path


def test_a_corpus_line_is_a_label_of_everybody_who_read_it(tmp_path: Path) -> None:
    """Whoever is named and marked nothing has answered with nothing."""
    path = write(tmp_path / "c.jsonl", line([ANNA, BO], annotators=["jo", "kim", "lu"]))
    assert list(read_labels(path)) == [
        Label("d1", "jo", [Span(0, 4, "PERSON")]),
        Label("d1", "kim", [Span(9, 11, "PERSON")]),
        Label("d1", "lu", []),
    ]


def test_annotators_are_taken_from_the_labels_where_nobody_is_named(tmp_path: Path) -> None:
    """A corpus without the list still has its readers' names on the spans."""
    path = write(tmp_path / "c.jsonl", line([BO, ANNA]))
    assert [found.annotator for found in read_labels(path) if isinstance(found, Label)] == ["kim", "jo"]


def test_a_single_reader_does_not_have_to_sign_each_span(tmp_path: Path) -> None:
    """With one name in the list there is no doubt whose span it is."""
    unsigned = {"start": 0, "end": 4, "entity": "PERSON"}
    path = write(tmp_path / "c.jsonl", line([unsigned], annotators=["jo"]), line([unsigned], annotators=["jo", "lu"]))
    assert list(read_labels(path)) == [
        Label("d1", "jo", [Span(0, 4, "PERSON")]),
        BadLine("c.jsonl", 2, "bad_span", "$.labels[0].annotator"),
    ]


def test_our_own_label_records_are_read_too(tmp_path: Path) -> None:
    """Both shapes may stand in one file, and blank lines between them are nothing."""
    own = {"doc_id": "d2", "annotator": "jo", "spans": [{"start": 1, "end": 2, "entity": "X"}], "task_id": "t"}
    path = write(tmp_path / "c.jsonl", own, b"", b"   ", line([ANNA], annotators=["jo"]))
    assert list(read_labels(path)) == [
        Label("d2", "jo", [Span(1, 2, "X")], "t"),
        Label("d1", "jo", [Span(0, 4, "PERSON")]),
    ]


def test_an_own_record_with_an_unknown_field_of_that_name_in_a_text_is_still_one(tmp_path: Path) -> None:
    """The word that tells the shapes apart may also stand inside a string."""
    own = {"doc_id": 'about "labels"', "annotator": "jo", "spans": [], "note": {"labels": 1}}
    assert list(read_labels(write(tmp_path / "c.jsonl", own))) == [Label('about "labels"', "jo", [])]


BAD: list[tuple[object, str, str]] = [
    (b"{", "not_json", "$"),
    (b"\xff", "not_utf8", "$"),
    (b"[1]", "not_object", "$"),
    (b"[" * 100_000, "too_deep", "$"),
    (line([], doc_id=""), "doc_id", "$.doc_id"),
    (line([], text=7), "text", "$.text"),
    (line([], text="a" * 101), "text_too_long", "$.text"),
    (line({}), "labels", "$.labels"),  # type: ignore[arg-type]  # what it's about
    (line([ANNA] * 6), "too_many_spans", "$.spans"),
    (line([], annotators="jo"), "annotators", "$.annotators"),
    (line([], annotators=["jo", 3]), "annotators", "$.annotators"),
    (line([3]), "bad_span", "$.labels[0]"),
    (line([{**ANNA, "end": 12}]), "bad_span", "$.labels[0].end"),
    (line([{**ANNA, "start": 4}]), "bad_span", "$.labels[0].end"),
    (line([{**ANNA, "start": -1}]), "bad_span", "$.labels[0].start"),
    (line([{**ANNA, "entity": None}]), "bad_span", "$.labels[0].entity"),
    (line([{**ANNA, "annotator": " "}]), "bad_span", "$.labels[0].annotator"),
    ({"doc_id": "d1", "spans": []}, "annotator", "$.annotator"),
    ({"doc_id": "d1", "annotator": "jo"}, "spans", "$.spans"),
]


@pytest.mark.parametrize(("bad", "reason", "where"), BAD, ids=[f"{i}-{case[1]}" for i, case in enumerate(BAD)])
def test_a_bad_line_is_reported_and_its_neighbours_go_on(tmp_path: Path, bad: object, reason: str, where: str) -> None:
    """File, number, reason and place; never the text."""
    good = line([ANNA], annotators=["jo"])
    path = write(tmp_path / "c.jsonl", good, bad, good)
    before, report, after = read_labels(path, Limits(max_text_bytes=100, max_spans=5))
    assert isinstance(before, Label)
    assert report == BadLine("c.jsonl", 2, reason, where)
    assert str(report) == f"c.jsonl:2: {reason} at {where}"
    assert after == before


def test_one_annotators_bad_span_leaves_the_others_answers(tmp_path: Path) -> None:
    """A truth with a hole isn't one, and the other reader's has none."""
    path = write(tmp_path / "c.jsonl", line([{**ANNA, "end": 99}, BO], annotators=["jo", "kim"]))
    assert list(read_labels(path)) == [
        BadLine("c.jsonl", 1, "bad_span", "$.labels[0].end"),
        Label("d1", "kim", [Span(9, 11, "PERSON")]),
    ]


def test_offsets_may_be_strings_and_the_file_may_begin_with_a_mark(tmp_path: Path) -> None:
    """Numeric strings are numbers; a byte order mark is nothing."""
    body = json.dumps(line([{**ANNA, "end": "4"}])).encode()
    assert list(read_labels(write(tmp_path / "c.jsonl", b"\xef\xbb\xbf" + body))) == [
        Label("d1", "jo", [Span(0, 4, "PERSON")])
    ]


def test_truth_is_one_annotators(tmp_path: Path) -> None:
    """By default the first who read each document; else the one named, where they read it."""
    path = write(
        tmp_path / "c.jsonl",
        line([ANNA, BO], annotators=["jo", "kim"]),
        line([BO], doc_id="d2", annotators=["kim"]),
        b"{",
        {"doc_id": "d3", "annotator": "kim", "spans": [], "status": "skipped"},
    )
    assert read_truth(path) == {"d1": [Span(0, 4, "PERSON")], "d2": [Span(9, 11, "PERSON")]}
    assert read_truth(path, "jo") == {"d1": [Span(0, 4, "PERSON")]}
    assert read_truth(path, "kim")["d1"] == [Span(9, 11, "PERSON")]


def test_recorded_decisions_are_read_a_line_at_a_time(tmp_path: Path) -> None:
    """A decision comes out as the broker would bring it; a bad line is reported; nothing is read ahead."""
    decision = {
        "doc_id": "d1",
        "lang": "en",
        "text": TEXT,
        "detector": "x",
        "version": "1",
        "spans": [],
        "latency_ms": 1,
    }
    path = write(tmp_path / "d.jsonl", decision, {"doc_id": "d1"}, decision)
    found = read_decisions(path)
    assert next(found) == Decision("d1", "en", TEXT, "x", "1", [])
    assert [type(rest) for rest in found] == [BadLine, Decision]


def test_a_missing_file_is_one_clear_error(tmp_path: Path) -> None:
    """It names the file, before anything is read."""
    with pytest.raises(SourceError, match=r"nowhere\.jsonl: No such file"):
        next(read_lines(tmp_path / "nowhere.jsonl"))
    with pytest.raises(SourceError, match=r"presidio_sm__uner_ewt_en\.jsonl: no such file"):
        find_story(tmp_path)


@pytest.mark.data
def test_the_real_corpora_tell_the_story() -> None:
    """Both phases read the same documents with different versions, and every one of them has a truth."""
    where = os.environ.get("RECALLWATCH_TEST_DATA")
    if not where:
        pytest.skip("set RECALLWATCH_TEST_DATA to a directory with corpora/ and decisions/")
    story = find_story(Path(where))
    truth = read_truth(story.labels)
    first, second = (list(read_decisions(path)) for path in (story.first, story.second))
    assert not [bad for bad in (*first, *second) if isinstance(bad, BadLine)]
    by_version = [
        {(d.doc_id, d.text): d.version for d in phase if isinstance(d, Decision)} for phase in (first, second)
    ]
    assert by_version[0].keys() == by_version[1].keys()
    assert not set(by_version[0].values()) & set(by_version[1].values())
    assert {doc_id for doc_id, _ in by_version[0]} == truth.keys()
    assert sum(map(len, truth.values())) == 2054


@pytest.mark.data
def test_two_readings_of_the_real_corpora_stay_apart() -> None:
    """A document with two annotators is two labels, and no span is lost between them."""
    where = os.environ.get("RECALLWATCH_TEST_DATA")
    if not where:
        pytest.skip("set RECALLWATCH_TEST_DATA to a directory with corpora/ and decisions/")
    labels = list(read_labels(Path(where) / "corpora" / "echr_fr_es.jsonl"))
    assert not [bad for bad in labels if isinstance(bad, BadLine)]
    kept = [found for found in labels if isinstance(found, Label)]
    assert {found.annotator for found in kept} == {"manual", "projected_reviewed"}
    assert (len(kept), sum(len(found.spans) for found in kept)) == (2 * 77, 7695)
