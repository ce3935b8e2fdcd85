"""Records on the wire: JSON objects, decoded into frozen structs.

Offsets are Unicode code points of `text`, half-open `[start, end)`. Unknown fields are ignored. Decoding and its slow,
salvaging path are in `monitor.decoding`; these are the shapes alone, and what `recallwatch schema` prints.
"""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

import msgspec

Stratum = Literal["both", "loose_only", "detector_only", "unflagged"]
STRATA: tuple[Stratum, ...] = ("both", "loose_only", "detector_only", "unflagged")
FLAGGED: tuple[Stratum, ...] = STRATA[:3]

Name = Annotated[str, msgspec.Meta(min_length=1)]
Probability = Annotated[float, msgspec.Meta(gt=0, le=1)]


class Record(NamedTuple):
    """One Kafka record as a stage sees it: place, time (ms since the epoch), undecoded bytes; None is a tombstone."""

    offset: int
    timestamp_ms: int
    value: bytes | None
    key: bytes | None = None


class Span(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A stretch of text that a detector or a person named: `[start, end)` in code points."""

    start: int
    end: int
    entity: str
    score: float | None = None


class Decision(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a detector did with one document. Spans with a score under `threshold` aren't decisions."""

    doc_id: Name
    lang: Name
    text: str
    detector: Name
    version: Name
    spans: list[Span]
    threshold: float | None = None
    redacted: str | None = None
    second: list[Span] | None = None
    ts: float | str | None = None
    channel: str | None = None


class Slices(msgspec.Struct, frozen=True):
    """The rates in force when the document was drawn: `loose` is 0 where nothing flagged it."""

    random: float
    loose: float


class Sampled(msgspec.Struct, frozen=True, omit_defaults=True):
    """A drawn document with all that its estimate will need: the design travels with it."""

    doc_id: Name
    lang: Name
    text: str
    detector: Name
    version: Name
    spans: list[Span]
    stratum: Stratum
    slices: Slices
    probability: Probability
    thinning: Probability
    config: str
    net: str
    sampled_at: float
    """Event time of the decision, seconds since the epoch."""
    day: int
    """Days since the epoch, never going back within a partition of decisions."""
    redacted: str | None = None
    second: list[Span] | None = None
    floors: tuple[float, float] | None = None
    """The smallest probabilities in force then: of documents that the detector flagged, and of all."""


class Task(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an annotator gets: the text alone, never the detector's spans, which would make labels agree with them.

    An adjudicator, of copy 0, gets two people's readings too, without their names and in no telling order.
    """

    task_id: Name
    doc_id: Name
    copy: int
    copies: int
    kind: Literal["label", "adjudicate"]
    lang: Name
    text: str
    due_at: float
    readings: list[list[Span]] | None = None
    """Of an adjudication alone."""


class Label(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a person saw. An empty list of spans is an answer; `skipped` is none."""

    doc_id: Name
    annotator: Name
    spans: list[Span]
    task_id: str = ""
    status: Literal["submitted", "skipped"] = "submitted"
    revision: Annotated[int, msgspec.Meta(ge=0)] = 0
    labelled_at: float | str | None = None


class DeadLetter(msgspec.Struct, frozen=True):
    """Where a record that can't be read stands, and why. Never its payload."""

    topic: str
    partition: int
    offset: int
    reason: str
    where: str
