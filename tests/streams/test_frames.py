"""An answer comes whole, however the network cuts it, and an end in its midst is an error."""

from __future__ import annotations

import asyncio
import ctypes
import random
import re
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import aiokafka.conn
import pytest

from streams.fetching import READ_AHEAD, read_ahead
from streams.frames import LARGE_BYTES, Frame, FrameProtocol

T = TypeVar("T")
SIZES = [1, 4, 1000, LARGE_BYTES - 1, LARGE_BYTES, LARGE_BYTES + 1, 300_000, 5, 3_000_000, 7, 8, LARGE_BYTES]


@dataclass
class Wire:
    """Both ends of a connection: a stock reader behind our protocol, and the socket that feeds it."""

    reader: asyncio.StreamReader
    protocol: FrameProtocol
    far: socket.socket

    async def send(self, data: bytes, pieces: Sequence[int] = ()) -> None:
        """Send it cut so, and the rest in one piece."""
        loop, at = asyncio.get_running_loop(), 0
        for size in pieces:
            await loop.sock_sendall(self.far, data[at : at + size])
            at += size
            await asyncio.sleep(0)
        await loop.sock_sendall(self.far, data[at:])


@asynccontextmanager
async def connected() -> AsyncIterator[Wire]:
    """Yield a connection that stands."""
    loop = asyncio.get_running_loop()
    ours, far = socket.socketpair()
    far.setblocking(False)  # noqa: FBT003  # its only argument
    closed: asyncio.Future[None] = loop.create_future()
    reader = asyncio.StreamReader(limit=READ_AHEAD, loop=loop)
    protocol = FrameProtocol(closed, reader, loop=loop)
    transport, _ = await loop.create_connection(lambda: protocol, sock=ours)
    try:
        yield Wire(reader, protocol, far)
    finally:
        transport.close()
        far.close()


def with_wire(play: Callable[[Wire], Awaitable[T]]) -> T:
    """Return what comes of a play on a connection, which may take 20 s."""

    async def run() -> T:
        async with asyncio.timeout(20), connected() as wire:
            return await play(wire)

    return asyncio.run(run())


def framed(answers: Sequence[bytes]) -> bytes:
    """Return answers as a broker sends them: each behind its length in four bytes."""
    return b"".join(struct.pack(">i", len(answer)) + answer for answer in answers)


async def read_all(reader: asyncio.StreamReader, count: int) -> list[bytes]:
    """Read so many, as aiokafka does."""
    found = []
    for _ in range(count):
        [size] = struct.unpack(">i", await reader.readexactly(4))
        found.append(await reader.readexactly(size))
    return found


@pytest.mark.parametrize("seed", range(8))
def test_answers_come_whole_however_they_are_cut(seed: int) -> None:
    """Sizes on both sides of the threshold, in any order, in pieces from a byte on."""
    rng = random.Random(seed)  # noqa: S311  # no secret
    answers = [rng.randbytes(size) for size in rng.sample(SIZES, len(SIZES))]
    pieces = [rng.choice([1, 2, 3, 5, 1000, 70_000, 400_000]) for _ in range(60)]

    async def play(wire: Wire) -> list[bytes]:
        sending = asyncio.create_task(wire.send(framed(answers), pieces))
        found = await read_all(wire.reader, len(answers))
        await sending
        return found

    assert with_wire(play) == answers


def test_answers_that_came_before_anybody_asked_are_all_there() -> None:
    """They lie in the stock reader's buffer by then."""
    answers = [b"a" * 10, b"b" * 200_000, b"c" * 100_000]

    async def play(wire: Wire) -> list[bytes]:
        await wire.send(framed(answers))
        await asyncio.sleep(0.05)
        return await read_all(wire.reader, 3)

    assert with_wire(play) == answers


def test_what_was_read_is_not_changed_by_what_comes_later() -> None:
    """Each answer is a new object."""

    async def play(wire: Wire) -> tuple[bytes, bytes]:
        await wire.send(b"x" * 100_000)
        first = await wire.reader.readexactly(100_000)
        await wire.send(b"y" * 100_000)
        return first, await wire.reader.readexactly(100_000)

    assert with_wire(play) == (b"x" * 100_000, b"y" * 100_000)


def test_an_end_in_the_midst_of_an_answer_is_an_error() -> None:
    """The client closes the connection then, and fails what waits for answers."""

    async def play(wire: Wire) -> None:
        reading = asyncio.create_task(wire.reader.readexactly(100_000))
        await wire.send(b"x" * 70_000)
        await asyncio.sleep(0.05)
        assert not reading.done()
        wire.far.close()
        with pytest.raises(asyncio.IncompleteReadError):
            await reading

    with_wire(play)


def test_a_broken_connection_is_its_own_error() -> None:
    """What broke it is what is raised."""

    async def play(wire: Wire) -> None:
        reading = asyncio.create_task(wire.reader.readexactly(100_000))
        await asyncio.sleep(0)
        wire.protocol.connection_lost(ConnectionResetError("reset"))
        with pytest.raises(ConnectionResetError, match="reset"):
            await reading

    with_wire(play)


def test_whoever_stops_waiting_leaves_what_comes_to_the_next() -> None:
    """A cancelled read takes nothing."""

    async def play(wire: Wire) -> bytes:
        reading = asyncio.create_task(wire.reader.readexactly(100_000))
        await asyncio.sleep(0)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        await wire.send(b"z" * 10)
        return await wire.reader.readexactly(10)

    assert with_wire(play) == b"z" * 10


def test_a_frame_is_not_given_away_before_it_is_full() -> None:
    """Somebody would see bytes change."""
    frame = Frame(3)
    frame.note(2)
    with pytest.raises(ValueError, match="2 of 3"):
        frame.take()


def test_every_connection_of_the_client_reads_so() -> None:
    """The client's module makes its protocol by this name."""
    read_ahead()
    assert vars(aiokafka.conn)["AIOKafkaProtocol"] is FrameProtocol


@pytest.mark.skipif(not Path("/sys/kernel/mm/transparent_hugepage").is_dir(), reason="this kernel has no huge pages")
def test_a_large_frame_asks_for_huge_pages() -> None:
    """The kernel's own flags of the memory say so: `hg`, proc(5)."""
    frame = Frame(16 << 20)
    frame.room()[:] = bytes(16 << 20)
    middle = ctypes.addressof(ctypes.c_char.from_buffer(frame.room())) + (8 << 20)
    inside = False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        place = re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line)
        if place:
            inside = int(place[1], 16) <= middle < int(place[2], 16)
        elif inside and line.startswith("VmFlags"):
            assert "hg" in line.split()
            return
    pytest.fail("the frame's memory isn't mapped")
