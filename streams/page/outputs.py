"""What page and terminal say of redacted outputs: a row a version and language, and leaks by entity and kind."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from monitor.exposition import clean
from monitor.leaks.findings import KINDS, Kind
from monitor.readings import ANY, BoardSnapshot, CountedRate, Disclosure, OutputReading, OverMasking
from monitor.versions import version_key
from streams.page import words
from streams.page.cells import Selection, Version

MAX_ENTITIES = 12
"""Entities whose leaks the page tells: those in most documents; the readings as JSON have all."""
SHORT: dict[Kind, str] = {
    "partial_mask": "part masked",
    "edge_fragment": "at its edge",
    "survives_elsewhere": "elsewhere",
    "shifted_mask": "mask shifted",
    "net_on_output": "net finds it",
    "untouched": "unmasked",
}
"""Kinds in few words."""


class Leaks(NamedTuple):
    """An entity's leaks: documents with one, of those where it was flagged, and leaks by kind."""

    entity: str
    documents: int
    of: int
    kinds: tuple[tuple[Kind, int], ...]


class Section(NamedTuple):
    """All that the page says of outputs."""

    rows: tuple[OutputReading, ...]
    several: bool
    """Whether the rows are of more than one version."""
    leaks: tuple[Leaks, ...]
    more: int
    """Entities with a leak that aren't told."""


def section(snapshot: BoardSnapshot, shown: Collection[Version], selection: Selection) -> Section | None:
    """Return what is said of the versions shown, over the page's window; None where no output was looked at.

    Of a detector's older versions a row of all languages stands below, to compare with.
    """
    days = next((r.window.days for r in snapshot.readings), None)
    asked = [r for r in snapshot.outputs if r.window.days == days and selection.language in ("", clean(r.language))]
    rows = distinct([r for r in asked if (r.detector, r.version) in shown])
    older = [r for r in asked if clean(r.language) == (selection.language or ANY) and _is_older(r, shown)]
    if not rows and not older:
        return None
    rows.sort(key=lambda r: (r.detector, r.language != ANY, r.language))
    older.sort(key=lambda r: version_key(r.version), reverse=True)
    found = leaks(rows, selection.entity)
    versions = {(r.detector, r.version) for r in (*rows, *older)}
    told, more = tuple(found[:MAX_ENTITIES]), max(len(found) - MAX_ENTITIES, 0)
    return Section((*rows, *older), len(versions) > 1, told, more)


def distinct(readings: Iterable[OutputReading]) -> list[OutputReading]:
    """Return the readings without the roll-up of a version that has one language: it says the same again."""
    held: defaultdict[tuple[str, str, int | None], list[OutputReading]] = defaultdict(list)
    for r in readings:
        held[r.detector, r.version, r.window.days].append(r)
    return [r for mine in held.values() for r in mine if r.language != ANY or len(mine) != 2]


def _is_older(reading: OutputReading, shown: Iterable[Version]) -> bool:
    mine = [version_key(version) for detector, version in shown if detector == reading.detector]
    return any(version_key(reading.version) < key for key in mine)


def leaks(readings: Sequence[OutputReading], entity: str = "") -> list[Leaks]:
    """Return each entity's leaks, those in most documents first, languages taken together.

    Parameters: `readings` of one window; where the roll-up of languages is among them it's read alone. `entity`, in its
    clean name, to read one alone.
    """
    whole = [r for r in readings if r.language == ANY]
    rolled_up = {(r.detector, r.version) for r in whole}
    whole += [r for r in readings if (r.detector, r.version) not in rolled_up]
    counts: defaultdict[str, Counter[Kind]] = defaultdict(Counter)
    documents: Counter[str] = Counter()
    of: Counter[str] = Counter()
    for e in (e for r in whole for e in r.entities if e.kinds and entity in ("", clean(e.entity))):
        counts[e.entity].update({count.kind: count.leaks for count in e.kinds})
        documents[e.entity] += e.documents.count
        of[e.entity] += e.documents.of
    found = [
        Leaks(name, documents[name], of[name], tuple((kind, held[kind]) for kind in KINDS if held[kind]))
        for name, held in counts.items()
    ]
    return sorted(found, key=lambda row: (-row.documents, row.entity))


def rate(share: CountedRate | OverMasking) -> str:
    """Return a share, or a dash.

    >>> rate(CountedRate(61, 4820, 0.012656, 0.0099, 0.0162)), rate(CountedRate(0, 0))
    ('0.0127', '–')
    """
    return words.number(share.estimate, 4 if isinstance(share, CountedRate) else 3)


def limits(share: CountedRate | OverMasking) -> str:
    """Return a share's limits, or nothing."""
    if share.lower is None:
        return ""
    digits = 4 if isinstance(share, CountedRate) else 3
    return f"{words.number(share.lower, digits)}{words.DASH}{words.number(share.upper, digits)}"


def readable(disclosure: Disclosure) -> str:
    """Return how many occurrences can still be read in 1,000 documents, or a dash."""
    return words.number(disclosure.per_1000.estimate, 1)


def readable_limits(disclosure: Disclosure) -> str:
    """Return that number's limits, or nothing."""
    per_1000 = disclosure.per_1000
    if per_1000.lower is None:
        return ""
    return f"{words.number(per_1000.lower, 1)}{words.DASH}{words.number(per_1000.upper, 1)}"


def standing(reading: OutputReading) -> str:
    """Return why what the labels say isn't offered as it is; nothing where it is."""
    return words.STATUSES.get(reading.disclosure.status, "")


def sentence(reading: OutputReading) -> str:
    """Return what one reading says, in a line."""
    found = reading.documents
    of = f"{found.count:,} of {found.of:,} {'has' if found.count == 1 else 'have'} a leak"
    said = f"{of}, {rate(found)} ({limits(found)})"
    if reading.unaligned:
        said += f"; {reading.unaligned:,} not aligned"
    if reading.disclosure.per_1000.estimate is None:
        return f"{said}; what can still be read isn't known: {standing(reading) or 'no label yet'}."
    marked = standing(reading)
    aside = f", {marked}" if marked else ""
    told = f"{readable(reading.disclosure)} ({readable_limits(reading.disclosure)}{aside})"
    return f"{said}; in 1,000 documents {told} pieces of personal data can still be read."
