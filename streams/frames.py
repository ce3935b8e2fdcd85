"""A Kafka answer of megabytes, taken from the socket into the object that the client decodes.

asyncio's stream copies it three times before the client sees it: out of the socket into blocks of 256 KiB, each mapped
anew; to the end of a buffer; and out of that again. On transcripts of 5 KB that was 10 of 39 µs a record, most of it
under Python's lock, while no fold could run. Here the kernel copies it once, without the lock.
"""

from __future__ import annotations

import asyncio
import ctypes
import mmap
import sys
from typing import Any

import aiokafka.conn

LARGE_BYTES = 64 << 10
"""Answers from this size on are read so; a smaller one costs less than what this needs by itself."""

_new_bytes = ctypes.pythonapi.PyBytes_FromStringAndSize
_new_bytes.argtypes, _new_bytes.restype = (ctypes.c_void_p, ctypes.c_ssize_t), ctypes.py_object
_start_of = ctypes.pythonapi.PyBytes_AsString
_start_of.argtypes, _start_of.restype = (ctypes.py_object,), ctypes.c_void_p
_PAGE = mmap.PAGESIZE
_HUGE_BYTES = 2 << 20
"""A huge page, on most machines; memory that holds none isn't asked for any."""
if sys.platform == "linux":
    _advise = ctypes.CDLL(None).madvise
    _advise.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int


def _use_huge_pages(start: int, size: int) -> None:
    """Ask the kernel to back memory that nobody has touched yet with huge pages, madvise(2), where it has them.

    An answer of 8 MB takes 2,000 page faults otherwise, half of those of a worker, which cost it 5 % of its CPU time.
    It's a wish: where it isn't granted, nothing is different.
    """
    if sys.platform == "linux" and size >= _HUGE_BYTES:
        first = -(-start // _PAGE) * _PAGE
        _advise(first, start + size - first, mmap.MADV_HUGEPAGE)


class Frame:
    """A bytes object that is being filled.

    Python's C API allows to write into one that was just made without contents and that nobody else has seen
    (`PyBytes_FromStringAndSize` with NULL): so `take` gives it away when it's full and not before.

    Parameters
    ----------
    size
        In bytes, above 0.

    >>> frame = Frame(5)
    >>> frame.room()[:2] = b"ab"
    >>> frame.note(2)
    >>> frame.is_full()
    False
    >>> frame.room()[:] = b"cde"
    >>> frame.note(3)
    >>> frame.take()
    b'abcde'
    """

    def __init__(self, size: int) -> None:
        self._bytes: bytes = _new_bytes(None, size)
        start = _start_of(self._bytes)
        _use_huge_pages(start, size)
        self._room = memoryview((ctypes.c_char * size).from_address(start)).cast("B")
        self._filled = 0

    def is_full(self) -> bool:
        """Return whether nothing is left to be filled."""
        return self._filled == len(self._room)

    def room(self) -> memoryview:
        """Return what is left to be filled; it's only good while the frame is."""
        return self._room[self._filled :]

    def note(self, count: int) -> None:
        """Take the next `count` bytes for filled."""
        self._filled += count

    def take(self) -> bytes:
        """Return the whole.

        Raises
        ------
        ValueError
            Where it isn't full.

        """
        if not self.is_full():
            raise ValueError(f"{self._filled} of {len(self._room)} bytes are there")
        return self._bytes


class FrameProtocol(aiokafka.conn.AIOKafkaProtocol, asyncio.BufferedProtocol):  # type: ignore[misc]  # it has no types
    """Reads into the frame that is awaited, else into the stock reader's own buffer.

    Parameters
    ----------
    closed
        Is done once the connection is lost.
    reader
        The connection's. Its `readexactly` is replaced.
    loop
        Of the connection.
    """

    def __init__(self, closed: asyncio.Future[None], reader: asyncio.StreamReader, loop: Any) -> None:  # noqa: ANN401  # aiokafka's
        super().__init__(closed, reader, loop=loop)
        self._reader = reader
        self._read_small = reader.readexactly
        self._frame: Frame | None = None
        self._piece = memoryview(bytearray(LARGE_BYTES))
        reader.readexactly = self._read  # type: ignore[method-assign]  # the connection makes its reader itself

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002  # asyncio's signature
        """Return where the transport is to put what comes next."""
        frame = self._frame
        return self._piece if frame is None or frame.is_full() else frame.room()

    def buffer_updated(self, nbytes: int) -> None:
        """Note that so many bytes have come."""
        frame = self._frame
        if frame is None or frame.is_full():
            self._reader.feed_data(self._piece[:nbytes])
            return
        frame.note(nbytes)
        if frame.is_full():
            self._reader._wakeup_waiter()  # type: ignore[attr-defined]  # noqa: SLF001  # as `feed_data` does

    async def _read(self, n: int) -> bytes:
        """Return exactly `n` bytes, as `StreamReader.readexactly` does, but for what came of an answer cut short."""
        if n < LARGE_BYTES:
            return await self._read_small(n)
        reader: Any = self._reader  # what it keeps to itself is needed
        frame = Frame(n)
        begun = await self._read_small(min(n, len(reader._buffer)))  # noqa: SLF001  # see above
        frame.room()[: len(begun)] = begun
        frame.note(len(begun))
        self._frame = frame
        try:
            while not frame.is_full():
                if reader.exception() is not None:
                    raise reader.exception()
                if reader._eof:  # noqa: SLF001  # see above
                    raise asyncio.IncompleteReadError(b"", n)
                await reader._wait_for_data("readexactly")  # noqa: SLF001  # see above
        finally:
            self._frame = None
        return frame.take()
