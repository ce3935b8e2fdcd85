"""What was read of each partition, and what must be read again: the bookkeeping of the transport, without a broker.

A chunk carries `base`, the offset that reading goes on from, and `following`, the offset after its last record. `base`
is the cursor's own position, never a record's offset, so what compaction or a transaction marker took out of the log
is no hole. A reader whose position is below `base` has missed something (a queue was cleared, a generator closed) and
asks for a rewind; a chunk that reaches back below its position is skipped as far as that.

The cursor trusts nothing but itself: whatever a fetch returned that was not delivered is fetched again from the
cursor. `epoch` counts seeks. A fetch that began in one epoch and ended in another belongs to no position, and a chunk
of an earlier epoch to no running fold.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from monitor.records import Record


class Place(NamedTuple):
    """A partition of a topic; equal to Faust's and to aiokafka's own tuples of the same content."""

    topic: str
    partition: int


class Chunk(NamedTuple):
    """Consecutive records of one partition; nothing that still stands between `base` and `following` is left out."""

    base: int
    following: int
    records: Sequence[Record]
    epoch: int


class Cursor:
    """Reading of one partition: `following` is the next offset to deliver."""

    __slots__ = ("_lost_below", "following", "holes", "left_at", "lost", "placed", "rewinds", "seek_to")

    def __init__(self) -> None:
        self.following = 0
        self.placed = False
        self.seek_to: int | None = None
        """Where the client must be told to read on, before its next fetch."""
        self.holes = 0
        self.left_at: int | None = None
        """The position of a reader that left a chunk on purpose: that it misses something there is no hole."""
        self.rewinds = 0
        self.lost = 0
        """Records that retention had removed before they were read."""
        self._lost_below = 0

    def lose(self, position: int, earliest: int) -> bool:
        """Count what was removed between a position and the earliest offset left; False where that is no news.

        What is read again meets the same gap again.
        """
        news = earliest - max(position, self._lost_below)
        self.lost += max(news, 0)
        self._lost_below = max(earliest, self._lost_below)
        return news > 0

    def place(self, offset: int) -> None:
        """Go on reading at `offset`; a rewind that was asked for before is void."""
        self.following = self.seek_to = offset
        self.placed = True

    def rewind(self, offset: int) -> None:
        """Fetch again from `offset`; of two requests the lower one wins."""
        self.rewinds += self.seek_to is None
        self.seek_to = offset if self.seek_to is None else min(offset, self.seek_to)


class Cursors:
    """The cursors of all assigned partitions.

    Parameters
    ----------
    bound
        The most records in a chunk, at least 1.

    """

    def __init__(self, bound: int) -> None:
        if bound < 1:
            raise ValueError(f"chunk bound {bound}, at least 1")
        self.bound = bound
        self.epoch = 0
        self._cursors: dict[Place, Cursor] = {}

    def get(self, place: Place) -> Cursor | None:
        """Return the cursor, None where it isn't placed: nothing may be delivered from there."""
        cursor = self._cursors.get(place)
        return cursor if cursor is not None and cursor.placed else None

    def lift(self) -> None:
        """Deliver nothing more before the next seek: a rebalance has begun, and the client's positions are its own."""
        for cursor in self._cursors.values():
            cursor.placed = False
            cursor.seek_to = None

    def keep(self, places: Iterable[Place]) -> None:
        """Forget partitions that are not among `places`, figures and all."""
        kept = set(places)
        self._cursors = {place: cursor for place, cursor in self._cursors.items() if place in kept}

    def place(self, positions: Mapping[Place, int]) -> None:
        """Read on at `positions`, beginning with the next fetch; one call is one epoch.

        The client is told by whoever fetches, between two fetches: told at any other moment it might return records
        from before and from after it, and nobody could say which.
        """
        self.epoch += 1
        for place, offset in positions.items():
            cursor = self._cursors.setdefault(place, Cursor())
            cursor.place(offset)
            cursor.left_at = None

    def report_hole(self, place: Place, offset: int) -> None:
        """Rewind to `offset`, the position of a reader that missed something."""
        cursor = self.get(place)
        if cursor is not None:
            cursor.holes += offset != cursor.left_at
            cursor.rewind(offset)

    def let_go(self, place: Place, offset: int) -> None:
        """Rewind to `offset`, the position of a reader that left a chunk on purpose."""
        cursor = self.get(place)
        if cursor is not None:
            cursor.left_at = offset
            cursor.rewind(offset)

    def undelivered(self, places: Iterable[Place]) -> None:
        """Fetch again what came for `places` and was not delivered."""
        for place in places:
            cursor = self.get(place)
            if cursor is not None:
                cursor.rewind(cursor.following)

    def undelivered_all(self) -> None:
        """Fetch everything again from the cursors: a fetch was cut off and what it took is unknown."""
        self.undelivered(list(self._cursors))

    def take_seeks(self) -> dict[Place, int]:
        """Return where the client must be placed before it fetches again; the cursors are there then."""
        due = {place: c.seek_to for place, c in self._cursors.items() if c.seek_to is not None}
        for place, offset in due.items():
            self._cursors[place].place(offset)
            self._cursors[place].seek_to = None
        return due

    def cut(self, place: Place, records: Sequence[Record]) -> tuple[Chunk | None, Sequence[Record]]:
        """Return the next chunk of `records` and the rest of them, and move the cursor past the chunk.

        Records below the cursor are left out; None where no others are left.

        Parameters
        ----------
        place
            A partition whose cursor is known.
        records
            What one fetch returned for it, in offset order.

        """
        cursor = self._cursors[place]
        if records and records[0].offset < cursor.following:
            records = records[bisect_left(records, cursor.following, key=lambda r: r.offset) :]
        if not records:
            return None, records
        part, rest = records[: self.bound], records[self.bound :]
        chunk = Chunk(cursor.following, part[-1].offset + 1, part, self.epoch)
        cursor.following = chunk.following
        return chunk, rest
