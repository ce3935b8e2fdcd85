"""Where a record that one stage sends to the next came from.

A stage that crashes sends again what it had sent since its last checkpoint. The next stage must tell that from a
producer, or a person, who said the same thing twice: the first changes no number, the second is a counted outcome.
"""

from __future__ import annotations

import msgspec

from monitor.leaks.coverage import Coverage
from monitor.records import Label, Sampled

Origin = tuple[int, int]
"""Partition and offset of the record that the sent one was made from."""


class DrawnRecord(Sampled, frozen=True, omit_defaults=True):
    """A drawn document as ROUTE sends it."""

    origin: Origin | None = None
    coverage: Coverage | None = None
    """What its output shows nothing of; None where it carries none, or nobody looked."""


class LabelRecord(Label, frozen=True, omit_defaults=True):
    """A label as INTAKE sends it."""

    origin: Origin | None = None


class _Origin(msgspec.Struct, frozen=True):
    origin: Origin | None = None


_ORIGIN = msgspec.json.Decoder(_Origin)


def origin_of(value: bytes) -> Origin | None:
    """Return where a record came from; None where it doesn't say.

    >>> origin_of(b'{"doc_id": "a", "origin": [0, 7]}'), origin_of(b'{"doc_id": "a"}')
    ((0, 7), None)
    """
    try:
        return _ORIGIN.decode(value).origin
    except (msgspec.DecodeError, RecursionError):
        return None


def taken_before(origins: dict[int, int], origin: Origin | None) -> bool:
    """Note an origin among the last ones by partition; say whether it, or one after it, was noted before."""
    if origin is None:
        return False
    partition, offset = origin
    if offset <= origins.get(partition, -1):
        return True
    origins[partition] = offset
    return False
