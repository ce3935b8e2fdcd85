"""Dead letters: where a record that can't be used stands, and why. Never what it holds."""

from __future__ import annotations

import msgspec

from monitor.errors import RecordError
from monitor.fold import Output
from monitor.records import DeadLetter


def dead_letter(topic: str, partition: int, offset: int, error: RecordError) -> Output:
    """Return the dead letter of a record: where it stands and why, never what it holds."""
    letter = DeadLetter(topic, partition, offset, error.reason, error.where)
    return Output("dead_letters", f"{topic}/{partition}/{offset}".encode(), msgspec.json.encode(letter))
