"""What the check of a redacted output finds: kinds, names, lengths and offsets. Never text."""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["partial_mask", "edge_fragment", "survives_elsewhere", "shifted_mask", "net_on_output", "untouched"]
KINDS: tuple[Kind, ...] = (
    "partial_mask",
    "edge_fragment",
    "survives_elsewhere",
    "shifted_mask",
    "net_on_output",
    "untouched",
)


class Leak(NamedTuple):
    """Something of one flagged span that the output still shows. All offsets are code points, half-open."""

    kind: Kind
    entity: str
    """The span's own name, as it was handed in."""
    start: int
    end: int
    """The stretch of the source that survives: the span, or the piece of it."""
    output_start: int
    output_end: int
    """Where it stands in the output."""


class Checked(NamedTuple):
    """What a check found in one document."""

    aligned: bool
    """Whether the output is the text with stretches replaced; otherwise it was searched for values alone."""
    leaks: tuple[Leak, ...]
    """At most one of a kind for a span and a place; sorted by start and kind."""
    masked: tuple[tuple[int, int], ...]
    """Stretches of the source that the output doesn't show where they stood, sorted; none where it isn't aligned."""
    replaced_spans: int
    """Spans of which something was replaced: the trials of "share of redactions with a leak".

    Without those that lie inside another and those of ignored entities.
    """
