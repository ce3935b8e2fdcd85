"""The slow path of decoding: whatever the typed decoder refused is read with patience, and set aside piece by piece.

A record is refused only where it can't be read as a decision at all. One bad span is *quarantined*: taken out, with a
reason and a place, while its document stays, because a frame without the documents on which a detector misbehaves is
biased. A bad optional field goes the same way (reason `field`). A score that is no number in [0, 1] is no score, and
its span is still a span.

Read here, besides what `monitor.records` defines: a byte order mark; `language` for `lang`; `entity_type`, `type` or
`label` for a span's `entity`; whole numbers written `12.0`, `"12"` or `"12.0"`; scores and thresholds written as
strings. Of two spellings the first that isn't null counts, of a repeated key the last. Bytes that are no UTF-8 are
refused where they stand in something that is read, and ignored, as the typed decoder does, in unknown fields.

Sizes are bounded by `monitor.sizes`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from monitor.entities import usable_name
from monitor.errors import (
    BadField,
    BadSpan,
    EmptyRecord,
    LoneSurrogate,
    NotAnObject,
    NotJson,
    NotUtf8,
    TooDeep,
)
from monitor.records import Decision, Label, Span
from monitor.sizes import (
    LONGEST_ENTITY,
    LONGEST_FIELD,
    Limits,
    check_count,
    check_field,
    check_length,
    check_size,
    is_longer,
    longest_redacted,
)

Reason = Literal[
    "not_object",
    "offset",
    "negative",
    "reversed",
    "empty",
    "beyond_text",
    "whitespace",
    "entity",
    "surrogate",
    "field",
]

_MARK = b"\xef\xbb\xbf"
_WHOLE = re.compile(r"([+-]?[0-9]{1,32})(?:\.0{1,32})?")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_LONGEST_NUMBER = 64
LONGEST_BLANK = 1024
LAST_REVISION = 2**53 - 1  # what every JSON reader counts exactly
_KINDS: Mapping[type, str] = {
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "an object",
}


class Quarantine(NamedTuple):
    """One span, or one optional field, that was set aside: why, and where it stood (`$.spans[3].end`)."""

    reason: Reason
    where: str


class Decoded(NamedTuple):
    """A decision with its usable spans (neither filtered by threshold nor folded), and what was set aside."""

    record: Decision
    quarantined: tuple[Quarantine, ...]


class Fields(NamedTuple):
    """The fields of one JSON object; `utf8` is false where some of its bytes were none."""

    values: Mapping[str, object]
    utf8: bool

    def first(self, *names: str) -> object:
        """Return the first of these fields that is there and isn't null, else None."""
        for name in names:
            value = self.values.get(name)
            if value is not None:
                return value
        return None

    def string(self, field: str, *spellings: str) -> str:
        """Return a required string; raises `BadField`, or `NotUtf8` or `LoneSurrogate` where it isn't Unicode text."""
        value = self.first(field, *spellings)
        if not isinstance(value, str):
            number = field == "version" and isinstance(value, (int, float)) and not isinstance(value, bool)
            raise BadField(field, "a number loses its zeros: send a string" if number else _unlike("a string", value))
        if not _is_unicode(value):
            where = f"$.{field}"
            raise LoneSurrogate(where) if self.utf8 else NotUtf8(where)
        return value

    def name(self, field: str, *spellings: str) -> str:
        """Return a required string that isn't blank, and not longer than `LONGEST_FIELD`."""
        value = self.string(field, *spellings)
        if not value or value.isspace():
            raise BadField(field, "empty")
        return check_field(field, value)

    def items(self, field: str, limits: Limits) -> list[object]:
        """Return a required list of at most `limits.max_spans` items."""
        value = self.first(field)
        if not isinstance(value, list):
            raise BadField(field, _unlike("a list", value))
        check_count(value, limits)
        return value


def salvage_decision(value: bytes, limits: Limits) -> Decoded:
    """Read a decision that the typed decoder refused.

    Raises a `RecordError` where the record can't be read as a decision, and no other exception, whatever the bytes.

    >>> spans = b'[{"start": "0", "end": 4.0, "type": "PERSON"}, {"start": 4, "end": 0, "entity": "PERSON"}]'
    >>> head = b'{"doc_id": "1", "language": "nl", "text": "Anna", "detector": "d", "version": "1", "spans": '
    >>> salvage_decision(head + spans + b"}", Limits()).quarantined
    (Quarantine(reason='reversed', where='$.spans[1].end'),)
    """
    fields = parse_object(value)
    doc_id, lang = fields.name("doc_id"), fields.name("lang", "language")
    detector, version = fields.name("detector"), fields.name("version")
    text = fields.string("text")
    check_length(text, limits)
    spans, aside = keep_usable(salvage_spans(fields.items("spans", limits), "$.spans"), "$.spans", len(text), text)
    second, second_aside = _second(fields.first("second"), text, limits)
    threshold = read_probability(fields.first("threshold"))
    redacted, channel = _unicode(fields.first("redacted")), _short(fields.first("channel"))
    if redacted is not None and is_longer(redacted, longest_redacted(limits)):
        redacted = None
    ts = _moment(fields.first("ts"))
    record = Decision(doc_id, lang, text, detector, version, spans, threshold, redacted, second, ts, channel)
    optional = {"threshold": threshold, "redacted": redacted, "second": second, "ts": ts, "channel": channel}
    dropped = (
        Quarantine("field", f"$.{field}")
        for field, kept in optional.items()
        if kept is None and fields.first(field) is not None
    )
    return Decoded(record, (*aside, *second_aside, *dropped))


def salvage_label(value: bytes, limits: Limits) -> Label:
    """Read a label that the typed decoder refused; nothing of it is quarantined.

    A skipped label needs no spans. A `labelled_at` that is no time is left out: no estimate reads it, and a person's
    work isn't thrown away for it. Any other flaw raises a `RecordError`: `task_id`, `revision` and `status` decide
    which answer a label replaces, and a truth with a hole isn't one.
    """
    fields = parse_object(value)
    doc_id, annotator = fields.name("doc_id"), fields.name("annotator")
    status = fields.first("status")
    if status not in (None, "submitted", "skipped"):
        raise BadField("status", "expected submitted or skipped")
    skipped = status == "skipped"
    items = [] if skipped and fields.first("spans") is None else fields.items("spans", limits)
    spans = usable_or_raise(salvage_spans(items, "$.spans"), limits)
    revision = 0 if fields.first("revision") is None else read_whole(fields.first("revision"))
    if revision is None or not 0 <= revision <= LAST_REVISION:
        raise BadField("revision", f"expected a whole number from 0 to {LAST_REVISION}")
    task_id = "" if fields.first("task_id") is None else check_field("task_id", fields.string("task_id"))
    labelled_at = _moment(fields.first("labelled_at"))
    label = Label(doc_id, annotator, spans, task_id, "skipped" if skipped else "submitted", revision, labelled_at)
    return check_size(label, len(value))


def parse_object(value: bytes) -> Fields:
    """Return the fields of a JSON object; raises the `RecordError` that says why these bytes are none.

    The errors are raised outside of the `except` blocks: a decoder's own exception holds the document, and would live
    on as their context.
    """
    if not value:
        raise EmptyRecord
    body = value.removeprefix(_MARK)
    text = body.decode("utf-8", "surrogateescape")
    utf8 = _is_unicode(text)
    document: object = None
    position = -1
    deep = False
    try:
        document = json.loads(text, parse_int=_integer)
    except RecursionError:
        deep = True
    except json.JSONDecodeError as error:
        position = error.pos
    if deep:
        raise TooDeep
    if position >= 0:
        raise NotJson("$", f"at character {position}") if utf8 else NotUtf8
    if not isinstance(document, dict):
        raise NotAnObject("$", "null" if document is None else _unlike("an object", document))
    return Fields(document, utf8)


def salvage_spans(items: Sequence[object], where: str) -> list[Span | Quarantine]:
    """Return each item as a span of the right types, or as the reason why it can't be one."""
    return [_salvage_span(item, f"{where}[{index}]") for index, item in enumerate(items)]


def keep_usable(
    spans: Sequence[Span | Quarantine], where: str, length: int, text: str = ""
) -> tuple[list[Span], list[Quarantine]]:
    """Return the usable ones of these spans and what was set aside, both in order; a score out of [0, 1] is dropped.

    The other arguments are those of `span_fault`.
    """
    kept: list[Span] = []
    aside: list[Quarantine] = []
    for index, span in enumerate(spans):
        if isinstance(span, Quarantine):
            aside.append(span)
        elif (fault := span_fault(span, f"{where}[{index}]", length, text)) is not None:
            aside.append(fault)
        else:
            scored = span.score is None or 0 <= span.score <= 1
            kept.append(span if scored else Span(span.start, span.end, span.entity))
    return kept, aside


def usable_or_raise(spans: Sequence[Span | Quarantine], limits: Limits) -> list[Span]:
    """Return a label's spans; raises `BadSpan` for the first that can't be used.

    A label doesn't hold its text, so an offset is bad here only beyond the longest text there may be. Whoever joins it
    to its document checks it against that one, with `span_fault`.
    """
    kept, aside = keep_usable(spans, "$.spans", limits.max_text_bytes)
    if aside:
        raise BadSpan(aside[0].where, aside[0].reason)
    return kept


def span_fault(span: Span, where: str, length: int, text: str = "") -> Quarantine | None:
    """Return why a span of the right types can't be used, or None.

    `length` is that of the text in code points; without the text itself, whitespace isn't seen. Python's `text[-3:15]`
    names real text, so a negative offset must never reach a slice, and a span of no length would divide an overlap. No
    more than `LONGEST_BLANK` characters of a span's text are looked at: 10,000 spans over a megabyte of blanks would
    take a quarter of a minute.

    >>> span_fault(Span(0, 5, "PERSON"), "$.spans[0]", len("Anna"), "Anna")
    Quarantine(reason='beyond_text', where='$.spans[0].end')
    """
    start, end = span.start, span.end
    if start < 0 or end < 0:
        return Quarantine("negative", f"{where}.start" if start < 0 else f"{where}.end")
    if end <= start:
        return Quarantine("empty" if end == start else "reversed", f"{where}.end")
    if end > length:
        return Quarantine("beyond_text", f"{where}.end")
    if text[start : min(end, start + LONGEST_BLANK)].isspace():
        return Quarantine("whitespace", where)
    if not _is_unicode(span.entity):
        return Quarantine("surrogate", f"{where}.entity")
    usable = len(span.entity) <= LONGEST_ENTITY and usable_name(span.entity)
    return None if usable else Quarantine("entity", f"{where}.entity")


def read_whole(value: object) -> int | None:
    """Return a whole number, also of `12.0`, `"12"` and `"12.0"`; None of anything else, booleans too.

    >>> read_whole("12"), read_whole(12.0), read_whole(" 1e3"), read_whole(True)
    (12, 12, None, None)
    """
    match value:
        case bool():
            return None
        case int():
            return value
        case float():
            return int(value) if value.is_integer() else None
        case str() if (matched := _WHOLE.fullmatch(value)) is not None:
            return int(matched[1])
        case _:
            return None


def read_number(value: object) -> float | None:
    """Return a finite number, also of a string that writes one; None of anything else.

    >>> read_number("0.91"), read_number(float("nan")), read_number(10**400), read_number("1_0")
    (0.91, None, None, None)
    """
    match value:
        case bool():
            return None
        case int():
            try:
                number = float(value)
            except OverflowError:
                return None
        case float():
            number = value
        case str() if len(value) <= _LONGEST_NUMBER and _NUMBER.fullmatch(value):
            number = float(value)
        case _:
            return None
    return number if math.isfinite(number) else None


def read_probability(value: object) -> float | None:
    """Return a number in [0, 1], or None."""
    number = read_number(value)
    return number if number is not None and 0 <= number <= 1 else None


def _salvage_span(item: object, where: str) -> Span | Quarantine:
    if not isinstance(item, dict):
        return Quarantine("not_object", where)
    start, end = read_whole(item.get("start")), read_whole(item.get("end"))
    if start is None or end is None:
        return Quarantine("offset", f"{where}.start" if start is None else f"{where}.end")
    entity = item.get("entity")
    if entity is None:
        entity = Fields(item, utf8=True).first("entity_type", "type", "label")
    if not isinstance(entity, str):
        return Quarantine("entity", f"{where}.entity")
    return Span(start, end, entity, read_probability(item.get("score")))


def _second(value: object, text: str, limits: Limits) -> tuple[list[Span] | None, list[Quarantine]]:
    if not isinstance(value, list) or len(value) > limits.max_spans:
        return None, []
    return keep_usable(salvage_spans(value, "$.second"), "$.second", len(text), text)


def _unicode(value: object) -> str | None:
    return value if isinstance(value, str) and _is_unicode(value) else None


def _short(value: object) -> str | None:
    text = _unicode(value)
    return text if text is not None and len(text) <= LONGEST_FIELD else None


def _moment(value: object) -> float | str | None:
    return _short(value) if isinstance(value, str) else read_number(value)


def _integer(digits: str) -> int:
    # The interpreter refuses to read more than 4,300 digits (or 640, as it is set). The first 640 of more are as far
    # out of every range as all of them.
    return int(digits[:640])


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _unlike(expected: str, value: object) -> str:
    return "missing or null" if value is None else f"expected {expected}, got {_KINDS[type(value)]}"
