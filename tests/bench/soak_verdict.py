"""What a soak saw, and what is asked of it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import msgspec

MIB = 1 << 20
FLAT = 0.05
"""The share by which memory may change from the second quarter to the last."""
LAG_S = 5.0
"""The most, in seconds of traffic; what a worker shows of itself is up to a second old."""
WARM_UP_S = 30.0
"""At most; never more than a quarter of the soak."""
RATE = 0.98
"""The share of the rate asked for that must have been sent, or nothing was measured."""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """A moment of the soak."""

    at_s: float
    """Since it began."""
    rss_bytes: int
    lag: int
    """Records that the broker has and the worker hasn't counted."""
    warnings: int
    """Lines that the worker logged so far."""
    errors: int
    scrape_s: float
    """How long `/metrics` took."""
    cpu_share: float
    """Of a core, since the moment before."""
    sent: int
    decided: int
    lost: int


class Soak(msgspec.Struct, frozen=True, kw_only=True):
    """A soak from beginning to end."""

    asked_s: float
    rate: float
    """Decisions a second, as asked for."""
    took_s: float
    """Of sending."""
    sent: int
    decided: int
    """Counted once nothing was left to read."""
    lost: int
    sampled: int
    exit_code: int
    errors: list[str]
    """Events, each once."""
    warnings: list[str]
    seen: list[Seen]


class Check(msgspec.Struct, frozen=True):
    """One thing that is asked, and what was found."""

    name: str
    ok: bool
    said: str


def checks(soak: Soak) -> list[Check]:
    """Return everything that is asked of a soak."""
    return [one(soak) for one in (_sent, _memory, _lag, _log, _counted, _ended)]


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that is no smaller than so large a share of all.

    >>> quantile([3, 1, 2], 0.5), quantile(range(200), 0.99), quantile([], 0.99)
    (2, 197, 0.0)
    """
    return sorted(values)[max(math.ceil(share * len(values)) - 1, 0)] if values else 0.0


def quarter(soak: Soak, number: int) -> list[Seen]:
    """Return what was seen in one of the four quarters, counted from 1."""
    begin, end = ((number - 1) * soak.asked_s / 4, number * soak.asked_s / 4)
    return [seen for seen in soak.seen if begin <= seen.at_s < end or (number == 4 and seen.at_s >= end)]


def settled(soak: Soak) -> list[Seen]:
    """Return what was seen after the warm-up."""
    return [seen for seen in soak.seen if seen.at_s >= min(WARM_UP_S, soak.asked_s / 4)]


def _sent(soak: Soak) -> Check:
    rate = soak.sent / soak.took_s
    return Check("rate kept", rate >= RATE * soak.rate, f"{rate:,.0f} of {soak.rate:,.0f} decisions a second sent")


def _memory(soak: Soak) -> Check:
    second, last = ([seen.rss_bytes for seen in quarter(soak, number)] for number in (2, 4))
    if not second or not last:
        return Check("memory flat", ok=False, said="too short to tell")
    before, after = statistics.median(second), statistics.median(last)
    change = after / before - 1
    said = f"{before / MIB:.1f} MiB in the second quarter, {after / MIB:.1f} in the last ({change:+.1%})"
    return Check("memory flat", abs(change) <= FLAT, f"{said}; {soak.sampled:,} documents drawn, which stay")


def _lag(soak: Soak) -> Check:
    lags = [seen.lag / soak.rate for seen in settled(soak)]
    worst = max(lags, default=0.0)
    said = f"p99 {quantile(lags, 0.99):.1f} s, at most {worst:.1f} s of traffic (allowed {LAG_S:.0f})"
    return Check("lag bounded", bool(lags) and worst <= LAG_S, said)


def _log(soak: Soak) -> Check:
    named = ", ".join(soak.errors) or "none"
    warned = f"; warnings: {', '.join(soak.warnings)}" if soak.warnings else ""
    return Check("no error logged", not soak.errors, f"{named}{warned}")


def _counted(soak: Soak) -> Check:
    ok = soak.decided == soak.sent and not soak.lost
    return Check(
        "counted once",
        ok,
        f"{soak.decided:,} counted of {soak.sent:,} sent in the end, {soak.lost:,} lost to retention",
    )


def _ended(soak: Soak) -> Check:
    return Check("ended in order", soak.exit_code == 0, f"exit code {soak.exit_code} on SIGTERM")
