"""From a snapshot and a worker's own figures to samples of the metric series.

What has no value gives no sample: a comparison with NaN is false in PromQL, so an alert on a NaN can never fire, and
a 0 that stands for "we don't know" is a lie. Label values arrive from producers and annotators. One that a scraper
can't parse would cost the whole scrape, so each is cleaned first; values that become equal by that are added up where
they are counts, and of two cells that become equal the second is withheld.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import chain

from monitor import metrics as m
from monitor.pipeline import Pipeline
from monitor.readings import (
    ANY,
    CURRENT,
    BoardSnapshot,
    Change,
    Count,
    Disclosure,
    DriftSignal,
    OutputEntity,
    OutputReading,
    Queue,
    Reading,
    Share,
    Tally,
    Window,
)
from monitor.samples import UNKNOWN, Sample, added, clean, one
from monitor.versions import Decided
from monitor.worker_samples import flows, worker

__all__ = ["UNKNOWN", "Sample", "clean", "samples"]


def samples(snapshot: BoardSnapshot | None, pipeline: Pipeline) -> Iterator[Sample]:
    """Return all samples of one scrape, no (metric, labels) pair twice; readings where this worker is the board.

    Parameters
    ----------
    snapshot
        What the board published last; None where nothing was. Of a worker that is no longer the board it's ignored.
    pipeline
        The worker's own figures.

    Returns
    -------
    In no particular order. What is None or not finite gives no sample.
    """
    published = (
        chain(_board(snapshot), _cells(snapshot), _outputs(snapshot), _agreements(snapshot), _alarms(snapshot))
        if snapshot is not None and pipeline.is_board
        else ()
    )
    return chain(flows(pipeline), worker(pipeline), published)


def _board(snapshot: BoardSnapshot) -> Iterator[Sample]:
    yield from one(m.COMPUTED, (), snapshot.computed_at)
    yield from one(m.UNKNOWN_ENTITIES, (), len(snapshot.unknown_entities))
    yield from one(m.UNSEEN_TARGETS, (), len(snapshot.unseen_targets))
    for detector, version in dict.fromkeys((clean(d), clean(v)) for d, v in snapshot.current_versions):
        yield Sample(m.DETECTOR, (detector, version), 1)
    yield from _decided(snapshot.decided)
    yield from _changes(snapshot.changes)
    for metric, tallies in (
        (m.STRATA_DOCUMENTS, snapshot.strata),
        (m.COUNTED_LABELS, snapshot.outcomes),
        (m.COUNTED_DOCUMENTS, snapshot.documents),
        (m.COUNTED_DEAD_LETTERS, snapshot.dead_letters),
        (m.COUNTED_QUARANTINED, snapshot.quarantined),
        (m.COUNTED_UNCHECKED, snapshot.unchecked),
    ):
        yield from added(metric, _pairs(tallies))
    yield from _queue(snapshot.queues)
    yield from one(m.QUEUE_CAPACITY, (), snapshot.capacity_per_day)
    yield from _drift(snapshot.drift)


def _decided(versions: Iterable[Decided]) -> Iterator[Sample]:
    """Export when each version decided first and last; of names that become equal, the earliest and the latest."""
    spans: dict[tuple[str, str], tuple[float, float]] = {}
    for one_version in versions:
        labels = clean(one_version.detector), clean(one_version.version)
        first, last = spans.get(labels, (math.inf, -math.inf))
        spans[labels] = min(one_version.first, first), max(one_version.last, last)
    for labels, (first, last) in spans.items():
        yield from one(m.FIRST_DECISION, labels, first)
        yield from one(m.LAST_DECISION, labels, last)


def _changes(changes: Iterable[Change]) -> Iterator[Sample]:
    """Export when each thing last changed, the newest ones: what is kept of them grows for ever."""
    latest: dict[tuple[str, ...], float] = {}
    for change in changes:
        if change.at is not None:
            what = (clean(change.kind), clean(change.what))
            latest[what] = max(change.at, latest.get(what, change.at))
    newest = sorted(latest.items(), key=lambda item: -item[1])[: m.MAX_CHANGES]
    return (Sample(m.CHANGED, what, at) for what, at in newest if math.isfinite(at))


def _drift(signals: Iterable[DriftSignal]) -> Iterator[Sample]:
    """Export each signal; one that isn't about an entity is about any."""
    seen: set[tuple[str, ...]] = set()
    for signal in signals:
        labels = (clean(signal.signal), clean(signal.language), clean(signal.entity or ANY))
        if labels not in seen:
            seen.add(labels)
            yield from one(m.DRIFT_SHARE, labels, signal.share)
            yield from one(m.DRIFT_DOCUMENTS, labels, signal.documents)
            yield from one(m.DRIFT_FOUND, labels, signal.shifts)
            yield from one(m.DRIFT_BEFORE, labels, signal.before)
            yield from one(m.DRIFT_AFTER, labels, signal.after)
            yield from one(m.DRIFT_CHANGE, (*labels, clean(signal.direction)), signal.at)


def _pairs(tallies: Iterable[Tally]) -> Iterator[tuple[tuple[str, ...], float]]:
    return ((tally.labels, tally.value) for tally in tallies)


def _queue(queues: Iterable[Queue]) -> Iterator[Sample]:
    """Export languages; their total only where it stands alone, so that a sum over `language` is the queue."""
    rows = [q for q in queues if q.language != ANY] or list(queues)
    yield from added(m.QUEUE_SENT, (((q.language,), q.tasks) for q in rows))
    yield from added(m.QUEUE_DONE, (((q.language,), q.done) for q in rows))
    yield from added(m.QUEUE_OPEN, (((q.language,), q.open) for q in rows))
    yield from added(m.QUEUE_SKIPPED, (((q.language,), q.skipped) for q in rows))
    oldest: dict[str, float] = {}
    for q in rows:
        if q.oldest_draw is not None:
            oldest[clean(q.language)] = min(q.oldest_draw, oldest.get(clean(q.language), math.inf))
    for language, at in oldest.items():
        yield from one(m.QUEUE_OLDEST, (language,), at)


def _cells(snapshot: BoardSnapshot) -> Iterator[Sample]:
    """Export cells, the most telling first, up to the bound; then the strata of those of a current version."""
    current = set(snapshot.current_versions)
    population = [r for r in snapshot.readings if r.stratum is None]
    population.sort(key=lambda r: ((r.detector, r.version) not in current, ANY not in (r.entity, r.language)))
    exported: set[tuple[str, ...]] = set()
    for reading in population:
        cell = _cell(reading)
        if cell not in exported and len(exported) < m.MAX_CELLS:
            exported.add(cell)
            yield from _population(cell, reading, snapshot.computed_at)
    yield from one(m.CELLS_WITHHELD, (), len(population) - len(exported))
    yield from _newest_labels(population, snapshot.computed_at)
    seen: set[tuple[str, ...]] = set()
    for reading in snapshot.readings:
        key = (*(cell := _cell(reading)), reading.stratum or "")
        wanted = reading.stratum is not None and (reading.detector, reading.version) in current
        if wanted and cell in exported and key not in seen:
            seen.add(key)
            yield from _stratum(cell, reading)


def _newest_labels(population: Iterable[Reading], computed_at: float) -> Iterator[Sample]:
    """Export when the last label came, once a version and language: it's the same beside every entity and window."""
    ages: dict[tuple[str, ...], float] = {}
    for reading in population:
        if reading.label_age_s is not None:
            place = tuple(map(clean, (reading.language, reading.detector, reading.version)))
            ages[place] = min(reading.label_age_s, ages.get(place, math.inf))
    return (Sample(m.NEWEST_LABEL, place, computed_at - age_s) for place, age_s in ages.items())


def _outputs(snapshot: BoardSnapshot) -> Iterator[Sample]:
    """Export what outputs show, current versions and roll-ups first: all of it, and of entities up to the bound."""
    current = set(snapshot.current_versions)
    readings = sorted(snapshot.outputs, key=lambda r: ((r.detector, r.version) not in current, r.language != ANY))
    seen: set[tuple[str, ...]] = set()
    cells: set[tuple[str, ...]] = set()
    all_cells = 0
    for reading in readings:
        place = (*map(clean, (reading.language, reading.detector, reading.version)), _window(reading.window))
        if place not in seen:
            seen.add(place)
            yield from _output(place, reading, snapshot.computed_at)
            yield from _disclosure((ANY, *place), reading.disclosure)
        for entity in reading.entities:
            all_cells += 1
            cell = (clean(entity.entity), *place)
            if cell not in cells and len(cells) < m.MAX_CELLS and entity.entity != ANY:
                cells.add(cell)
                yield from _output_entity(cell, entity)
    yield from one(m.OUTPUT_CELLS_WITHHELD, (), all_cells - len(cells))


def _output(place: tuple[str, ...], reading: OutputReading, computed_at: float) -> Iterator[Sample]:
    documents, redactions, over, age_s = (
        reading.documents,
        reading.redactions,
        reading.over_masking,
        reading.counted_age_s,
    )
    values: tuple[tuple[m.Metric, float | None], ...] = (
        (m.OUTPUTS, documents.of),
        (m.UNALIGNED, reading.unaligned),
        (m.LEAKING, documents.count),
        (m.LEAKING_ESTIMATE, documents.estimate),
        (m.LEAKING_LOWER, documents.lower),
        (m.LEAKING_UPPER, documents.upper),
        (m.REDACTIONS, redactions.of),
        (m.LEAKING_REDACTIONS, redactions.count),
        (m.REDACTIONS_ESTIMATE, redactions.estimate),
        (m.REDACTIONS_LOWER, redactions.lower),
        (m.REDACTIONS_UPPER, redactions.upper),
        (m.MASKED_TEXT, reading.masked_share),
        (m.COUNTED_AT, None if age_s is None else computed_at - age_s),
        (m.OUTPUTS_SAMPLED, reading.sampled),
        (m.OUTPUTS_LABELLED, reading.labelled),
        (m.OVER_MASKING_ESTIMATE, over.estimate),
        (m.OVER_MASKING_LOWER, over.lower),
        (m.OVER_MASKING_UPPER, over.upper),
        (m.NEEDLESS, over.needless),
        (m.MASKED_GRAPHEMES, over.masked),
    )
    for metric, value in values:
        yield from one(metric, place, value)


def _output_entity(cell: tuple[str, ...], entity: OutputEntity) -> Iterator[Sample]:
    yield from one(m.ENTITY_DOCUMENTS, cell, entity.documents.of)
    yield from one(m.ENTITY_LEAKING, cell, entity.documents.count)
    for found in entity.kinds:
        yield from one(m.LEAKS, (*cell, found.kind), found.leaks)
        yield from one(m.LEAK_DOCUMENTS, (*cell, found.kind), found.documents)
    yield from _disclosure(cell, entity.disclosure)


def _disclosure(cell: tuple[str, ...], disclosure: Disclosure) -> Iterator[Sample]:
    yield from one(m.READABLE, cell, disclosure.readable)
    yield from one(m.OUTPUT_TRUE, cell, disclosure.true)
    yield from one(m.DISCLOSURE_ESTIMATE, cell, disclosure.per_1000.estimate)
    yield from one(m.DISCLOSURE_LOWER, cell, disclosure.per_1000.lower)
    yield from one(m.DISCLOSURE_UPPER, cell, disclosure.per_1000.upper)
    yield Sample(m.DISCLOSURE_CURRENT, cell, disclosure.status in CURRENT)


def _agreements(snapshot: BoardSnapshot) -> Iterator[Sample]:
    """Return what two readers say, once a cell: it is the same beside every version."""
    seen: set[tuple[str, ...]] = set()
    for reading in snapshot.readings:
        entity, language, _, _, window = _cell(reading)
        pair, found = (entity, language, window), reading.agreement
        if found is not None and pair not in seen and len(seen) < m.MAX_CELLS:
            seen.add(pair)
            yield from one(m.TWICE, pair, found.documents)
            yield from one(m.KAPPA_ESTIMATE, pair, found.kappa)
            yield from one(m.KAPPA_LOWER, pair, found.lower)
            yield from one(m.KAPPA_UPPER, pair, found.upper)
            yield from one(m.SPAN_F1, pair, found.span_f1)
            yield from one(m.SPAN_IOU, pair, found.mean_iou)
            yield from one(m.MISSED_BY_BOTH, pair, found.missed_by_both)


def _alarms(snapshot: BoardSnapshot) -> Iterator[Sample]:
    """Return every alarm, withheld cells' too, and what was told last."""
    seen: set[tuple[str, ...]] = set()
    for reading in snapshot.readings:
        cell, alarm = _cell(reading)[:-1], reading.alarm
        if alarm is not None and cell not in seen:
            seen.add(cell)
            yield Sample(m.ALARM_ON, cell, alarm.state in ("firing", "held"))
            yield from one(m.ALARM_EVIDENCE, cell, alarm.evidence)
            yield from one(m.ALARM_BAR, cell, alarm.bar)
            yield from one(m.ALARM_PROMISED, cell, alarm.promised_days * 86_400)
            yield from one(m.ALARM_LABELLED, cell, alarm.labelled)
            yield from one(m.ALARM_SINCE, cell, alarm.on_since)
            yield Sample(m.ALARM_RESTATED, cell, alarm.restated)
    told: dict[tuple[str, ...], float] = {}
    for event in snapshot.alarms:
        cause = "version_changed" if event.changed == "version" else event.cause
        key = tuple(map(clean, (event.entity, event.language, event.detector, event.version, cause)))
        told[key] = max(event.at, told.get(key, event.at))
    yield from (Sample(m.TOLD, labels, at) for labels, at in told.items())


def _cell(reading: Reading) -> tuple[str, ...]:
    names = (reading.entity, reading.language, reading.detector, reading.version)
    return (*map(clean, names), _window(reading.window))


def _window(window: Window) -> str:
    return "all" if window.days is None else f"{window.days}d"


def _population(cell: tuple[str, ...], reading: Reading, computed_at: float) -> Iterator[Sample]:
    for name, share in (("matched", reading.matched), ("masked", reading.masked)):
        yield from _share((*cell, name), share)
    yield from _prevalence(cell, reading.prevalence.documents, reading.prevalence.per_1000)
    yield from one(m.UNFLAGGED_WIDTH, cell, reading.matched.unflagged_width_share)
    yield from one(m.HALVING_RATE, cell, reading.matched.halving_random_rate)
    certified, age_s = reading.certified, reading.age_s
    yield from one(m.CERTIFIED_LOWER, cell, None if certified is None else certified.lower)
    yield from one(m.TARGET, cell, reading.target)
    yield from one(m.COMPLETENESS, cell, reading.completeness)
    yield from one(m.CENSUS, cell, reading.census)
    yield from one(m.CELL_SAMPLED, cell, reading.sampled)
    yield from one(m.LABELLED, cell, reading.labelled)
    yield from one(m.NEWEST_DRAW, cell, None if age_s is None else computed_at - age_s)
    yield Sample(m.STATUS, (*cell, clean(reading.status)), 1)
    yield Sample(m.CURRENT, cell, reading.status in CURRENT)
    yield from _beside(cell, reading)


def _beside(cell: tuple[str, ...], reading: Reading) -> Iterator[Sample]:
    """Return what stands beside recall: other limits, what is pending, precision."""
    any_time, pending, precision, optimistic = reading.any_time, reading.pending, reading.precision, reading.optimistic
    if any_time is not None and reading.status in CURRENT:
        yield from one(m.ANY_TIME_LOWER, cell, any_time.lower)
        yield from one(m.ANY_TIME_UPPER, cell, any_time.upper)
    if pending is not None:
        yield from one(m.PENDING, cell, pending.documents)
        yield from one(m.PENDING_MISSED, cell, pending.all_missed)
        yield from one(m.PENDING_FOUND, cell, pending.all_found)
    if precision is not None:
        yield from one(m.PRECISION_ESTIMATE, cell, precision.estimate)
        yield from one(m.PRECISION_LOWER, cell, precision.lower)
        yield from one(m.PRECISION_UPPER, cell, precision.upper)
        yield from one(m.RIGHT, cell, precision.right)
        yield from one(m.DETECTED, cell, precision.detected)
    yield from one(m.OPTIMISTIC, cell, None if optimistic is None else optimistic.estimate)


def _share(labels: tuple[str, ...], share: Share) -> Iterator[Sample]:
    yield from one(m.RECALL_ESTIMATE, labels, share.estimate)
    yield from one(m.RECALL_LOWER, labels, share.lower)
    yield from one(m.RECALL_UPPER, labels, share.upper)
    yield from one(m.FOUND, labels, share.found)
    yield from one(m.TRUE, labels, share.true)
    yield from one(m.N_EFF, labels, share.n_eff)
    if share.where_looked is not None:
        yield from one(m.LOOKED_ESTIMATE, labels, share.where_looked.estimate)
        yield from one(m.LOOKED_LOWER, labels, share.where_looked.lower)
        yield from one(m.LOOKED_UPPER, labels, share.where_looked.upper)


def _prevalence(cell: tuple[str, ...], documents: Count, per_1000: Count) -> Iterator[Sample]:
    yield from one(m.PREVALENCE_COUNT, cell, documents.count)
    yield from one(m.PREVALENCE_ESTIMATE, cell, documents.estimate)
    yield from one(m.PREVALENCE_LOWER, cell, documents.lower)
    yield from one(m.PREVALENCE_UPPER, cell, documents.upper)
    yield from one(m.PER_1000_ESTIMATE, cell, per_1000.estimate)
    yield from one(m.PER_1000_LOWER, cell, per_1000.lower)
    yield from one(m.PER_1000_UPPER, cell, per_1000.upper)


def _stratum(cell: tuple[str, ...], reading: Reading) -> Iterator[Sample]:
    for name, share in (("matched", reading.matched), ("masked", reading.masked)):
        yield from one(m.STRATUM_FOUND, (*cell, name, clean(reading.stratum)), share.found)
        yield from one(m.STRATUM_TRUE, (*cell, name, clean(reading.stratum)), share.true)
