"""When the census is looked at for drift, and what the board says of it.

The rows that ROUTE publishes say up to which position each partition was counted. Those that were looked at last are
kept beside the detectors: after a restart nothing is added before each row is read up to there again, so partitions
that come back one after the other aren't taken for a change.

How often: once there are 50 new documents, or 5 seconds after the last time where there are fewer; and not before the
work of the last time is a hundredth of the time since. Time is that of the records, so that the same records give the
same state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from monitor.census import DECISIONS
from monitor.drift_signals import DAYS_COUNTED, Drift
from monitor.errors import StateError
from monitor.merged import HeldRow
from monitor.readings import DriftSignal

ENOUGH = 50
"""New documents that are looked at at once: a change of all documents shows within 32."""
LATEST_MS = 5_000
_PAUSE_MS = 0.16  # a value takes 1.6 µs


class Place(NamedTuple):
    """Whose census a row of ROUTE is."""

    partition: int
    day: int


class Counted(NamedTuple):
    """A row of ROUTE as it was looked at."""

    position: int
    documents: int


class DriftWatch:
    """The drift detectors of a board, and what of the census they have seen.

    Parameters
    ----------
    delta
        In (0, 1): the promise for all signals together.
    state
        What `encode` returned; None begins anew. So does a state that can't be read, and a note says so.
    """

    def __init__(self, delta: float, state: bytes | None = None) -> None:
        self.begun_anew = ""
        """Why a state that was there couldn't be read; empty where it could."""
        self._counted: dict[Place, Counted] = {}
        self._drift = Drift(delta)
        if state is not None:
            self._restore(state)
        self._delta = delta
        self._missing = 0
        self._rebased = 0
        self._fed_ms: int | None = None
        self._pause_ms = 0.0
        self._changed = False
        self._signals: tuple[DriftSignal, ...] | None = None

    def _restore(self, state: bytes) -> None:
        try:
            counted, drift = _unpack(state)
            self._drift = Drift.decode(drift, self._drift.delta)
            self._counted = dict(counted)
        except StateError as error:
            self.begun_anew = str(error)

    def adopt(self, delta: float) -> None:
        """Promise something else from now on."""
        self._drift.delta = delta

    def take(self, held: Iterable[HeldRow], at_ms: int) -> None:
        """Look at the census where it's time to.

        Parameters: `held` with all rows of ROUTE that the board holds, `at_ms` the time of the newest record.
        """
        rows = {Place(row.key.partition, row.key.day): row for row in held if DECISIONS in row.tally.rows}
        oldest = max((place.day for place in rows), default=0) - DAYS_COUNTED + 1
        rows = {place: row for place, row in rows.items() if place.day >= oldest}
        self._missing = sum(
            place.day >= oldest and (place not in rows or rows[place].position < counted.position)
            for place, counted in self._counted.items()
        )
        if not self._missing and self._is_due(rows, at_ms):
            self._look(rows, at_ms)

    def _is_due(self, rows: Mapping[Place, HeldRow], at_ms: int) -> bool:
        new = sum(_documents(row) for row in rows.values())
        new -= sum(counted.documents for place, counted in self._counted.items() if place in rows)
        if new == 0:
            return False
        # a clock that was set back makes nobody wait
        since = None if self._fed_ms is None or at_ms < self._fed_ms else at_ms - self._fed_ms
        return since is None or (since >= self._pause_ms and (abs(new) >= ENOUGH or since >= LATEST_MS))

    def _look(self, rows: Mapping[Place, HeldRow], at_ms: int) -> None:
        before = self._drift.values
        counted = {place: Counted(row.position, _documents(row)) for place, row in rows.items()}
        for day in sorted({place.day for place, now in counted.items() if now != self._counted.get(place)}):
            of_day = [row.tally for place, row in rows.items() if place.day == day]
            self._drift.take(day, *of_day, at_s=at_ms / 1000)
            if self._drift.behind:
                self._drift.rebase(day, *of_day)
                self._rebased += 1
        self._counted = counted
        self._fed_ms = at_ms
        self._pause_ms = (self._drift.values - before) * _PAUSE_MS
        self._changed, self._signals = True, None

    def signals(self) -> tuple[DriftSignal, ...]:
        """Return every signal with the last change found in it, ordered by name, language and entity."""
        if self._signals is None:
            self._signals = tuple(
                DriftSignal(signal.name, signal.language, signal.entity, found.share, found.width, found.shifts)
                if found.last is None
                else DriftSignal(
                    signal.name, signal.language, signal.entity, found.share, found.width, found.shifts, *found.last
                )
                for signal, found in sorted(self._drift.detectors.items())
            )
        return self._signals

    def notes(self) -> tuple[str, ...]:
        """Return in plain words what isn't watched, or not from the beginning."""
        found = [self.begun_anew] if self.begun_anew else []
        if self._missing:
            found.append(f"drift: {self._missing} rows of the census aren't read up to what was counted: it waits")
        if self._rebased:
            found.append("drift: the census was counted anew, and less than before: it goes on from there")
        if self._drift.left_out:
            found.append(
                f"drift: {self._drift.left_out} signals aren't watched: there are more than {self._drift.most_signals}"
            )
        return tuple(found)

    def rows(self) -> dict[str, bytes | None]:
        """Return the row that keeps the state, where it changed since the last `settle`."""
        return {ROW: self.encode()} if self._changed else {}

    def settle(self) -> None:
        """Note that the last `rows` are durable."""
        self._changed = False

    def encode(self) -> bytes:
        """Return the state as msgpack, plain numbers and names only; equal states give equal bytes."""
        return msgspec.msgpack.encode((1, sorted(self._counted.items()), self._drift.encode()))


ROW = "drift"
"""Name of the row in the board's table."""
_DECODER = msgspec.msgpack.Decoder(tuple[int, list[tuple[Place, Counted]], bytes])


def _unpack(state: bytes) -> tuple[list[tuple[Place, Counted]], bytes]:
    try:
        version, counted, drift = _DECODER.decode(state)
    except msgspec.DecodeError as error:
        raise StateError(f"drift: not a state ({type(error).__name__}): it begins anew") from None
    if version != 1:
        raise StateError(f"drift: format {version}; this version reads 1: it begins anew")
    return counted, drift


def _documents(row: HeldRow) -> int:
    return row.tally.rows[DECISIONS][0]
