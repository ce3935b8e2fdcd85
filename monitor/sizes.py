"""How large a record and its parts may be.

Whatever is kept or sent on has a largest size, since a record that no topic takes would stop every worker that reads
it. A name over its size refuses the record, an entity its span; an optional field over it is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from monitor.errors import BadField, TextTooLong, TooLarge, TooManySpans
from monitor.records import Label

LONGEST_FIELD = 512
"""Characters of a name, of a channel, of a time."""
LONGEST_ENTITY = 256
LARGEST_LABEL = 1 << 20
"""Bytes of a label as it's sent on: a hundred for each of 10,000 spans."""


class Limits(msgspec.Struct, frozen=True):
    """How large a record may be: UTF-8 bytes of its text, and the number of its spans."""

    max_text_bytes: int = 1 << 20
    max_spans: int = 10_000


def check_length(text: str, limits: Limits) -> None:
    """Raise `TextTooLong` where a text takes more UTF-8 bytes than allowed."""
    limit = limits.max_text_bytes
    if is_longer(text, limit):
        raise TextTooLong("$.text", f"more than {limit} bytes")


def is_longer(text: str, limit: int) -> bool:
    """Return whether a text takes more UTF-8 bytes than this; no character takes more than four."""
    return len(text) > limit or (4 * len(text) > limit and len(text.encode()) > limit)


def longest_redacted(limits: Limits) -> int:
    """Return how many bytes a redacted text may take: names in brackets are longer than what they stand for."""
    return 2 * limits.max_text_bytes


def check_field(field: str, value: str) -> str:
    """Return a string of at most `LONGEST_FIELD` characters; raises `BadField` for a longer one."""
    if len(value) > LONGEST_FIELD:
        raise BadField(field, f"more than {LONGEST_FIELD} characters")
    return value


def check_size(label: Label, read: int) -> Label:
    """Return the label; raises `TooLarge` where it takes more than `LARGEST_LABEL` bytes as it's sent on.

    Measured as sent and not as `read`, so that whoever reads it again decides alike: its keys and numbers may have
    grown in between, though never to twice the bytes.
    """
    if 2 * read > LARGEST_LABEL and len(msgspec.json.encode(label)) > LARGEST_LABEL:
        raise TooLarge("$", f"more than {LARGEST_LABEL} bytes")
    return label


def check_count(spans: Sequence[object], limits: Limits) -> None:
    """Raise `TooManySpans` where a record has more spans than allowed."""
    if len(spans) > limits.max_spans:
        raise TooManySpans("$.spans", f"{len(spans)}, and {limits.max_spans} are allowed")
