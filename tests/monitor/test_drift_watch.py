"""When the board looks at the census for drift, what it keeps, and what a restart changes: nothing."""

from __future__ import annotations

import msgspec
import pytest

from monitor.census import DECISIONS
from monitor.drift_watch import ROW, DriftWatch
from monitor.merged import HeldRow
from monitor.readings import DriftSignal
from monitor.records import Stratum
from monitor.tallies import RowKey
from monitor.tally import CensusKey, FlaggedKey, Tally

DELTA = 0.002


class Partition:
    """ROUTE's census of one partition and day, and the rows that it publishes."""

    def __init__(self, number: int = 0, day: int = 1) -> None:
        self.key = RowKey("route", number, day)
        self.tally = Tally()
        self.position = 0

    def count(self, stratum: Stratum, *entities: str, n: int) -> HeldRow:
        """Count documents; return the row as it's published then."""
        self.tally.add(DECISIONS, (n,))
        self.tally.add(CensusKey("es", "crf", "2", stratum), (n,))
        for entity in entities:
            self.tally.add(FlaggedKey("es", "crf", "2", entity), (n, n))
        self.position += n
        return self.row()

    def row(self) -> HeldRow:
        """Return the row as it's published now."""
        return HeldRow(self.key, self.position, Tally(self.tally.rows))


def signal(watch: DriftWatch, name: str = "flagged") -> DriftSignal:
    """Return the one signal of a name."""
    (found,) = [one for one in watch.signals() if one.signal == name]
    return found


def kept(watch: DriftWatch) -> bytes:
    """Return the row that is to be written."""
    row = watch.rows()[ROW]
    assert row is not None
    return row


def test_first_documents_are_looked_at_at_once() -> None:
    """Signals are there from the first record on, before any change."""
    watch = DriftWatch(DELTA)
    watch.take([Partition().count("both", "URL", n=3)], 7_000)

    assert [
        DriftSignal("detector_only", "es", "", 0.0, 3, 0),
        DriftSignal("entity", "es", "URL", 1.0, 3, 0),
        DriftSignal("flagged", "es", "", 1.0, 3, 0),
        DriftSignal("language", "es", "", 1.0, 3, 0),
        DriftSignal("loose_only", "es", "", 0.0, 3, 0),
    ] == list(watch.signals())
    assert watch.notes() == ()


@pytest.mark.parametrize(
    ("documents", "after_ms", "expected"), [(49, 4_999, 10), (50, 4_999, 60), (1, 5_000, 11), (1, -1, 11)]
)
def test_few_new_documents_wait(documents: int, after_ms: int, expected: int) -> None:
    """For others or for five seconds; a clock that was set back makes nobody wait."""
    watch, partition = DriftWatch(DELTA), Partition()
    watch.take([partition.count("both", n=10)], 60_000)
    watch.settle()
    watch.take([partition.count("both", n=documents)], 60_000 + after_ms)

    assert expected == signal(watch).documents
    assert (expected > 10) == bool(watch.rows())


def test_work_is_a_hundredth_of_the_time() -> None:
    """After 20,000 values at 1.6 µs each nothing is looked at for 3.2 s, however many documents come."""
    watch, partition = DriftWatch(DELTA), Partition()
    entities = [f"KIND_{i}" for i in range(196)]
    seen = []
    for after_ms in (0, 3_199, 3_200, 6_300):
        watch.take([partition.count("both", *entities, n=5_000)], 60_000 + after_ms)
        seen.append(signal(watch).documents)

    assert seen == [100, 100, 200, 200]


def test_what_waited_is_not_lost() -> None:
    """Documents that were not looked at come with the next ones, and those of a day that ended as well."""
    watch, yesterday, today = DriftWatch(DELTA), Partition(day=1), Partition(day=2)
    watch.take([yesterday.count("both", n=60)], 0)
    watch.take([yesterday.count("both", n=40)], 1_000)
    watch.take([yesterday.row(), today.count("loose_only", n=10)], 2_000)

    assert (signal(watch).documents, signal(watch).share) == (110, 100 / 110)


def test_change_is_latched_with_time_and_direction() -> None:
    """It is said until another one is found; the time is that of the records."""
    watch, partition = DriftWatch(DELTA), Partition()
    for minute in range(20):
        watch.take([partition.count("both" if minute < 10 else "loose_only", n=50)], 60_000 * minute)
    found = signal(watch)

    assert (found.at, found.direction, found.shifts) == (600.0, "down", 1)
    assert signal(watch, "loose_only").direction == "up"
    assert found.before is not None
    assert found.after is not None
    assert (found.before > 0.9, found.after < 0.3) == (True, True)


def shared_out(partitions: int) -> DriftWatch:
    """Return a watch that saw the same documents, counted in so many partitions."""
    watch = DriftWatch(DELTA)
    parts = [Partition(number) for number in range(partitions)]
    for minute in range(20):
        for part in parts:
            part.count("both", "URL", n=60 // partitions)
            part.count("loose_only", n=(minute >= 8) * 60 // partitions)
        watch.take([part.row() for part in parts], 60_000 * minute)
    return watch


def test_partitions_change_no_signal() -> None:
    """One, three and four partitions of the same checkpoints say the same."""
    assert shared_out(1).signals() == shared_out(3).signals() == shared_out(4).signals()
    assert sum(one.shifts for one in shared_out(1).signals()) > 0


def test_partitions_that_come_back_one_by_one_are_no_change() -> None:
    """One of two has grown past what both had together: it waits for the other, says so, and then goes on."""
    first, second = Partition(0), Partition(1)
    through = DriftWatch(DELTA)
    for minute in range(10):
        rows = [first.count("both", n=40), second.count("loose_only", n=40)]
        through.take(rows, 60_000 * minute)
    again = DriftWatch(DELTA, kept(through))
    first.count("both", n=500)
    again.take([first.row()], 600_000)
    assert again.notes() == ("drift: 1 rows of the census aren't read up to what was counted: it waits",)
    assert again.signals() == through.signals()

    again.take([first.row(), rows[1]], 601_000)
    through.take([first.row(), rows[1]], 601_000)

    assert again.notes() == ()
    assert kept(again) == kept(through)


def test_older_row_of_a_partition_is_waited_for_too() -> None:
    """The topic may still hold it; it's behind by its position."""
    partition = Partition()
    older = partition.count("both", n=60)
    through = DriftWatch(DELTA)
    through.take([partition.count("both", n=60)], 0)
    again = DriftWatch(DELTA, kept(through))

    again.take([older], 1_000)
    assert (len(again.notes()), again.rows()) == (1, {})
    again.take([partition.row()], 2_000)
    assert (again.notes(), again.rows()) == ((), {})


def test_state_holds_the_last_days_alone() -> None:
    """However many the board holds: they can't grow any more."""
    watch = DriftWatch(DELTA)
    watch.take([Partition(number, day).count("both", n=9) for day in range(1, 30) for number in (0, 1)], 0)
    counted = msgspec.msgpack.decode(kept(watch))[1]

    assert [place for place, _ in counted] == [[number, day] for number in (0, 1) for day in (27, 28, 29)]


def test_row_of_a_day_that_is_long_over_is_not_waited_for() -> None:
    """It may have been dropped from the topic."""
    through = DriftWatch(DELTA)
    through.take([Partition(day=1).count("both", n=60)], 0)
    again = DriftWatch(DELTA, kept(through))
    again.take([Partition(day=4).count("both", n=60)], 1_000)

    assert (again.notes(), signal(again).documents) == ((), 120)


def test_census_that_was_counted_anew_is_said_and_gone_on_from() -> None:
    """Fewer documents at a higher position: what is there is no news, what comes is."""
    watch, partition = DriftWatch(DELTA), Partition()
    watch.take([partition.count("both", n=200)], 0)
    anew = Partition()
    anew.position = 1_000
    watch.take([anew.count("both", n=60)], 10_000)
    assert (signal(watch).documents, len(watch.notes())) == (200, 1)
    watch.take([anew.count("both", n=50)], 20_000)

    assert (signal(watch).documents, "counted anew" in watch.notes()[0]) == (250, True)


@pytest.mark.parametrize(
    ("state", "why"),
    [
        (b"", "not a state"),
        (b"\xc1", "not a state"),
        (msgspec.msgpack.encode((2, [], b"")), "format 2; this version reads 1"),
        (msgspec.msgpack.encode((1, [], msgspec.msgpack.encode((7, [])))), "format 7; this version reads 1"),
        (msgspec.msgpack.encode((1, [((0, 1), (9, 9))], b"")), "not a state"),
    ],
)
def test_state_that_cannot_be_read_begins_anew_and_says_so(state: bytes, why: str) -> None:
    """Nothing of it is kept: neither the detectors nor what was to be waited for."""
    watch = DriftWatch(DELTA, state)
    watch.take([Partition().count("both", n=5)], 0)

    assert why in watch.begun_anew
    assert watch.notes() == (watch.begun_anew,)
    assert "begins anew" in watch.begun_anew
    assert signal(watch).documents == 5


def test_signals_that_are_left_out_are_said() -> None:
    """Names come from outside, and there's a bound on them."""
    watch, partition = DriftWatch(DELTA), Partition()
    watch.take([partition.count("both", *(f"KIND_{i}" for i in range(1_999)), n=2)], 0)

    assert watch.notes() == ("drift: 3 signals aren't watched: there are more than 2000",)


def test_row_is_written_only_where_it_changed() -> None:
    """Not before the first document, and not again once it's durable."""
    watch, partition = DriftWatch(DELTA), Partition()
    watch.take([], 0)
    assert watch.rows() == {}
    row = partition.count("both", n=60)
    watch.take([row], 0)
    assert list(watch.rows()) == [ROW]
    watch.settle()
    watch.take([row], 60_000)

    assert watch.rows() == {}


def test_another_promise_is_kept_from_then_on() -> None:
    """A change that is too small for one promise is enough for another."""

    def shifts(delta: float) -> int:
        watch, partition = DriftWatch(1e-9), Partition()
        watch.adopt(delta)
        for minute in range(8):
            partition.count("both", n=50 if minute < 4 else 35)
            watch.take([partition.count("unflagged", n=10 if minute < 4 else 25)], 60_000 * minute)
        return signal(watch).shifts

    assert (shifts(1e-9), shifts(0.5)) == (0, 1)
