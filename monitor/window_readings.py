"""The readings of one window: every version in it, and the one that traffic carries now whatever is left of it.

What a window no longer holds is not forgotten: the reading of a current version whose labels are all older says
`expired`. Alarms belong to a version over all that is kept, any-time limits over all since their sequence began; both
stand in each window's readings.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import NamedTuple

from monitor.alarm_readings import AlarmReading
from monitor.alarms import Alarms
from monitor.cell_readings import DAY_S, CellReadings, Scope
from monitor.cells import Frame, Version, VersionSums, languages, of_language
from monitor.estimators.capture_recapture import lincoln_petersen
from monitor.estimators.captures import Captures
from monitor.estimators.epochs import EVERYTHING, Epoch, epoch_of
from monitor.evidence import Cell, CellEvidence, Sequences
from monitor.leak_readings import OutputScope, read_outputs
from monitor.merged import MergedRows, Window
from monitor.plan import Plan
from monitor.readings import ANY, AnyTimeLimits, Optimistic, OutputReading, Reading
from monitor.readings import Window as Days
from monitor.tally import ANY_ENTITY, VersionKey
from monitor.versions import version_key


class Known:
    """What goes on from one look at the board to the next: alarms, any-time limits."""

    def __init__(self) -> None:
        self.alarms = Alarms()
        self.sequences = Sequences()

    def look(self, plan: Plan, merged: MergedRows, now: float | None) -> Look:
        """Return what all windows have in common at a moment (s since the epoch), None in a replay."""
        everything = merged.everything.versions
        live = _live(merged.extremes(merged.everything, "route").seen, plan.config.alarm.period)
        targets = {
            Cell(entity, language, *version)
            for version in live & everything.keys()
            for language in languages(everything[version].frames())
            for entity in _asked(plan, language)
            if entity == ANY_ENTITY or entity in everything[version].entities
        }
        self.alarms.forget(targets)
        self.sequences.forget(live)
        merged.evidence.forget(live)
        epoch = EVERYTHING if now is None else epoch_of(int(now // DAY_S), plan.horizon_days)
        return Look(self, plan, merged, now, everything, live, frozenset(targets), epoch, {}, {})


class Look(NamedTuple):
    """One look at the board."""

    known: Known
    plan: Plan
    merged: MergedRows
    now: float | None
    everything: Mapping[Version, VersionSums]
    """All that is kept."""
    live: frozenset[Version]
    """Versions that the traffic carries."""
    targets: frozenset[Cell]
    """The cells that share the promise about false alarms: a recall is asked of them, and anything was met in them."""
    epoch: Epoch
    """Of the any-time limits; a replay, which has no clock, keeps everything."""
    alarms: dict[Cell, AlarmReading | None]
    limits: dict[Cell, AnyTimeLimits | None]
    """Both as far as some window has asked."""

    def alarm(self, cell: Cell) -> AlarmReading | None:
        """Return a cell's alarm, None where it has none."""
        if cell not in self.alarms:
            self.alarms[cell] = self._alarm(cell)
        return self.alarms[cell]

    def any_time(self, cell: Cell) -> AnyTimeLimits | None:
        """Return the any-time limits of a cell of a live version."""
        if cell not in self.limits:
            self.limits[cell] = self._any_time(cell)
        return self.limits[cell]

    def _alarm(self, cell: Cell) -> AlarmReading | None:
        recall = self.plan.target(cell.entity, cell.language)
        if Version(cell.detector, cell.version) not in self.live or recall is None:
            return None
        config = self.plan.config.alarm
        evidence = self.merged.evidence.cells.get(cell) or CellEvidence()
        until = None if self.now is None else int(self.now // config.period)
        deadline_s = self.plan.config.labels.deadline_days * DAY_S
        # a cell in which nothing was met has no share in the promise, and can't fire
        cells = max(len(self.targets), 1)
        return self.known.alarms.read(cell, evidence, recall, config, cells=cells, deadline_s=deadline_s, until=until)

    def _any_time(self, cell: Cell) -> AnyTimeLimits | None:
        if Version(cell.detector, cell.version) not in self.live:
            return None
        config = self.plan.config
        evidence = self.merged.evidence.cells.get(cell)
        if evidence is None:
            return None
        evidence.count_from(self.epoch.first_period(config.alarm.period))
        level = self.epoch.level(config.readings.confidence)
        limits = self.known.sequences.read(cell, evidence, config.alarm.y_max, level)
        if limits is None or evidence.first is None:
            return None
        labelled = sum(n for entry, n in evidence.counts.items() if entry.labelled)
        since = evidence.first * config.alarm.period
        return AnyTimeLimits(*limits, labelled, since, config.alarm.y_max, self.epoch.sequences)

    @property
    def unseen_targets(self) -> tuple[str, ...]:
        """Targets of cells that nothing was flagged or labelled in, with any version: a name may be mistyped."""
        seen = {
            (entity, language)
            for sums in self.everything.values()
            for language in (*languages(sums.frames()), "")
            for entity in (ANY_ENTITY, *sums.entities)
        }
        return tuple(sorted(".".join(filter(None, cell)) for cell in self.plan.target_cells if cell not in seen))


class WindowReadings:
    """Reads one window."""

    def __init__(self, look: Look, window: Window, days: Days, cells: CellReadings) -> None:
        self._look = look
        self._window = window
        self._days = days
        self._cells = cells
        seen = look.merged.extremes(window, "ledger").seen
        self._newest = {key: last for key, (_, last) in seen.items()}
        self._came = {
            key: -first for key, (first, _) in look.merged.extremes(look.merged.everything, "ledger").seen.items()
        }

    def read(self) -> list[Reading]:
        """Return the readings of every version in the window, versions in their own order, newest first."""
        found: list[Reading] = []
        versions = self._window.versions
        wanted = versions.keys() | (self._look.live & self._look.everything.keys())
        for version in sorted(wanted, key=lambda v: (v.detector, version_key(v.version)), reverse=True):
            found += self._read_version(version, versions.get(version, VersionSums()))
        return found

    def read_outputs(self) -> list[OutputReading]:
        """Return the readings of redacted outputs, in the same order; none of a version without an output."""
        versions = self._window.versions
        found: list[OutputReading] = []
        for version in sorted(versions, key=lambda v: (v.detector, version_key(v.version)), reverse=True):
            sums = versions[version]
            found += [
                read_outputs(self._output_scope(version, language, sums), sums.outputs)
                for language in sums.outputs.languages()
            ]
        return found

    def _output_scope(self, version: Version, language: str, sums: VersionSums) -> OutputScope:
        kept = self._look.everything[version].outputs.samples(language, ANY_ENTITY, "needless")
        return OutputScope(
            plan=self._look.plan,
            version=version,
            language=language,
            window=self._days,
            config=",".join(sorted({config for config, _ in sums.made})),
            net=",".join(sorted({net for _, net in sums.made})),
            known_before=any(sample.labelled for sample in kept),
            counted_age_s=self._age(self._decided, version, language),
            age_s=self._age(self._newest, version, language),
            since_label_s=self._age(self._came, version, language),
            agreements=self._window.agreements,
        )

    @cached_property
    def _decided(self) -> Mapping[VersionKey, int]:
        """When the last decision of a version and language was made (ms)."""
        seen = self._look.merged.extremes(self._window, "route").seen
        return {key: last for key, (_, last) in seen.items()}

    def _read_version(self, version: Version, sums: VersionSums) -> list[Reading]:
        look, limits = self._look, self._look.plan.config.limits
        frames = sums.frames()
        # a version that is live is there with all that it ever had, one of the past with what the window holds
        listed = look.everything[version] if version in look.live else sums
        kept = look.everything[version].frames()
        found: list[Reading] = []
        for language in languages(listed.frames()):
            scope = self._scope(version, language, sums, of_language(frames, language), of_language(kept, language))
            entities = {*listed.listed(look.plan.aliases.known, limits.max_entities)}
            # what a version no longer names would have no reading until a label holds it
            wanted = entities | _asked(look.plan, language) if version in look.live else entities
            for entity in sorted(wanted):
                found += self._cells.read(scope, sums, entity)
        return found

    def _scope(
        self, version: Version, language: str, sums: VersionSums, frames: list[Frame], kept: list[Frame]
    ) -> Scope:
        look = self._look
        return Scope(
            plan=look.plan,
            version=version,
            language=language,
            frames=frames,
            window=self._days,
            config=",".join(sorted({config for config, _ in sums.made})),
            net=",".join(sorted({net for _, net in sums.made})),
            age_s=self._age(self._newest, version, language),
            since_label_s=self._age(self._came, version, language),
            known_before=any(row.labelled for frame in kept for _, row in frame.designs),
            agreements=self._window.agreements,
            any_time=lambda entity: look.any_time(Cell(entity, language, *version)),
            alarm=lambda entity: look.alarm(Cell(entity, language, *version)),
            optimistic=partial(self._optimistic, sums, language),
        )

    def _age(self, at_ms: Mapping[VersionKey, int], version: Version, language: str) -> float | None:
        """Return the seconds since the latest of a version's and language's moments."""
        found = [ms for key, ms in at_ms.items() if key[1:] == version and language in (ANY, key.language)]
        now = self._look.now
        return None if now is None or not found else max(now - max(found) / 1000, 0.0)

    def _optimistic(self, sums: VersionSums, language: str, entity: str) -> Optimistic | None:
        captures = sums.second.get((language, entity), Captures())
        found = lincoln_petersen(captures, self._look.plan.config.readings.confidence)
        return None if found is None else Optimistic(captures.both, captures.second, *found.recall)


def _asked(plan: Plan, language: str) -> set[str]:
    """Return the entities of which a recall is asked in a language."""
    return {entity for entity, _ in plan.target_cells if plan.target(entity, language) is not None}


def _live(seen: Mapping[VersionKey, tuple[int, int]], period_s: float) -> frozenset[Version]:
    """Return the versions that traffic carries: each detector's newest, and what came within an alarm's period of it.

    Two versions may run side by side; one that was replaced is done with.
    """
    last: dict[Version, int] = {}
    for key, (_, at) in seen.items():
        version = Version(key.detector, key.version)
        last[version] = max(at, last.get(version, at))
    newest: dict[str, int] = {}
    for version, at in last.items():
        newest[version.detector] = max(at, newest.get(version.detector, at))
    return frozenset(v for v, at in last.items() if at > newest[v.detector] - period_s * 1000)
