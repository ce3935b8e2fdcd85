"""Labelled corpora: everybody who read a document answered, also with nothing, and one bad span spoils one answer."""

from __future__ import annotations

import json

import pytest

from monitor.decoding import Limits
from monitor.errors import BadField, BadSpan, NotJson, RecordError, TextTooLong, TooManySpans
from monitor.formats.corpus import read_label_line
from monitor.records import Label, Span

TEXT = "Anna at Utrecht"


def line(labels: list[dict[str, object]], **fields: object) -> bytes:
    """Return a corpus line."""
    return json.dumps({"doc_id": "a", "lang": "nl", "labels": labels} | fields).encode()


def span(start: int, end: int, annotator: str | None = None) -> dict[str, object]:
    """Return a labelled span."""
    return {"start": start, "end": end, "entity": "PERSON"} | ({} if annotator is None else {"annotator": annotator})


def read(data: bytes, limits: Limits | None = None) -> tuple[Label | RecordError, ...]:
    """Return the labels of a line."""
    return read_label_line(data, limits or Limits()).labels


def test_every_reader_answers_also_with_nothing() -> None:
    """In the order in which the line names them; who is named in a span alone comes after."""
    labels = read(line([span(0, 4, "bob"), span(8, 15, "cy"), span(0, 2, "bob")], annotators=["ann", "bob"]))

    assert (
        Label("a", "ann", []),
        Label("a", "bob", [Span(0, 4, "PERSON"), Span(0, 2, "PERSON")]),
        Label("a", "cy", [Span(8, 15, "PERSON")]),
    ) == labels


def test_single_reader_need_not_be_named_at_each_span() -> None:
    """There is nobody else whose span it could be."""
    assert (Label("a", "ann", [Span(0, 4, "PERSON")]),) == read(line([span(0, 4)], annotators=["ann"]))


def test_label_record_of_our_own_is_read_as_one() -> None:
    """The other shape of a line: no text, one label."""
    own = json.dumps({"doc_id": "a", "annotator": "jo", "spans": [span(0, 4)], "revision": 2}).encode()
    found = read_label_line(own, Limits())

    assert (None, (Label("a", "jo", [Span(0, 4, "PERSON")], revision=2),)) == found


@pytest.mark.parametrize("bad", [span(4, 0, "bob"), span(0, 99, "bob"), span(4, 5, "bob"), {"annotator": "bob"}])
def test_bad_span_spoils_the_answer_of_its_reader_alone(bad: dict[str, object]) -> None:
    """A truth with a hole isn't one; the other reader's stands."""
    ann, bob = read(line([span(0, 4, "ann"), bad], annotators=["ann", "bob"], text=TEXT))

    assert Label("a", "ann", [Span(0, 4, "PERSON")]) == ann
    assert isinstance(bob, BadSpan)
    assert bob.where.startswith("$.labels[1]")
    assert TEXT not in str(bob)


def test_text_of_the_line_is_told() -> None:
    """Whoever joins it compares it with the text that was decided on."""
    assert tuple(read_label_line(line([], **t), Limits()).text for t in ({"text": TEXT}, {})) == (TEXT, None)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"nope", NotJson),
        (b'{"labels": [}', NotJson),
        (line([], doc_id=""), BadField),
        (line([], annotators="ann"), BadField),
        (line([], annotators=[1]), BadField),
        (line([], annotators=["ann"], text=3), BadField),
        (line([], text="x" * 99), TextTooLong),
        (line([span(0, 1, "ann")] * 3), TooManySpans),
        (b'{"doc_id": "a", "labels": null}', BadField),
    ],
)
def test_line_that_can_not_be_read_is_a_record_error(data: bytes, error: type[RecordError]) -> None:
    """One named error for the whole line."""
    with pytest.raises(error):
        read(data, Limits(max_text_bytes=50, max_spans=2))
