"""What somebody is told of, once each, and what is remembered so that nobody is told twice.

Three causes are told apart. `recall_fell`: the alarm of a cell went on; it may be looked at after every label, and what
the operator does to the rates can't make it fire. `stopped_knowing`: a number that could be relied on no longer can,
because it expired, its labels are late, or two readers agree too little. `design_changed`: another version of a
detector came, whose own knowledge begins; or the lower limit fell under its target while the alarm is quiet and
documents are drawn more rarely than before, so that the interval is wider, and nothing says that recall fell.

A cell has one number a window, and all of them mostly lapse of one cause. So what is told is that some number of a cell
lapsed while another still stands, and that none stands any more: either once, however many windows there are, until
what lapsed stands again. One notice a window would tell the same thing again and again; one of the longest alone would
keep still while the number of the page is gone.

Two lapses wait. Of a window that is incomplete while another number stands, labels are under way: it's told once it has
been so for as long as a label may take. And while the alarm is on somebody was called: a lapse is told when the alarm
is off and the number still can't be relied on.

All of it is remembered beyond a restart, in the board's table: the next board tells what became true in between, and
nothing that was told. What was told after the last checkpoint before a crash is told again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import inf
from typing import Literal, NamedTuple

import msgspec

from monitor.alarm_readings import AlarmEvent, Cause
from monitor.cells import Version
from monitor.errors import StateError
from monitor.evidence import Cell
from monitor.plan import Plan
from monitor.readings import ANY, CURRENT, Reading
from monitor.tally import VersionKey
from monitor.versions import version_key

ROW = "told"
"""Name of the row in the board's table."""
DAY_S = 86_400
_RARER = 1.1
"""How much the largest weight must have grown for the design to be what changed."""
_REMEMBERED = 500
_MOST_CELLS = 20_000
"""Beyond, cells without a reading are forgotten: a row has 8 MiB at most."""
_FEW = 5
"""Documents in which either reader named the entity."""
_EVERYTHING = 0
"""The length that stands for a window of all days."""


class _Last(NamedTuple):
    """What the last look at a cell left behind."""

    on: bool = False
    known: tuple[int, ...] = ()
    """Windows, by their days, whose number could be relied on when it was last told of."""
    lapsed: tuple[int, ...] = ()
    """Windows whose number can't be relied on any more, which was told."""
    incomplete_since: float | None = None
    """Since when labels of a window that isn't told of yet are under way, s since the epoch."""
    weight: float = inf
    """The smallest of the largest weights while its lower limit met the target; infinite where it doesn't."""

    @property
    def depth(self) -> int:
        """How far knowledge is gone: 0 not at all, 1 in some window, 2 in all."""
        return 0 if not self.lapsed else 1 if self.known else 2


class _Told(NamedTuple):
    cause: Cause
    windows_days: tuple[int | None, ...] = ()


class Notices:
    """Compares each look at the board with the last one, and notes what somebody is to be told.

    Parameters
    ----------
    state
        What `encode` returned; None begins anew. So does a state that can't be read.

    >>> from monitor.config import read_config
    >>> notices, plan = Notices(), Plan(read_config({"targets": {"PERSON": 0.9}}))
    >>> notices.tell(plan, [], {VersionKey("en", "crf", "1"): (0, 9_000)}, 10.0)
    >>> notices.tell(plan, [], {VersionKey("en", "crf", v): (n, n) for v, n in (("1", 0), ("2", 12_000))}, 15.0)
    >>> [(told.detector, told.version, told.cause, told.changed, told.at) for told in notices.told]
    [('crf', '2', 'design_changed', 'version', 12.0)]
    """

    def __init__(self, state: bytes | None = None) -> None:
        self.begun_anew = ""
        """Why a state that was there couldn't be read; empty where it could."""
        self.changed = False
        """Whether there is something that the table doesn't hold yet."""
        self.told: tuple[AlarmEvent, ...] = ()
        """The last 500, oldest first."""
        self._cells: dict[Cell, _Last] = {}
        self._versions: frozenset[Version] = frozenset()
        self._looked = False
        if state is not None:
            self._restore(state)

    def _restore(self, state: bytes) -> None:
        try:
            cells, versions, told = _unpack(state)
        except StateError as error:
            self.begun_anew = str(error)
            return
        self._cells, self._versions, self.told = dict(cells), frozenset(versions), tuple(told)
        self._looked = True

    def tell(
        self, plan: Plan, readings: Iterable[Reading], seen: Mapping[VersionKey, tuple[int, int]], now: float | None
    ) -> None:
        """Note what is to be told of a look at the board.

        Parameters: `readings` of all windows, of which those with an alarm count; `seen`, each version's first and last
        decision (ms since the epoch) of all that is kept; `now`, s since the epoch, None in a replay. Without a target
        there's no alarm, and nobody to tell of another version.
        """
        first = _versions(seen)
        of_versions = self._of_versions(first)
        label_s = plan.config.labels.deadline_days * DAY_S
        events = (of_versions if plan.config.targets else []) + self._of_cells(readings, first.keys(), now, label_s)
        if events:
            self.changed = True
            self.told = (*self.told, *events)[-_REMEMBERED:]

    def _of_versions(self, first: Mapping[Version, int]) -> list[AlarmEvent]:
        """Tell of versions that came to a detector that had another one; what the first look of all finds is no news.

        One that is gone from all that is kept is forgotten, and is new where it comes back.
        """
        known = self._versions & first.keys() if self._looked else frozenset(first)
        events: list[AlarmEvent] = []
        for version in sorted(first.keys() - known, key=lambda v: (first[v], version_key(v.version), v)):
            if any(version.detector == other.detector for other in known):
                at = first[version] / 1000
                events.append(AlarmEvent(ANY, ANY, *version, "design_changed", at, None, changed="version"))
            known |= {version}
        self.changed |= known != self._versions
        self._versions = known
        return events

    def _of_cells(
        self, readings: Iterable[Reading], versions: Collection[Version], now: float | None, label_s: float
    ) -> list[AlarmEvent]:
        first, self._looked = not self._looked, True
        events: list[AlarmEvent] = []
        # a version that pauses isn't read meanwhile, and what was told of it stays told
        cells = {cell: last for cell, last in self._cells.items() if Version(*cell[2:]) in versions}
        by_cell = _by_cell(readings)
        if len(cells) > _MOST_CELLS:
            cells = {cell: last for cell, last in cells.items() if cell in by_cell}
        for cell, of_cell in by_cell.items():
            told, cells[cell] = _judge(cells.get(cell, _Last()), of_cell, now, label_s)
            events += [_event(cell, one, of_cell[0], now, first=first) for one in told]
        self.changed |= cells != self._cells
        self._cells = cells
        return events

    def rows(self) -> dict[str, bytes | None]:
        """Return the row that keeps the state, where it changed since the last `settle`."""
        return {ROW: self.encode()} if self.changed else {}

    def settle(self) -> None:
        """Note that the last `rows` are durable."""
        self.changed = False

    def encode(self) -> bytes:
        """Return the state as msgpack; equal states give equal bytes."""
        return msgspec.msgpack.encode((_FORMAT, sorted(self._cells.items()), sorted(self._versions), self.told))


def _event(cell: Cell, told: _Told, reading: Reading, now: float | None, *, first: bool) -> AlarmEvent:
    """Return what is told; what was on at the first look of all was so before it."""
    alarm = reading.alarm
    on_since = None if alarm is None else alarm.on_since
    fell = told.cause == "recall_fell"
    evidence = None if alarm is None else alarm.fired_evidence if fell else alarm.evidence
    changed: Literal["rates"] | None = "rates" if told.cause == "design_changed" else None
    at = on_since if first or now is None else now
    return AlarmEvent(*cell, told.cause, at or now or 0.0, evidence, told.windows_days, changed)


def _by_cell(readings: Iterable[Reading]) -> dict[Cell, list[Reading]]:
    """Return the readings that have an alarm, a cell's together."""
    found: dict[Cell, list[Reading]] = {}
    for reading in readings:
        if reading.alarm is not None:
            cell = Cell(reading.entity, reading.language, reading.detector, reading.version)
            found.setdefault(cell, []).append(reading)
    return found


def _versions(seen: Mapping[VersionKey, tuple[int, int]]) -> dict[Version, int]:
    """Return when each version was first seen, ms since the epoch."""
    first: dict[Version, int] = {}
    for key, (at, _) in seen.items():
        version = Version(key.detector, key.version)
        first[version] = min(at, first.get(version, at))
    return first


def _days(reading: Reading) -> int:
    return reading.window.days or _EVERYTHING


def _judge(last: _Last, readings: Sequence[Reading], now_s: float | None, label_s: float) -> tuple[list[_Told], _Last]:
    """Return what is to be told of a cell, and what to remember for the next look; a label may take `label_s`."""
    longest = max(readings, key=lambda r: _days(r) or inf)
    on = any(r.alarm is not None and r.alarm.state in ("firing", "held") for r in readings)
    now = last if on else _with_lapses(last, readings, now_s, label_s)
    now = _with_numbers(now, readings)
    gone = sorted(set(now.lapsed) - set(last.lapsed), key=lambda days: days or inf)
    told: list[_Told] = []
    if on and not last.on:
        told.append(_Told("recall_fell"))
    if gone and now.depth > last.depth:
        told.append(_Told("stopped_knowing", tuple(days or None for days in gone)))
    if longest.status not in CURRENT:
        return told, now._replace(on=on)
    rarer, weight = _with_weight(last.weight, longest)
    if rarer and not on:
        told.append(_Told("design_changed"))
    return told, now._replace(on=on, weight=inf if on else weight)


def _with_lapses(last: _Last, readings: Sequence[Reading], now_s: float | None, label_s: float) -> _Last:
    """Return which windows' numbers lapsed; one that was hardly compared stays what it was."""
    known = [r for r in readings if _days(r) in last.known]
    gone = {_days(r) for r in known if r.status not in CURRENT and not _hardly_compared(r)}
    incomplete = {_days(r) for r in known if r.status == "incomplete"}
    since = None
    if incomplete and (len(gone) < len(known) or any(r.status in CURRENT for r in readings)):
        since = now_s if last.incomplete_since is None else last.incomplete_since
        if since is not None and now_s is not None and now_s - since < label_s:
            gone -= incomplete
        else:
            since = None
    return last._replace(
        known=tuple(sorted(set(last.known) - gone)),
        lapsed=tuple(sorted(gone.union(last.lapsed))),
        incomplete_since=since,
    )


def _with_numbers(last: _Last, readings: Sequence[Reading]) -> _Last:
    """Return which windows' numbers stand now; windows that there aren't any more are forgotten."""
    every = {_days(r) for r in readings}
    good = {_days(r) for r in readings if r.status in CURRENT}
    return last._replace(
        known=tuple(sorted(every & good.union(last.known))), lapsed=tuple(sorted(every & (set(last.lapsed) - good)))
    )


def _with_weight(before: float, reading: Reading) -> tuple[bool, float]:
    """Say whether documents are drawn more rarely than when the target was last met; return what to compare with."""
    lower, target, weight = reading.matched.lower, reading.target, reading.weight_max or 0.0
    if lower is not None and target is not None and lower >= target:
        return False, min(weight, before)
    return before < inf and weight > _RARER * before, inf


def _hardly_compared(reading: Reading) -> bool:
    """Say whether the readers' kappa rests on a handful of documents: grey, and nothing to be told of."""
    agreement = reading.agreement
    return reading.status == "greyed" and agreement is not None and agreement.named < _FEW


_FORMAT = 1
_PARTS = msgspec.msgpack.Decoder(list[msgspec.Raw])
_DECODER = msgspec.msgpack.Decoder(tuple[int, list[tuple[Cell, _Last]], list[Version], list[AlarmEvent]])


def _unpack(state: bytes) -> tuple[list[tuple[Cell, _Last]], list[Version], list[AlarmEvent]]:
    try:
        # what comes behind it may have any form in another format
        version = msgspec.msgpack.decode(_PARTS.decode(state)[0], type=int)
        if version != _FORMAT:
            raise StateError(f"told: format {version}; this version reads {_FORMAT}: it begins anew")
        _, cells, versions, told = _DECODER.decode(state)
    except (msgspec.DecodeError, IndexError) as error:
        raise StateError(f"told: not a state ({type(error).__name__}): it begins anew") from None
    return cells, versions, told
