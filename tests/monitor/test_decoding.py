"""Any bytes give a decision or one named error, and the fast path agrees with the slow one on all of them."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.decoding import Decoded, Limits, Quarantine, decode_decision, decode_label
from monitor.errors import BadSpan, RecordError, TextTooLong, TooManySpans
from monitor.records import Decision, Label, Span
from monitor.salvage import salvage_decision, salvage_label

LIMITS = Limits()
NARROW = Limits(max_text_bytes=40, max_spans=3)
DECISION: dict[str, object] = {
    "doc_id": "d-1",
    "lang": "nl",
    "text": "Anna woont in Utrecht",
    "detector": "ours",
    "version": "1.2.0",
    "threshold": 0.4,
    "spans": [
        {"start": 0, "end": 4, "entity": "PERSON", "score": 0.9},
        {"start": 14, "end": 21, "entity": "LOCATION"},
    ],
    "redacted": "[PERSON] woont in [LOCATION]",
    "second": [{"start": 0, "end": 4, "entity": "NAME"}],
    "ts": 1_700_000_000.5,
    "channel": "chat",
    "latency_ms": 3.5,
}
LABEL: dict[str, object] = {
    "doc_id": "d-1",
    "annotator": "jo",
    "spans": [{"start": 0, "end": 4, "entity": "PERSON"}],
    "task_id": "t-1",
    "status": "submitted",
    "revision": 0,
    "labelled_at": "2026-01-05T08:00:00Z",
    "tool": "ours",
}
ANY_TEXT = st.text(st.characters(codec=None), max_size=6)
NUMBERS = st.one_of(
    st.integers(-3, 30),
    st.integers(),
    st.floats(),
    st.floats(-0.5, 1.5),
    st.sampled_from([10**30, -(10**30), 10**308, 17 * 10**307, 10**400, 10**4200, 12.0, 21.0, 0.1 + 0.2]),
)
SCALARS = st.none() | st.booleans() | NUMBERS | ANY_TEXT | NUMBERS.map(str) | st.sampled_from([" ", "\x00", "skipped"])
SPAN_FIELDS = ["start", "end", "entity", "score", "type", "entity_type", "label", "note"]
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from(SPAN_FIELDS) | ANY_TEXT, inner, max_size=5)
    ),
    max_leaves=12,
)


def with_fields(record: dict[str, object], **changes: object) -> bytes:
    """Return a record as bytes with some fields changed."""
    return json.dumps({**record, **changes}).encode()


def outcome(read: Callable[[bytes, Limits], object], value: bytes, limits: Limits) -> object:
    """Return what reading gives, or the error's class, reason and place."""
    try:
        return read(value, limits)
    except RecordError as error:
        return type(error), error.reason, error.where


@st.composite
def altered(draw: st.DrawFn, record: dict[str, object]) -> bytes:
    """Draw a record in which fields, or fields of one of its spans, hold any JSON value or are gone."""
    fields = dict(record)
    names = st.sampled_from([*record, "language", "unheard_of"])
    fields.update(draw(st.dictionaries(names, VALUES, max_size=2)))
    for name in draw(st.lists(st.sampled_from(list(record)), max_size=1)):
        fields.pop(name, None)
    if draw(st.booleans()):
        span = {"start": 0, "end": 4, "entity": "PERSON", "score": 0.5}
        span.update(draw(st.dictionaries(st.sampled_from(SPAN_FIELDS), SCALARS, max_size=2)))
        fields[draw(st.sampled_from(["spans", "second"]))] = [span, {"start": 5, "end": 10, "entity": "X"}]
    text = json.dumps(fields, ensure_ascii=draw(st.booleans()))
    return text.encode("utf-8", "surrogatepass")


@st.composite
def damaged(draw: st.DrawFn, record: dict[str, object]) -> bytes:
    """Draw a record's bytes with a few of them cut out, or others put in their place."""
    value = draw(altered(record)) if draw(st.booleans()) else json.dumps(record).encode()
    for _ in range(draw(st.integers(1, 3))):
        at, length = draw(st.integers(0, len(value))), draw(st.integers(0, 3))
        value = (
            value[:at]
            + draw(st.binary(max_size=3) | st.sampled_from([b"1", b"e", b'"', b"{", b"\\u"]))
            + value[at + length :]
        )
    return value


def test_a_flawless_decision_is_read_as_it_is() -> None:
    """Every field arrives, unknown ones are ignored, and nothing is set aside."""
    expected = Decision(
        doc_id="d-1",
        lang="nl",
        text="Anna woont in Utrecht",
        detector="ours",
        version="1.2.0",
        spans=[Span(0, 4, "PERSON", 0.9), Span(14, 21, "LOCATION")],
        threshold=0.4,
        redacted="[PERSON] woont in [LOCATION]",
        second=[Span(0, 4, "NAME")],
        ts=1_700_000_000.5,
        channel="chat",
    )
    assert Decoded(expected, ()) == decode_decision(with_fields(DECISION), LIMITS)


def test_spans_under_the_threshold_and_foreign_names_are_left_to_the_reader() -> None:
    """Decoding neither filters by threshold nor folds names."""
    spans = [{"start": 0, "end": 4, "entity": "per", "score": 0.1}]
    assert [Span(0, 4, "per", 0.1)] == decode_decision(with_fields(DECISION, spans=spans), LIMITS).record.spans


def test_an_empty_text_is_a_readable_decision() -> None:
    """A document with nothing in it was still seen by the detector."""
    decoded = decode_decision(with_fields(DECISION, text="", spans=[], second=None), LIMITS)
    assert (decoded.record.text, decoded.record.spans, decoded.quarantined) == ("", [], ())


def test_bad_spans_of_a_typed_record_are_set_aside_and_their_neighbours_stay() -> None:
    """The document stays in the frame, with the spans that can be used."""
    spans = [
        {"start": 0, "end": 4, "entity": "PERSON", "score": 1.5},
        {"start": 4, "end": 5, "entity": "PERSON"},
        {"start": 0, "end": 22, "entity": "PERSON"},
    ]
    second = [{"start": 3, "end": 3, "entity": "NAME"}]
    decoded = decode_decision(with_fields(DECISION, spans=spans, second=second), LIMITS)
    assert [Span(0, 4, "PERSON", None)] == decoded.record.spans
    assert decoded.record.second == []
    expected = (
        Quarantine("whitespace", "$.spans[1]"),
        Quarantine("beyond_text", "$.spans[2].end"),
        Quarantine("empty", "$.second[0].end"),
    )
    assert expected == decoded.quarantined


@pytest.mark.parametrize("text", ["x" * 41, "é" * 21, "😀" * 11])
def test_a_text_over_the_limit_is_refused_by_its_bytes(text: str) -> None:
    """The limit counts UTF-8 bytes, not characters."""
    with pytest.raises(TextTooLong) as caught:
        decode_decision(with_fields(DECISION, text=text, spans=[]), NARROW)
    assert caught.value.where == "$.text"


@pytest.mark.parametrize("text", ["x" * 40, "é" * 20, "😀" * 10])
def test_a_text_at_the_limit_is_read(text: str) -> None:
    """Escapes make the JSON longer than the text, and don't count."""
    assert text == decode_decision(with_fields(DECISION, text=text, spans=[]), NARROW).record.text


def test_more_spans_than_the_limit_are_refused() -> None:
    """One more than allowed is a dead letter; as many as allowed are not."""
    span = {"start": 0, "end": 4, "entity": "PERSON"}
    assert len(decode_decision(with_fields(DECISION, spans=[span] * 3), NARROW).record.spans) == 3
    with pytest.raises(TooManySpans):
        decode_decision(with_fields(DECISION, spans=[span] * 4), NARROW)
    with pytest.raises(TooManySpans):
        decode_label(with_fields(LABEL, spans=[span] * 4), NARROW)


def test_a_second_detector_with_too_many_spans_is_dropped_alone() -> None:
    """A second opinion is optional, and so is losing it."""
    span = {"start": 0, "end": 4, "entity": "PERSON"}
    decoded = decode_decision(with_fields(DECISION, second=[span] * 4), NARROW)
    assert (None, (Quarantine("field", "$.second"),)) == (decoded.record.second, decoded.quarantined)


def test_a_threshold_that_is_no_probability_is_dropped() -> None:
    """A threshold in percent would silence every score in [0, 1]."""
    decoded = decode_decision(with_fields(DECISION, threshold=40), LIMITS)
    assert (None, (Quarantine("field", "$.threshold"),)) == (decoded.record.threshold, decoded.quarantined)


def test_a_flawless_label_is_read_as_it_is() -> None:
    """Every field arrives; a score out of range is no score."""
    spans = [{"start": 0, "end": 4, "entity": "PERSON", "score": 7}]
    expected = Label("d-1", "jo", [Span(0, 4, "PERSON")], "t-1", "submitted", 0, "2026-01-05T08:00:00Z")
    assert expected == decode_label(with_fields(LABEL, spans=spans), LIMITS)


@pytest.mark.parametrize(
    ("span", "where", "reason"),
    [
        ({"start": -1, "end": 4, "entity": "P"}, "$.spans[1].start", "negative"),
        ({"start": 4, "end": 0, "entity": "P"}, "$.spans[1].end", "reversed"),
        ({"start": 4, "end": 4, "entity": "P"}, "$.spans[1].end", "empty"),
        ({"start": 0, "end": 10**400, "entity": "P"}, "$.spans[1].end", "beyond_text"),
        ({"start": 0, "end": None, "entity": "P"}, "$.spans[1].end", "offset"),
        ({"start": 0, "end": 4, "entity": " "}, "$.spans[1].entity", "entity"),
        ({"start": 0, "end": 4}, "$.spans[1].entity", "entity"),
        (7, "$.spans[1]", "not_object"),
    ],
)
def test_a_label_with_a_bad_span_is_a_dead_letter(span: object, where: str, reason: str) -> None:
    """A truth with a hole isn't one; the error names the span."""
    spans = [{"start": 0, "end": 4, "entity": "P"}, span]
    with pytest.raises(BadSpan) as caught:
        decode_label(with_fields(LABEL, spans=spans), LIMITS)
    assert (where, reason) == (caught.value.where, caught.value.problem)


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_give_a_record_or_a_named_error(value: bytes) -> None:
    """No other exception escapes, and both paths agree."""
    assert outcome(salvage_decision, value, LIMITS) == outcome(decode_decision, value, LIMITS)
    assert outcome(salvage_label, value, LIMITS) == outcome(decode_label, value, LIMITS)


@settings(deadline=None)
@given(altered(DECISION) | damaged(DECISION), st.sampled_from([LIMITS, NARROW]))
def test_both_paths_give_the_same_decision(value: bytes, limits: Limits) -> None:
    """What the fast path reads, the slow path reads alike; what one refuses, the other refuses for the same reason."""
    assert outcome(salvage_decision, value, limits) == outcome(decode_decision, value, limits)


@settings(deadline=None)
@given(altered(LABEL) | damaged(LABEL), st.sampled_from([LIMITS, NARROW]))
def test_both_paths_give_the_same_label(value: bytes, limits: Limits) -> None:
    """The same for labels."""
    assert outcome(salvage_label, value, limits) == outcome(decode_label, value, limits)


@settings(deadline=None)
@given(altered(DECISION) | damaged(DECISION))
def test_every_span_that_comes_out_names_real_text(value: bytes) -> None:
    """A span that stays has an extent, text that isn't blank, a name, and a score in [0, 1] or none."""
    try:
        record = decode_decision(value, LIMITS).record
    except RecordError:
        return
    for span in (*record.spans, *(record.second or ())):
        assert 0 <= span.start < span.end <= len(record.text)
        assert record.text[span.start : span.end].strip() != ""
        assert span.entity.strip() != ""
        assert span.score is None or 0 <= span.score <= 1
    json.dumps(record.text, ensure_ascii=False).encode()
