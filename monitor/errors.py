"""What can go wrong, by whose hands.

`ConfigError` is the operator's (exit 2), `RecordError` a producer's (one dead letter), `StateError` the operator's
again (rebuild by replay), `SourceError` that of whoever named a file or a broker that can't be read (exit 1).
A message says what, where and what to do. It never carries text of a document.
"""

from __future__ import annotations

from typing import ClassVar


class RecallwatchError(Exception):
    """Every error that this product raises on purpose."""


class ConfigError(RecallwatchError):
    """A setting that can't be used: which file, which key, which value, and what is allowed."""

    def __init__(self, key: str, problem: str, *, source: str = "config") -> None:
        self.key = key
        self.problem = problem
        self.source = source
        super().__init__(f"{source}: {key}: {problem}" if key else f"{source}: {problem}")


class SourceError(RecallwatchError):
    """A file, topic or broker that can't be read or isn't there."""


class StateError(RecallwatchError):
    """A state row that this version can't read; rebuild the partition by replay."""


class RecordError(RecallwatchError):
    """A record that can't be read; `reason` names its class, `where` the place inside it (`$.spans[2].end`)."""

    reason: ClassVar[str] = "unreadable"

    def __init__(self, where: str = "$", problem: str = "") -> None:
        self.where = where
        self.problem = problem
        super().__init__(f"{self.reason} at {where}" + (f": {problem}" if problem else ""))


class EmptyRecord(RecordError):
    """A value of no bytes; a value that is null is a tombstone, not an error."""

    reason = "empty"


class NotJson(RecordError):
    """Bytes that are no JSON text, or one that was cut short."""

    reason = "not_json"


class NotUtf8(RecordError):
    """Bytes that are no UTF-8."""

    reason = "not_utf8"


class NotAnObject(RecordError):
    """A JSON text whose top level is no object."""

    reason = "not_object"


class TooDeep(RecordError):
    """Nesting beyond what the decoder follows."""

    reason = "too_deep"


class LoneSurrogate(RecordError):
    """Half a UTF-16 pair in a text field: no Unicode text, and nothing that could be sent on."""

    reason = "surrogate"


class BadField(RecordError):
    """A required field that is missing, empty or of another type; the reason is the field's name."""

    def __init__(self, field: str, problem: str) -> None:
        self.reason = field  # type: ignore[misc]  # one class, one reason a field
        super().__init__(f"$.{field}", problem)


class TextTooLong(RecordError):
    """A text of more UTF-8 bytes than `limits.max_text_bytes`."""

    reason = "text_too_long"


class TooLarge(RecordError):
    """A record that is larger than what is read, or than what a topic would take of it."""

    reason = "too_large"


class TooManySpans(RecordError):
    """More spans than `limits.max_spans`."""

    reason = "too_many_spans"


class BadSpan(RecordError):
    """A span of a label that can't be used: a truth with a hole isn't one, so the label is a dead letter."""

    reason = "bad_span"


_ANY_RECORD = (
    "empty",
    "not_json",
    "not_utf8",
    "not_object",
    "too_deep",
    "surrogate",
    "too_many_spans",
    "too_large",
    "doc_id",
    "spans",
)
DECISION_REASONS = (*_ANY_RECORD, "text", "lang", "detector", "version", "text_too_long")
"""Why a decision can be a dead letter."""
LABEL_REASONS = (*_ANY_RECORD, "annotator", "task_id", "status", "revision", "bad_span")
"""Why a label can be a dead letter."""
