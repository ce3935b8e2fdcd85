"""What the board publishes of alarms: one cell's state, and what somebody is told of."""

from __future__ import annotations

from typing import Literal

import msgspec

Cause = Literal["recall_fell", "stopped_knowing", "design_changed"]
AlarmState = Literal["quiet", "firing", "held"]


class AlarmReading(msgspec.Struct, frozen=True):
    """The pager's alarm of a cell, that recall is below its target; as of the last period begun."""

    state: AlarmState | None
    """None: no label of this version holds the entity; not knowing isn't quiet."""
    evidence: float | None
    """Natural logarithm; it fires at `bar`."""
    bar: float
    promised_days: float
    """In the mean that many days at least up to a false alarm of this cell."""
    labelled: int
    """Labelled documents with the entity that it has seen."""
    y_max: int = 0
    """Occurrences that a document counts for, at most: the target is one of that recall."""
    fired_at: float | None = None
    """When the period ended in which it last crossed, s since the epoch."""
    fired_evidence: float | None = None
    """The evidence then; it begins anew afterwards."""
    on_since: float | None = None
    """When the period ended in which it went on; None while it's off."""
    counts_from: float | None = None
    """When the running period ends, s since the epoch, where documents were drawn in it: they count from then on."""
    restated: bool = False
    """Whether a label was corrected so that evidence which was published before is smaller now."""


class AlarmEvent(msgspec.Struct, frozen=True):
    """Something that somebody is told of: what happened in a cell, and why; of a new version, in all cells together."""

    entity: str
    language: str
    detector: str
    version: str
    cause: Cause
    at: float
    evidence: float | None
    windows_days: tuple[int | None, ...] = ()
    """`stopped_knowing`: the lengths of the windows whose number lapsed; None is of all days."""
    changed: Literal["rates", "version"] | None = None
    """`design_changed`: what of it."""
