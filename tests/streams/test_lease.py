"""A worker's partitions are its own for as long as the group's last sign that it knew it isn't older than a session."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.consumer.group_coordinator import CoordinatorGroupRebalance, GroupCoordinator
from aiokafka.protocol.commit import OffsetFetchRequest
from aiokafka.protocol.group import HeartbeatRequest, SyncGroupRequest

from streams.lease import Lease

HEARTBEAT = HeartbeatRequest("group", 3, "member")
SYNC = SyncGroupRequest("group", 3, "member", None, [])


class FakeCoordinator:
    """Answers requests as told; an answer takes a second."""

    def __init__(self, clock: list[float]) -> None:
        self.clock = clock
        self.error_code = 0
        self._send_req: Callable[[Any], Awaitable[Any]] = self.answer

    async def answer(self, request: object) -> SimpleNamespace:
        """Answer."""
        self.clock[0] += 1.0
        return SimpleNamespace(error_code=self.error_code, request=request)

    def send(self, request: object) -> SimpleNamespace:
        """Do as the client library does."""

        async def sent() -> SimpleNamespace:
            answer: SimpleNamespace = await self._send_req(request)
            return answer

        return asyncio.run(sent())


def rig() -> tuple[list[float], FakeCoordinator, Lease]:
    """Return a clock in hand, a coordinator, and a lease of six seconds that watches it."""
    clock = [0.0]
    coordinator, lease = FakeCoordinator(clock), Lease(6.0, lambda: clock[0])
    lease.watch(coordinator)
    return clock, coordinator, lease


@pytest.mark.parametrize("request_", [HEARTBEAT, SYNC], ids=["heartbeat", "sync"])
def test_a_lease_counts_from_when_the_answered_request_was_sent(request_: object) -> None:
    """The broker may have received it at once, and nobody can tell how long its answer took."""
    clock, coordinator, lease = rig()
    clock[0] = 5.0
    assert coordinator.send(request_).request is request_
    clock[0] = 10.9
    assert lease.held
    clock[0] = 11.0
    assert not lease.held


def test_a_heartbeat_that_is_refused_renews_nothing() -> None:
    """Whoever was taken for dead stays without a lease until it has partitions again."""
    clock, coordinator, lease = rig()
    clock[0] = 7.0
    coordinator.error_code = 25
    assert coordinator.send(HEARTBEAT).error_code == 25
    assert not lease.held
    coordinator.error_code = 0
    coordinator.send(SYNC)
    assert lease.held


def test_other_requests_renew_nothing() -> None:
    """Committed offsets are told to anybody, and tell nothing of a session."""
    clock, coordinator, lease = rig()
    clock[0] = 7.0
    coordinator.send(OffsetFetchRequest("group", []))
    assert not lease.held


def test_time_goes_on_while_the_machine_is_suspended() -> None:
    """Linux has a clock that does."""
    if not hasattr(time, "CLOCK_BOOTTIME"):
        pytest.skip("no clock here that counts a suspension")
    before = time.clock_gettime(time.CLOCK_BOOTTIME)
    lease = Lease(6.0)
    assert before <= lease._renewed_at <= time.clock_gettime(time.CLOCK_BOOTTIME)  # noqa: SLF001  # whence it counts


def test_the_client_library_has_what_is_watched() -> None:
    """It is private: another version of it may do without it, or send heartbeats and joins by another way."""
    assert inspect.iscoroutinefunction(vars(GroupCoordinator)["_send_req"])
    beat, sync = GroupCoordinator._do_heartbeat, CoordinatorGroupRebalance._send_sync_group_request  # noqa: SLF001  # see above
    assert "self._send_req(" in inspect.getsource(beat)
    assert "self._coordinator._send_req(" in inspect.getsource(sync)
