"""How the Kafka client fetches, where its own ways would make a worker stand still.

The client has one fetch under way at a broker. While records of some partitions still wait to be taken from it, longer
than a tenth of a second, it fetches for the others; where those have nothing new, the broker keeps that request for
1.5 s, and the partitions that were taken meanwhile, a full backlog behind them, are not fetched before it answers. Seen
in one run of five seconds out of two, and 1.46 s each. Such a request is answered within 20 ms here.

All others are answered after a fifth of a second: a broker takes the requests of a connection one after the other, so
the one under way holds up whatever a worker asks when it opens its folds, and the fetch at their positions. A restart
took 2 s longer so. Nobody waits for records because of it: the broker answers as soon as there are any.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import aiokafka.conn
from aiokafka.consumer.fetcher import Fetcher

from streams.frames import FrameProtocol

WAIT_MS = 200
"""How long the broker may keep a request that it has nothing for."""
HURRIED_WAIT_MS = 20
"""The same while records wait here, and so are left out of the request; less would be a busy loop. It's one number for
all brokers: those from which nothing waits are asked as often meanwhile."""
READ_AHEAD = 16 << 20
"""Half of the bytes at which a connection that isn't read from pauses. The client's own 64 KiB let it pause and resume
at every piece of an answer of 8 MB, a twentieth of a worker's time."""


def read_ahead() -> None:
    """Let every connection of this process that is made from now on take in an answer in one go, and copied once."""
    vars(aiokafka.conn).update(READER_LIMIT=READ_AHEAD, AIOKafkaProtocol=FrameProtocol)


def hurry(fetcher: Fetcher, taken: Callable[[], Collection[tuple[str, int]]]) -> None:
    """Have no request stand at the broker for long, and one that leaves partitions out hardly at all.

    Parameters
    ----------
    fetcher
        Of a client that was started.
    taken
        The partitions whose records are taken from the client these days. What it holds of others, such as changelogs
        once they were recovered, it holds for ever.
    """
    plan = fetcher._get_actions_per_node  # noqa: SLF001  # no public way to it

    def plan_in_haste(assignment: Any) -> Any:  # noqa: ANN401  # aiokafka's own, passed on
        held, partitions = fetcher._records, taken()  # noqa: SLF001  # see above
        waiting = any(partition in partitions for partition in held)
        fetcher._fetch_max_wait_ms = HURRIED_WAIT_MS if waiting else WAIT_MS  # noqa: SLF001  # see above
        return plan(assignment)

    fetcher._get_actions_per_node = plan_in_haste  # noqa: SLF001  # see above
