"""What a redactor makes of the bench's transcripts: the flagged values are replaced everywhere, in a few of them badly.

A detector that flags a value flags it wherever it stands: where the check finds one left, that place is flagged too,
and a rest beside a mask is taken into it. So most outputs show nothing, as a redactor's are that works; one in
`LEAKY` keeps the last two characters of a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from monitor.leaks.policy import Policy
from monitor.leaks.screen import examine
from monitor.net import Net, build_net
from monitor.records import Decision, Span

LEAKY = 50
"""Of so many documents the output of one has a leak."""
_LEFT = 2  # characters
_ROUNDS = 6
_KEEPS_NOTHING = Policy()


class Redaction(NamedTuple):
    """What was flagged, in order, and the output."""

    spans: list[Span]
    output: str


def with_outputs(decisions: Iterable[Decision]) -> Iterator[Decision]:
    """Yield the decisions with their outputs; those that can't be redacted as they should are left out."""
    net = build_net(defaults=True, patterns={}, triggers=())
    owed = 0
    for number, decision in enumerate(decisions):
        redaction = redact(decision.text, decision.spans, net)
        if redaction is None:
            continue
        owed += number % LEAKY == 0
        spoiled = spoil(decision.text, redaction, net) if owed else None
        owed -= spoiled is not None
        spans, output = spoiled or redaction
        yield msgspec.structs.replace(decision, spans=spans, redacted=output)


def redact(text: str, spans: Sequence[Span], net: Net) -> Redaction | None:
    """Return an output that shows nothing of what is flagged, more being flagged where that takes it.

    None for a text with which that doesn't work out within a few rounds.
    """
    flagged = sorted(spans, key=lambda s: s.start)
    for _ in range(_ROUNDS):
        output = _replaced(text, flagged)
        found = examine(text, flagged, output, _KEEPS_NOTHING, net)
        if not found.leaks:
            return Redaction(flagged, output) if found.aligned else None
        places = [_source_of(leak.output_start, leak.output_end, flagged) for leak in found.leaks]
        more = [Span(*place, leak.entity, 0.9) for place, leak in zip(places, found.leaks, strict=True)]
        flagged = _joined([*flagged, *more])
    return None


def spoil(text: str, redaction: Redaction, net: Net) -> Redaction | None:
    """Return the redaction with the last two characters of its last value left; None where that's no leak."""
    spans = redaction.spans
    if not spans:
        return None
    cut = [*spans[:-1], Span(spans[-1].start, spans[-1].end - _LEFT, spans[-1].entity)]
    output = _replaced(text, cut)
    return Redaction(spans, output) if examine(text, spans, output, _KEEPS_NOTHING, net).leaks else None


def _replaced(text: str, spans: Sequence[Span]) -> str:
    pieces: list[str] = []
    at = 0
    for span in spans:
        pieces += text[at : span.start], f"<{span.entity}>"
        at = span.end
    return "".join(pieces) + text[at:]


def _source_of(start: int, end: int, spans: Sequence[Span]) -> tuple[int, int]:
    """Return where in the text a stretch of the output stands that lies between the placeholders."""
    by = 0
    for span in spans:
        if span.start + by >= start:
            break
        by += len(span.entity) + 2 - (span.end - span.start)
    return start - by, end - by


def _joined(spans: Sequence[Span]) -> list[Span]:
    """Return spans in order, those that overlap or touch as one."""
    joined: list[Span] = []
    for span in sorted(spans, key=lambda s: s.start):
        if joined and span.start <= joined[-1].end:
            last = joined.pop()
            joined.append(Span(last.start, max(last.end, span.end), last.entity, 0.9))
        else:
            joined.append(span)
    return joined
