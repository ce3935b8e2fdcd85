"""What the stages published, merged: one row a stage, partition and day, and the running sum of each window of days.

A row of a higher position replaces a lower one, so late and repeated rows are harmless; a lower one that arrives
after a higher one is some presumed dead worker's, and the held row is written back, since the topic keeps the last
one written. Whole numbers are added and taken away exactly, so a window's sum is kept by differences and never
drifts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from monitor.agreements import Agreements
from monitor.cells import Version, VersionSums, by_version
from monitor.evidence import Entries, EvidenceSums, split
from monitor.fold import Output
from monitor.tallies import RowKey, Stage, read_key, read_value
from monitor.tally import Key, Tally


class Window:
    """The sum over the last so many days; None is all days.

    A day counts as long as it is less than `days` before today. Days to come count too: clocks differ by a little.
    """

    def __init__(self, days: int | None) -> None:
        self.days = days
        self.first: int | None = None
        self.sums = Tally()
        self._versions: dict[Version, VersionSums] | None = None
        self._agreements: Agreements | None = None

    @property
    def versions(self) -> dict[Version, VersionSums]:
        """The sums by detector version; the same objects as long as nothing changes."""
        if self._versions is None:
            self._versions = by_version(self.sums)
        return self._versions

    @property
    def agreements(self) -> Agreements:
        """What two readers say; the same object as long as nothing changes."""
        if self._agreements is None:
            self._agreements = Agreements(self.sums)
        return self._agreements

    def change(self, differences: Iterable[tuple[Key, tuple[int, ...]]]) -> None:
        """Add the differences between two rows of a day."""
        for key, numbers in differences:
            self.sums.add(key, numbers)
        self._versions = self._agreements = None

    def covers(self, day: int) -> bool:
        """Say whether a day lies in the window."""
        return self.first is None or day >= self.first

    def move(self, today: int, rows: Iterable[tuple[RowKey, Tally]]) -> None:
        """Move the window to a new today and add up its rows anew."""
        self.first = None if self.days is None else today - self.days + 1
        self.sums, self._versions, self._agreements = Tally(), None, None
        for key, tally in rows:
            if self.covers(key.day):
                self.sums.merge_rows(tally)


class HeldRow(NamedTuple):
    """Whose row it is, its position, and its tally without its entries."""

    key: RowKey
    position: int
    tally: Tally


class _Row(NamedTuple):
    """A published row as it's held."""

    position: int
    tally: Tally
    """Without its entries."""
    value: bytes
    entries: Entries


def _differences(
    before: Mapping[Key, tuple[int, ...]], after: Mapping[Key, tuple[int, ...]]
) -> Iterator[tuple[Key, tuple[int, ...]]]:
    """Yield what changed: a label leaves most of a day's row as it was, and every window takes it."""
    for key, row in after.items():
        held = before.get(key)
        if held is None:
            yield key, row
        elif held != row:
            yield key, tuple([a - b for a, b in zip(row, held, strict=True)])
    for key, row in before.items():
        if key not in after:
            yield key, tuple([-n for n in row])


class MergedRows:
    """Rows by key, and the windows over them.

    Parameters
    ----------
    windows_days
        Lengths of the windows, in days; None is everything.
    """

    def __init__(self, windows_days: Iterable[int | None]) -> None:
        self._rows: dict[RowKey, _Row] = {}
        self._today: int | None = None
        self.windows: list[Window] = []
        self.everything = Window(None)
        """All that is kept, also what no window holds any more."""
        self.evidence = EvidenceSums()
        """Of everything."""
        self.rewindow(windows_days)

    def rewindow(self, windows_days: Iterable[int | None]) -> None:
        """Add up windows of other lengths."""
        self.windows = [Window(days) for days in windows_days]
        for window in self.windows:
            window.move(self._today or 0, ((key, row.tally) for key, row in self._rows.items()))

    def take(self, key: bytes, value: bytes | None) -> list[Output]:
        """Take a published row; return the row to write back where a newer one is held.

        Raises
        ------
        StateError
            A row that no stage of this version writes.
        """
        name = read_key(key)
        held = self._rows.get(name)
        if value is None:
            if held is not None:
                self._replace(name, held, None)
                del self._rows[name]
            return []
        position, tally = read_value(value)
        if held is not None and position < held.position:
            return [Output("tallies", key, held.value)]
        row = self._rows[name] = _Row(position, tally, value, split(tally))
        self._replace(name, held, row)
        return []

    def _replace(self, key: RowKey, old: _Row | None, new: _Row | None) -> None:
        self.evidence.replace({} if old is None else old.entries, {} if new is None else new.entries)
        before, after = ({} if row is None else row.tally.rows for row in (old, new))
        differences = list(_differences(before, after))
        for window in (*self.windows, self.everything):
            if window.covers(key.day):
                window.change(differences)

    def move(self, today: int) -> None:
        """Let the windows end today (days since the epoch); rows are added up anew only where the day changed."""
        if today != self._today:
            self._today = today
            for window in self.windows:
                window.move(today, ((key, row.tally) for key, row in self._rows.items()))

    def held(self, stage: Stage) -> Iterator[HeldRow]:
        """Yield the rows of a stage."""
        return (HeldRow(key, row.position, row.tally) for key, row in self._rows.items() if key.stage == stage)

    def extremes(self, window: Window, stage: Stage) -> Tally:
        """Return what a stage saw first and last in a window, and the oldest open tasks; sums are in `window.sums`."""
        found = Tally()
        for key, row in self._rows.items():
            if key.stage == stage and window.covers(key.day):
                found.merge(Tally(None, row.tally.seen, row.tally.oldest))
        return found

    @property
    def longest(self) -> Window:
        """The window over the most days."""
        return max(self.windows, key=lambda w: float("inf") if w.days is None else w.days)

    def days(self, window: Window) -> list[int]:
        """Return the days of a window that hold any document, sorted."""
        return sorted(
            {
                key.day
                for key, row in self._rows.items()
                if key.stage == "route" and row.tally.seen and window.covers(key.day)
            }
        )
