"""A worker's partitions are its own for as long as the group's last sign that it knew it isn't older than a session."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable

from aiokafka.consumer.group_coordinator import GroupCoordinator

from streams.lease import Lease


class FakeCoordinator:
    """Answers heartbeats as told; an answer takes a second."""

    def __init__(self, clock: list[float]) -> None:
        self.clock = clock
        self.knows_us = True
        self.joined: list[object] = []
        self._do_heartbeat: Callable[[], Awaitable[bool]] = self.beat
        self._on_join_complete: Callable[..., Awaitable[None]] = self.join

    async def beat(self) -> bool:
        """Answer."""
        self.clock[0] += 1.0
        return self.knows_us

    async def join(self, *args: object) -> None:
        """Note what came."""
        self.joined += args

    def run_heartbeat(self) -> bool:
        """Do as the client library's own loop does."""
        return asyncio.run(self._do_heartbeat())

    def run_join(self) -> None:
        """Do as the client library does once it has its partitions."""
        asyncio.run(self._on_join_complete(3, "member"))


def rig() -> tuple[list[float], FakeCoordinator, Lease]:
    """Return a clock in hand, a coordinator, and a lease of six seconds that watches it."""
    clock = [0.0]
    coordinator, lease = FakeCoordinator(clock), Lease(6.0, lambda: clock[0])
    lease.watch(coordinator)
    return clock, coordinator, lease


def test_a_lease_counts_from_when_the_answered_heartbeat_was_sent() -> None:
    """The broker may have received it at once, and nobody can tell how long its answer took."""
    clock, coordinator, lease = rig()
    clock[0] = 5.0
    assert coordinator.run_heartbeat()
    clock[0] = 10.9
    assert lease.held
    clock[0] = 11.0
    assert not lease.held


def test_a_heartbeat_that_is_refused_renews_nothing() -> None:
    """Whoever was taken for dead stays without a lease until it has joined again, arguments passed on."""
    clock, coordinator, lease = rig()
    coordinator.knows_us = False
    clock[0] = 7.0
    assert not coordinator.run_heartbeat()
    assert not lease.held
    coordinator.run_join()
    assert lease.held
    assert coordinator.joined == [3, "member"]


def test_the_client_library_has_what_is_watched() -> None:
    """Both are private: another version of it may do without them."""
    watched = [vars(GroupCoordinator)[name] for name in ("_do_heartbeat", "_on_join_complete")]
    assert all(map(inspect.iscoroutinefunction, watched))
