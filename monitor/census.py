"""ROUTE's running counts of one day: plain integers on the hot path, turned into a tally at checkpoints.

Every decision touches one `Group` (its language, detector and version) and adds whole numbers to it; no label string is
built and no tuple hashed per span beyond the entity's own name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from monitor.records import STRATA, Stratum
from monitor.tally import CensusKey, CountKey, FlaggedKey, Tally, VersionKey

_DECISIONS = CountKey("records", "decision")
"""Not counted one by one: it is the sum over the groups."""


class Group:
    """Counts of one language, detector and version."""

    __slots__ = ("_serial", "detector", "documents", "entities", "first_ms", "fresh", "language", "last_ms", "version")

    def __init__(self, language: str, detector: str, version: str) -> None:
        self.language = language
        self.detector = detector
        self.version = version
        self.documents = dict.fromkeys(STRATA, 0)
        self.entities: dict[str, list[int]] = {}
        """By name: documents, spans, and the document that was counted last, which tells repeats without a set."""
        self._serial = 0
        self.first_ms = -1
        self.last_ms = -1
        self.fresh = 0
        """Documents counted since somebody set it back; part of no state."""

    def count(self, stratum: Stratum, entities: Sequence[str], timestamp_ms: int) -> None:
        """Count one document; `entities` names each of its spans, repeats included."""
        self.documents[stratum] += 1
        self.fresh += 1
        if timestamp_ms > self.last_ms:  # noqa: PLR1730  # max() is a call, and every decision passes here
            self.last_ms = timestamp_ms
        if timestamp_ms < self.first_ms or self.first_ms < 0:
            self.first_ms = timestamp_ms
        rows = self.entities
        self._serial = serial = self._serial + 1
        for entity in entities:
            row = rows.get(entity)
            if row is None:
                row = rows[entity] = [0, 0, 0]
            row[1] += 1
            if row[2] != serial:
                row[2] = serial
                row[0] += 1


class CensusDay:
    """Counts of one day in one partition."""

    __slots__ = ("counts", "groups")

    def __init__(self) -> None:
        self.groups: dict[tuple[str, str, str], Group] = {}
        self.counts: Counter[CountKey] = Counter()

    def group(self, language: str, detector: str, version: str) -> Group:
        """Return the group's counts, made where they're new."""
        key = (language, detector, version)
        found = self.groups.get(key)
        if found is None:
            found = self.groups[key] = Group(language, detector, version)
        return found

    def tally(self) -> Tally:
        """Return the counts as a tally."""
        tally = Tally({key: (n,) for key, n in self.counts.items() if n})
        decisions = sum(sum(g.documents.values()) for g in self.groups.values())
        if decisions:
            tally.rows[_DECISIONS] = (decisions,)
        for g in self.groups.values():
            for stratum, documents in g.documents.items():
                if documents:
                    tally.rows[CensusKey(g.language, g.detector, g.version, stratum)] = (documents,)
            for entity, (documents, spans, _) in g.entities.items():
                tally.rows[FlaggedKey(g.language, g.detector, g.version, entity)] = (documents, spans)
            if any(g.documents.values()):
                tally.note_seen(VersionKey(g.language, g.detector, g.version), g.first_ms, g.last_ms)
        return tally

    @classmethod
    def restore(cls, tally: Tally) -> CensusDay:
        """Return the counts of a tally that `tally` made."""
        day = cls()
        for key, row in tally.rows.items():
            if isinstance(key, CensusKey):
                day.group(*key[:3]).documents[key.stratum] = row[0]
            elif isinstance(key, FlaggedKey):
                day.group(*key[:3]).entities[key.entity] = [*row, 0]
            elif isinstance(key, CountKey) and key != _DECISIONS:
                day.counts[key] = row[0]
        for version, (first, last) in tally.seen.items():
            group = day.group(*version)
            group.first_ms, group.last_ms = first, last
        return day
