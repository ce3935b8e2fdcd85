"""Whether the consumer group certainly still counts this worker in.

A worker that was frozen (SIGSTOP, a paused machine) for longer than the session's timeout was taken for dead, and its
partitions were given to others; it finds out at its next heartbeat. Until then it would read on: beyond what
stood in the topic when others took over, under a config that they may have changed meanwhile, and it would put a change
of config on record for partitions that aren't its own. The broker counts a session from the last heartbeat that it
received, which is no earlier than the moment we sent it: within the timeout of that moment nobody else has our
partitions, past it nobody can say before the next answer.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any, Protocol


class Coordinator(Protocol):
    """The two calls of aiokafka's coordinator, private ones, that a broker's answer to them renews the session."""

    _do_heartbeat: Callable[[], Awaitable[bool]]
    _on_join_complete: Callable[..., Awaitable[None]]


class Lease:
    """Counts from the last sign that the group knew us.

    Parameters
    ----------
    session_s
        The session's timeout, seconds.
    clock
        Seconds that go on while the process is frozen.

    """

    def __init__(self, session_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._session_s = session_s
        self._clock = clock
        self._renewed_at = clock()

    @property
    def held(self) -> bool:
        """Whether nobody else can have our partitions."""
        return self._clock() - self._renewed_at < self._session_s

    def watch(self, coordinator: Coordinator) -> None:
        """Renew the lease with every heartbeat that is answered, and whenever the group was joined."""
        beat, join = coordinator._do_heartbeat, coordinator._on_join_complete  # noqa: SLF001  # no public sign of either

        async def beat_and_note() -> bool:
            sent_at = self._clock()
            known = await beat()
            if known:
                self._renewed_at = sent_at
            return known

        async def join_and_note(*args: Any) -> None:  # noqa: ANN401  # aiokafka's own arguments, passed on
            self._renewed_at = self._clock()
            await join(*args)

        coordinator._do_heartbeat = beat_and_note  # noqa: SLF001  # see above
        coordinator._on_join_complete = join_and_note  # noqa: SLF001  # see above
