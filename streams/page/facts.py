"""What stands beside a rate in a row's details: each number with its limits and the counts that it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from monitor.alarm_readings import AlarmReading
from monitor.exposition import clean
from monitor.readings import Agreement, Reading
from streams.page.causes import evidence
from streams.page.words import DASH, between, day, number, percent, ratio, waits


class Fact(NamedTuple):
    """A name and what is to be said."""

    name: str
    text: str


class Made(NamedTuple):
    """What readings were made with: ids of the config and of the net."""

    config: str
    net: str


def recall(r: Reading, now: float) -> Iterator[Fact]:
    """Yield what is known of recall at `now` (s since the epoch), and of whether it fell."""
    m = r.matched
    if m.lower is not None:
        yield Fact("read once", f"{between(m)}, {ratio(m.found, m.true)} found")
    if r.any_time is not None:
        since = r.any_time.since
        yield Fact("read any time", between(r.any_time) + (f", of documents since {day(since)}" if since else ""))
    if r.pending is not None and r.pending.documents:
        missed, found = number(r.pending.all_missed), number(r.pending.all_found)
        missed_to_found = f"{missed} if all {r.pending.documents:,} pending are missed and {found} if all found"
        yield Fact("pending", f"between {missed_to_found}")
    if r.target is not None:
        yield Fact("target", number(r.target))
    if r.alarm is not None:
        yield Fact("alarm", _alarm(r.alarm, now))


def _alarm(alarm: AlarmReading, now: float) -> str:
    if alarm.state is None:
        return f"can't tell{_why_not(alarm, now)}"
    restated = "; restated" if alarm.restated else ""
    return f"{alarm.state}, {evidence(alarm)}, {alarm.labelled:,} documents{restated}"


def _why_not(alarm: AlarmReading, now: float) -> str:
    soon = waits(alarm, now)
    return f" yet: {soon}" if soon else ": no label of this version holds it"


def others(r: Reading, usual: Made) -> Iterator[Fact]:
    """Yield everything else; what it was made with only where that isn't `usual`."""
    looked, masked = r.matched.where_looked, r.masked
    yield Fact(
        "masked", f"{_rate(masked.estimate, between(masked))}, {ratio(masked.found, masked.true)} wholly covered"
    )
    if looked is not None:
        yield Fact("where any tool looked", _rate(looked.estimate, between(looked)))
    if r.certified is not None:
        counts = f"{r.certified.caught:,} caught, {r.certified.missed:,} with a miss"
        yield Fact("certified", f"at least {number(r.certified.lower)} of the documents, {counts}")
    yield from _labels(r)
    if r.optimistic is not None:
        counts = f"{ratio(r.optimistic.found, r.optimistic.second)} of its spans found"
        yield Fact("second detector", f"OPTIMISTIC: {_rate(r.optimistic.estimate, between(r.optimistic))}, {counts}")
    yield from _sample(r)
    if (r.config, r.net) != usual:
        yield Fact("config, net", f"{clean(r.config)}, {clean(r.net)}")


def _labels(r: Reading) -> Iterator[Fact]:
    """Yield what the labels say besides: of the detector's spans, and of each other."""
    if r.precision is not None and r.precision.detected:
        counts = f"{ratio(r.precision.right, r.precision.detected)} detected are right"
        yield Fact("precision", f"{_rate(r.precision.estimate, between(r.precision))}, {counts}")
    if r.agreement is not None:
        yield Fact("two readers", _agreement(r.agreement))


def _agreement(a: Agreement) -> str:
    parts = [f"κ {_rate(a.kappa, between(a))}", f"{ratio(a.named, a.documents)} documents read twice hold it"]
    if a.span_f1 is not None:
        parts.append(f"spans F1 {number(a.span_f1, 2)}")
    if a.missed_by_both is not None:
        parts.append(f"missed by both {number(a.missed_by_both)}, OPTIMISTIC")
    return ", ".join(parts)


def _sample(r: Reading) -> Iterator[Fact]:
    m, documents, per_1000 = r.matched, r.prevalence.documents, r.prevalence.per_1000
    if m.n_eff is not None:
        yield Fact("worth", f"{number(m.n_eff, 0)} independent occurrences")
    if m.unflagged_width_share is not None:
        halves = "" if m.halving_random_rate is None else f"; random rate {number(m.halving_random_rate, 4)} halves it"
        yield Fact("unsure why", f"{percent(m.unflagged_width_share)} of the width: unflagged documents{halves}")
    if documents.estimate is not None:
        limits = "" if documents.lower is None else f" ({_percents(documents.lower, documents.upper)})"
        rate = "" if per_1000.estimate is None else f", {number(per_1000.estimate, 1)} in 1,000"
        yield Fact("prevalence", f"{number(100 * documents.estimate, 2)} %{limits} of documents{rate}")
    weights = "" if r.weight_max is None else f", weights {number(r.weight_min, 0)}{DASH}{number(r.weight_max, 0)}"
    yield Fact("sample", f"{r.sampled:,} of {r.census:,} documents{weights}")


def _percents(lower: float, upper: float | None) -> str:
    return f"{number(100 * lower, 2)}{DASH}{DASH if upper is None else number(100 * upper, 2)}"


def _rate(estimate: float | None, limits: str) -> str:
    return number(estimate) + (f" ({limits})" if limits else "")
