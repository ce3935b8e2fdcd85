"""What the live board says, put together by a command: the tallies' readings, and what isn't in the tallies.

Changes of config and the thinning factor are the history's; the drift detectors are in the board's table.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import msgspec

from monitor.drift_watch import ROW as DRIFT_ROW
from monitor.drift_watch import DriftWatch
from monitor.history import History
from monitor.readings import BoardSnapshot
from monitor.report import end_of_day, later_rows
from streams.board_reader import read_live
from streams.settings import Settings
from streams.table_reader import read_table

_CHANGES = 10_000
"""Changes of config at most, newest first."""


def read_snapshot(settings: Settings, now: float, day: str | None = None) -> BoardSnapshot:
    """Return the readings as of now, or as of the end of a day that is over.

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
        See `read_live` and `read_table`.
    """
    board, history = read_live(settings)
    today = datetime.fromtimestamp(now, UTC).date().isoformat()
    topics = settings.config.topics
    if day is not None and day < today:
        for key in later_rows(day, today, max(topics.partitions, topics.labels_partitions)):
            board.take(key, None)
        end = end_of_day(day)
        found = board.snapshot(end, history.latest_changes(_CHANGES))
        return msgspec.structs.replace(found, drift=(), drift_notes=(), thinning=_thinning(history, end))
    table = asyncio.run(read_table(settings, "board"))
    drift = DriftWatch(settings.config.drift.delta, table.rows.get(0, {}).get(DRIFT_ROW))
    return msgspec.structs.replace(
        board.snapshot(now, history.latest_changes(_CHANGES)),
        drift=drift.signals(),
        drift_notes=drift.notes(),
        thinning=1.0 if history.thinning is None else history.thinning.q,
        capacity_per_day=settings.config.labels.capacity_per_day or None,
    )


def _thinning(history: History, at: float) -> float:
    """Return the factor that the last change of plan until then brought."""
    taken = sorted((change.at, change.thinning) for change in history.recorded.values() if change.at <= at)
    return taken[-1][1] if taken else 1.0
