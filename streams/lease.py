"""Whether the consumer group certainly still counts this worker in.

A worker that was frozen (SIGSTOP, a suspended machine) for longer than the session's timeout was taken for dead, and
its partitions were given to others; it finds out at its next heartbeat. Until then it would read on: beyond what
stood in the topic when others took over, under a config that they may have changed meanwhile, and it would put a change
of config on record for partitions that aren't its own. The broker counts a session from the last request that it
received, which is no earlier than the moment we sent it: within the timeout of that moment nobody else has our
partitions, past it nobody can say before the next answer.

On Linux `time.monotonic` stands still while the machine is suspended, so `CLOCK_BOOTTIME` is read there. Where a
platform has no such clock a suspension isn't seen; nor is one that a hypervisor hides from both clocks of its guest.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Protocol

from aiokafka.protocol.group import HeartbeatRequest, SyncGroupRequest

_AWAKE_OR_NOT: Callable[[], float] = (
    partial(time.clock_gettime, time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic
)


class Coordinator(Protocol):
    """The call of aiokafka's coordinator, a private one, through which all its requests go."""

    _send_req: Callable[[Any], Awaitable[Any]]


class Lease:
    """Counts from the last sign that the group knew us.

    Parameters
    ----------
    session_s
        The session's timeout, seconds.
    clock
        Seconds that go on while the process is frozen or the machine suspended.

    """

    def __init__(self, session_s: float, clock: Callable[[], float] = _AWAKE_OR_NOT) -> None:
        self.session_s = session_s
        self._clock = clock
        self._renewed_at = clock()

    @property
    def held(self) -> bool:
        """Whether nobody else can have our partitions."""
        return self._clock() - self._renewed_at < self.session_s

    def watch(self, coordinator: Coordinator) -> None:
        """Renew the lease with every heartbeat that is answered, and with the request that gives us partitions.

        Not with the one before, JoinGroup: its answer takes as long as the slowest member of the group. While a
        rebalance waits for us heartbeats are answered with an error, and the broker waits no longer than it said.
        """
        send = coordinator._send_req  # noqa: SLF001  # no public sign of either

        async def send_and_note(request: Any) -> Any:  # noqa: ANN401  # aiokafka's own, passed on
            sent_at = self._clock()
            answer = await send(request)
            if isinstance(request, HeartbeatRequest | SyncGroupRequest) and answer.error_code == 0:
                self._renewed_at = sent_at
            return answer

        coordinator._send_req = send_and_note  # noqa: SLF001  # see above
