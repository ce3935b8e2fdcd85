"""BOARD: what the stages published, merged, turned into readings. It holds no events.

Readings are pure functions of merged whole numbers; estimates of a cell whose numbers didn't change are kept. The clock
is handed in: it moves the windows and tells ages, and decides no count.

The topic keeps the row that was written last, and a presumed dead worker may write an old one over a newer one. The
newer one is written back at the next checkpoint, once a key, and only where the old one still is the last: a row that
were written back for each old one at once would come after the owner's next row, be an old one itself, and so on
without end (seen: 4,000 a second).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from monitor.cell_readings import CellReadings
from monitor.cells import CellSample, Version, by_version, languages, of_language
from monitor.drift_watch import ROW as DRIFT_ROW
from monitor.drift_watch import DriftWatch
from monitor.errors import StateError
from monitor.estimators.sample import Moments
from monitor.fold import Channel, Output
from monitor.merged import MergedRows, Window
from monitor.notices import ROW as TOLD_ROW
from monitor.notices import Notices
from monitor.plan import Plan
from monitor.readings import ANY, BoardSnapshot, Change, Queue
from monitor.readings import Tally as Figure
from monitor.readings import Window as ReadingWindow
from monitor.records import Record
from monitor.tallies import position_of
from monitor.tally import ANY_ENTITY, CellKey, CensusKey, CountKey, FlaggedKey, QueueKey, Tally, VersionKey
from monitor.versions import Decided, version_key
from monitor.window_readings import Known, WindowReadings

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC).date()
DAY_S = 86_400


class Board:
    """The fold of the one partition of tallies, and the readings of what it holds.

    Parameters
    ----------
    plan
        Targets, windows and confidence in force.
    windows_days
        Lengths of the windows; None asks for one over everything. By default what the plan's config says.
    rows
        What the table holds: the drift detectors, and what somebody was told; the topic alone can't give them back.
    """

    def __init__(
        self,
        plan: Plan,
        windows_days: Sequence[int | None] | None = None,
        rows: Mapping[str, bytes] | None = None,
    ) -> None:
        self.plan = plan
        self.drift = DriftWatch(plan.config.drift.delta, (rows or {}).get(DRIFT_ROW))
        self.notices = Notices((rows or {}).get(TOLD_ROW))
        self._windows_days = windows_days
        self._merged = MergedRows(plan.config.readings.windows_days if windows_days is None else windows_days)
        self._cells = CellReadings()
        self._known = Known()
        self._next: int | None = None
        self._covered: dict[bytes, bytes | None] = {}
        """The newest row of each key whose last row on the topic is an older one."""
        self.unreadable = 0
        """Rows that no stage of this version wrote, left out; the topic should hold none."""

    # the fold

    def position(self, channel: Channel) -> int | None:  # noqa: ARG002  # BOARD reads one channel
        """Return the offset to read next; a new board reads from the start of the topic."""
        return self._next

    def fold(self, channel: Channel, records: Sequence[Record], following: int) -> list[Output]:  # noqa: ARG002
        """Take published rows; nothing goes out before the next checkpoint."""
        newest: dict[bytes, tuple[int, bytes | None]] = {}
        covered: set[bytes] = set()
        position = self._next or 0
        for record in records:
            if record.offset >= position:
                position = record.offset + 1
                if record.key is not None:
                    self._keep_newest(newest, covered, record.key, record.value)
        for key, (_, value) in newest.items():
            self._covered.pop(key, None)
            older = self.take(key, value)
            if older:
                self._covered[key] = older[0].value
            elif key in covered:
                self._covered[key] = value
        if newest:
            self.watch(max(record.timestamp_ms for record in records))
        self._next = max(position, following)
        return []

    def _keep_newest(
        self, newest: dict[bytes, tuple[int, bytes | None]], covered: set[bytes], key: bytes, value: bytes | None
    ) -> None:
        """Keep one row a key of those that came together: reading a topic from its start decodes no row in vain."""
        at = -1 if value is None else position_of(value)
        held = newest.get(key)
        if at is None:
            self.unreadable += 1
        elif held is None or value is None or held[1] is None or at >= held[0]:
            newest[key] = (at, value)
            covered.discard(key)
        else:
            covered.add(key)

    def take(self, key: bytes, value: bytes | None) -> list[Output]:
        """Take one published row; return the row that is newer, where one is held."""
        try:
            return self._merged.take(key, value)
        except StateError:
            self.unreadable += 1
            return []

    def watch(self, at_ms: int) -> None:
        """Look at the census for drift where it's time to, which `fold` does of itself; `at_ms` since the epoch."""
        self.drift.take(self._merged.held("route"), at_ms)

    def rows(self) -> Mapping[str, bytes | None]:
        """Return the drift detectors and what was told, where they changed; all else is read from the topic again."""
        return self.drift.rows() | self.notices.rows()

    def head(self) -> bytes:
        """Return the same at all times: a board reads from the start of the topic."""
        return b"1"

    def tallies(self) -> list[Output]:
        """Return the rows to write back over a presumed dead worker's."""
        return [Output("tallies", key, value) for key, value in self._covered.items()]

    def settle(self) -> None:
        """Note that what was to be written, and written back, was."""
        self._covered.clear()
        self.drift.settle()
        self.notices.settle()

    def adopt(self, plan: Plan) -> None:
        """Take up another plan: targets, windows, confidence. Rows stay as they are."""
        self.drift.adopt(plan.config.drift.delta)
        same = plan.config.readings.windows_days == self.plan.config.readings.windows_days
        self.plan = plan
        if not same and self._windows_days is None:
            self._merged.rewindow(plan.config.readings.windows_days)

    # readings

    def snapshot(self, now: float | None, changes: Iterable[Change] = ()) -> BoardSnapshot:
        """Return all readings as of a moment (s since the epoch); None has no windows to move and tells no age.

        What somebody is to be told is noted, and is in the snapshot before it is in `rows`.
        """
        if now is not None:
            self._merged.move(int(now // DAY_S))
        look = self._known.look(self.plan, self._merged, now)
        windows = [WindowReadings(look, window, self._span(window), self._cells) for window in self._merged.windows]
        readings = [reading for window in windows for reading in window.read()]
        seen = self._merged.extremes(self._merged.everything, "route").seen
        self.notices.tell(self.plan, readings, seen, now)
        main, longest = self._merged.windows[0], self._merged.longest
        decided = self._merged.extremes(longest, "route")
        return BoardSnapshot(
            computed_at=now or 0.0,
            readings=tuple(readings),
            queues=_queues(longest.sums, self._merged.extremes(longest, "ledger")),
            strata=_strata(main.sums),
            outcomes=_counts(longest.sums, "labels"),
            dead_letters=_counts(longest.sums, "dead_letters"),
            quarantined=_counts(longest.sums, "quarantined"),
            unchecked=_counts(longest.sums, "unchecked"),
            drawn=_counts(main.sums, "sampled"),
            documents=_counts(longest.sums, "documents"),
            unknown_entities=_unknown(longest.sums, self.plan),
            changes=(*_first_seen(decided.seen), *changes),
            current_versions=_current(seen),
            decided=_decided(seen),
            alarms=self.notices.told,
            unseen_targets=look.unseen_targets,
            drift=self.drift.signals(),
            drift_notes=self.drift.notes(),
            outputs=tuple(reading for window in windows for reading in window.read_outputs()),
        )

    def samples(self, now: float | None = None, *, longest: bool = True) -> list[CellSample]:
        """Return the sample of every cell, of the longest window or of the first; nothing where nothing was counted."""
        if now is not None:
            self._merged.move(int(now // DAY_S))
        window = self._merged.longest if longest else self._merged.windows[0]
        current = {Version(*v) for v in _current(self._merged.extremes(self._merged.everything, "route").seen)}
        days = max(len(self._merged.days(window)), 1)
        found: list[CellSample] = []
        for version, sums in by_version(window.sums).items():
            frames = sums.frames()
            for language in languages(frames):
                of_cell = of_language(frames, language)
                for entity in sums.listed(self.plan.aliases.known, self.plan.config.limits.max_entities):
                    strata = tuple(sums.sample(frame, entity, "matched") for frame in of_cell)
                    found.append(CellSample(entity, language, version, version in current, days, strata))
        return found

    def seen_s(self) -> float | None:
        """Return the seconds from the first to the last decision of the longest window; None without any."""
        seen = self._merged.extremes(self._merged.longest, "route").seen.values()
        return (max(last for _, last in seen) - min(first for first, _ in seen)) / 1000 if seen else None

    def _span(self, window: Window) -> ReadingWindow:
        days = self._merged.days(window)
        if not days:
            return ReadingWindow(window.days, None, None)
        first, last = (_EPOCH + timedelta(days=d) for d in (days[0], days[-1]))
        return ReadingWindow(window.days, first.isoformat(), last.isoformat())


def _counts(sums: Tally, name: str) -> tuple[Figure, ...]:
    """Return the counts of one name, `channel/reason` split into two labels."""
    rows = [
        (tuple(key.detail.split("/")), row[0])
        for key, row in sums.rows.items()
        if isinstance(key, CountKey) and key.name == name
    ]
    return tuple(Figure(labels, n) for labels, n in sorted(rows))


def _unknown(sums: Tally, plan: Plan) -> tuple[Figure, ...]:
    """Return the entity names that the alias table doesn't know, with the spans that carry each, of either side."""
    spans: Counter[str] = Counter()
    for key, row in sums.rows.items():
        if isinstance(key, FlaggedKey):
            spans[key.entity] += row[1]
        elif isinstance(key, CellKey) and key.reading == "matched" and key.entity != ANY_ENTITY:
            spans[key.entity] += Moments(*row).y
    return tuple(Figure((entity,), n) for entity, n in sorted(spans.items()) if not plan.aliases.known(entity))


def _strata(sums: Tally) -> tuple[Figure, ...]:
    rows = [(tuple(key[:4]), row[0]) for key, row in sums.rows.items() if isinstance(key, CensusKey)]
    return tuple(Figure(labels, n) for labels, n in sorted(rows))


def _queues(sums: Tally, extremes: Tally) -> tuple[Queue, ...]:
    """Return the review queue's load by language, all together last."""
    found: list[Queue] = []
    for key, row in sums.rows.items():
        if isinstance(key, QueueKey):
            sent, done, skipped = row
            waiting = sent - done - skipped
            found.append(Queue(key.language, sent, done, waiting, skipped, extremes.oldest.get(key.language)))
    found.sort(key=lambda q: q.language)
    everything = Queue(
        language=ANY,
        tasks=sum(q.tasks for q in found),
        done=sum(q.done for q in found),
        open=sum(q.open for q in found),
        skipped=sum(q.skipped for q in found),
        oldest_draw=min(extremes.oldest.values(), default=None),
    )
    return (*found, everything)


def _first_seen(seen: Mapping[VersionKey, tuple[int, int]]) -> list[Change]:
    """Return when each detector version was first seen in the window."""
    first: dict[Version, int] = {}
    for key, (at, _) in seen.items():
        version = Version(key.detector, key.version)
        first[version] = min(at, first.get(version, at))
    ordered = sorted(first.items(), key=lambda item: item[1])
    return [Change(at / 1000, "version", f"{v.detector} {v.version}", "first seen in the window") for v, at in ordered]


def _decided(seen: Mapping[VersionKey, tuple[int, int]]) -> tuple[Decided, ...]:
    """Return when each detector version decided first and last, in any language."""
    spans: dict[Version, tuple[int, int]] = {}
    for key, (first, last) in seen.items():
        version = Version(key.detector, key.version)
        held = spans.get(version, (first, last))
        spans[version] = min(first, held[0]), max(last, held[1])
    return tuple(Decided(*version, first / 1000, last / 1000) for version, (first, last) in sorted(spans.items()))


def _current(seen: Mapping[VersionKey, tuple[int, int]]) -> tuple[tuple[str, str], ...]:
    """Return for each detector the version of its newest decision; the higher version where two are as new."""
    newest: dict[str, tuple[int, Version]] = {}
    for key, (_, last) in seen.items():
        version = Version(key.detector, key.version)
        held = newest.get(key.detector)
        if held is None or (last, version_key(key.version)) > (held[0], version_key(held[1].version)):
            newest[key.detector] = (last, version)
    return tuple(sorted((v.detector, v.version) for _, v in newest.values()))
