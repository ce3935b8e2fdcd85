"""From a window's sums to the sample of one cell, stratum by stratum: what the estimators read."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import NamedTuple

from monitor.estimators.captures import Captures
from monitor.estimators.sample import Design, Moments, StratumSample
from monitor.names import UNLISTED
from monitor.output_sums import OUTPUT_READINGS, OfOutput, OutputSums
from monitor.readings import ANY
from monitor.records import STRATA, Stratum
from monitor.tally import (
    ANY_ENTITY,
    CellKey,
    CensusKey,
    DesignKey,
    DesignRow,
    FlaggedKey,
    MadeKey,
    Reading,
    SecondKey,
    Tally,
)

_NONE = Moments()
OfVersion = CensusKey | FlaggedKey | DesignKey | CellKey | MadeKey | SecondKey | OfOutput
"""Rows that belong to a detector version."""


class Version(NamedTuple):
    """A detector in one version."""

    detector: str
    version: str


class Frame(NamedTuple):
    """One stratum of one language: its census and its designs, whatever the entity."""

    language: str
    stratum: Stratum
    census: int
    designs: tuple[tuple[float, DesignRow], ...]


class CellSample(NamedTuple):
    """One cell's sample in one window: what a planner, or an adviser of rates, reads."""

    entity: str
    language: str
    version: Version
    current: bool
    """Whether the newest traffic carries this version."""
    days: float
    """Days of the window that hold any document, of a young board the part of a day that it has seen; above 0."""
    strata: tuple[StratumSample, ...]
    """Of true occurrences by matching; of a roll-up the strata of all its languages."""


class VersionSums:
    """A window's sums of one detector version, by language and stratum."""

    def __init__(self) -> None:
        self._census: dict[tuple[str, Stratum], int] = {}
        self._designs: defaultdict[tuple[str, Stratum], list[tuple[float, DesignRow]]] = defaultdict(list)
        self._cells: dict[tuple[str, Stratum, float, str, Reading], Moments] = {}
        self._named: Counter[tuple[str, str]] = Counter()
        """Documents in which the detector named an entity, by language, or all of them, and entity."""
        self.entities: Counter[str] = Counter()
        """Entities flagged or labelled, with how often."""
        self.made: set[tuple[str, str]] = set()
        self.second: dict[tuple[str, str], Captures] = {}
        """What the detector and the second one found of each other's, by language, or all of them, and entity."""
        self.kept: dict[tuple[str, str], object] = {}
        """What somebody worked out from a language's and an entity's samples: it lives as long as they do."""
        self.outputs = OutputSums()

    def add(self, key: OfVersion, row: tuple[int, ...]) -> None:
        """Put a row of the window's sums in its place."""
        if isinstance(key, CensusKey):
            self._census[key.language, key.stratum] = row[0]
        elif isinstance(key, DesignKey):
            self._designs[key.language, key.stratum].append((key.probability, DesignRow(*row)))
        elif isinstance(key, CellKey):
            self._add_cell(key, row)
        elif isinstance(key, FlaggedKey):
            self.entities[key.entity] += row[1]
            for language in (key.language, ANY):
                self._named[language, key.entity] += row[0]
        elif isinstance(key, SecondKey):
            for language in (key.language, ANY):
                held = self.second.get((language, key.entity), Captures())
                self.second[language, key.entity] = held.plus(Captures(*row))
        elif isinstance(key, MadeKey):
            self.made.add((key.config, key.net))
        else:
            self.outputs.add(key, row)

    def _add_cell(self, key: CellKey, row: tuple[int, ...]) -> None:
        if key.reading in OUTPUT_READINGS:
            self.outputs.add(key, row)
            return
        if key.reading in ("matched", "masked"):
            self.entities[key.entity] += row[Moments._fields.index("y")]
        self._cells[key.language, key.stratum, key.probability, key.entity, key.reading] = Moments(*row)

    def listed(self, known: Callable[[str], bool], most: int) -> list[str]:
        """Return the entities to read: all that are known, of others the `most` frequent, what has no room, and all.

        `UNLISTED` takes no name's place: its cell and those of the names kept apart would no longer add up.
        """
        others = sorted(
            (-n, entity)
            for entity, n in self.entities.items()
            if not known(entity) and entity not in (ANY_ENTITY, UNLISTED)
        )
        left_out = {entity for _, entity in others[most:]}
        return sorted({ANY_ENTITY, *self.entities} - left_out)

    def frames(self) -> list[Frame]:
        """Return the strata that hold any document, by language, in the strata's own order."""
        places = sorted(set(self._census) | set(self._designs), key=lambda p: (p[0], STRATA.index(p[1])))
        return [Frame(*p, self._census.get(p, 0), tuple(sorted(self._designs.get(p, ())))) for p in places]

    def census_of(self, language: str, entity: str) -> int | None:
        """Return in how many documents the detector named a known entity; None where that may be a part of them.

        With the config the names may have changed, and documents from before are counted under the old ones.
        """
        return self._named[language, entity] if len({config for config, _ in self.made}) == 1 else None

    def sample(self, frame: Frame, entity: str, reading: Reading) -> StratumSample:
        """Return a stratum's sample for one entity."""
        designs = tuple(
            Design(
                probability,
                row.sampled,
                row.labelled,
                self._cells.get((frame.language, frame.stratum, probability, entity, reading), _NONE),
            )
            for probability, row in frame.designs
        )
        return StratumSample(frame.language, frame.stratum, frame.census, designs)


def by_version(sums: Tally) -> dict[Version, VersionSums]:
    """Return a window's sums by detector version; counts and queues belong to none and are left out."""
    versions: defaultdict[Version, VersionSums] = defaultdict(VersionSums)
    for key, row in sums.rows.items():
        if isinstance(key, OfVersion):
            versions[Version(key.detector, key.version)].add(key, row)
    return dict(versions)


def languages(frames: list[Frame]) -> list[str]:
    """Return the languages of the frames, and their roll-up last."""
    return [*sorted({frame.language for frame in frames}), ANY]


def of_language(frames: list[Frame], language: str) -> list[Frame]:
    """Return the frames of one language, or of all."""
    return [frame for frame in frames if language in (ANY, frame.language)]
