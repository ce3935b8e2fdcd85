"""Chunks and cursors: continuity comes from the cursor, and what wasn't delivered is fetched again."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from monitor.records import Record
from streams.chunks import Chunk, Cursors, Place

PLACE = Place("decisions", 0)


def stored(*offsets: int) -> list[Record]:
    """Return records at `offsets`."""
    return [Record(offset, 0, None) for offset in offsets]


def placed(offset: int, bound: int = 100) -> Cursors:
    """Return cursors whose one partition is placed at `offset`, the client too."""
    cursors = Cursors(bound)
    cursors.place({PLACE: offset})
    cursors.take_seeks()
    return cursors


def cut_all(cursors: Cursors, records: Sequence[Record]) -> list[Chunk]:
    """Return all chunks of `records`."""
    chunks = []
    while True:
        chunk, records = cursors.cut(PLACE, records)
        if chunk is None:
            return chunks
        chunks.append(chunk)


def test_chunks_follow_on_one_another_up_to_the_bound() -> None:
    """Each chunk begins where the one before ended, and none has more records than the bound."""
    chunks = cut_all(placed(0, bound=2), stored(0, 1, 2, 3, 4))
    assert [(c.base, c.following) for c in chunks] == [(0, 2), (2, 4), (4, 5)]
    assert [len(c.records) for c in chunks] == [2, 2, 1]


def test_offsets_that_compaction_removed_are_no_hole() -> None:
    """The base is the cursor's own position, so a gap between offsets stays inside a chunk."""
    chunks = cut_all(placed(3), stored(5, 9))
    assert [(c.base, c.following) for c in chunks] == [(3, 10)]


def test_records_below_the_cursor_are_left_out() -> None:
    """A fetch that reaches back is trimmed; one that only reaches back gives no chunk."""
    cursors = placed(4)
    (chunk,) = cut_all(cursors, stored(2, 3, 4, 5))
    assert [r.offset for r in chunk.records] == [4, 5]
    assert cut_all(cursors, stored(2, 3)) == []


def test_nothing_is_known_of_a_partition_that_was_never_placed() -> None:
    """Without a seek there is no cursor, so nothing can be delivered."""
    assert Cursors(10).get(PLACE) is None


def test_a_hole_makes_the_client_read_again_from_the_readers_position() -> None:
    """The next fetch begins at the position that the reader reported, and is counted."""
    cursors = placed(0)
    cut_all(cursors, stored(0, 1, 2))
    cursors.report_hole(PLACE, 1)
    assert cursors.take_seeks() == {PLACE: 1}
    cursor = cursors.get(PLACE)
    assert cursor is not None
    assert (cursor.following, cursor.holes, cursor.rewinds) == (1, 1, 1)


def test_what_a_reader_left_on_purpose_is_read_again_and_no_hole() -> None:
    """Nor are the chunks behind it that come before it does; a chunk that is missed later on is one."""
    cursors = placed(0)
    cut_all(cursors, stored(0, 1, 2, 3))
    cursors.let_go(PLACE, 1)
    assert cursors.take_seeks() == {PLACE: 1}
    cursors.report_hole(PLACE, 1)
    cursor = cursors.get(PLACE)
    assert cursor is not None
    assert (cursor.holes, cursor.rewinds) == (0, 2)
    cursors.report_hole(PLACE, 3)
    assert cursor.holes == 1


def test_undelivered_records_are_fetched_again_from_the_last_delivered_one() -> None:
    """What a stopped flow left of a fetch is read again."""
    cursors = placed(0, bound=2)
    cursors.cut(PLACE, stored(0, 1, 2, 3))
    cursors.undelivered([PLACE])
    assert cursors.take_seeks() == {PLACE: 2}
    assert cursors.take_seeks() == {}


def test_the_lower_of_two_rewinds_wins() -> None:
    """A hole asks for more than what was left of the fetch: the hole's offset is read."""
    cursors = placed(0)
    cut_all(cursors, stored(0, 1, 2, 3))
    cursors.report_hole(PLACE, 1)
    cursors.undelivered_all()
    assert cursors.take_seeks() == {PLACE: 1}


def test_a_seek_is_a_new_epoch_and_voids_rewinds() -> None:
    """After a rebalance the state's position counts, whatever was asked for before."""
    cursors = placed(0)
    before = cursors.epoch
    cursors.report_hole(PLACE, 1)
    cursors.place({PLACE: 7})
    assert cursors.take_seeks() == {PLACE: 7}
    assert cursors.epoch > before


def test_partitions_that_went_away_are_forgotten() -> None:
    """A rewind of a partition of somebody else's is none of ours."""
    cursors = placed(0)
    cursors.keep([])
    cursors.report_hole(PLACE, 0)
    cursors.undelivered([PLACE])
    assert cursors.take_seeks() == {}


def test_nothing_is_delivered_between_a_rebalance_and_the_seek_after_it() -> None:
    """The client reads on from committed offsets meanwhile; the cursor's figures stay."""
    cursors = placed(5)
    cursors.report_hole(PLACE, 3)
    cursors.lift()
    assert cursors.get(PLACE) is None
    assert cursors.take_seeks() == {}
    cursors.place({PLACE: 9})
    cursor = cursors.get(PLACE)
    assert cursor is not None
    assert (cursor.following, cursor.holes) == (9, 1)


def test_a_bound_of_no_records_is_refused() -> None:
    """A chunk without records would never move the cursor."""
    with pytest.raises(ValueError, match="chunk bound 0"):
        Cursors(0)


def test_a_loss_is_counted_once_however_often_it_is_met() -> None:
    """What is read again meets the same gap; a later loss counts from where the one before ended."""
    cursor = placed(5).get(PLACE)
    assert cursor is not None
    assert [cursor.lose(5, 9), cursor.lose(5, 9), cursor.lose(7, 12), cursor.lose(12, 12)] == [True, False, True, False]
    assert cursor.lost == 7
