"""What a decision flagged: its spans checked, filtered by threshold and folded by name, in one pass.

The hot loop of ROUTE. A profile of 5 KB transcripts with seven spans gave a third of all the time to three loops over
the spans: checks, threshold and names, counts. Checks and names are one loop now. Spans that come in the order of
their starts, no two at the same one, can't be twice the same: only others pay for a dictionary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from monitor.entities import Aliases, usable_name
from monitor.names import BoundedNames
from monitor.records import Decision, Span
from monitor.salvage import LONGEST_BLANK
from monitor.sizes import LONGEST_ENTITY

_CACHED = 10_000
_flagged = tuple.__new__  # without the frame that a named tuple's own constructor is: 0.2 µs a record


class Flagged(NamedTuple):
    """The spans that count as decisions, and beside each the name that the census counts it under."""

    spans: Sequence[Span]
    """With the producer's own names: they are folded anew where they are compared with a label's, so that a change of
    aliases means both."""
    entities: list[str]


class Spelling:
    """How entity names are folded, and which of the unknown ones are kept apart.

    Parameters
    ----------
    aliases
        Of the plan in force.
    kept
        Unknown names that are counted apart; part of the partition's state.
    day
        The open day: when a name is admitted it is noted as in use.
    """

    __slots__ = ("_aliases", "_cache", "_day", "_kept")

    def __init__(self, aliases: Aliases, kept: BoundedNames, day: int) -> None:
        self._aliases = aliases
        self._kept = kept
        self._day = day
        self._cache: dict[str, tuple[str, str]] = {}

    def read(self, decision: Decision) -> Flagged | None:
        """Return the spans at or over the decision's own threshold, those that are identical once folded once.

        Of two identical spans the one with the higher score stays. None where a span can't be used as it is
        (`monitor.salvage` says why and sets it aside; `read_usable` takes what is left).
        """
        spans: list[Span] = []
        entities: list[str] = []
        given = decision.spans
        if not given:  # as of most short texts
            return _flagged(Flagged, (spans, entities))
        text, threshold, cache = decision.text, decision.threshold, self._cache
        length = len(text)
        last, ordered = -1, True
        for span in given:
            start, end, score, entity = span.start, span.end, span.score, span.entity
            spelled = cache.get(entity)
            # 0.0 and not 0: comparing a float with a whole number takes twice as long
            if (
                not 0 <= start < end <= length
                or (score is not None and not 0.0 <= score <= 1.0)
                or (spelled is None and not _usable(entity))
                or (text[start].isspace() and text[start : min(end, start + LONGEST_BLANK)].isspace())
            ):
                return None
            if threshold is not None and score is not None and score < threshold:
                continue
            if spelled is None:
                spelled = self._spell(entity)
            if start <= last:
                ordered = False
            last = start
            spans.append(span)
            entities.append(spelled[1])
        return _flagged(Flagged, (spans, entities)) if ordered else self._once_each(spans, entities)

    def read_usable(self, decision: Decision) -> Flagged:
        """Return what `read` does, of a decision whose spans were checked one by one."""
        threshold = decision.threshold
        spans = [s for s in decision.spans if threshold is None or s.score is None or s.score >= threshold]
        return self._once_each(spans, [(self._cache.get(s.entity) or self._spell(s.entity))[1] for s in spans])

    def _once_each(self, spans: Sequence[Span], entities: Sequence[str]) -> Flagged:
        """Return the spans without those that are others again; the first place, the highest score."""
        found: dict[tuple[int, int, str], Span] = {}
        counted: list[str] = []
        for span, entity in zip(spans, entities, strict=True):
            key = (span.start, span.end, self._aliases.fold(span.entity))
            held = found.get(key)
            if held is None:
                counted.append(entity)
                found[key] = span
            elif span.score is not None and (held.score is None or span.score > held.score):
                found[key] = span
        return Flagged(list(found.values()), counted)

    def folded(self, flagged: Flagged) -> Sequence[Span]:
        """Return the spans under their folded names, which tell better than a producer's own what a value is."""
        spans, entities = flagged
        if [span.entity for span in spans] == entities:  # most producers' names are folded ones
            return spans
        fold = self._aliases.fold
        return [Span(s.start, s.end, fold(s.entity), s.score) for s in spans]

    def counted(self, entity: str) -> str:
        """Return the name that the census counts an entity under."""
        return (self._cache.get(entity) or self._spell(entity))[1]

    def _spell(self, entity: str) -> tuple[str, str]:
        """Return an entity's folded name, and the one that the census counts it under."""
        name = self._aliases.fold(entity)
        counted = name if self._aliases.known(name) else self._kept.admit(name, self._day)
        if len(self._cache) >= _CACHED:
            self._cache.clear()
        self._cache[entity] = name, counted
        return name, counted


def _usable(entity: str) -> bool:
    return len(entity) <= LONGEST_ENTITY and (entity.isidentifier() or usable_name(entity))
