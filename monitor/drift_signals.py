"""Which shares are watched for drift, and what each checkpoint of the census adds to them.

Signals go by language, over all detectors and versions: a change of version is an annotation beside a signal, not its
end. Of the documents of a language: the share that the detector flagged, that it flagged with an entity, that the net
only flagged (the best label-free sign of lost recall), that the detector only flagged; of all documents, each
language's own share.

The census counts up within a day. What a checkpoint adds is the difference to what was counted before; each day has
its own count, as partitions pass from one day to the next at different times. A count that is behind what was counted
before belongs to a board that hasn't caught up after a restart: nothing is added until it has, so no document is added
twice. (To start anew from the lower count would add all that is still to be read a second time.)

What it can't see: a detector that flags as much as before, but the wrong thing, moves no share. That's what labels are
for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import isfinite
from typing import Annotated, Literal, NamedTuple

import msgspec

from monitor.drift import MOST_VALUES, DetectorState, Shift, SignalDetector
from monitor.errors import StateError
from monitor.records import Stratum
from monitor.tally import CensusKey, FlaggedKey, Tally

DAYS_COUNTED = 3
"""Days that may still grow; an older one that comes is left out."""

SignalName = Literal["flagged", "loose_only", "detector_only", "entity", "language"]


class Signal(NamedTuple):
    """One share that is watched."""

    name: SignalName
    language: str
    entity: str = ""
    """Empty but for the signal `entity`."""


class Share(NamedTuple):
    """Whole numbers of documents, `0 <= having <= documents`."""

    documents: int
    having: int


class CensusCounts(NamedTuple):
    """What the census counted, over all detectors and versions."""

    documents: Mapping[str, int]
    """By language."""
    having: Mapping[Signal, int]
    """Documents of a signal's language that count for it; the share of a language is in `documents`."""

    def since(self, before: CensusCounts) -> CensusCounts | None:
        """Return what came after `before`; None where a count is behind it, or where the parts don't fit the whole."""
        documents = {language: n - before.documents.get(language, 0) for language, n in self.documents.items()}
        having = {signal: n - before.having.get(signal, 0) for signal, n in self.having.items()}
        vanished = before.documents.keys() - documents.keys() or before.having.keys() - having.keys()
        fits = all(0 <= n <= documents.get(signal.language, 0) for signal, n in having.items())
        if vanished or not fits or any(n < 0 for n in documents.values()):
            return None
        return CensusCounts(documents, having)

    def share(self, signal: Signal) -> Share:
        """Return the counts of one signal; 0 of 0 where nothing was counted.

        >>> CensusCounts({"es": 3, "en": 1}, {}).share(Signal("language", "es"))
        Share(documents=4, having=3)
        """
        within = self.documents.get(signal.language, 0)
        if signal.name == "language":
            return Share(sum(self.documents.values()), within)
        return Share(within, self.having.get(signal, 0))


_NOTHING = CensusCounts({}, {})
_OF_A_STRATUM: Mapping[Stratum, tuple[SignalName, ...]] = {
    "both": ("flagged",),
    "loose_only": ("loose_only",),
    "detector_only": ("flagged", "detector_only"),
    "unflagged": (),
}


def census_counts(tally: Tally) -> CensusCounts:
    """Return what a tally's census counted by language and signal; rows of other kinds are left alone.

    >>> rows = {CensusKey("es", "crf", "2", "both"): (8,), CensusKey("es", "crf", "3", "loose_only"): (2,)}
    >>> counts = census_counts(Tally(rows))
    >>> counts.share(Signal("flagged", "es")), counts.share(Signal("loose_only", "es"))
    (Share(documents=10, having=8), Share(documents=10, having=2))
    """
    documents: Counter[str] = Counter()
    having: Counter[Signal] = Counter()
    for key, row in tally.rows.items():
        if isinstance(key, CensusKey):
            documents[key.language] += row[0]
            for name in _OF_A_STRATUM[key.stratum]:
                having[Signal(name, key.language)] += row[0]
        elif isinstance(key, FlaggedKey):
            having[Signal("entity", key.language, key.entity)] += row[0]
    return CensusCounts(dict(documents), dict(having))


class Drift:
    """All signals' detectors, fed from the census of each checkpoint.

    Parameters
    ----------
    delta
        In (0, 1): the promise for all signals together; each one's is this divided by their number.
    most_signals
        Signals watched at most. Names come from outside; those that come later are left out and counted.

    Examples
    --------
    >>> drift, tally = Drift(), Tally()
    >>> for checkpoint in range(12):
    ...     tally.add(CensusKey("es", "crf", "2", "both" if checkpoint < 8 else "loose_only"), (50,))
    ...     for signal, shift in drift.take(0, tally, at_s=60.0 * checkpoint):
    ...         print(signal.name, shift.direction, shift.at_s)
    flagged down 480.0
    loose_only up 480.0
    """

    def __init__(self, delta: float = 0.002, most_signals: int = 2_000) -> None:
        if not 0 < delta < 1 or most_signals < 1:
            raise ValueError(
                f"delta {delta}, {most_signals} signals: a delta in (0, 1) is allowed, and at least 1 signal"
            )
        self.delta = delta
        self.most_signals = most_signals
        self.detectors: dict[Signal, SignalDetector] = {}
        self.behind = 0
        """Checkpoints in a row that weren't taken, as their counts are behind what was counted before."""
        self.left_out = 0
        """Signals of the last checkpoint that aren't watched: there are too many."""
        self._days: dict[int, CensusCounts] = {}
        self._seen: dict[str, int] = {}
        """Documents taken so far, by language."""

    def take(self, day: int, tally: Tally, *, at_s: float) -> list[tuple[Signal, Shift]]:
        """Take a day's census as it stands at a checkpoint; return the changes that it showed, signals in order.

        Parameters: `day` since the epoch, `tally` with that day's census of all partitions, `at_s` the checkpoint's
        time (finite). Days come in ascending order. One older than the newest three is left out; one that didn't
        grow is no news.

        Raises ValueError for a time that isn't finite; the state is then what it was.
        """
        if not isfinite(at_s):
            raise ValueError(f"time {at_s}: a finite time is allowed")
        if self._days and day <= max(self._days) - DAYS_COUNTED:
            return []
        counts = census_counts(tally)
        step = counts.since(self._days.get(day, _NOTHING))
        if step is None:
            self.behind += 1
            return []
        self.behind = 0
        self._days[day] = counts
        for old in [d for d in self._days if d <= day - DAYS_COUNTED]:
            del self._days[old]
        return self._feed(step, at_s) if any(step.documents.values()) else []

    def _feed(self, step: CensusCounts, at_s: float) -> list[tuple[Signal, Shift]]:
        self._open(step, at_s)
        for language, documents in step.documents.items():
            self._seen[language] = self._seen.get(language, 0) + documents
        delta = self.delta / len(self.detectors)
        found = []
        for signal in sorted(self.detectors):
            shift = self.detectors[signal].take(*step.share(signal), at_s=at_s, delta=delta)
            if shift is not None:
                found.append((signal, shift))
        return found

    def _open(self, step: CensusCounts, at_s: float) -> None:
        """Begin to watch signals that are new; what came before them are so many documents without."""
        wanted = {signal for signal, n in step.having.items() if n}
        for language, documents in step.documents.items():
            if documents:
                wanted |= {Signal(name, language) for name in ("flagged", "loose_only", "detector_only", "language")}
        new = sorted(wanted - self.detectors.keys())
        room = self.most_signals - len(self.detectors)
        self.left_out = max(len(new) - room, 0)
        for signal in new[:room]:
            before = sum(self._seen.values()) if signal.name == "language" else self._seen.get(signal.language, 0)
            detector = self.detectors[signal] = SignalDetector()
            detector.take(min(before, MOST_VALUES), 0, at_s=at_s, delta=self.delta)

    def encode(self) -> bytes:
        """Return the state as msgpack, plain numbers and names only; equal states give equal bytes."""
        days = [
            (day, sorted(counts.documents.items()), sorted(counts.having.items()))
            for day, counts in sorted(self._days.items())
        ]
        detectors = [(signal, self.detectors[signal].snapshot()) for signal in sorted(self.detectors)]
        return msgspec.msgpack.encode((1, days, sorted(self._seen.items()), detectors))

    @classmethod
    def decode(cls, data: bytes, delta: float = 0.002, most_signals: int = 2_000) -> Drift:
        """Return the state of `encode`, which goes on as the other would have.

        Raises
        ------
        StateError
            Bytes of another format version, or none at all of ours: begin anew, and say so.
        """
        try:
            version, days, seen, detectors = _DECODER.decode(data)
        except msgspec.DecodeError as error:
            raise StateError(f"drift: not a state ({type(error).__name__}): it begins anew") from None
        if version != 1:
            raise StateError(f"drift: format {version}; this version reads 1: it begins anew")
        drift = cls(delta, most_signals)
        drift._days = {day: CensusCounts(dict(documents), dict(having)) for day, documents, having in days}
        drift._seen = dict(seen)
        drift.detectors = {signal: SignalDetector.restore(state) for signal, state in detectors}
        return drift


_Number = Annotated[int, msgspec.Meta(ge=0)]
_DECODER = msgspec.msgpack.Decoder(
    tuple[
        int,
        list[tuple[int, list[tuple[str, _Number]], list[tuple[Signal, _Number]]]],
        list[tuple[str, _Number]],
        list[tuple[Signal, DetectorState]],
    ]
)
