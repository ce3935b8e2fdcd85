"""A tally: all that stages 1 and 2 know, as whole numbers that add.

Tallies form a commutative monoid: `add` is addition, empty is zero. Every entry is a row of whole numbers under a typed
key, so adding and taking away are exact and the order never matters: the number of partitions and workers can't change
a number, a window is a sum of days, and a corrected label leaves no residue behind. Two things are extremes instead of
sums, and merge by minimum and maximum: when a version's decisions were first and last seen, and the oldest open task.

The inclusion probability is part of a key, so weights are applied where they are needed: by the estimators.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

import msgspec

from monitor.errors import StateError
from monitor.estimators.captures import Captures
from monitor.estimators.sample import Moments
from monitor.output_keys import LeakKey, OutputDesignKey, OutputKey, RedactedKey, RedactionsKey
from monitor.records import Stratum
from monitor.span_agreement import SpanCounts

Reading = Literal["matched", "masked", "right", "unnamed", "hidden", "readable", "needless"]
"""What a cell's moments count: of true occurrences those matched, or masked; of detected spans those that are right;
true occurrences in documents where the detector named the entity nowhere. Of documents with a redacted output: of true
occurrences those that it shows nothing of; those that can be read there, of as many; of masked graphemes those that
people say were no personal data (of the roll-up alone)."""
Shape = Literal["length", "spans", "score"]
ANY_ENTITY = "any"


class CensusKey(NamedTuple):
    """Documents that ROUTE counted: row (documents,)."""

    language: str
    detector: str
    version: str
    stratum: Stratum
    kind: Literal["census"] = "census"


class FlaggedKey(NamedTuple):
    """What the detector flagged: row (documents with the entity, spans)."""

    language: str
    detector: str
    version: str
    entity: str
    kind: Literal["flagged"] = "flagged"


class ShapeKey(NamedTuple):
    """Documents by a step of their shape, of those that ROUTE looks at for it: row (documents,).

    `length`: bit length of the square of the text's code points, two steps to a doubling. `spans`: bit length of their
    number. `score`: whole tenths of the first one's, where it has one.
    """

    language: str
    detector: str
    version: str
    shape: Shape
    step: int
    kind: Literal["shape"] = "shape"


class DesignKey(NamedTuple):
    """Documents drawn with one inclusion probability: row `DesignRow`."""

    language: str
    detector: str
    version: str
    stratum: Stratum
    probability: float
    kind: Literal["design"] = "design"


class DesignRow(NamedTuple):
    """What became of the drawn documents; sampled = labelled + skipped + open."""

    sampled: int = 0
    labelled: int = 0
    skipped: int = 0
    open: int = 0
    reused: int = 0
    """Of the labelled ones, those that another version's label served."""


class CellKey(NamedTuple):
    """One entity among the labelled documents of a design: row `Moments`."""

    language: str
    detector: str
    version: str
    stratum: Stratum
    probability: float
    entity: str
    reading: Reading
    kind: Literal["cell"] = "cell"


class CountKey(NamedTuple):
    """A counted outcome: row (times,). `name` is one of a fixed set, `detail` a reason or channel."""

    name: str
    detail: str
    kind: Literal["count"] = "count"


class MadeKey(NamedTuple):
    """Documents drawn under a config and a net: row (documents,)."""

    detector: str
    version: str
    config: str
    net: str
    kind: Literal["made"] = "made"


class QueueKey(NamedTuple):
    """Annotation tasks by language: row (sent, done, skipped)."""

    language: str
    kind: Literal["queue"] = "queue"


class EntryKey(NamedTuple):
    """Drawn documents that the alarm and the any-time limits see alike: row (documents,).

    An unlabelled one has as many found as detected, and nothing else (`monitor.estimators.e_detector`).
    """

    language: str
    detector: str
    version: str
    entity: str
    period: int
    """Of the alarm, by the time of drawing."""
    probability: float
    floor_detected: float
    floor_any: float
    """The smallest rates in force, `e_detector.Floors`."""
    t: int
    y: int
    labelled: int
    """1 or 0."""
    kind: Literal["entry"] = "entry"


class TwiceKey(NamedTuple):
    """Documents that two people read blind: row (documents,)."""

    language: str
    probability: float
    """Of being drawn and read twice."""
    kind: Literal["twice"] = "twice"


class AgreementKey(NamedTuple):
    """What two blind readings say of one entity: row `AgreementRow`."""

    language: str
    probability: float
    entity: str
    kind: Literal["agreement"] = "agreement"


class AgreementRow(NamedTuple):
    """Documents by who named the entity (neither: the rest of `TwiceKey`'s); spans; what each found of the other's."""

    both: int = 0
    first_only: int = 0
    second_only: int = 0
    spans: SpanCounts = SpanCounts()
    captures: Captures = Captures()

    def flat(self) -> tuple[int, ...]:
        """Return the row as a tally holds it."""
        return (self.both, self.first_only, self.second_only, *self.spans, *self.captures)

    @classmethod
    def of(cls, row: tuple[int, ...]) -> AgreementRow:
        """Return the row of `flat`."""
        both, first_only, second_only, *rest = row
        return cls(both, first_only, second_only, SpanCounts(*rest[:4]), Captures(*rest[4:]))


class SecondKey(NamedTuple):
    """What the detector and the second one found of each other's, over all documents with both: row `Captures`."""

    language: str
    detector: str
    version: str
    entity: str
    kind: Literal["second"] = "second"


class VersionKey(NamedTuple):
    """Which detector version, in which language; it keys extremes, not sums."""

    language: str
    detector: str
    version: str


Key = (
    CensusKey
    | FlaggedKey
    | ShapeKey
    | DesignKey
    | CellKey
    | CountKey
    | MadeKey
    | QueueKey
    | EntryKey
    | TwiceKey
    | AgreementKey
    | SecondKey
    | OutputKey
    | RedactionsKey
    | RedactedKey
    | LeakKey
    | OutputDesignKey
)
_KINDS: dict[str, type[Key]] = {
    "census": CensusKey,
    "flagged": FlaggedKey,
    "shape": ShapeKey,
    "design": DesignKey,
    "cell": CellKey,
    "count": CountKey,
    "made": MadeKey,
    "queue": QueueKey,
    "entry": EntryKey,
    "twice": TwiceKey,
    "agreement": AgreementKey,
    "second": SecondKey,
    "output": OutputKey,
    "redactions": RedactionsKey,
    "redacted": RedactedKey,
    "leak": LeakKey,
    "output_design": OutputDesignKey,
}


class Tally:
    """Sums of one day (or of any other share of the traffic).

    Parameters
    ----------
    rows
        Whole numbers by key.
    seen
        Event time (ms) of the first and the last decision of a version, by version and language; in the ledger's
        tallies when the last label came, negative (so that the newest is the smallest), and the draw of the newest
        labelled document.
    oldest
        Event time (s) of the oldest open task's document, by language.

    Examples
    --------
    >>> a, b = Tally(), Tally()
    >>> a.add(CountKey("labels", "joined"), (2,))
    >>> b.add(CountKey("labels", "joined"), (3,))
    >>> a.merge(b)
    >>> a.rows[CountKey("labels", "joined")]
    (5,)
    """

    __slots__ = ("oldest", "rows", "seen")

    def __init__(
        self,
        rows: Mapping[Key, tuple[int, ...]] | None = None,
        seen: Mapping[VersionKey, tuple[int, int]] | None = None,
        oldest: Mapping[str, float] | None = None,
    ) -> None:
        self.rows: dict[Key, tuple[int, ...]] = dict(rows or {})
        self.seen: dict[VersionKey, tuple[int, int]] = dict(seen or {})
        self.oldest: dict[str, float] = dict(oldest or {})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tally):
            return NotImplemented
        return (self.rows, self.seen, self.oldest) == (other.rows, other.seen, other.oldest)

    __hash__ = None  # type: ignore[assignment]  # it's mutable

    def add(self, key: Key, numbers: Iterable[int], sign: int = 1) -> None:
        """Add a row of whole numbers under `key`, or take it away; a row of zeros is no row."""
        held = self.rows.get(key)
        total = tuple(sign * n for n in numbers)
        if held is not None:
            total = tuple(a + b for a, b in zip(held, total, strict=True))
        if any(total):
            self.rows[key] = total
        elif held is not None:
            del self.rows[key]

    def merge(self, other: Tally) -> None:
        """Add all of another tally."""
        self.merge_rows(other)
        for version, (first, last) in other.seen.items():
            self.note_seen(version, first, last)
        for language, at in other.oldest.items():
            self.oldest[language] = min(at, self.oldest.get(language, at))

    def merge_rows(self, other: Tally, sign: int = 1) -> None:
        """Add or take away the sums of another tally, extremes left alone: they can't be taken away."""
        for key, numbers in other.rows.items():
            self.add(key, numbers, sign)

    def note_seen(self, version: VersionKey, first: int, last: int) -> None:
        """Widen the time over which a version was seen."""
        held = self.seen.get(version)
        if held is not None:
            first, last = min(first, held[0]), max(last, held[1])
        self.seen[version] = (first, last)

    def encode(self) -> bytes:
        """Return the tally as msgpack; equal tallies give equal bytes."""
        rows = sorted(((k.kind, *k[:-1]), _packable(n)) for k, n in self.rows.items())
        return msgspec.msgpack.encode((1, rows, sorted(self.seen.items()), sorted(self.oldest.items())))

    @classmethod
    def decode(cls, data: bytes) -> Tally:
        """Return the tally of `encode`.

        Raises
        ------
        StateError
            Bytes of another format version, or none at all of ours.
        """
        try:
            version, rows, seen, oldest = _DECODER.decode(data)
            if version != 1:
                raise StateError(f"tally format {version}; this version reads 1: rebuild the board from the topics")
            typed = {_KINDS[str(key[0])](*key[1:]): _unpacked(numbers) for key, numbers in rows}  # type: ignore[arg-type]  # the kind says which fields follow
            return cls(typed, {VersionKey(*k): v for k, v in seen}, dict(oldest))
        except (msgspec.DecodeError, KeyError, IndexError, TypeError, ValueError) as error:
            raise StateError(f"not a tally ({type(error).__name__}): rebuild the board from the topics") from None


_DECODER = msgspec.msgpack.Decoder(
    tuple[
        int,
        list[tuple[list[str | int | float], tuple[int | str, ...]]],
        list[tuple[tuple[str, str, str], tuple[int, int]]],
        list[tuple[str, float]],
    ]
)


_PACKABLE = 1 << 63


def _packable(numbers: tuple[int, ...]) -> tuple[int | str, ...]:
    """Return a row as msgpack can hold it: 64 bits. Σy⁴ passes them where documents hold thousands of occurrences."""
    # a tally has hundreds of rows, and every label writes its day's: looking at each number took half of a label's time
    if max(numbers) < _PACKABLE and min(numbers) >= -_PACKABLE:
        return numbers
    return tuple(n if -_PACKABLE <= n < _PACKABLE else str(n) for n in numbers)


def _unpacked(numbers: tuple[int | str, ...]) -> tuple[int, ...]:
    return tuple(map(int, numbers))


def moments(row: tuple[int, ...]) -> Moments:
    """Return a cell's row under its names."""
    return Moments(*row)
