"""What changed without a label to say so: the signals of the census whose share moved, the newest first."""

from __future__ import annotations

from collections.abc import Iterable

from monitor.exposition import clean
from monitor.readings import DriftSignal
from streams.page.words import number

MAX_SIGNALS = 8
"""Changes that are told; the readings as JSON have all."""
SIGNALS = {
    "flagged": "flagged by the detector",
    "loose_only": "flagged by the net only",
    "detector_only": "flagged by the detector only",
    "language": "share of this language",
    "longer": "longer than usual",
    "many_spans": "more spans than usual",
    "low_score": "score lower than usual",
    "leaking": "output with a leak",
}


def changed(signals: Iterable[DriftSignal]) -> tuple[list[DriftSignal], int]:
    """Return the signals with a change, the newest first, and how many more there are."""
    found = sorted((s for s in signals if s.at is not None), key=lambda s: -(s.at or 0.0))
    return found[:MAX_SIGNALS], max(len(found) - MAX_SIGNALS, 0)


def what(signal: DriftSignal) -> str:
    """Return what a signal is the share of.

    >>> what(DriftSignal("entity", "es", "PERSON", None, 0, 0)), what(DriftSignal("longer", "es", "", None, 0, 0))
    ('es: flagged with PERSON', 'es: longer than usual')
    """
    said = f"flagged with {clean(signal.entity)}" if signal.entity else SIGNALS.get(signal.signal, clean(signal.signal))
    return f"{clean(signal.language)}: {said}"


def moved(signal: DriftSignal) -> str:
    """Return the direction of the last change, and the share before and after it.

    >>> moved(DriftSignal("flagged", "es", "", 0.1, 90, 1, 0.0, "down", 0.42, 0.01))
    'down, 0.420 → 0.010'
    """
    return f"{signal.direction or 'changed'}, {number(signal.before)} → {number(signal.after)}"
