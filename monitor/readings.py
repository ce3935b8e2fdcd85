"""What the board publishes: readings, whole and immutable, with everything that must stand beside a rate.

A reading speaks of one cell (entity and language, both possibly `any`) of one detector version, in one window of days:
of the population where `stratum` is None, of one stratum otherwise. What has no value is None; no data gives no number.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from monitor.records import Stratum

ANY = "any"
Status = Literal["ok", "no_label", "no_truth", "no_interval", "incomplete", "expired"]
"""`no_label`: nothing labelled. `no_truth`: labels, but none with this entity. `no_interval`: an estimate at most; the
reason says why. `incomplete`: completeness under the configured share. `expired`: nothing newer than the window."""


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
    unknown_entities: tuple[Tally, ...] = ()
    """Spans, flagged or labelled, by (entity,) whose name the alias table doesn't know."""
