"""What the ledger's table holds: a head a partition, and a row a document, its body behind what the head counts for it.

That cover matters as long as the row is ahead of the head (`monitor.ledger`); otherwise it's the body's hash. A body is
deflated msgpack: a ledger holds a hundred thousand of them, of which the map of white space is half and doesn't give
in, and names the other half.
"""

from __future__ import annotations

import hashlib
import zlib

import msgspec

from monitor.document import Document
from monitor.errors import StateError

FORMAT = 2
_COVER = 8
"""Bytes of the cover."""
_NO_COVER = bytes(_COVER)
_WORDS = b"detector_onlyunflaggedloose_onlybothDATE_TIMEIBAN_CODEPHONE_NUMBEREMAIL_ADDRESSLOCATIONPERSON"
"""What most bodies hold, for deflate to point at; part of the format."""
_ROW = msgspec.msgpack.Decoder(Document)


class Head(msgspec.Struct, array_like=True, frozen=True):
    """The row of a partition's positions."""

    format: int
    sampled_next: int | None
    labels_next: int | None
    day: int
    limit_day: int
    """Rows whose last day is before this one have expired."""
    count: int
    checksum: int
    dead: list[tuple[int, str, int]]
    """Records that left no row, being unreadable or expired: day, reason, times."""
    rebuilt_to: int = 0
    """The position that was reached before the last rebuild."""


NO_HEAD = Head(FORMAT, None, None, 0, 0, 0, 0, [])
"""What a partition begins with: rows of a first checkpoint that was cut short are ahead of it."""


def read_head(row: bytes, partition: int) -> Head:
    """Return the head of a partition, one of an older format too: its fields are the same, its rows are others.

    Raises
    ------
    StateError
        A head of a later format, or bytes that are none.
    """
    try:
        head: Head | None = msgspec.msgpack.decode(row, type=Head)
    except msgspec.DecodeError:
        head = None
    if head is None or head.format > FORMAT:
        # never to delete the table alone: reading would go on from the group's positions, without what was before them
        raise StateError(
            f"ledger/{partition}: the head is none that this version can read: upgrade, "
            "or set another kafka.group, under which all is read again from the start"
        )
    return head


def new_row(document: Document) -> bytes:
    """Return a document's row that covers nothing yet."""
    packing = zlib.compressobj(wbits=-10, memLevel=4, zdict=_WORDS)  # rows are short, and a small window is set up fast
    return _NO_COVER + packing.compress(msgspec.msgpack.encode(document)) + packing.flush()


def covered_row(covered: int, row: bytes) -> bytes:
    """Return a row with another cover: the 64 bits that the head counts for it."""
    return covered.to_bytes(_COVER) + row[_COVER:]


def cover_of(row: bytes) -> int:
    """Return a row's cover."""
    return int.from_bytes(row[:_COVER])


def document_of(row: bytes) -> Document:
    """Return the document of a row that was read before."""
    return _ROW.decode(zlib.decompressobj(wbits=-zlib.MAX_WBITS, zdict=_WORDS).decompress(memoryview(row)[_COVER:]))


def read_row(row: bytes) -> Document | None:
    """Return the document of a row of the table, None for bytes that are no row of this version."""
    try:
        return document_of(row)
    except (msgspec.DecodeError, zlib.error):
        return None


def is_ahead(document: Document, sampled_next: int | None, labels_next: int | None) -> bool:
    """Say whether a row has taken a record that lies at or beyond these positions."""
    return document.sampled_offset >= (sampled_next or 0) or document.labels_offset >= (labels_next or 0)


def hash_of(key: str, row: bytes) -> int:
    """Return 64 bits of the hash of a row's body, never 0: that stands for a row that no head counts yet."""
    body = memoryview(row)[_COVER:]
    return int.from_bytes(hashlib.blake2b(body, key=key.encode()[:64], digest_size=8).digest()) or 1
