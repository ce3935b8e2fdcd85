"""What is unpacked of a fetch is what the client itself would unpack, and the client is told the same offset."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from aiokafka.consumer.fetcher import READ_COMMITTED, READ_UNCOMMITTED, FetchResult, PartitionRecords
from aiokafka.errors import CorruptRecordException
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.memory_records import MemoryRecords
from aiokafka.structs import TopicPartition
from hypothesis import given
from hypothesis import strategies as st

from monitor.records import Record
from streams.unpacking import Unpacked, unpack

PLACE = TopicPartition("decisions", 0)
VALUES = st.lists(
    st.tuples(st.none() | st.binary(max_size=5), st.none() | st.binary(max_size=9)), min_size=1, max_size=6
)


def batch(first: int, records: Sequence[tuple[bytes | None, bytes | None]], *, compression: int = 0) -> bytes:
    """Return a batch of keys and values at consecutive offsets."""
    builder = DefaultRecordBatchBuilder(2, compression, 0, -1, -1, -1, 1 << 20)
    for place, (key, value) in enumerate(records):
        builder.append(place, 1_700_000_000_000 + first + place, key, value, [])
    return first.to_bytes(8) + bytes(builder.build())[8:]


def stock(
    data: bytes, position: int, *, check_crcs: bool = False, isolation: int = READ_UNCOMMITTED
) -> PartitionRecords:
    """Return the client's own way to the records."""
    return PartitionRecords(PLACE, MemoryRecords(data), None, position, None, None, check_crcs, isolation)


@given(st.lists(VALUES, min_size=1, max_size=4), st.integers(0, 5), st.sampled_from([0, 1]))
def test_it_reads_what_the_client_reads(batches: list[list[tuple[bytes, bytes]]], position: int, codec: int) -> None:
    """Batches with gaps between them, the first begun before the position, plain and gzip; each record is compared."""
    data, first = b"", 0
    position = min(position, len(batches[0]) - 1)  # a broker answers with the batch that holds it
    for records in batches:
        data += batch(first, records, compression=codec)
        first += len(records) + 2
    theirs, ours = stock(data, position), Unpacked(MemoryRecords(data), position, check_crcs=False)
    for expected in theirs:
        actual = next(iter(ours))
        assert actual == Record(expected.offset, expected.timestamp, expected.value, expected.key)
        assert ours.next_fetch_offset == theirs.next_fetch_offset
    assert list(ours) == []
    assert ours.next_fetch_offset == theirs.next_fetch_offset


def test_a_wrong_checksum_is_found_where_it_is_looked_for() -> None:
    """The records before the batch are read; without the check so is the batch."""
    good, bad = batch(0, [(b"k", b"first")]), bytearray(batch(1, [(b"k", b"second")]))
    bad[-2] ^= 1
    checked = iter(Unpacked(MemoryRecords(good + bytes(bad)), 0, check_crcs=True))
    assert next(checked).value == b"first"
    with pytest.raises(CorruptRecordException):
        next(checked)
    assert len(list(Unpacked(MemoryRecords(good + bytes(bad)), 0, check_crcs=False))) == 2


def test_records_are_replaced_and_transactions_refused() -> None:
    """Errors of a fetch are not looked at; which transactions were aborted only the client would know."""
    data = batch(0, [(b"k", b"v")])
    plain = FetchResult(PLACE, assignment=None, partition_records=stock(data, 0), backoff=0)
    committed = stock(data, 0, isolation=READ_COMMITTED)
    careful = FetchResult(PLACE, assignment=None, partition_records=committed, backoff=0)
    unpack({"plain": plain, "error": RuntimeError()})
    assert isinstance(plain._partition_records, Unpacked)  # noqa: SLF001  # what the client will read
    with pytest.raises(ValueError, match="read_committed"):
        unpack({"careful": careful})
