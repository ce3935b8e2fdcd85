"""What ROUTE does with a decision's redacted output: looks at it once, and counts what it still shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from monitor.leak_counts import LeakCounts, find_leaking
from monitor.leaks.coverage import Coverage, coverage_of
from monitor.leaks.findings import Checked
from monitor.leaks.policy import Policy
from monitor.leaks.screen import examine
from monitor.plan import Plan
from monitor.records import Decision, Span, Stratum
from monitor.spelling import Flagged, Spelling


class Looked(NamedTuple):
    """An output that was looked at."""

    text: str
    spans: Sequence[Span]
    """Under folded names."""
    redacted: str
    found: Checked
    policy: Policy

    def coverage(self) -> Coverage:
        """Return what the output shows nothing of."""
        return coverage_of(*self)


class OutputCheck:
    """The look at outputs under one plan.

    Parameters
    ----------
    plan
        Its policy says what may stay; `redaction.check` whether anything is looked at.
    spelling
        Gives the names that entities are counted under.
    """

    __slots__ = ("_is_on", "_net", "_policy", "_spelling")

    def __init__(self, plan: Plan, spelling: Spelling) -> None:
        self._is_on = plan.config.redaction.check
        self._policy = plan.policy
        self._net = plan.net
        self._spelling = spelling

    def look(self, decision: Decision, flagged: Flagged, stratum: Stratum, counts: LeakCounts) -> Looked | None:
        """Count what a decision's output still shows; None where it has none, or nobody asked."""
        redacted, policy, entities = decision.redacted, self._policy, flagged.entities
        if redacted is None or not self._is_on:
            return None
        spans = self._spelling.folded(flagged)
        found = examine(decision.text, spans, redacted, policy, self._net)
        if policy.entities:
            named = zip(entities, spans, strict=True)
            entities = [name for name, span in named if not policy.of(span.entity).ignore]
        counts.count(stratum, entities, found, len(decision.text))
        if found.leaks:
            counts.add_leaks(stratum, found, find_leaking(spans, found, policy), self._spelling.counted)
        return Looked(decision.text, spans, redacted, found, policy)
