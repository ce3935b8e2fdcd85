"""All signals that are watched for drift, fed from what each checkpoint adds to the census.

The census counts up within a day. What a checkpoint adds is the difference to what was counted before; each day has
its own count, as partitions pass from one day to the next at different times. A count that is behind what was counted
before is of a census that isn't read up to there, or that was begun anew: nothing is added until it's past it, so no
document is added twice, or until `rebase` says that it never will be.

What is usual of a shape is fixed once, as the median of the first 200 documents of a language that were looked at for
it: a median that moved along would hide a change that is slow.

What it can't see: a detector that flags as much as before, but the wrong thing, moves no share. That's what labels are
for.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Annotated

import msgspec

from monitor.drift import MOST_VALUES, DetectorState, Shift, SignalDetector
from monitor.drift_counts import (
    CensusCounts,
    ShapeOf,
    Share,
    Signal,
    Steps,
    census_counts,
    signal_of,
    unusual,
    usual_step,
)
from monitor.errors import StateError
from monitor.tally import Tally

DAYS_COUNTED = 3
"""Days that may still grow; an older one that comes is left out."""
USUAL_FROM = 200
"""Documents that say what is usual."""
_TOGETHER = 20_000  # values a checkpoint, all signals together: 30 ms
_FEWEST = 50
_NOTHING = CensusCounts({}, {})


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
    >>> from monitor.tally import CensusKey
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
        self.values = 0
        """Values that all detectors took so far in this process, which is what a checkpoint costs."""
        self._days: dict[int, CensusCounts] = {}
        self._seen: dict[str, int] = {}
        """Documents taken so far, by language."""
        self._usual: dict[ShapeOf, int] = {}
        self._first: dict[ShapeOf, dict[int, int]] = {}
        """Documents by step, of shapes of which it isn't known yet what is usual."""

    def take(self, day: int, *tallies: Tally, at_s: float) -> list[tuple[Signal, Shift]]:
        """Take a day's census as it stands at a checkpoint; return the changes that it showed, signals in order.

        Parameters: `day` since the epoch, `tallies` with that day's census of all partitions, `at_s` the checkpoint's
        time (finite). Days come in ascending order. One older than the newest three is left out; one that didn't
        grow is no news.

        Raises ValueError for a time that isn't finite; the state is then what it was.
        """
        if not isfinite(at_s):
            raise ValueError(f"time {at_s}: a finite time is allowed")
        if self._is_over(day):
            return []
        counts = census_counts(*tallies)
        step = counts.since(self._days.get(day, _NOTHING))
        if step is None:
            self.behind += 1
            return []
        self._keep(day, counts)
        return self._feed(step, at_s) if any(step.documents.values()) else []

    def rebase(self, day: int, *tallies: Tally) -> None:
        """Go on from a day's census as it stands: what it counted so far is no news, and what comes is."""
        if not self._is_over(day):
            self._keep(day, census_counts(*tallies))

    def _is_over(self, day: int) -> bool:
        return bool(self._days) and day <= max(self._days) - DAYS_COUNTED

    def _keep(self, day: int, counts: CensusCounts) -> None:
        self.behind = 0
        self._days[day] = counts
        for old in [d for d in self._days if d <= day - DAYS_COUNTED]:
            del self._days[old]

    def _feed(self, step: CensusCounts, at_s: float) -> list[tuple[Signal, Shift]]:
        of_shapes = dict(self._of_shapes(step))
        self._open(step, of_shapes, at_s)
        for language, documents in step.documents.items():
            self._seen[language] = self._seen.get(language, 0) + documents
        delta = self.delta / len(self.detectors)
        most = min(max(_TOGETHER // len(self.detectors), _FEWEST), MOST_VALUES)
        found = []
        for signal in sorted(self.detectors):
            share = of_shapes[signal] if signal in of_shapes else step.share(signal)
            self.values += min(share.documents, most)
            shift = self.detectors[signal].take(*share, at_s=at_s, delta=delta, most=most)
            if shift is not None:
                found.append((signal, shift))
        return found

    def _of_shapes(self, step: CensusCounts) -> Iterator[tuple[Signal, Share]]:
        """Yield the shares about shapes; of one that isn't usual in any way yet, there is none."""
        for of, steps in step.shapes.items():
            usual = self._usual.get(of)
            if usual is None:
                self._learn(of, steps)
            elif any(steps.values()):
                yield signal_of(of), unusual(of, steps, usual)

    def _learn(self, of: ShapeOf, steps: Steps) -> None:
        first = self._first.setdefault(of, {})
        for step, documents in steps.items():
            first[step] = first.get(step, 0) + documents
        if sum(first.values()) >= USUAL_FROM:
            self._usual[of] = usual_step(first)
            del self._first[of]

    def _open(self, step: CensusCounts, of_shapes: dict[Signal, Share], at_s: float) -> None:
        """Begin to watch signals that are new; what came before them are so many documents without.

        Not so of a shape: what came before it is known decided what is usual. Nor of leaks, which are watched from the
        first output on: documents without one say nothing of them.
        """
        wanted = {signal for signal, n in step.having.items() if n}
        for language, documents in step.documents.items():
            if documents:
                wanted |= {Signal(name, language) for name in ("flagged", "loose_only", "detector_only", "language")}
        wanted |= {Signal("leaking", language) for language, outputs in step.outputs.items() if outputs}
        wanted |= of_shapes.keys()
        new = sorted(wanted - self.detectors.keys())
        room = self.most_signals - len(self.detectors)
        self.left_out = max(len(new) - room, 0)
        for signal in new[:room]:
            before = sum(self._seen.values()) if signal.name == "language" else self._seen.get(signal.language, 0)
            detector = self.detectors[signal] = SignalDetector()
            if signal not in of_shapes and signal.name != "leaking":
                detector.take(min(before, MOST_VALUES), 0, at_s=at_s, delta=self.delta)

    def encode(self) -> bytes:
        """Return the state as msgpack, plain numbers and names only; equal states give equal bytes."""
        names = sorted(self.detectors.keys() | {s for counts in self._days.values() for s in counts.having})
        place = {signal: i for i, signal in enumerate(names)}
        days = [
            _Day(
                day,
                sorted(counts.documents.items()),
                sorted((place[signal], n) for signal, n in counts.having.items()),
                [(of, sorted(steps.items())) for of, steps in sorted(counts.shapes.items())],
                sorted(counts.outputs.items()),
            )
            for day, counts in sorted(self._days.items())
        ]
        first = [(of, sorted(steps.items())) for of, steps in sorted(self._first.items())]
        detectors = [(place[signal], self.detectors[signal].snapshot()) for signal in sorted(self.detectors)]
        state = (1, names, days, sorted(self._seen.items()), first, sorted(self._usual.items()), detectors)
        return msgspec.msgpack.encode(state)

    @classmethod
    def decode(cls, data: bytes, delta: float = 0.002, most_signals: int = 2_000) -> Drift:
        """Return the state of `encode`, which goes on as the other would have.

        Raises
        ------
        StateError
            Bytes of another format version, or none at all of ours: begin anew, and say so.
        """
        drift = cls(delta, most_signals)
        try:
            if (version := msgspec.msgpack.decode(_PARTS.decode(data)[0], type=int)) != 1:
                raise StateError(f"drift: format {version}; this version reads 1: it begins anew")
            _, names, days, seen, first, usual, detectors = _DECODER.decode(data)
            for day in days:
                drift._days[day.day] = CensusCounts(
                    dict(day.documents),
                    {names[i]: n for i, n in day.having},
                    {of: dict(counts) for of, counts in day.shapes},
                    dict(day.outputs),
                )
            drift.detectors = {names[i]: SignalDetector.restore(state) for i, state in detectors}
        except (msgspec.DecodeError, IndexError) as error:
            raise StateError(f"drift: not a state ({type(error).__name__}): it begins anew") from None
        drift._seen, drift._usual = dict(seen), dict(usual)
        drift._first = {of: dict(counts) for of, counts in first}
        return drift


_Number = Annotated[int, msgspec.Meta(ge=0)]
_Steps = list[tuple[ShapeOf, list[tuple[_Number, _Number]]]]


class _Day(msgspec.Struct, array_like=True, frozen=True):
    """What was counted of a day when it was looked at last."""

    day: int
    documents: list[tuple[str, _Number]]
    having: list[tuple[_Number, _Number]]
    """By place in the list of signals."""
    shapes: _Steps
    outputs: list[tuple[str, _Number]] = []
    """None of them in a state that an older version wrote: it counted none."""


_PARTS = msgspec.msgpack.Decoder(list[msgspec.Raw])
_DECODER = msgspec.msgpack.Decoder(
    tuple[
        int,
        list[Signal],
        list[_Day],
        list[tuple[str, _Number]],
        _Steps,
        list[tuple[ShapeOf, _Number]],
        list[tuple[_Number, DetectorState]],
    ]
)
