"""One cell's readings: the population's, and one a stratum, from the same numbers.

Estimates are kept by the numbers they came from, so a cell whose numbers didn't change since the last time costs a
comparison. What moves with the clock (age) or the config (target, status) is put beside them anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from monitor.cells import Frame, Version, VersionSums
from monitor.estimators.certified import certified_recall
from monitor.estimators.post_stratification import weight_range
from monitor.estimators.prevalence import prevalence
from monitor.estimators.recall import population_recall
from monitor.estimators.sample import StratumSample
from monitor.estimators.wilson import wilson
from monitor.plan import Plan
from monitor.readings import Certified, Count, Limits, Prevalence, Reading, Share, Status, Window
from monitor.records import STRATA, Stratum


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


class _Estimates(NamedTuple):
    """What one sample says under both readings of found."""

    matched: Share
    masked: Share
    certified: Certified | None
    prevalence: Prevalence


_Samples = tuple[StratumSample, ...]


class CellReadings:
    """Turns samples into readings, and keeps the estimates of the samples that the last round read."""

    def __init__(self) -> None:
        self._kept: dict[tuple[_Samples, _Samples, bool, float], _Estimates] = {}
        self._before: dict[tuple[_Samples, _Samples, bool, float], _Estimates] = {}

    def begin(self) -> None:
        """Begin another round: estimates that the last one didn't need are let go, lest old numbers pile up."""
        self._before, self._kept = self._kept, {}

    def read(self, scope: Scope, sums: VersionSums, entity: str) -> list[Reading]:
        """Return the readings of an entity: of the population, then of each stratum that holds a document."""
        matched = tuple(sums.sample(frame, entity, "matched") for frame in scope.frames)
        masked = tuple(sums.sample(frame, entity, "masked") for frame in scope.frames)
        found = [self._reading(scope, entity, None, matched, masked)]
        for stratum in STRATA:
            one = tuple(s for s in matched if s.stratum == stratum)
            if one:
                other = tuple(s for s in masked if s.stratum == stratum)
                found.append(self._reading(scope, entity, stratum, one, other))
        return found

    def _reading(
        self, scope: Scope, entity: str, stratum: Stratum | None, matched: _Samples, masked: _Samples
    ) -> Reading:
        confidence = scope.plan.config.readings.confidence
        estimates = self._estimate(matched, masked, stratum is None, confidence)
        sampled, labelled = sum(s.sampled for s in matched), sum(s.labelled for s in matched)
        completeness = labelled / sampled if sampled else None
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
            completeness=completeness,
            matched=estimates.matched,
            masked=estimates.masked,
            certified=estimates.certified,
            prevalence=estimates.prevalence,
            weight_min=lightest,
            weight_max=heaviest,
            target=scope.plan.target(entity, scope.language),
            config=scope.config,
            net=scope.net,
            status=_status(estimates.matched, labelled, completeness, scope.plan.config.readings.min_completeness),
            age_s=scope.age_s,
        )

    def _estimate(
        self,
        matched: _Samples,
        masked: _Samples,
        population: bool,  # noqa: FBT001  # part of the key under which estimates are kept
        confidence: float,
    ) -> _Estimates:
        key = (matched, masked, population, confidence)
        kept = self._kept.get(key)
        if kept is None:
            kept = self._kept[key] = self._before.get(key) or _work_out(*key)
        return kept


def _work_out(matched: _Samples, masked: _Samples, population: bool, confidence: float) -> _Estimates:  # noqa: FBT001
    share = _population if population else _within
    return _Estimates(
        share(matched, confidence),
        share(masked, confidence),
        _certified(matched, confidence) if population else None,
        _prevalence(matched, confidence),
    )


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


def _prevalence(samples: _Samples, confidence: float) -> Prevalence:
    with_entity = sum(d.moments.with_entity for s in samples for d in s.designs)
    _, occurrences = _counts(samples)
    estimated = prevalence(samples, confidence)
    return Prevalence(
        Count(with_entity, *(estimated.documents or ())),
        Count(occurrences, *(estimated.per_1000 or ())),
    )


def _status(share: Share, labelled: int, completeness: float | None, enough: float) -> Status:
    """Return the reading's state in one word, the first that applies."""
    if not labelled:
        return "no_label"
    if not share.true:
        return "no_truth"
    if share.lower is None:
        return "no_interval"
    return "incomplete" if completeness is None or completeness < enough else "ok"
