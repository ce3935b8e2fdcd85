"""What redacted outputs show, as readings: what ROUTE counted of all of them, and what labels say of the drawn ones.

Leaks, and masks, are a census of the window's outputs: the count is exact, and its limits are for the rate behind the
traffic. The disclosure rate and over-masking are estimates from labelled documents, as recall is: their population is
the documents with an output.

What was worked out is kept with the sums that it came from, and estimates by their samples, so that a look at a board
that didn't change costs little. What moves with the clock is put beside it anew.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import msgspec

from monitor.agreements import Agreements
from monitor.cells import Version
from monitor.estimators.counted_share import counted_share
from monitor.estimators.disclosure import disclosure
from monitor.estimators.over_masking import over_masking
from monitor.estimators.post_stratification import weight_range
from monitor.estimators.sample import StratumSample
from monitor.estimators.wilson import wilson
from monitor.output_keys import RedactionsRow
from monitor.output_sums import OutputSums
from monitor.plan import Plan
from monitor.readings import (
    Count,
    CountedRate,
    Disclosure,
    Limits,
    OutputEntity,
    OutputReading,
    OverMasking,
    Status,
    Window,
)
from monitor.tally import ANY_ENTITY

DAY_S = 86_400
_Samples = tuple[StratumSample, ...]


class OutputScope(NamedTuple):
    """What the reading of one version, language and window needs besides the sums."""

    plan: Plan
    version: Version
    language: str
    window: Window
    config: str
    net: str
    known_before: bool
    """Whether a document with an output is labelled, in the window or before it."""
    counted_age_s: float | None
    age_s: float | None
    since_label_s: float | None
    agreements: Agreements
    """Of the window."""


class _Kept(NamedTuple):
    """A reading as the numbers have it."""

    asked: tuple[Plan, Window]
    reading: OutputReading


def read_outputs(scope: OutputScope, sums: OutputSums) -> OutputReading:
    """Return the reading of a language, or of `any`, of which outputs were looked at."""
    asked = (scope.plan, scope.window)
    kept = sums.kept.get(scope.language)
    if not isinstance(kept, _Kept) or kept.asked != asked:
        kept = sums.kept[scope.language] = _Kept(asked, _work_out(scope, sums))
    return _up_to_date(scope, kept.reading)


def _up_to_date(scope: OutputScope, reading: OutputReading) -> OutputReading:
    """Return a reading with what moves with the clock, and how far two readers agree."""
    return msgspec.structs.replace(
        reading,
        disclosure=_stood(scope, reading, reading.disclosure, ANY_ENTITY),
        entities=tuple(
            msgspec.structs.replace(e, disclosure=_stood(scope, reading, e.disclosure, e.entity))
            for e in reading.entities
        ),
        agreement=scope.agreements.read(ANY_ENTITY, scope.language, scope.plan.config.readings.confidence),
        counted_age_s=scope.counted_age_s,
        age_s=scope.age_s,
    )


def _stood(scope: OutputScope, reading: OutputReading, told: Disclosure, entity: str) -> Disclosure:
    status = _status(scope, reading, told, entity)
    return told if status == told.status else msgspec.structs.replace(told, status=status)


def _status(scope: OutputScope, reading: OutputReading, told: Disclosure, entity: str) -> Status:
    """Return the state of what the labels say, the first that applies; that none holds the entity is no lack here."""
    settings = scope.plan.config.readings
    if not reading.labelled:
        return "expired" if scope.known_before else "no_label"
    if told.per_1000.estimate is None:
        return "no_interval"
    if scope.since_label_s is not None and scope.since_label_s > settings.stale_after_days * DAY_S:
        return "stale"
    if reading.completeness is None or reading.completeness < settings.min_completeness:
        return "incomplete"
    return scope.agreements.status(scope.agreements.read(entity, scope.language, settings.confidence))


def _work_out(scope: OutputScope, sums: OutputSums) -> OutputReading:
    language, config = scope.language, scope.plan.config
    confidence = config.readings.confidence
    counted, drawn = sums.counted(language), sums.samples(language, ANY_ENTITY, "needless")
    sampled, labelled = sum(s.sampled for s in drawn), sum(s.labelled for s in drawn)
    lightest, heaviest = weight_range(drawn) or (None, None)
    listed = sums.listed(language, scope.plan.aliases.known, config.limits.max_entities)
    return OutputReading(
        language=language,
        detector=scope.version.detector,
        version=scope.version.version,
        window=scope.window,
        unaligned=counted.unaligned,
        documents=_documents(counted.leaking, counted.outputs, confidence),
        redactions=_redactions(sums.redactions(language), confidence),
        masked=counted.masked,
        length=counted.length,
        masked_share=counted.masked / counted.length if counted.length else None,
        over_masking=_over_masking(drawn, confidence),
        disclosure=_disclosure(sums, language, ANY_ENTITY, confidence),
        entities=tuple(_entity(sums, language, entity, confidence) for entity in listed),
        sampled=sampled,
        labelled=labelled,
        completeness=labelled / sampled if sampled else None,
        weight_min=lightest,
        weight_max=heaviest,
        agreement=None,
        config=scope.config,
        net=scope.net,
    )


def _entity(sums: OutputSums, language: str, entity: str, confidence: float) -> OutputEntity:
    found = sums.redacted(language, entity)
    return OutputEntity(
        entity,
        _documents(found.leaking, found.documents, confidence),
        found.spans,
        found.leaking_spans,
        sums.kinds(language, entity),
        _disclosure(sums, language, entity, confidence),
    )


def _documents(leaking: int, of: int, confidence: float) -> CountedRate:
    """Return a share of documents: Wilson's limits, each document being a trial."""
    limits = wilson(leaking, of, confidence)
    return CountedRate(leaking, of) if limits is None else CountedRate(leaking, of, *limits, n_eff=float(of))


def _redactions(row: RedactionsRow, confidence: float) -> CountedRate:
    found = counted_share(*row, confidence)
    return CountedRate(row.t, row.y) if found is None else CountedRate(row.t, row.y, *found.limits, n_eff=found.n_eff)


def _disclosure(sums: OutputSums, language: str, entity: str, confidence: float) -> Disclosure:
    hidden, readable = (sums.samples(language, entity, reading) for reading in ("hidden", "readable"))
    return _disclosed(hidden, readable, confidence)


@lru_cache(1 << 13)
def _disclosed(hidden: _Samples, readable: _Samples, confidence: float) -> Disclosure:
    found = disclosure(readable, hidden, confidence)
    return Disclosure(
        found.readable,
        found.true,
        Count(found.showing, *(found.documents or ())),
        Count(found.readable, *(found.per_1000 or ())),
        None if found.share is None else Limits(*found.share),
    )


@lru_cache(1 << 10)
def _over_masking(samples: _Samples, confidence: float) -> OverMasking:
    found = over_masking(samples, confidence)
    estimate, lower, upper = found.limits or (None, None, None)
    return OverMasking(found.needless, found.masked, estimate, lower, upper, found.n_eff, found.reason)
