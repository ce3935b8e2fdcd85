"""What the slow path reads, sets aside or refuses, field by field."""

from __future__ import annotations

import json
import math
import statistics

import pytest

from monitor.decoding import decode_decision, decode_label
from monitor.errors import (
    BadField,
    EmptyRecord,
    LoneSurrogate,
    NotAnObject,
    NotJson,
    NotUtf8,
    RecordError,
    TooDeep,
)
from monitor.records import Label, Span
from monitor.salvage import Quarantine, Reason
from monitor.sizes import Limits

LIMITS = Limits()
FIELDS: dict[str, object] = {
    "doc_id": "x",
    "lang": "nl",
    "text": "Wim Oord en Eva",
    "detector": "d",
    "version": "1",
    "spans": [],
}
GOOD = {"start": 0, "end": 8, "entity": "PERSON"}


def record(**changes: object) -> bytes:
    """Return a decision's bytes with some fields changed."""
    return json.dumps({**FIELDS, **changes}).encode()


def without(*names: str) -> bytes:
    """Return a decision's bytes without some fields."""
    return json.dumps({name: value for name, value in FIELDS.items() if name not in names}).encode()


def label(**changes: object) -> bytes:
    """Return a label's bytes with some fields changed."""
    return json.dumps({"doc_id": "x", "annotator": "jo", "spans": [GOOD], **changes}).encode()


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (b"", EmptyRecord),
        (b"  ", NotJson),
        (b"null", NotAnObject),
        (b"[1, 2]", NotAnObject),
        (b'"just text"', NotAnObject),
        (b'{"doc_id": "x", "spans": [', NotJson),
        (record() + b"{}", NotJson),
        (b"\xff\xfe\x00", NotUtf8),
        (record(text="@").replace(b"@", b"\xe9"), NotUtf8),
        (record(text="@").replace(b"@", b"\xed\xa0\xbd"), NotUtf8),
        (b"[" * 10_000 + b"]" * 10_000, TooDeep),
        (record(deep="@").replace(b'"@"', b'{"a":' * 10_000 + b"1" + b"}" * 10_000), TooDeep),
        (record(deep="@").replace(b'"@"', b"[" * 100_000), TooDeep),
    ],
)
def test_what_is_no_json_object_is_named(value: bytes, error: type[RecordError]) -> None:
    """Each way of being unreadable has a name of its own."""
    with pytest.raises(error):
        decode_decision(value, LIMITS)


@pytest.mark.parametrize("field", ["doc_id", "lang", "detector", "version"])
@pytest.mark.parametrize("value", [None, "", " ", 7, 1.1, True, ["x"], {"a": "b"}])
def test_a_required_name_that_is_no_name_refuses_the_record(field: str, value: object) -> None:
    """Null, empty, blank and mistyped are refused with the field as reason and place."""
    with pytest.raises(BadField) as caught:
        decode_decision(record(**{field: value}), LIMITS)
    assert (caught.value.reason, caught.value.where) == (field, f"$.{field}")


@pytest.mark.parametrize("field", list(FIELDS))
def test_a_missing_required_field_refuses_the_record(field: str) -> None:
    """The field is the reason, and the problem says that it isn't there."""
    with pytest.raises(BadField) as caught:
        decode_decision(without(field), LIMITS)
    assert (caught.value.reason, caught.value.problem) == (field, "missing or null")


@pytest.mark.parametrize(
    ("field", "value"), [("text", None), ("text", 7), ("spans", None), ("spans", {}), ("spans", "[]")]
)
def test_a_mistyped_text_or_span_list_refuses_the_record(field: str, value: object) -> None:
    """Without text, or with spans that are no list, there is no decision."""
    with pytest.raises(BadField) as caught:
        decode_decision(record(**{field: value}), LIMITS)
    assert caught.value.reason == field


def test_a_version_sent_as_a_number_is_refused_with_the_reason() -> None:
    """1.10 arrives as 1.1, and two versions would become one."""
    with pytest.raises(BadField, match="loses its zeros") as caught:
        decode_decision(record(version="@").replace(b'"@"', b"1.10"), LIMITS)
    assert caught.value.reason == "version"


@pytest.mark.parametrize("field", ["doc_id", "lang", "text", "detector", "version"])
@pytest.mark.parametrize("half", ["\ud83d", "a\udc00b"])
def test_a_lone_surrogate_in_a_required_field_refuses_the_record(field: str, half: str) -> None:
    """Half a UTF-16 pair couldn't be sent on."""
    with pytest.raises(LoneSurrogate) as caught:
        decode_decision(record(**{field: half}), LIMITS)
    assert caught.value.where == f"$.{field}"


def test_a_surrogate_pair_is_one_character() -> None:
    """Escaped halves that belong together are text."""
    assert decode_decision(record(text="📞"), LIMITS).record.text == "📞"


def test_no_error_says_what_the_document_says() -> None:
    """Messages name places, never text; a decoder's own error, which holds the document, isn't kept as context."""
    for value in (record(text="Anna", lang=None), b'{"text": "Anna', record(text="Anna@").replace(b"@", b"\xff")):
        with pytest.raises(RecordError) as caught:
            decode_decision(value, LIMITS)
        assert "Anna" not in str(caught.value)
        cause = caught.value.__context__
        assert not isinstance(cause, (json.JSONDecodeError, UnicodeError))


def test_spellings_of_the_field_are_read() -> None:
    """`language` stands for `lang`, and `entity_type`, `type` or `label` for `entity`."""
    spans = [{"start": 0, "end": 8, name: "PERSON"} for name in ("entity", "entity_type", "type", "label")]
    value = without("lang").replace(b'"spans": []', b'"language": "nl", "spans": ' + json.dumps(spans).encode())
    decoded = decode_decision(value, LIMITS)
    assert (decoded.record.lang, decoded.record.spans) == ("nl", [Span(0, 8, "PERSON")] * 4)
    assert decode_decision(record(language="fr"), LIMITS).record.lang == "nl"


def test_a_byte_order_mark_is_ignored_and_the_last_of_a_repeated_key_counts() -> None:
    """Both are what producers' libraries do unasked."""
    value = b"\xef\xbb\xbf" + record()[:-1] + b', "lang": 3, "lang": "es"}'
    assert decode_decision(value, LIMITS).record.lang == "es"


def test_bytes_that_are_no_utf8_are_ignored_in_unknown_fields_on_both_paths() -> None:
    """What isn't read can't be misread, whichever way the record goes."""
    value = record(note="@").replace(b"@", b"\xff")
    slow = value.replace(b'"lang"', b'"language"')
    assert decode_decision(value, LIMITS) == decode_decision(slow, LIMITS)


@pytest.mark.parametrize(
    ("span", "reason", "place"),
    [
        ({"start": 8, "end": 0}, "reversed", ".end"),
        ({"start": -3, "end": 15}, "negative", ".start"),
        ({"start": 0, "end": -1}, "negative", ".end"),
        ({"start": 4, "end": 4}, "empty", ".end"),
        ({"start": 12, "end": 16}, "beyond_text", ".end"),
        ({"start": 0, "end": 10**400}, "beyond_text", ".end"),
        ({"start": 8, "end": 9}, "whitespace", ""),
        ({"start": True, "end": 3}, "offset", ".start"),
        ({"start": 0, "end": 3.5}, "offset", ".end"),
        ({"start": " 1e3", "end": 3}, "offset", ".start"),
        ({"start": "0x1", "end": 3}, "offset", ".start"),
        ({"start": "١", "end": 3}, "offset", ".start"),
        ({"start": 0, "end": math.inf}, "offset", ".end"),
        ({"start": math.nan, "end": 3}, "offset", ".start"),
        ({"start": [0], "end": 3}, "offset", ".start"),
        ({"end": 3}, "offset", ".start"),
        ({"start": 0}, "offset", ".end"),
        ({"entity": None}, "entity", ".entity"),
        ({"entity": ""}, "entity", ".entity"),
        ({"entity": " \t"}, "entity", ".entity"),
        ({"entity": 7}, "entity", ".entity"),
        ({"entity": "LINE\nBREAK"}, "entity", ".entity"),
        ({"entity": "\ud83d"}, "surrogate", ".entity"),
    ],
)
def test_a_bad_span_is_set_aside_with_its_reason_and_its_document_stays(
    span: dict[str, object], reason: Reason, place: str
) -> None:
    """A frame without the documents on which a detector misbehaves is biased."""
    bad = {**GOOD, **span}
    if len(span) == 1 and "entity" not in span:
        bad = {**span, "entity": "PERSON"}
    decoded = decode_decision(record(spans=[GOOD, bad, GOOD], second=[bad]), LIMITS)
    assert decoded.record.spans == [Span(0, 8, "PERSON")] * 2
    assert decoded.record.second == []
    assert decoded.quarantined == (
        Quarantine(reason, f"$.spans[1]{place}"),
        Quarantine(reason, f"$.second[0]{place}"),
    )


@pytest.mark.parametrize("item", [None, 3, "span", [0, 8, "PERSON"], True])
def test_an_item_that_is_no_object_is_set_aside(item: object) -> None:
    """A list of spans may hold anything."""
    decoded = decode_decision(record(spans=[item, GOOD]), LIMITS)
    assert decoded.record.spans == [Span(0, 8, "PERSON")]
    assert decoded.quarantined == (Quarantine("not_object", "$.spans[0]"),)


@pytest.mark.parametrize(("start", "end"), [(12.0, 15.0), ("12", "15"), ("12.0", "+15"), (12, "15")])
def test_whole_numbers_in_another_dress_are_offsets(start: object, end: object) -> None:
    """12.0 is a valid JSON integer, and "12" what an untyped producer sends."""
    spans = [{"start": start, "end": end, "entity": "PERSON"}]
    assert decode_decision(record(spans=spans), LIMITS).record.spans == [Span(12, 15, "PERSON")]


def test_an_offset_of_five_thousand_digits_is_one_bad_span() -> None:
    """The interpreter refuses to read it, and its neighbours are read all the same."""
    value = record(spans=[GOOD, {**GOOD, "end": "@"}]).replace(b'"@"', b"9" * 5000)
    decoded = decode_decision(value, LIMITS)
    assert decoded.record.spans == [Span(0, 8, "PERSON")]
    assert decoded.quarantined == (Quarantine("beyond_text", "$.spans[1].end"),)


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (math.nan, None),
        (math.inf, None),
        ("0.91", 0.91),
        ("1e-7", 1e-7),
        (1e-7, 1e-7),
        (None, None),
        (1, 1.0),
        (1.01, None),
        (-0.5, None),
        ("high", None),
        ("nan", None),
        ("", None),
        (True, None),
        ([0.5], None),
        (10**400, None),
        ("1" * 100_000, None),
    ],
)
def test_a_score_that_is_no_probability_is_no_score(score: object, expected: float | None) -> None:
    """The span is still a detection, and nothing is set aside."""
    decoded = decode_decision(record(spans=[{**GOOD, "score": score}]), LIMITS)
    assert (decoded.record.spans, decoded.quarantined) == ([Span(0, 8, "PERSON", expected)], ())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("threshold", "high"),
        ("threshold", math.nan),
        ("threshold", True),
        ("threshold", 1.5),
        ("redacted", 7),
        ("redacted", "\ud83d"),
        ("second", {}),
        ("second", "[]"),
        ("ts", True),
        ("ts", math.inf),
        ("ts", 10**400),
        ("ts", "\udc00"),
        ("channel", ["chat"]),
    ],
)
def test_a_bad_optional_field_is_dropped_and_reported(field: str, value: object) -> None:
    """The document stays, and the place is named."""
    decoded = decode_decision(record(**{field: value}), LIMITS)
    assert getattr(decoded.record, field) is None
    assert decoded.quarantined == (Quarantine("field", f"$.{field}"),)


def test_nulls_in_optional_fields_are_nothing() -> None:
    """A producer that writes every field writes null for those it hasn't."""
    value = record(threshold=None, redacted=None, second=None, ts=None, channel=None)
    assert decode_decision(value, LIMITS) == decode_decision(record(), LIMITS)


def test_malformed_values_between_good_ones_are_told_apart() -> None:
    """Case POI-2: four decisions and six reasons."""
    rest = b'"lang": "nl", "text": "Anna", "detector": "d", "version": "1", '
    values = [
        b'{"doc_id": "g1", ' + rest + b'"spans": []}',
        b'{"doc_id": "x", "spans": [',
        b"\xff\xfe\x00",
        b"[1, 2]",
        b'"just text"',
        b"{" + rest + b'"spans": []}',
        b'{"doc_id": "n", ' + rest + b'"spans": null}',
        b'{"doc_id": "s", '
        + rest
        + b'"spans": [{"entity_type": "PERSON", "start": "0", "end": "4"}], "new": {"a": 1}}',
        b'\xef\xbb\xbf{"doc_id": "bom", ' + rest + b'"spans": []}',
        b'{"doc_id": "g9", ' + rest + b'"spans": []}',
    ]
    accepted, reasons = [], []
    for value in values:
        try:
            accepted.append(decode_decision(value, LIMITS).record)
        except RecordError as error:
            reasons.append(error.reason)
    assert [decision.doc_id for decision in accepted] == ["g1", "s", "bom", "g9"]
    assert reasons == ["not_json", "not_utf8", "not_object", "not_object", "doc_id", "spans"]
    assert accepted[1].spans == [Span(0, 4, "PERSON")]


def test_inverted_negative_empty_and_whitespace_spans_are_set_aside() -> None:
    """Case POI-4: two spans are kept and seven set aside."""
    offsets = [(0, 8), (8, 0), (-3, 15), (4, 4), (12, 16), (8, 9), (12.0, 15.0)]
    spans: list[object] = [{"type": "PERSON", "start": start, "end": end} for start, end in offsets]
    spans += [{"type": None, "start": 0, "end": 3}, {"type": "PERSON", "start": True, "end": 3}]
    decoded = decode_decision(record(spans=spans), LIMITS)
    assert decoded.record.spans == [Span(0, 8, "PERSON"), Span(12, 15, "PERSON")]
    assert len(decoded.quarantined) == 7


def test_scores_as_nan_string_tiny_and_null() -> None:
    """Case WIRE-3: four detections, two scores, and a mean that is a number."""
    value = (
        b'{"doc_id":"wire-3","lang":"en","text":"Ab Bo Cy Di","detector":"d","version":"1","spans":['
        b'{"entity_type":"PERSON","start":0,"end":2,"score":NaN},{"entity_type":"PERSON","start":3,"end":5,"score":"0.91"},'
        b'{"entity_type":"PERSON","start":6,"end":8,"score":1e-7},{"entity_type":"PERSON","start":9,"end":11,"score":null}]}'
    )
    scores = [span.score for span in decode_decision(value, LIMITS).record.spans]
    assert scores == [None, 0.91, 1e-7, None]
    assert statistics.fmean(score for score in scores if score is not None) == pytest.approx(0.45500005, abs=1e-12)


def test_a_span_that_begins_with_more_blanks_than_are_looked_at_is_whitespace() -> None:
    """The look at a span's text is bounded, so that no record can hold the worker up."""
    spans = [{"start": 0, "end": 1023 + ink, "entity": "PERSON"} for ink in (1, 2)]
    short = decode_decision(record(text=" " * 1023 + "Anna", spans=spans), LIMITS)
    long = decode_decision(record(text=" " * 1024 + "Anna", spans=[{**GOOD, "end": 1028}]), LIMITS)
    assert (len(short.record.spans), short.quarantined) == (2, ())
    assert long.quarantined == (Quarantine("whitespace", "$.spans[0]"),)


def test_a_label_in_another_dress_is_read() -> None:
    """Numeric strings, nulls for optional fields and a byte order mark are tolerable in a label too."""
    value = b"\xef\xbb\xbf" + label(
        spans=[{"start": "0", "end": 8.0, "type": "PERSON"}], revision="2", task_id=None, labelled_at=[1]
    )
    assert decode_label(value, LIMITS) == Label("x", "jo", [Span(0, 8, "PERSON")], revision=2)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("doc_id", None),
        ("annotator", ""),
        ("annotator", 7),
        ("spans", None),
        ("spans", "none"),
        ("task_id", 7),
        ("status", "draft"),
        ("status", ["submitted"]),
        ("revision", -1),
        ("revision", True),
        ("revision", 1.5),
        ("revision", 2**53),
        ("revision", 10**400),
    ],
)
def test_a_label_with_a_bad_field_is_refused(field: str, value: object) -> None:
    """What decides which answer a label replaces, or whether it is one, is never guessed."""
    with pytest.raises(BadField) as caught:
        decode_label(label(**{field: value}), LIMITS)
    assert caught.value.reason == field


def test_a_skipped_label_needs_no_spans() -> None:
    """Skipping is no answer, so there is nothing to list."""
    value = b'{"doc_id": "x", "annotator": "jo", "status": "skipped"}'
    assert decode_label(value, LIMITS) == Label("x", "jo", [], status="skipped")
