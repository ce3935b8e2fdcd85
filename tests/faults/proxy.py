"""A TCP proxy before the broker: what goes through it can be slowed down, held up or cut off."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from types import TracebackType
from typing import Literal, Self

State = Literal["open", "slow", "silent", "closed"]
"""`slow` delays each piece, `silent` holds back what comes and loses nothing, `closed` refuses and cuts off."""


class Proxy:
    """Listens on loopback in a thread of its own, so that no work of the suite's slows it down.

    Parameters
    ----------
    port
        Where it listens.
    upstream
        The broker's own port.

    """

    def __init__(self, port: int, upstream: int) -> None:
        self.port = port
        self._upstream = upstream
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._delay_s = 0.0
        self._flowing = asyncio.Event()

    def __enter__(self) -> Self:
        """Start to listen."""
        self._thread.start()
        self.turn("open")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close everything."""
        self._do(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def turn(self, state: State, delay_s: float = 0.0) -> None:
        """Change what happens to the connections; `delay_s` is how late each piece is where it's slow."""
        self._do(self._turn(state, delay_s))

    def _do(self, work: Coroutine[None, None, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    async def _turn(self, state: State, delay_s: float) -> None:
        self._delay_s = delay_s if state == "slow" else 0.0
        if state == "silent":
            self._flowing.clear()
        else:
            self._flowing.set()
        if state == "closed":
            await self._close()
        else:
            await self._open()

    async def _open(self) -> None:
        if self._server is None:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in list(self._writers):
            writer.transport.abort()

    async def _end(self) -> None:
        await self._close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._join(reader, writer)
        except (OSError, asyncio.CancelledError):
            writer.transport.abort()
        finally:
            self._tasks.discard(task)

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._upstream)
        both = {writer, back}
        self._writers |= both
        try:
            await asyncio.gather(self._copy(reader, back), self._copy(there, writer))
        finally:
            self._writers -= both
            for one in both:
                one.close()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            if self._delay_s:
                await asyncio.sleep(self._delay_s)
            await self._flowing.wait()
            writer.write(data)
            await writer.drain()
        writer.close()
