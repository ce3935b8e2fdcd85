"""A change of plan on the history topic: which config decides from which offset of which partition on."""

from __future__ import annotations

import msgspec

from monitor.fold import Output
from monitor.plan import Plan


class ChangeRecord(msgspec.Struct, frozen=True):
    """A change of plan, as the history topic keeps it."""

    topic: str
    partition: int
    offset: int
    config: str
    thinning: float
    at: float


def change_record(topic: str, partition: int, offset: int, plan: Plan, at_s: float) -> Output:
    """Return the history record of a change of plan.

    The time is part of its key: of two changes at one offset the later decides, and the topic keeps both.
    """
    change = ChangeRecord(topic, partition, offset, plan.id, plan.thinning, at_s)
    key = f"change/{topic}/{partition}/{offset}/{int(at_s * 1000)}"
    return Output("history", key.encode(), msgspec.json.encode(change))
