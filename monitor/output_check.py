"""What ROUTE does with a decision's redacted output: looks at it once, and counts what it still shows.

An output over which the check itself fails ends nothing: it's counted as not checked, and is in no share. Nothing is
counted of an output before all is known that is to be counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from monitor.leak_counts import LeakCounts, find_leaking
from monitor.leaks.coverage import Coverage, coverage_of
from monitor.leaks.findings import Checked
from monitor.leaks.policy import Policy
from monitor.leaks.screen import examine
from monitor.plan import Plan
from monitor.records import Decision, Span, Stratum
from monitor.spelling import Flagged, Spelling

Failed = Callable[[int, Exception], None]


class Looked(NamedTuple):
    """An output that was looked at."""

    text: str
    spans: Sequence[Span]
    """Under folded names."""
    redacted: str
    found: Checked
    policy: Policy


class OutputCheck:
    """The look at outputs under one plan.

    Parameters
    ----------
    plan
        Its policy says what may stay; `redaction.check` whether anything is looked at.
    spelling
        Gives the names that entities are counted under.
    failed
        Called with the offset of a decision over whose output the check failed, and with what it raised.
    """

    __slots__ = ("_failed", "_is_on", "_net", "_policy", "_spelling")

    def __init__(self, plan: Plan, spelling: Spelling, failed: Failed) -> None:
        self._is_on = plan.config.redaction.check
        self._policy = plan.policy
        self._net = plan.net
        self._spelling = spelling
        self._failed = failed

    def look(
        self, decision: Decision, flagged: Flagged, stratum: Stratum, counts: LeakCounts, offset: int
    ) -> Looked | None:
        """Count what a decision's output still shows; None where it has none, nobody asked, or the check failed.

        Raises `MemoryError`: where memory is short, the next output fares no better.
        """
        if decision.redacted is None or not self._is_on:
            return None
        try:
            return self._look(decision, decision.redacted, flagged, stratum, counts)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  # whatever it is, the decision counts and the partition goes on
            self._failed(offset, error)
            return None

    def _look(
        self, decision: Decision, redacted: str, flagged: Flagged, stratum: Stratum, counts: LeakCounts
    ) -> Looked:
        policy, entities = self._policy, flagged.entities
        spans = self._spelling.folded(flagged)
        found = examine(decision.text, spans, redacted, policy, self._net)
        if policy.entities:
            named = zip(entities, spans, strict=True)
            entities = [name for name, span in named if not policy.of(span.entity).ignore]
        if not found.leaks:
            counts.count(stratum, entities, found, len(decision.text))
            return Looked(decision.text, spans, redacted, found, policy)
        leaking = find_leaking(spans, found, policy)
        names = {leak.entity: self._spelling.counted(leak.entity) for leak in found.leaks}
        counts.count(stratum, entities, found, len(decision.text))
        counts.add_leaks(stratum, found, leaking, names.__getitem__)
        return Looked(decision.text, spans, redacted, found, policy)

    def coverage(self, looked: Looked | None, offset: int) -> Coverage | None:
        """Return what an output shows nothing of; None where it wasn't looked at, or telling that failed."""
        if looked is None:
            return None
        try:
            return coverage_of(*looked)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  # as above: the document is drawn without it
            self._failed(offset, error)
            return None
