"""What the live board says, put together by a command: the tallies' readings, and what isn't in the tallies.

Changes of config and the thinning factor are the history's; the drift detectors and what somebody was told are in the
board's table.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from monitor.alarm_readings import AlarmEvent
from monitor.drift_watch import ROW as DRIFT_ROW
from monitor.drift_watch import DriftWatch
from monitor.history import History
from monitor.in_force import InForce
from monitor.notices import ROW as TOLD_ROW
from monitor.notices import Notices
from monitor.readings import BoardSnapshot
from monitor.report import end_of_day, later_rows
from streams.board_reader import Live, read_ruled
from streams.in_force_reader import say_difference
from streams.settings import Settings
from streams.table_reader import read_table

_CHANGES = 10_000
"""Changes of config at most, newest first."""


class LiveSnapshot(NamedTuple):
    """What the board says, and the rules that it says it by."""

    snapshot: BoardSnapshot
    rules: InForce


def read_snapshot(settings: Settings, now: float, day: str | None = None) -> LiveSnapshot:
    """Return the readings as of now, or as of the end of a day that is over, and the rules in force now.

    Where the command was given other rules, a line on standard error says so.

    Parameters
    ----------
    now
        Seconds since the epoch.
    day
        ISO date (UTC), not in the future. Of a day that is over: documents drawn after it are left out, labels that
        came after it aren't, for windows are of drawing; no drift is told.

    Raises
    ------
    SourceError
        See `read_ruled` and `read_table`.
    StateError
        See `read_ruled`.
    """
    live, rules = read_ruled(settings)
    say_difference(settings, rules)
    return LiveSnapshot(_put_together(settings, live, now, day), rules)


def _put_together(settings: Settings, live: Live, now: float, day: str | None) -> BoardSnapshot:
    board, history = live
    today = datetime.fromtimestamp(now, UTC).date().isoformat()
    topics = settings.config.topics
    rows = asyncio.run(read_table(settings, "board")).rows.get(0, {})
    if day is not None and day < today:
        for key in later_rows(day, today, max(topics.partitions, topics.labels_partitions)):
            board.take(key, None)
        end = end_of_day(day)
        found = board.snapshot(end, history.latest_changes(_CHANGES))
        alarms = told_until(rows.get(TOLD_ROW), end, found.alarms)
        thinning = _thinning(history, end)
        return msgspec.structs.replace(found, alarms=alarms, drift=(), drift_notes=(), thinning=thinning)
    drift = DriftWatch(settings.config.drift.delta, rows.get(DRIFT_ROW))
    found = board.snapshot(now, history.latest_changes(_CHANGES))
    return msgspec.structs.replace(
        found,
        alarms=told_until(rows.get(TOLD_ROW), now, found.alarms),
        drift=drift.signals(),
        drift_notes=drift.notes(),
        thinning=1.0 if history.thinning is None else history.thinning.q,
        capacity_per_day=board.plan.config.labels.capacity_per_day or None,
    )


def told_until(row: bytes | None, end: float, otherwise: tuple[AlarmEvent, ...]) -> tuple[AlarmEvent, ...]:
    """Return what the board put on record that somebody was told before `end` (s since the epoch).

    Where it put nothing on record that can be read, it's `otherwise`: what a look at the tallies alone shows.
    """
    kept = Notices(row)
    return otherwise if row is None or kept.begun_anew else tuple(event for event in kept.told if event.at < end)


def _thinning(history: History, at: float) -> float:
    """Return the factor that the last change of plan until then brought."""
    taken = sorted((change.at, change.thinning) for change in history.recorded.values() if change.at <= at)
    return taken[-1][1] if taken else 1.0
