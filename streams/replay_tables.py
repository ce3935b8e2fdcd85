"""What a replay by days prints beside its readings: both versions side by side, what was told, what changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TypeAlias

import msgspec
from rich.table import Table
from rich.text import Text

from monitor.readings import BoardSnapshot, Reading
from streams.page import words
from streams.page.cells import Selection, cells
from streams.replay_days import DayAlarm, DayShift

_CAUSES = {"recall_fell": "recall fell", "stopped_knowing": "stopped knowing"}
_CHANGES = {"rates": "drawn more rarely", None: "design changed"}
_FEW = 3
"""Cells whose numbers lapsed on one day that are named one by one."""
_Key: TypeAlias = tuple[str, str, str]
"""Entity, language, detector."""


def swap_table(before: BoardSnapshot, after: BoardSnapshot, days: tuple[int, int]) -> Table:
    """Return recall of each detector's version before and of the one after, each over its own longest window.

    Of cells with a target, or of all where there's none; those without a truth of either version are left out, and so
    are detectors that have the same version in both. `before` is read while the first version is current: later its
    window moves on, and holds but the end of it. `days` are those of the two looks.
    """
    changed = {detector for detector, _ in set(after.current_versions) - set(before.current_versions)}
    both = changed & {detector for detector, _ in before.current_versions}
    pairs = [pair for pair in _pairs(_current(before), _current(after)) if pair[-1].detector in both]
    asked = [pair for pair in pairs if any(r.target is not None for r in pair)] or pairs
    longest = max((r.window.days or 0 for r in after.readings), default=0)
    first = set(before.current_versions)
    table = _table(f"Before and after, {longest:,} days each, as of day {days[0]:,} and day {days[1]:,}")
    for name in ("", "recall", "limits", "found/true", "labelled", "status", "target"):
        table.add_column(name, justify="left" if name in ("", "status") else "right", no_wrap=True)
    for pair in asked:
        if any(r.matched.true for r in pair):
            for reading in pair:
                when = "before" if (reading.detector, reading.version) in first else "after"
                table.add_row(*_row(when, reading))
    return table


def _row(when: str, reading: Reading) -> tuple[Text | str, ...]:
    share = reading.matched
    numbers = (
        words.number(share.estimate),
        words.between(share) or words.DASH,
        f"{share.found}/{share.true}",
        f"{reading.labelled}/{reading.sampled}",
    )
    names = Text(reading.entity), Text(reading.language)
    return *names, when, *numbers, reading.status, words.number(reading.target)


def _current(snapshot: BoardSnapshot) -> dict[_Key, Reading]:
    """Return the current versions' population readings over the longest window, what needs somebody first."""
    longest = max((r.window.days or 0 for r in snapshot.readings), default=0)
    wanted = set(snapshot.current_versions)
    readings = (r for r in snapshot.readings if (r.detector, r.version) in wanted and r.stratum is None)
    mine = tuple(r for r in readings if (r.window.days or 0) == longest)
    found, _ = cells(msgspec.structs.replace(snapshot, readings=mine), Selection())
    return {(c.reading.entity, c.reading.language, c.reading.detector): c.reading for c in found}


def _pairs(before: dict[_Key, Reading], after: dict[_Key, Reading]) -> list[tuple[Reading, ...]]:
    """Return both readings of each cell; one alone where the other version has none."""
    both = [(before[key], after[key]) if key in before else (after[key],) for key in after]
    return [*both, *((reading,) for key, reading in before.items() if key not in after)]


def told_table(alarms: Iterable[DayAlarm]) -> Table:
    """Return what somebody was told: alarms, lapses of knowledge, another version."""
    table = _table("Told", "day")
    table.add_column("what happened", overflow="fold")
    table.add_column("ln evidence", justify="right", no_wrap=True)
    for what, alike in groupby(alarms, key=lambda alarm: (alarm.day, _what(alarm))):
        told = list(alike)
        if len(told) > _FEW and told[0].cause == "stopped_knowing":
            table.add_row(f"{len(told)} cells", "", f"{told[0].day:,}", Text(what[1]), words.DASH)
            continue
        for alarm in told:
            evidence = words.DASH if alarm.evidence is None else f"{alarm.evidence:.1f}"
            table.add_row(Text(alarm.entity), Text(alarm.language), f"{alarm.day:,}", Text(what[1]), evidence)
    table.caption = (
        "recall fell: the alarm went on. stopped knowing: a number of that window lapsed, its status says why. The day "
        "is the one it was told on, when labels had come"
    )
    table.caption_justify = "left"
    return table


def _what(alarm: DayAlarm) -> str:
    if alarm.changed == "version":
        return f"version {alarm.detector} {alarm.version} came"
    if alarm.cause == "stopped_knowing" and alarm.windows_days:
        windows = ", ".join("all" if days is None else f"{days:,}" for days in alarm.windows_days)
        return f"stopped knowing ({windows} days)"
    return _CAUSES.get(alarm.cause) or _CHANGES[alarm.changed]


def shifts_table(shifts: Sequence[DayShift]) -> Table:
    """Return the shares of the detector's output that changed."""
    table = _table("Changes of the detector's output", "day", first="signal")
    table.add_column("it went", no_wrap=True)
    for shift in shifts:
        names = (Text(name) for name in (shift.signal.replace("_", " "), shift.entity, shift.language))
        table.add_row(*names, f"{shift.day:,}", shift.direction)
    return table


def _table(title: str, *days: str, first: str = "") -> Table:
    """Return a table with columns of names, and of days; where the terminal is too narrow names are folded."""
    table = Table(title=title, title_justify="left", box=None, padding=(0, 1), collapse_padding=True, pad_edge=False)
    for name in filter(None, (first, "entity", "lang")):
        table.add_column(name, overflow="fold")
    for name in days:
        table.add_column(name, justify="right", no_wrap=True)
    return table
