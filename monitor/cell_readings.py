"""One cell's readings: the population's, and one a stratum, from the same numbers.

Estimates are kept by the numbers they came from, so a cell whose numbers didn't change since the last time costs a
comparison. What moves with the clock (age) or the config (target, status) is put beside them anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from monitor.agreements import Agreements
from monitor.alarm_readings import AlarmReading
from monitor.cells import Frame, Version, VersionSums
from monitor.estimators.agreement import AgreementStatus
from monitor.estimators.certified import certified_recall
from monitor.estimators.control_variate import Named
from monitor.estimators.pending import pending_band
from monitor.estimators.post_stratification import weight_range
from monitor.estimators.precision import precision
from monitor.estimators.prevalence import prevalence
from monitor.estimators.recall import population_recall
from monitor.estimators.sample import StratumSample
from monitor.estimators.wilson import wilson
from monitor.plan import Plan
from monitor.readings import (
    AnyTimeLimits,
    Certified,
    Count,
    Limits,
    Optimistic,
    Pending,
    Precision,
    Prevalence,
    Reading,
    Share,
    Status,
    Window,
)
from monitor.records import STRATA, Stratum

DAY_S = 86_400


class Scope(NamedTuple):
    """What the readings of one version, language and window have in common."""

    plan: Plan
    version: Version
    language: str
    frames: list[Frame]
    window: Window
    config: str
    net: str
    age_s: float | None
    since_label_s: float | None
    """Since the last label came; None where none did, and in a replay."""
    known_before: bool
    """Whether anything of the version and language is labelled, in the window or before it."""
    agreements: Agreements
    """Of the window."""
    any_time: Callable[[str], AnyTimeLimits | None]
    """By entity, since the sequence began."""
    alarm: Callable[[str], AlarmReading | None]
    optimistic: Callable[[str], Optimistic | None]


class _Estimates(NamedTuple):
    """What one sample says under both readings of found."""

    matched: Share
    masked: Share
    certified: Certified | None
    prevalence: Prevalence
    pending: Pending | None
    precision: Precision | None


_MOST = 4096
"""Samples of which the estimates are kept."""
_Samples = tuple[StratumSample, ...]
_Sampled = tuple[_Samples, _Samples, _Samples, Named | None]
"""The sample by matching, by masking, and of the detected spans; what is known of the documents with such spans."""
_Key = tuple[_Samples, _Samples, _Samples, Named | None, bool, float]
"""All that; whether it's the population's; the confidence."""


class _Kept(NamedTuple):
    """Readings of one cell as its numbers have them."""

    asked: tuple[Plan, Window]
    readings: list[Reading]


class CellReadings:
    """Turns samples into readings, and keeps the estimates of the samples that it read last."""

    def __init__(self) -> None:
        self._kept: dict[_Key, _Estimates] = {}
        """The one that was used last comes last."""

    def read(self, scope: Scope, sums: VersionSums, entity: str) -> list[Reading]:
        """Return the readings of an entity: of the population, then of each stratum that holds a document."""
        place, asked = (scope.language, entity), (scope.plan, scope.window)
        kept = sums.kept.get(place)
        if not isinstance(kept, _Kept) or kept.asked != asked:
            kept = sums.kept[place] = _Kept(asked, self._work_out(scope, sums, entity))
        return [self._up_to_date(scope, reading) for reading in kept.readings]

    def _work_out(self, scope: Scope, sums: VersionSums, entity: str) -> list[Reading]:
        matched, masked, right, unnamed = (
            tuple(sums.sample(frame, entity, reading) for frame in scope.frames)
            for reading in ("matched", "masked", "right", "unnamed")
        )
        # each partition counts names apart as long as it has room for them: others may be counted in part
        census = sums.census_of(scope.language, entity) if scope.plan.aliases.known(entity) else None
        named = None if census is None else Named(census, right, unnamed)
        found = [self._reading(scope, entity, None, (matched, masked, right, named))]
        for stratum in STRATA:
            one = tuple(s for s in matched if s.stratum == stratum)
            if one:
                other = tuple(s for s in masked if s.stratum == stratum)
                found.append(self._reading(scope, entity, stratum, (one, other, (), None)))
        return found

    @staticmethod
    def _up_to_date(scope: Scope, reading: Reading) -> Reading:
        """Return a reading with what moves with the clock, and of the population what is known of the cell alone."""
        ages = {"age_s": scope.age_s, "label_age_s": scope.since_label_s}
        if reading.stratum is not None:
            return msgspec.structs.replace(reading, status=_status(reading, scope, "ok"), **ages)
        agreement = scope.agreements.read(reading.entity, scope.language, scope.plan.config.readings.confidence)
        return msgspec.structs.replace(
            reading,
            status=_status(reading, scope, scope.agreements.status(agreement)),
            any_time=scope.any_time(reading.entity),
            agreement=agreement,
            alarm=scope.alarm(reading.entity),
            optimistic=scope.optimistic(reading.entity),
            **ages,
        )

    def _reading(self, scope: Scope, entity: str, stratum: Stratum | None, samples: _Sampled) -> Reading:
        matched = samples[0]
        estimates = self._estimate((*samples, stratum is None, scope.plan.config.readings.confidence))
        sampled, labelled = sum(s.sampled for s in matched), sum(s.labelled for s in matched)
        lightest, heaviest = weight_range(matched) or (None, None)
        return Reading(
            entity=entity,
            language=scope.language,
            detector=scope.version.detector,
            version=scope.version.version,
            stratum=stratum,
            window=scope.window,
            census=sum(s.census for s in matched),
            sampled=sampled,
            labelled=labelled,
            completeness=labelled / sampled if sampled else None,
            weight_min=lightest,
            weight_max=heaviest,
            target=scope.plan.target(entity, scope.language),
            config=scope.config,
            net=scope.net,
            status="no_label",
            age_s=None,
            **estimates._asdict(),
        )

    def _estimate(self, key: _Key) -> _Estimates:
        kept = self._kept.pop(key, None) or _work_out(*key)
        self._kept[key] = kept
        if len(self._kept) > _MOST:
            del self._kept[next(iter(self._kept))]
        return kept


def _work_out(
    matched: _Samples,
    masked: _Samples,
    right: _Samples,
    named: Named | None,
    population: bool,  # noqa: FBT001  # part of the key under which estimates are kept
    confidence: float,
) -> _Estimates:
    share = _population if population else _within
    return _Estimates(
        share(matched, confidence),
        share(masked, confidence),
        _certified(matched, confidence) if population else None,
        _prevalence(matched, confidence, named),
        _pending(matched) if population else None,
        _precision(right, confidence) if population else None,
    )


def _pending(samples: _Samples) -> Pending | None:
    """Return what labels that aren't in could still change (S5)."""
    band = pending_band(samples)
    return None if band is None else Pending(band.pending, band.all_missed, band.all_found)


def _precision(samples: _Samples, confidence: float) -> Precision:
    """Return the share of the detected spans that is right (S6)."""
    found = precision(samples, confidence)
    estimate, lower, upper = found.limits or (None, None, None)
    return Precision(found.right, found.detected, estimate, lower, upper, found.n_eff, found.reason)


def _counts(samples: Sequence[StratumSample]) -> tuple[int, int]:
    found = sum(d.moments.t for s in samples for d in s.designs)
    return found, sum(d.moments.y for s in samples for d in s.designs)


def _population(samples: _Samples, confidence: float) -> Share:
    """Return population recall (S2) with the counts it rests on."""
    found, true = _counts(samples)
    recall = population_recall(samples, confidence)
    looked = None if recall.where_looked is None else Limits(*recall.where_looked)
    return Share(found=found, true=true, **(recall._asdict() | {"where_looked": looked}))


def _within(samples: _Samples, confidence: float) -> Share:
    """Return recall within a stratum (S1): Wilson on the counts."""
    found, true = _counts(samples)
    interval = wilson(found, true, confidence)
    if interval is None:
        labelled = any(s.labelled for s in samples)
        return Share(found=found, true=true, reason="no_truth" if labelled else "no_label")
    return Share(found, true, *interval, n_eff=float(true))


def _certified(samples: _Samples, confidence: float) -> Certified | None:
    """Return the lower bound that holds where no miss was seen (S3)."""
    certified = certified_recall(samples, confidence)
    return None if certified is None else Certified(**certified._asdict())


def _prevalence(samples: _Samples, confidence: float, named: Named | None) -> Prevalence:
    with_entity = sum(d.moments.with_entity for s in samples for d in s.designs)
    _, occurrences = _counts(samples)
    estimated = prevalence(samples, confidence, named)
    return Prevalence(
        Count(with_entity, *(estimated.documents or ())),
        Count(occurrences, *(estimated.per_1000 or ())),
    )


def _status(reading: Reading, scope: Scope, agreement: AgreementStatus) -> Status:
    """Return the reading's state in one word, the first that applies."""
    settings = scope.plan.config.readings
    completeness, since = reading.completeness, scope.since_label_s
    if not reading.labelled:
        return "expired" if scope.known_before else "no_label"
    checks: tuple[tuple[Status, bool], ...] = (
        ("no_truth", not reading.matched.true),
        ("no_interval", reading.matched.lower is None),
        ("stale", since is not None and since > settings.stale_after_days * DAY_S),
        ("incomplete", completeness is None or completeness < settings.min_completeness),
        (agreement, True),
    )
    return next(status for status, applies in checks if applies)
