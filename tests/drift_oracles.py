"""Slow, obvious forms of the drift detector and of the pending band, against which both are tested."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log, sqrt

from oracles import Document, Place, represented


def changes(values: Iterable[int], delta: float) -> list[int]:
    """Return the places at which ADWIN finds a change, by keeping every value and every bucket's values."""
    found: list[int] = []
    buckets: list[list[int]] = []
    for place, value in enumerate(values):
        buckets.append([value])
        _merge(buckets)
        window = [one for bucket in buckets for one in bucket]
        if len(window) % 32 == 0 and _differs(buckets, window, delta):
            found.append(place)
            buckets = []
    return found


def _merge(buckets: list[list[int]]) -> None:
    """Merge the two oldest buckets of a size that has six, smallest sizes first."""
    size = 1
    while True:
        alike = [i for i, bucket in enumerate(buckets) if len(bucket) == size]
        if len(alike) < 6:
            return
        first, second = alike[:2]
        buckets[first : second + 1] = [buckets[first] + buckets[second]]
        size *= 2


def _differs(buckets: Sequence[Sequence[int]], window: Sequence[int], delta: float) -> bool:
    n = len(window)
    mean = sum(window) / n
    variance = sum((one - mean) ** 2 for one in window) / n
    odds = log(2 * log(n) / delta)
    edges = [sum(map(len, buckets[:i])) for i in range(1, len(buckets))]
    for edge in edges:
        old, new = window[:edge], window[edge:]
        if min(len(old), len(new)) >= 5:
            m = 1 / (len(old) - 4) + 1 / (len(new) - 4)
            if abs(sum(old) / len(old) - sum(new) / len(new)) > sqrt(2 * m * variance * odds) + 2 / 3 * odds * m:
                return True
    return False


def pending_band(documents: Sequence[Document], census: Mapping[Place, int]) -> tuple[float, float]:
    """Return recall where all pending documents are missed, and where all are found, document by document.

    Each pending document is given the mean occurrences of its stratum's labelled ones; in the better case, an unflagged
    one none. Strata without a label are one pending document in each stratum that stands for them.
    """
    labelled = {one.place for one in documents if one.labelled}
    pending = {one.place for one in documents} - labelled
    stands_for = represented(documents, census)
    by_labels = represented(
        [one for one in documents if one.place not in pending],
        {place: size for place, size in census.items() if place not in pending},
    )
    worst: list[tuple[float, float, float]] = []
    best: list[tuple[float, float, float]] = []
    for place, size in by_labels.items():
        drawn = [one for one in documents if one.place == place]
        known = [one for one in drawn if one.labelled]
        raw = sum(1 / one.probability for one in drawn)
        mean = sum(d.y / d.probability for d in known) / sum(1 / d.probability for d in known)
        seen = [(size / raw / d.probability, float(d.t if d.flagged else 0), float(d.y)) for d in known]
        flagged = place[1] != "unflagged"
        missing = [size / raw / one.probability for one in drawn if not one.labelled]
        missing.append(stands_for[place] - size)
        worst += seen + [(w, 0.0, mean) for w in missing]
        best += seen + [(w, mean, mean) if flagged else (w, 0.0, 0.0) for w in missing]
    return _recall(worst), _recall(best)


def _recall(weighed: Iterable[tuple[float, float, float]]) -> float:
    weighed = list(weighed)
    return sum(w * t for w, t, _ in weighed) / sum(w * y for w, _, y in weighed)
