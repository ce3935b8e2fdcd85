"""stub."""

from __future__ import annotations
from collections.abc import Sequence
from monitor.leaks.check import check
from monitor.leaks.policy import Policy
from monitor.net import Net
from monitor.records import Span


def suspicious(text: str, spans: Sequence[Span], redacted: str, policy: Policy, net: Net | None = None) -> bool:
    """Stub."""
    found = check(text, spans, redacted, policy, net)
    return bool(found.leaks) or not found.aligned
