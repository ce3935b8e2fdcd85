"""Rows of the topic, merged: the highest position wins, windows are exact sums, and a zombie's row is written over."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.errors import StateError
from monitor.fold import Output
from monitor.merged import MergedRows
from monitor.tallies import Stage, published
from monitor.tally import CountKey, Tally, VersionKey

KEY = CountKey("labels", "joined")
STAGES: tuple[Stage, ...] = ("route", "ledger")


def row(n: int, position: int, day: int = 5, stage: Stage = "route", partition: int = 0) -> Output:
    """Return a published row that counts `n`."""
    return published(stage, partition, str(day), position, Tally({KEY: (n,)} if n else {}))


def take(merged: MergedRows, *outputs: Output) -> list[Output]:
    """Take rows; return what is written back."""
    return [back for output in outputs for back in merged.take(output.key, output.value)]


def total(merged: MergedRows, window: int = 0) -> int:
    """Return what a window counts."""
    return merged.windows[window].sums.rows.get(KEY, (0,))[0]


ROWS = st.lists(
    st.tuples(st.integers(1, 9), st.integers(0, 40), st.integers(0, 4), st.sampled_from(STAGES), st.integers(0, 2)),
    max_size=12,
    unique_by=lambda r: r[1:],
)


@settings(max_examples=60)
@given(rows=ROWS, data=st.data(), today=st.integers(0, 6))
def test_order_and_repetition_of_rows_change_no_sum(
    rows: list[tuple[int, int, int, Stage, int]], data: st.DataObject, today: int
) -> None:
    """Shuffled, repeated, and with the day moving in between, a window is the sum of the highest row of each key."""
    merged = MergedRows([None, 3])
    for n, position, day, stage, partition in data.draw(st.permutations([*rows, *rows])):
        merged.move(data.draw(st.integers(0, 6)))
        take(merged, row(n, position, day, stage, partition))
    merged.move(today)
    highest = {
        (stage, partition, day): (position, n)
        for n, position, day, stage, partition in sorted(rows, key=lambda r: r[1])
    }

    assert sum(n for _, n in highest.values()) == total(merged)
    assert sum(n for (_, _, day), (_, n) in highest.items() if day > today - 3) == total(merged, 1)


def test_lower_position_is_answered_with_the_held_row() -> None:
    """The topic keeps what was written last, so the newer row has to be written again; an equal one is no news."""
    merged = MergedRows([None])
    newer = row(7, 20)

    assert take(merged, newer) == []
    assert [newer] == take(merged, row(3, 10))
    assert take(merged, newer) == []
    assert total(merged) == 7


def test_dropped_day_leaves_the_sums() -> None:
    """A tombstone takes the row away, one for a row that was never there changes nothing."""
    merged = MergedRows([None])
    take(merged, row(7, 20), published("route", 0, "5", 0, None), published("route", 1, "5", 0, None))

    assert total(merged) == 0
    assert merged.windows[0].sums.rows == {}


def test_window_ends_today_and_counts_days_to_come() -> None:
    """Three days are today and the two before; a worker whose clock is ahead isn't cut off."""
    merged = MergedRows([3])
    take(merged, *[row(10**d, 1, day=d) for d in range(5)])
    found = []
    for today in (2, 3, 4, 7):
        merged.move(today)
        found.append(total(merged))

    assert found == [11_111, 11_110, 11_100, 0]


def test_windows_of_other_lengths_are_added_up_from_the_same_rows() -> None:
    """A change of config needs no topic to be read again."""
    merged = MergedRows([1])
    take(merged, *[row(10**d, 1, day=d) for d in range(3)])
    merged.move(2)
    merged.rewindow([2, None])

    assert (total(merged, 0), total(merged, 1)) == (110, 111)


def test_extremes_are_those_of_the_windows_days() -> None:
    """First and last sighting, oldest open task: of days in the window, and of one stage, alone."""
    merged = MergedRows([1, None])
    version = VersionKey("en", "d", "1")
    for day in (4, 5):
        tally = Tally(None, {version: (day * 10, day * 10 + 5)}, {"en": float(day)})
        take(merged, published("route", 0, str(day), 1, tally))
        take(merged, published("ledger", 0, str(day), 1, Tally(None, {version: (0, 10**9)})))
    merged.move(5)
    week, everything = (merged.extremes(window, "route") for window in merged.windows)

    assert (week.seen[version], week.oldest["en"]) == ((50, 55), 5.0)
    assert (everything.seen[version], everything.oldest["en"]) == ((40, 55), 4.0)
    assert merged.days(merged.windows[1]) == [4, 5]


@pytest.mark.parametrize(("key", "value"), [(b"x", b"y"), (b"route/0/5", b"y"), (b"", None)])
def test_unreadable_row_changes_nothing(key: bytes, value: bytes | None) -> None:
    """A row that no stage wrote is refused, and what was held stays."""
    merged = MergedRows([None])
    take(merged, row(7, 20))
    with pytest.raises(StateError):
        merged.take(key, value)

    assert total(merged) == 7
