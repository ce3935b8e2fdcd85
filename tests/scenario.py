"""A few days of a monitor that has everything to show: its own snapshots, to be exported by the product's own exporter.

Version 1 finds what it should. At `SWAP` version 2 comes, lets names through and leaks; the net sees it at once, labels
a while later, and the alarm goes on. At `MOVE` the board goes from one worker to the other, at `CONFIG` the config
changes; readers are away for a while, and come back. All of it is a function of how far it has come, from 0 to 1.
"""

from __future__ import annotations

from math import log, pi, sin
from typing import NamedTuple

import boards
import msgspec
import output_boards

from monitor.alarm_readings import AlarmEvent, AlarmReading
from monitor.pipeline import Pipeline
from monitor.readings import (
    ANY,
    BoardSnapshot,
    Change,
    DriftSignal,
    OutputReading,
    Queue,
    Reading,
    Tally,
    Window,
)
from monitor.records import STRATA
from monitor.versions import Decided

SWAP, CONFIG, MOVE, ALARM, AWAY, BACK = 0.5, 0.3, 0.65, 0.8, 0.12, 0.28
DAY_S = 86_400.0
DAYS = 7
"""That the counts are of, however long it takes to tell."""
BEFORE, AFTER = "1", "2"
DECISIONS_A_DAY, DRAWN_A_DAY, CAPACITY = 60_000, 220, 240
WINDOW = Window(28, "2026-08-25", "2026-09-21")
_PARTITIONS = 4


class Cell(NamedTuple):
    """A cell of the scenario: recall by each version, occurrences labelled in a window, the target."""

    entity: str
    language: str
    before: float
    after: float
    true: int
    target: float | None


CELLS = (
    Cell(ANY, ANY, 0.951, 0.915, 1640, 0.9),
    Cell("PERSON", "en", 0.958, 0.83, 420, 0.92),
    Cell("PERSON", "es", 0.953, 0.92, 260, 0.9),
    Cell("EMAIL_ADDRESS", "en", 0.992, 0.991, 380, 0.95),
    Cell("PHONE_NUMBER", "es", 0.93, 0.935, 150, 0.85),
    Cell("NATIONAL_ID", "nl", 0.9, 0.9, 34, 0.9),
    Cell("LOCATION", "en", 0.81, 0.8, 300, None),
)
_STALE = ("PHONE_NUMBER", "es")


class Moment(NamedTuple):
    """How far the scenario has come (0 to 1), and when that is: now, when it began, and how long all of it takes."""

    come: float
    now: float
    begun: float
    length_s: float

    def at(self, come: float) -> float:
        """Return when it has come so far, s since the epoch."""
        return self.begun + come * self.length_s

    @property
    def swapped(self) -> bool:
        """Whether version 2 is in traffic."""
        return self.come >= SWAP


def moment(now: float, begun: float, length_s: float) -> Moment:
    """Return the moment of a time, s since the epoch; after the end it stays as it was at the end."""
    return Moment(min((now - begun) / length_s, 1.0), now, begun, length_s)


def snapshot(at: Moment) -> BoardSnapshot:
    """Return what the board says at a moment."""
    versions = (BEFORE, AFTER) if at.swapped else (BEFORE,)
    readings = [one for version in versions for cell in CELLS for one in _readings(cell, version, at)]
    return BoardSnapshot(
        computed_at=at.now - 2,
        readings=tuple(readings),
        queues=_queues(at),
        strata=_strata(at),
        outcomes=(Tally(("joined",), 1187), Tally(("late",), 9), Tally(("orphan",), 3)),
        documents=(Tally(("repeat",), 4),),
        dead_letters=(Tally(("decisions", "not_json"), 4 + _bad(at)), Tally(("labels", "bad_span"), 1)),
        quarantined=(Tally(("reversed",), 7),),
        changes=_changes(at),
        decided=_decided(at),
        current_versions=(("presidio", AFTER if at.swapped else BEFORE),),
        alarms=_told(at),
        drift=_drift(at),
        capacity_per_day=float(CAPACITY),
        outputs=_outputs(at),
        unseen_targets=("PASSPORT",),
    )


def pipeline(at: Moment, worker: int) -> Pipeline:
    """Return what one of two workers says of itself at a moment."""
    days = at.come * DAYS
    is_board = worker == (1 if at.come >= MOVE else 0)
    share = 0.55 if worker == 0 else 0.45
    old = min(days, SWAP * DAYS)
    decisions = {("presidio", BEFORE): int(share * DECISIONS_A_DAY * old)}
    if at.swapped:
        decisions["presidio", AFTER] = int(share * DECISIONS_A_DAY * (days - old))
    slow = 2_400 * share * DAYS * min(max(at.come - AWAY, 0.0), BACK - AWAY) * 0.02
    counted, answered = sum(decisions.values()), int(share * _answered(at))
    return msgspec.structs.replace(
        boards.worker(at.now, is_board=is_board),
        started_at=at.begun - 3 * DAY_S,
        decisions=decisions,
        sampled={
            ("random",): int(counted * 0.0022),
            ("loose",): int(counted * 0.0013),
            ("both",): int(counted * 0.0001),
        },
        tasks={("label",): int(share * DRAWN_A_DAY * days), ("adjudicate",): int(share * 9 * days)},
        labels={("joined",): answered, ("skipped",): answered // 40, ("late",): answered // 90},
        dead_letters={("decisions", "not_json"): int(share * _bad(at)), ("labels", "bad_span"): 0},
        positions={("decisions", place): counted // 2 for place in _partitions(worker)},
        lag=_lag(at, worker),
        chunks={("route",): 40 * counted // 1000, ("ledger",): answered // 3 + 1, ("board",): counted // 90},
        chunk_s={
            ("route",): 40 * counted / 1000 * 0.031 + slow,
            ("ledger",): (answered // 3 + 1) * 0.012,
            ("board",): counted // 90 * 0.006,
        },
        rebalances=2 + int(at.come >= MOVE),
        rewinds={("decisions", place): int(at.come >= MOVE) for place in _partitions(worker)},
        lost={("decisions", place): 0 for place in _partitions(worker)},
        checkpoints=int(172_800 * days),
        checkpoint_s=172_800 * days * 0.011,
        rates={("random", ANY, ANY): 0.0022, ("loose", ANY, "both"): 0.005, ("loose", ANY, "loose_only"): 0.01},
        config="9ab301cd" if at.come >= CONFIG else "5f1c09aa",
    )


def _partitions(worker: int) -> range:
    return range(worker, _PARTITIONS, 2)


def _bad(at: Moment) -> int:
    """Return the decisions that can't be read: a producer's release has a bug for a while."""
    return int(min(max(at.come - 0.9, 0.0), 0.05) * 300)


def _answered(at: Moment) -> float:
    """Return the labels that came so far: fewer are sent than can be answered, and for a while nobody reads."""
    days = DAYS
    away = min(max(at.come - AWAY, 0.0), BACK - AWAY)
    caught_up = min(max(at.come - BACK, 0.0) * 0.6, away)
    return DRAWN_A_DAY * days * max(at.come - 0.01 - away + caught_up, 0.0)


def _open(at: Moment) -> float:
    return max(DRAWN_A_DAY * at.come * DAYS - _answered(at), 0.0) + 12


def _lag(at: Moment, worker: int) -> dict[tuple[str, int], int]:
    """Return what waits: at the move of the board for a moment a lot."""
    moving = max(1 - abs(at.come - MOVE) * 60, 0.0)
    waits = {"decisions": 3 + 900 * moving, "labels": 2, "labels_by_document": 3, "sampled": 5, "tallies": 8}
    wobble = 1 + 0.6 * sin(40 * pi * at.come)
    return {(name, place): int(n * wobble) for name, n in waits.items() for place in _partitions(worker)}


def _readings(cell: Cell, version: str, at: Moment) -> list[Reading]:
    """Return a cell's reading and its strata: labels of a new version come in from its first day on."""
    known = 1.0 if version == BEFORE else min(0.12 + 1.5 * max(at.come - SWAP, 0.0), 1.0)
    if cell.entity == "NATIONAL_ID" and version == AFTER:
        unread = boards.reading(
            cell.entity, cell.language, 0, 0, version=version, status="no_label", labelled=0, completeness=0.0
        )
        return [msgspec.structs.replace(unread, target=cell.target, window=WINDOW, label_age_s=None, age_s=None)]
    true = max(round(cell.true * known), 4)
    wobble = 0.004 * sin(9 * at.come + len(cell.entity))
    found = min(round(true * ((cell.before if version == BEFORE else cell.after) + wobble)), true)
    stale = (cell.entity, cell.language) == _STALE and AWAY + 0.05 < at.come < BACK
    reading = boards.reading(
        cell.entity,
        cell.language,
        found,
        true,
        version=version,
        target=cell.target,
        status="stale" if stale else "ok",
        window=WINDOW,
        labelled=max(int(430 * known), 9),
        completeness=0.93,
        age_s=_since_labels(at),
        matched=boards.share(found, true, widen=1.3 + 0.7 * (1 - known)),
    )
    kappa = 0.57 if cell.entity == "LOCATION" else 0.9
    alarm = _alarm(cell, at) if version == (AFTER if at.swapped else BEFORE) and cell.target is not None else None
    reading = msgspec.structs.replace(reading, agreement=boards.agreement(kappa), alarm=alarm)
    strata = boards.strata(cell.entity, cell.language, found, true, version)
    return [reading, *(msgspec.structs.replace(stratum, window=WINDOW) for stratum in strata)]


def _since_labels(at: Moment) -> float:
    """Return the age of the newest label: minutes, but for the days on which nobody reads."""
    return 900.0 + (at.come - AWAY) * at.length_s if AWAY < at.come < BACK else 900.0


def _alarm(cell: Cell, at: Moment) -> AlarmReading:
    """Return a cell's alarm: of the one that fell evidence gathers from the swap on, and crosses the bar at `ALARM`."""
    bar = log(boards.PROMISED_DAYS)
    evidence = 1.4 + 0.5 * sin(11 * at.come + len(cell.entity) + len(cell.language))
    if (cell.entity, cell.language) == ("PERSON", "en") and at.swapped:
        evidence = 1.5 + (bar - 1.5) * (at.come - SWAP) / (ALARM - SWAP)
    on = evidence >= bar
    return msgspec.structs.replace(
        boards.alarm("firing" if on else "quiet", evidence, now=at.now), on_since=at.at(ALARM) if on else None
    )


def _decided(at: Moment) -> tuple[Decided, ...]:
    """Return when each version decided: the first one until the swap, for all that is kept longer than is shown."""
    first = Decided("presidio", BEFORE, at.begun - 20 * DAY_S, min(at.now, at.at(SWAP)))
    return (first, Decided("presidio", AFTER, at.at(SWAP), at.now)) if at.swapped else (first,)


def _told(at: Moment) -> tuple[AlarmEvent, ...]:
    events = []
    if at.swapped:
        events.append(AlarmEvent(ANY, ANY, "presidio", AFTER, "design_changed", at.at(SWAP), None, changed="version"))
    if at.come >= ALARM:
        events.append(AlarmEvent("PERSON", "en", "presidio", AFTER, "recall_fell", at.at(ALARM), 9.4))
    return tuple(events)


def _changes(at: Moment) -> tuple[Change, ...]:
    found = [
        Change(at.at(0.0), "version", f"presidio {BEFORE}", "first seen"),
        Change(at.at(0.0), "config", "5f1c09aa", "net b7e2"),
    ]
    if at.come >= CONFIG:
        found.append(Change(at.at(CONFIG), "config", "9ab301cd", "net b7e2"))
    if at.swapped:
        found.append(Change(at.at(SWAP), "version", f"presidio {AFTER}", f"first seen; before it: {BEFORE}"))
    return tuple(found)


def _queues(at: Moment) -> tuple[Queue, ...]:
    waiting, sent = _open(at), DRAWN_A_DAY * (at.come * DAYS + 20)
    oldest = at.now - min(0.2 * DAY_S + waiting / CAPACITY * DAY_S, 9 * DAY_S)
    parts = (("en", 0.5), ("es", 0.35), ("nl", 0.15))
    return tuple(
        Queue(
            language, int(sent * part), int((sent - waiting) * part), int(waiting * part), int(sent * part / 60), oldest
        )
        for language, part in parts
    )


def _strata(at: Moment) -> tuple[Tally, ...]:
    """Return documents by what flagged them: after the swap the net sees more than the detector."""
    lost = 0.05 * min(max(at.come - SWAP, 0.0) * 3, 1.0)
    shares = dict(zip(STRATA, (0.21 - lost, 0.03 + lost, 0.02, 0.74), strict=True))
    version = AFTER if at.swapped else BEFORE
    return tuple(
        Tally((language, "presidio", version, stratum), int(documents * share))
        for language, documents in (("en", 800_000), ("es", 500_000), ("nl", 200_000))
        for stratum, share in shares.items()
    )


def _drift(at: Moment) -> tuple[DriftSignal, ...]:
    signals = [
        DriftSignal("flagged", "en", "", 0.24, 52_400, 0),
        DriftSignal("entity", "es", "EMAIL_ADDRESS", 0.031, 41_208, 1, at.at(0.02), "down", 0.042, 0.031),
        DriftSignal("leaking", "any", "", 0.02, 30_100, 0),
    ]
    if at.swapped:
        found = DriftSignal("loose_only", "en", "", 0.078, 9_400, 1, at.at(SWAP + 0.02), "up", 0.03, 0.078)
        return (*signals, found)
    return (*signals, DriftSignal("loose_only", "en", "", 0.03, 61_400, 0))


def _outputs(at: Moment) -> tuple[OutputReading, ...]:
    """Return what outputs show: version 2 leaks more."""
    found = []
    for version in (BEFORE, AFTER) if at.swapped else (BEFORE,):
        known = 1.0 if version == BEFORE else min(0.15 + 1.7 * max(at.come - SWAP, 0.0), 1.0)
        rate = 0.004 if version == BEFORE else 0.019
        for language, outputs in (("en", 4_820), ("es", 1_640), (ANY, 6_460)):
            seen = max(int(outputs * known), 200)
            found.append(output_boards.output(language, int(seen * rate), seen, version=version, window=WINDOW))
    return tuple(_as_told(reading, at) for reading in found)


def _as_told(reading: OutputReading, at: Moment) -> OutputReading:
    per_1000 = 2.4 if reading.version == BEFORE else 3.2 + 9.0 * max(at.come - SWAP, 0.0)
    readable = 21 if reading.version == BEFORE else 34
    return msgspec.structs.replace(reading, disclosure=output_boards.disclosure(readable, 702, per_1000))
