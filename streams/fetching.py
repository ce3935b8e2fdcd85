"""How the Kafka client fetches, where its own ways would make a worker stand still.

The client has one fetch under way at a broker. While records of some partitions still wait to be taken from it, longer
than a tenth of a second, it fetches for the others; where those have nothing new, the broker keeps that request for
1.5 s, and the partitions that were taken meanwhile, a full backlog behind them, are not fetched before it answers. Seen
in one run of five seconds out of two, and 1.46 s each. Such a request is answered at once here.
"""

from __future__ import annotations

from typing import Any

import aiokafka.conn
from aiokafka.consumer.fetcher import Fetcher

HURRIED_WAIT_MS = 20
"""How long the broker may keep a request that leaves partitions out; the least of these that isn't a busy loop."""
READ_AHEAD = 16 << 20
"""Bytes of an answer that are taken in before the connection pauses. The client's own 64 KiB let it pause and resume at
every piece of an answer of 8 MB, a twentieth of a worker's time."""


def read_ahead() -> None:
    """Let every connection that is made from now on take in a whole answer without pausing."""
    vars(aiokafka.conn)["READER_LIMIT"] = READ_AHEAD


def hurry(fetcher: Fetcher) -> None:
    """Have a request that leaves out partitions, because their records still wait here, answered soon."""
    plan, usual_ms = fetcher._get_actions_per_node, fetcher._fetch_max_wait_ms  # noqa: SLF001  # no public way to either

    def plan_in_haste(assignment: Any) -> Any:  # noqa: ANN401  # aiokafka's own, passed on
        fetcher._fetch_max_wait_ms = HURRIED_WAIT_MS if fetcher._records else usual_ms  # noqa: SLF001  # see above
        return plan(assignment)

    fetcher._get_actions_per_node = plan_in_haste  # noqa: SLF001  # see above
