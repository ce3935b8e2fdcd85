"""Bytes into records: a typed fast path, and behind it `monitor.salvage` for whatever is less than flawless.

The fast path never decides what is wrong with a record. It answers only where every check passes; else the slow path
does, from the typed record where there is one, from the bytes where not. So both give the same result for any record
that the fast path can read, and each rule has one home.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from monitor.entities import usable_name
from monitor.records import Decision, Label, Span
from monitor.salvage import (
    LAST_REVISION,
    LONGEST_BLANK,
    Decoded,
    Quarantine,
    keep_usable,
    salvage_decision,
    salvage_label,
    span_fault,
    usable_or_raise,
)
from monitor.sizes import (
    LONGEST_ENTITY,
    LONGEST_FIELD,
    Limits,
    check_count,
    check_length,
    check_size,
    is_longer,
    longest_redacted,
)

__all__ = ["Decoded", "Limits", "Quarantine", "decode_decision", "decode_label", "span_fault", "typed_decision"]

_DECISION = msgspec.json.Decoder(Decision)
_LABEL = msgspec.json.Decoder(Label)
# A RecursionError comes of nesting, a UnicodeDecodeError of other bytes (in some versions of msgspec). The slow path
# names them; it is called outside of the `except` block, lest an error that holds the document live on as context.
_REFUSED = (msgspec.MsgspecError, RecursionError, UnicodeError)


def decode_decision(value: bytes, limits: Limits) -> Decoded:
    """Return the decision in `value`, with what had to be set aside.

    Spans with a score under the record's threshold are still among its spans, under the names the producer gave.

    Parameters
    ----------
    value
        A record's value; a null value is a tombstone, and the caller's.
    limits
        Sizes beyond which a record is refused.

    Raises
    ------
    RecordError
        Where the record can't be read as a decision: one of its subclasses, and no other exception whatever the bytes.

    Examples
    --------
    >>> value = b'{"doc_id":"1","lang":"nl","text":"Anna","detector":"d","version":"1","spans":[]}'
    >>> decode_decision(value, Limits()).record.text
    'Anna'
    """
    record = typed_decision(value, limits)
    if record is None:
        return salvage_decision(value, limits)
    if _flawless(record.spans, record.text):
        return Decoded(record, ())
    return _set_aside(record)


def typed_decision(value: bytes, limits: Limits) -> Decision | None:
    """Return the decision where the fast path can read it: all of it is checked except for its `spans`.

    None is for `decode_decision` to look into. It's what ROUTE calls first: there the spans' checks are one loop with
    the reading of their names (`monitor.spelling`).

    Raises
    ------
    RecordError
        `TextTooLong` and `TooManySpans`, which need no second look.
    """
    try:
        record = _DECISION.decode(value)
    except _REFUSED:
        return None
    second, threshold = record.second, record.threshold
    if (
        record.doc_id.isspace()  # an empty name was refused already
        or record.lang.isspace()
        or record.detector.isspace()
        or record.version.isspace()
        or (threshold is not None and not 0.0 <= threshold <= 1.0)
        or (second is not None and (len(second) > limits.max_spans or not _flawless(second, record.text)))
        # no field is longer than the JSON that holds it, in which the text stands too
        or (
            len(value) > LONGEST_FIELD
            and (len(value) - len(record.text) > LONGEST_FIELD or record.redacted is not None)
            and _oversized(record, len(value), limits)
        )
    ):
        return None
    if len(value) > limits.max_text_bytes:
        check_length(record.text, limits)
    check_count(record.spans, limits)
    return record


def decode_label(value: bytes, limits: Limits) -> Label:
    """Return the label in `value`; its offsets are not compared with the text, which a label doesn't hold.

    Raises
    ------
    RecordError
        Where the label can't be read; `BadSpan`, with the span's place, where one of its spans can't be used.

    Examples
    --------
    >>> decode_label(b'{"doc_id": "1", "annotator": "jo", "spans": []}', Limits()).status
    'submitted'
    """
    try:
        label = _LABEL.decode(value)
    except _REFUSED:
        label = None
    if (
        label is None
        or label.doc_id.isspace()
        or label.annotator.isspace()
        or label.revision > LAST_REVISION
        or any(map(_long, (label.doc_id, label.annotator, label.task_id, label.labelled_at)))
    ):
        return salvage_label(value, limits)
    check_count(label.spans, limits)
    return check_size(msgspec.structs.replace(label, spans=usable_or_raise(label.spans, limits)), len(value))


def _oversized(record: Decision, read: int, limits: Limits) -> bool:
    """Return whether a field is longer than it may be, in a record of so many bytes."""
    redacted, channel, ts = record.redacted, record.channel, record.ts
    return (
        len(record.doc_id) > LONGEST_FIELD
        or len(record.lang) > LONGEST_FIELD
        or len(record.detector) > LONGEST_FIELD
        or len(record.version) > LONGEST_FIELD
        or (channel is not None and len(channel) > LONGEST_FIELD)
        or (isinstance(ts, str) and len(ts) > LONGEST_FIELD)
        or (redacted is not None and read > limits.max_text_bytes and is_longer(redacted, longest_redacted(limits)))
    )


def _long(value: float | str | None) -> bool:
    return isinstance(value, str) and len(value) > LONGEST_FIELD


def _flawless(spans: Sequence[Span], text: str) -> bool:
    """Return whether `keep_usable` would keep these spans as they are; written for speed, and for that answer alone."""
    length = len(text)
    for span in spans:
        start, end, score = span.start, span.end, span.score
        entity = span.entity  # a fourth name above would make it a tuple first, which takes longer
        # 0.0 and not 0: comparing a float with a whole number takes twice as long
        if (
            not 0 <= start < end <= length
            or not (score is None or 0.0 <= score <= 1.0)
            or len(entity) > LONGEST_ENTITY
            or not (entity.isidentifier() or usable_name(entity))
            or (text[start].isspace() and text[start : min(end, start + LONGEST_BLANK)].isspace())
        ):
            return False
    return True


def _set_aside(record: Decision) -> Decoded:
    """Return a typed record without the spans that can't be used."""
    spans, aside = keep_usable(record.spans, "$.spans", len(record.text), record.text)
    return Decoded(msgspec.structs.replace(record, spans=spans), tuple(aside))
