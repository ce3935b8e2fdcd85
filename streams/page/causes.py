"""The lines below the page's first sentence: each alarm that is on, and numbers that can't be relied on any more.

Three causes are told apart, as they ask for different work: recall fell (see to the detector), we stopped knowing (to
the labels), the design changed (to the rates; of another version there is nothing to do but to label). An alarm is what
its reading says now. The other two are what the board told of, as long as the cell is still so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from monitor.alarm_readings import AlarmEvent, AlarmReading
from monitor.exposition import clean
from monitor.readings import BoardSnapshot, Reading
from streams.page.cells import Cell, State
from streams.page.words import STATUSES, age, long, minute, name, number, reason

MAX_LINES = 8
"""What needs somebody comes first; the rest is in the rows."""


RECALL_FELL, STOPPED_KNOWING, DESIGN_CHANGED = CAUSES = ("Recall fell", "We stopped knowing", "The design changed")


class Line(NamedTuple):
    """What somebody is told of one cell."""

    state: State
    """Whose shape and colour it has."""
    cause: str
    text: str


def lines(found: Sequence[Cell], snapshot: BoardSnapshot, now: float) -> tuple[list[Line], int]:
    """Return the lines, by cause and then in the order of the rows, and how many more there are."""
    cells = [e for e in snapshot.alarms if e.changed != "version"]
    last = {(e.entity, e.language, e.detector, e.version): e for e in cells}
    told: list[Line] = []
    for cell in found:
        r = cell.reading
        event = last.get((r.entity, r.language, r.detector, r.version))
        if cell.alarmed and r.alarm is not None:
            told.append(_alarm(r, r.alarm, now))
        elif event is not None:
            told += _other(cell, event, now)
    told += [line for e in snapshot.alarms if e.changed == "version" for line in _version(found, e, now)]
    told.sort(key=lambda line: CAUSES.index(line.cause))
    return told[:MAX_LINES], max(len(told) - MAX_LINES, 0)


def evidence(alarm: AlarmReading) -> str:
    """Return how far an alarm's evidence is from its bar; both are logarithms, so a step of 1 is a factor of 2.7."""
    so_far = "none" if alarm.evidence is None else f"{alarm.evidence:.1f}"
    if alarm.state == "held" and alarm.fired_evidence is not None:
        return f"evidence {alarm.fired_evidence:.1f} when it last crossed the bar of {alarm.bar:.1f}"
    side = "over" if alarm.evidence is not None and alarm.evidence >= alarm.bar else "under"
    return f"evidence {so_far}, {side} the bar of {alarm.bar:.1f}"


def _alarm(r: Reading, alarm: AlarmReading, now: float) -> Line:
    text = f"{name(r)}{_since(alarm.on_since, now)}: {evidence(alarm)}"
    if alarm.state == "held" and alarm.fired_at is not None:
        text += f" ({minute(alarm.fired_at)})"
    text += f"; promised: one false alarm in {long(alarm.promised_days)} of this cell."
    restated = " Restated: a corrected label took back evidence." if alarm.restated else ""
    return Line("act", RECALL_FELL, text + restated)


def _other(cell: Cell, event: AlarmEvent, now: float) -> Iterator[Line]:
    """Yield what was told of a cell without an alarm, if it's still so."""
    r = cell.reading
    told = f"{name(r)}{_since(event.at, now)}"
    if event.cause == "stopped_knowing" and not cell.current and r.status in STATUSES:
        yield Line("unknown", STOPPED_KNOWING, f"{told}: {reason(r)}.")
    if event.cause == "design_changed" and cell.state == "unproven":
        why = f"fewer are drawn, so the interval is wider and holds the target {number(r.target, 2)}"
        yield Line("unproven", DESIGN_CHANGED, f"{told}: {why}; nothing says that recall fell.")


def _version(found: Sequence[Cell], event: AlarmEvent, now: float) -> Iterator[Line]:
    """Yield what was told of another version, as long as it has a target that it isn't known to meet or to miss."""
    version = (event.detector, event.version)
    mine = [c for c in found if (c.reading.detector, c.reading.version) == version and c.reading.target is not None]
    open_ = sum(c.state in ("unknown", "unproven") for c in mine)
    if open_:
        of = f"of {len(mine)} cells with a target {open_} aren't known to meet or to miss it yet"
        which = f"{clean(event.detector)} {clean(event.version)}"
        yield Line(
            "unproven",
            DESIGN_CHANGED,
            f"{which}{_since(event.at, now)}: another version, known by its own labels alone; {of}.",
        )


def _since(at: float | None, now: float) -> str:
    return "" if at is None else f" since {minute(at)} ({age(now - at)})"
