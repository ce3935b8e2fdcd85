"""What each number of on-call may be: a share is none of 15, and a length of time has a unit.

A number goes by its key, or by its alert and key where another alert means something else by it. One that has no range
can't be read at all, so that none is added without.
"""

from __future__ import annotations

from typing import NamedTuple

from monitor.errors import ConfigError


class Range(NamedTuple):
    """From where to where a number goes, both included; `about` says what it is."""

    low: float
    high: float
    about: str
    whole: bool = False

    def __str__(self) -> str:
        """Return what is allowed, in words."""
        kind = "a whole number" if self.whole else "a number"
        return f"{kind} from {self.low:.10g} to {self.high:.10g} is allowed, {self.about}"


_SHARE = Range(0, 1, "a share: 0.02 is 2 %")
_COUNT = Range(1, 1_000_000_000, "a count", whole=True)
_RANGES: dict[str, Range] = {
    "allowed": _SHARE,
    "min_drop": _SHARE,
    "same_design": Range(0.01, 1, "a share: 0.25 is 25 %"),
    "surely": Range(0.5, 10, "times what both intervals allow by chance"),
    "below": Range(0.01, 1, "a kappa"),
    "days": Range(0.1, 365, "days of work"),
    "min_true": _COUNT,
    "min_outputs": _COUNT,
    "min_documents": _COUNT,
    "min_decisions": _COUNT,
    "min_records": _COUNT,
    "fewer": _COUNT,
    "decisions": _COUNT,
    "labels": _COUNT,
    "RecallwatchDisclosureHigh.allowed": Range(0, 1_000_000, "occurrences in 1,000 documents"),
}


def allowed(alert: str, key: str) -> Range | None:
    """Return the range of an alert's number; None where no alert has such a one.

    >>> str(allowed("RecallwatchOutputsLeak", "allowed"))
    'a number from 0 to 1 is allowed, a share: 0.02 is 2 %'
    """
    return _RANGES.get(f"{alert}.{key}", _RANGES.get(key))


def checked(value: object, alert: str, key: str, source: str) -> float:
    """Return a number that is in its range.

    Raises
    ------
    ConfigError
        It isn't there, is none, or is out of its range; it names the key and what is allowed.
    """
    where = f"alerts.{alert}.{key}"
    within = allowed(alert, key)
    if within is None:
        raise ConfigError(where, "has no range in dashboards/ranges.py", source=source)
    if value is None:
        raise ConfigError(where, f"isn't there: {within}", source=source)
    # NaN is neither above nor below anything, and True is a 1 to Python
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not within.low <= value <= within.high
        or (within.whole and value % 1)
    ):
        raise ConfigError(where, f"{value!r}: {within}", source=source)
    return float(value)
