"""What the board publishes: readings, whole and immutable, with everything that must stand beside a rate.

A reading speaks of one cell (entity and language, both possibly `any`) of one detector version, in one window of days:
of the population where `stratum` is None, of one stratum otherwise. What has no value is None; no data gives no number.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from monitor.alarm_readings import AlarmEvent, AlarmReading
from monitor.leaks.findings import Kind
from monitor.records import Stratum
from monitor.versions import Decided

ANY = "any"
Status = Literal["ok", "no_label", "no_truth", "no_interval", "expired", "stale", "incomplete", "greyed", "marked"]
"""The first that applies. `no_label`: nothing labelled. `no_truth`: labels, but none with this entity. `no_interval`:
an estimate at most; the reason says why. `expired`: the newest labelled document is older than the window. `stale`: no
label for `readings.stale_after_days`. `incomplete`: completeness under the configured share. `greyed`, `marked`: two
readers agree too little (kappa) for the number to stand, or to stand without a mark."""
CURRENT: frozenset[Status] = frozenset({"ok", "marked"})
"""What may be offered as the state of today."""


class Window(msgspec.Struct, frozen=True):
    """Days of drawing, both inclusive, as ISO dates; None where nothing was drawn."""

    days: int | None
    """Length asked for; None is the whole input."""
    first: str | None
    last: str | None


class Limits(msgspec.Struct, frozen=True):
    """An estimated share between its limits; of names and not of places, so that its JSON says which is which."""

    estimate: float
    lower: float
    upper: float


class Share(msgspec.Struct, frozen=True):
    """Recall under one reading of `found`. `found` and `true` are occurrences in labelled documents, unweighted."""

    found: int
    true: int
    estimate: float | None = None
    lower: float | None = None
    upper: float | None = None
    n_eff: float | None = None
    where_looked: Limits | None = None
    """R_F: recall in documents that any tool flagged; never the headline."""
    unflagged_width_share: float | None = None
    """Share of the interval's width (log scale) that comes from the stratum nobody flagged."""
    halving_random_rate: float | None = None
    """The random rate that would halve that part."""
    reason: str | None = None
    """Why there is no estimate or no interval, in one of a fixed set of words."""


class Certified(msgspec.Struct, frozen=True):
    """A lower bound that holds even where no miss was seen; of documents (caught: every occurrence found)."""

    lower: float
    caught: int
    missed: int
    caught_at_least: int
    missed_at_most: int


class Count(msgspec.Struct, frozen=True):
    """An estimated share or rate with the unweighted count it rests on."""

    count: int
    estimate: float | None = None
    lower: float | None = None
    upper: float | None = None


class Prevalence(msgspec.Struct, frozen=True):
    """`documents`: share of documents with the entity. `per_1000`: occurrences per 1,000 documents."""

    documents: Count
    per_1000: Count


class AnyTimeLimits(msgspec.Struct, frozen=True):
    """Limits of population recall to be read any time, and acted on when seen: right at all looks of a year together.

    They rest on what was drawn since their sequence began. That is a day fixed beforehand, and every so many days (a
    fifth of what's kept) another one: what a look reads goes back over more than four fifths of what's kept
    (`monitor.estimators.epochs`). There the limits may widen. In a replay nothing is let go: one sequence, of
    everything, at all times.
    """

    lower: float
    upper: float
    labelled: int = 0
    """Labelled documents with the entity that they rest on."""
    since: float | None = None
    """When the first of them was drawn, s since the epoch, to a period of the alarm; at the sequence's beginning, or
    later."""
    y_max: int = 0
    """Occurrences that a document counts for, at most: of longer ones the share found."""
    sequences: int = 1
    """That a year of looks reads at most; for all of them to be right at a level of 1 - α, each is read at 1 - α/this.
    """


class Pending(msgspec.Struct, frozen=True):
    """What drawn documents without a label could still change: recall if all of theirs were missed, or all found."""

    documents: int
    all_missed: float
    all_found: float


class Precision(msgspec.Struct, frozen=True):
    """Of the detected spans, the share that is right; counts are of spans in labelled documents, unweighted."""

    right: int
    detected: int
    estimate: float | None = None
    lower: float | None = None
    upper: float | None = None
    n_eff: float | None = None
    reason: str | None = None


class Agreement(msgspec.Struct, frozen=True):
    """Two blind readings of the same documents: kappa by document, F1 and overlap by span, what both missed."""

    documents: int
    """Documents that two people read, unweighted."""
    named: int
    """Of these, the ones in which either reader named the entity."""
    kappa: float | None = None
    """None where both readers named it in all documents or in none: chance would agree as well."""
    lower: float | None = None
    upper: float | None = None
    n_eff: float | None = None
    span_f1: float | None = None
    mean_iou: float | None = None
    missed_by_both: float | None = None
    missed_by_both_upper: float | None = None
    """Share of all there was; optimistic, as what is hard for one is hard for the other."""


class Optimistic(msgspec.Struct, frozen=True):
    """Recall by recapture with the second detector: OPTIMISTIC, for both share what neither can see."""

    found: int
    """Spans of the second detector that the first found too."""
    second: int
    estimate: float
    lower: float
    upper: float


class DriftSignal(msgspec.Struct, frozen=True):
    """A share of the census that is watched, and the last change found in it."""

    signal: str
    language: str
    entity: str
    share: float | None
    """Since the last change."""
    documents: int
    shifts: int
    at: float | None = None
    direction: Literal["up", "down"] | None = None
    before: float | None = None
    after: float | None = None


class Reading(msgspec.Struct, frozen=True):
    """One published reading."""

    entity: str
    language: str
    detector: str
    version: str
    stratum: Stratum | None
    window: Window
    census: int
    """Documents that ROUTE counted."""
    sampled: int
    labelled: int
    """Documents whose label is in, those without the entity included."""
    completeness: float | None
    matched: Share
    masked: Share
    certified: Certified | None
    prevalence: Prevalence
    weight_min: float | None
    weight_max: float | None
    target: float | None
    """Recall that the operator asks for in this cell, or None."""
    config: str
    net: str
    status: Status
    age_s: float | None
    """Seconds between the draw of the newest labelled document and the moment it was computed; None in a replay."""
    label_age_s: float | None = None
    """Seconds since the last label of the version and language came, whatever its document's day; None in a replay."""
    any_time: AnyTimeLimits | None = None
    """Of the version, since its sequence began; None by stratum, and where no label since then holds the entity."""
    pending: Pending | None = None
    precision: Precision | None = None
    """None by stratum."""
    agreement: Agreement | None = None
    """Of all that two people read in the window, whatever the version; None where nobody reads twice."""
    alarm: AlarmReading | None = None
    """None without a target, by stratum, and for a version that is no longer current."""
    optimistic: Optimistic | None = None
    """None where no second detector runs."""


class CountedRate(msgspec.Struct, frozen=True):
    """A share of the traffic's outputs, all of which were looked at; the limits are for the rate behind them."""

    count: int
    of: int
    estimate: float | None = None
    lower: float | None = None
    upper: float | None = None
    n_eff: float | None = None
    """Independent ones that would say as much."""


class OverMasking(msgspec.Struct, frozen=True):
    """Of what outputs mask, the share that people say was no personal data; graphemes of labelled documents."""

    needless: int
    masked: int
    estimate: float | None = None
    lower: float | None = None
    upper: float | None = None
    n_eff: float | None = None
    reason: str | None = None
    """Why there is no estimate, in one of a fixed set of words."""


class Disclosure(msgspec.Struct, frozen=True):
    """Personal data that can still be read in outputs, missed or leaking alike; occurrences in labelled documents."""

    readable: int
    true: int
    documents: Count
    """Documents with any of it; estimated, their share of the outputs."""
    per_1000: Count
    """Of them, in 1,000 documents with an output: the disclosure rate."""
    share: Limits | None = None
    """Of the true occurrences, those that can be read."""
    status: Status = "no_label"


class LeakCount(msgspec.Struct, frozen=True):
    """Leaks of one kind."""

    kind: Kind
    documents: int
    leaks: int


class OutputEntity(msgspec.Struct, frozen=True):
    """One entity in the outputs."""

    entity: str
    documents: CountedRate
    """Of the documents where it was flagged, those with a leak of it."""
    spans: int
    leaking_spans: int
    kinds: tuple[LeakCount, ...]
    disclosure: Disclosure


class OutputReading(msgspec.Struct, frozen=True):
    """What a detector version's redacted outputs show, in one language or all, over one window."""

    language: str
    detector: str
    version: str
    window: Window
    unaligned: int
    """Outputs that aren't the text with parts replaced: searched for what survives, their masks are unknown."""
    documents: CountedRate
    """Outputs with a leak, of all that were looked at."""
    redactions: CountedRate
    """Replaced spans with a leak; documents are the clusters."""
    masked: int
    """Code points of the texts that aligned outputs don't show, of `length`."""
    length: int
    masked_share: float | None
    over_masking: OverMasking
    disclosure: Disclosure
    """Of every entity together."""
    entities: tuple[OutputEntity, ...]
    sampled: int
    """Drawn documents with an output."""
    labelled: int
    completeness: float | None
    weight_min: float | None
    weight_max: float | None
    agreement: Agreement | None
    config: str
    net: str
    counted_age_s: float | None = None
    """Seconds since the newest decision of the version and language; None in a replay."""
    age_s: float | None = None
    """As in `Reading`: of what the labels say."""


class Queue(msgspec.Struct, frozen=True):
    """Load of the review queue, all languages together and by language."""

    language: str
    tasks: int
    """Tasks sent in the window."""
    done: int
    open: int
    skipped: int
    oldest_draw: float | None
    """Event time (s) of the oldest open task's document."""


class Change(msgspec.Struct, frozen=True):
    """Something that changed lately: a detector version first seen, a config or net version taken into use."""

    at: float | None
    """Seconds since the epoch."""
    kind: Literal["version", "config", "net"]
    what: str
    note: str = ""


class Tally(msgspec.Struct, frozen=True):
    """A count with its label values, in the order that `monitor.metrics` names them."""

    labels: tuple[str, ...]
    value: float


def largest(tallies: Iterable[Tally], most: int) -> tuple[list[Tally], int]:
    """Return the largest counts, equal ones by their labels, and how many more there are; `most` >= 1.

    >>> largest([Tally(("A",), 1), Tally(("C",), 7), Tally(("B",), 7)], 2)
    ([Tally(labels=('B',), value=7), Tally(labels=('C',), value=7)], 1)
    """
    ordered = sorted(tallies, key=lambda tally: (-tally.value, tally.labels))
    return ordered[:most], max(len(ordered) - most, 0)


class BoardSnapshot(msgspec.Struct, frozen=True):
    """All that the board says at one moment."""

    computed_at: float
    readings: tuple[Reading, ...]
    queues: tuple[Queue, ...]
    strata: tuple[Tally, ...]
    """Census documents by (language, detector, version, stratum) over the main window."""
    outcomes: tuple[Tally, ...]
    """Labels by (outcome,)."""
    dead_letters: tuple[Tally, ...]
    """Dead letters by (channel, reason)."""
    quarantined: tuple[Tally, ...]
    """Set-aside spans by (reason,)."""
    changes: tuple[Change, ...]
    current_versions: tuple[tuple[str, str], ...]
    """(detector, version) that the newest traffic carries, per detector."""
    drawn: tuple[Tally, ...] = ()
    """Documents that ROUTE drew over the main window, by (slice,); the ledger takes them in a moment later."""
    documents: tuple[Tally, ...] = ()
    """Drawn documents by (outcome,): `repeat`, drawn again by a version that had drawn it."""
    unchecked: tuple[Tally, ...] = ()
    """Outputs that weren't checked because the check failed over them, by (reason,): the exception's class."""
    unknown_entities: tuple[Tally, ...] = ()
    """Spans, flagged or labelled, by (entity,) whose name the alias table doesn't know."""
    alarms: tuple[AlarmEvent, ...] = ()
    """What somebody was told of, oldest first: the last 500, also those that a board before this one told."""
    drift: tuple[DriftSignal, ...] = ()
    drift_notes: tuple[str, ...] = ()
    """In plain words: why a detector of drift began anew, or is left out."""
    thinning: float = 1.0
    """The factor that sampling is thinned by, as last decided."""
    unseen_targets: tuple[str, ...] = ()
    """Targets, as `ENTITY` or `ENTITY.language`, of cells that nothing was flagged or labelled in."""
    capacity_per_day: float | None = None
    """Tasks a day that annotators get through, as configured; None for no bound."""
    outputs: tuple[OutputReading, ...] = ()
    """Of versions and languages that had a redacted output in the window."""
    decided: tuple[Decided, ...] = ()
    """When each version decided, by detector and version: of all that is kept, whatever the window."""
