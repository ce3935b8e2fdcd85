"""A window's sums of the redacted outputs of one detector version, by language: what their readings are made of."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import NamedTuple

from monitor.estimators.sample import Design, Moments, StratumSample
from monitor.leaks.findings import KINDS, Kind
from monitor.names import UNLISTED
from monitor.output_keys import (
    LeakKey,
    OutputDesignKey,
    OutputKey,
    OutputRow,
    RedactedKey,
    RedactionsKey,
    RedactionsRow,
)
from monitor.readings import ANY, LeakCount
from monitor.records import STRATA, Stratum
from monitor.tally import ANY_ENTITY, CellKey, Reading

OfOutput = OutputKey | RedactionsKey | RedactedKey | LeakKey | OutputDesignKey
"""Rows that are about outputs alone."""
OUTPUT_READINGS: frozenset[Reading] = frozenset({"hidden", "readable", "needless"})
"""Readings of cells that are."""
_NONE = Moments()


class Redacted(NamedTuple):
    """An entity in documents with an output, as a `RedactedKey` row has it."""

    documents: int = 0
    spans: int = 0
    leaking: int = 0
    """Documents with a leak of it."""
    leaking_spans: int = 0


class Drawn(NamedTuple):
    """Drawn documents with an output, of one inclusion probability."""

    sampled: int = 0
    labelled: int = 0


class _Frame(NamedTuple):
    """One stratum of one language, whatever the entity."""

    place: tuple[str, Stratum]
    outputs: int
    designs: tuple[tuple[float, Drawn], ...]


class OutputSums:
    """Rows by language; every method takes a language or `any`, which adds them up."""

    def __init__(self) -> None:
        self._outputs: dict[tuple[str, Stratum], OutputRow] = {}
        self._redactions: dict[str, RedactionsRow] = {}
        self._redacted: dict[tuple[str, str], Redacted] = {}
        self._leaks: defaultdict[tuple[str, str], dict[Kind, tuple[int, ...]]] = defaultdict(dict)
        self._designs: defaultdict[tuple[str, Stratum], dict[float, Drawn]] = defaultdict(dict)
        self._moments: dict[tuple[str, Stratum, float, str, Reading], Moments] = {}
        self._entities: defaultdict[str, Counter[str]] = defaultdict(Counter)
        """Entities flagged or labelled in documents with an output, with how often, by language."""
        self._languages: list[str] | None = None
        self._frames: dict[str, list[_Frame]] = {}
        """Both as far as somebody has asked."""
        self.kept: dict[str, object] = {}
        """What somebody worked out from a language's sums: it lives as long as they do."""

    def add(self, key: OfOutput | CellKey, row: tuple[int, ...]) -> None:
        """Put a row of the window's sums in its place."""
        if isinstance(key, OutputKey):
            self._outputs[key.language, key.stratum] = OutputRow(*row)
            self._languages = None
            self._frames.pop(key.language, None)
        elif isinstance(key, RedactionsKey):
            self._redactions[key.language] = RedactionsRow(*row)
        elif isinstance(key, RedactedKey):
            self._redacted[key.language, key.entity] = found = Redacted(*row)
            self._entities[key.language][key.entity] += found.spans
        elif isinstance(key, LeakKey):
            self._leaks[key.language, key.entity][key.leak] = row
        elif isinstance(key, OutputDesignKey):
            self._designs[key.language, key.stratum][key.probability] = Drawn(*row)
            self._frames.pop(key.language, None)
        else:
            moments = Moments(*row)
            self._moments[key.language, key.stratum, key.probability, key.entity, key.reading] = moments
            if key.reading == "hidden" and key.entity != ANY_ENTITY:
                self._entities[key.language][key.entity] += moments.y

    def languages(self) -> list[str]:
        """Return the languages with an output that was looked at, and their roll-up last; none where there's none."""
        if self._languages is None:
            found = sorted({language for (language, _), row in self._outputs.items() if row.outputs})
            self._languages = [*found, ANY] if found else []
        return self._languages

    def _of(self, language: str) -> list[str]:
        return self.languages()[:-1] if language == ANY else [language]

    def counted(self, language: str) -> OutputRow:
        """Return what the look at outputs found, over all strata."""
        wanted = self._of(language)
        rows = [row for (of, _), row in self._outputs.items() if of in wanted]
        return OutputRow(*map(sum, zip(*rows, strict=True))) if rows else OutputRow()

    def redactions(self, language: str) -> RedactionsRow:
        """Return the sums over documents of replaced spans."""
        rows = [self._redactions[of] for of in self._of(language) if of in self._redactions]
        return RedactionsRow(*map(sum, zip(*rows, strict=True))) if rows else RedactionsRow()

    def redacted(self, language: str, entity: str) -> Redacted:
        """Return what was found of an entity."""
        rows = [self._redacted[of, entity] for of in self._of(language) if (of, entity) in self._redacted]
        return Redacted(*map(sum, zip(*rows, strict=True))) if rows else Redacted()

    def kinds(self, language: str, entity: str) -> tuple[LeakCount, ...]:
        """Return an entity's leaks by kind, in the kinds' own order; kinds without one are left out."""
        held = [self._leaks[of, entity] for of in self._of(language) if (of, entity) in self._leaks]
        found: list[LeakCount] = []
        for kind in KINDS:
            rows = [kinds[kind] for kinds in held if kind in kinds]
            if rows:
                documents, leaks = map(sum, zip(*rows, strict=True))
                found.append(LeakCount(kind, documents, leaks))
        return tuple(found)

    def listed(self, language: str, known: Callable[[str], bool], most: int) -> list[str]:
        """Return the entities to read: all that are known, and of others the `most` frequent."""
        spans: Counter[str] = Counter()
        for of in self._of(language):
            spans.update(self._entities.get(of, {}))
        others = sorted((-n, entity) for entity, n in spans.items() if not known(entity) and entity != UNLISTED)
        return sorted(set(spans) - {entity for _, entity in others[most:]})

    def samples(self, language: str, entity: str, reading: Reading) -> tuple[StratumSample, ...]:
        """Return an entity's sample by language and stratum: documents with an output are all there are."""
        held = self._moments
        return tuple(
            [
                StratumSample(
                    *frame.place,
                    frame.outputs,
                    tuple(
                        [
                            Design(probability, *drawn, held.get((*frame.place, probability, entity, reading), _NONE))
                            for probability, drawn in frame.designs
                        ]
                    ),
                )
                for of in self._of(language)
                for frame in self._frames_of(of)
            ]
        )

    def _frames_of(self, language: str) -> list[_Frame]:
        """Return the strata of a language that hold an output, in their own order."""
        frames = self._frames.get(language)
        if frames is None:
            frames = self._frames[language] = [
                _Frame(
                    (language, stratum),
                    self._outputs.get((language, stratum), OutputRow()).outputs,
                    tuple(sorted(self._designs.get((language, stratum), {}).items())),
                )
                for stratum in STRATA
                if (language, stratum) in self._outputs or (language, stratum) in self._designs
            ]
        return frames
