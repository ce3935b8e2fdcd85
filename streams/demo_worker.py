"""The demo's worker: a process of its own, started, awaited, asked and ended."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import aiohttp
import msgspec

from monitor.errors import SourceError
from monitor.readings import BoardSnapshot
from streams.embedded import die_with_parent

_READY_WITHIN_S = 60.0
_END_WITHIN_S = 20.0


class DemoWorker:
    """`recallwatch worker` against a broker; its page is on a free port of loopback.

    Parameters
    ----------
    server
        The broker, `host:port`.
    overrides
        Settings, `KEY=VALUE`.
    """

    def __init__(self, server: str, overrides: Sequence[str]) -> None:
        self._overrides = [
            *overrides,
            f"kafka.brokers={server}",
            "kafka.session_timeout_s=3.0",
            "kafka.rebalance_timeout_s=1.0",
        ]
        self._folder = Path(tempfile.mkdtemp(prefix="recallwatch-demo-"))
        self.log = self._folder / "worker.log"
        self._process: asyncio.subprocess.Process | None = None
        self._session: aiohttp.ClientSession | None = None
        self.url = ""

    async def __aenter__(self) -> Self:
        arguments = [part for override in self._overrides for part in ("--set", override)]
        with self.log.open("wb") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "streams.cli", "worker", *arguments),
                stdout=log,
                stderr=log,
                env={name: value for name, value in os.environ.items() if not name.startswith("RECALLWATCH_")},
                preexec_fn=die_with_parent if sys.platform == "linux" else None,
                start_new_session=True,  # Ctrl-C is ours to pass on
            )
        self._session = aiohttp.ClientSession()
        try:
            await asyncio.wait_for(self._until_ready(), _READY_WITHIN_S)
        except BaseException as error:
            await self.__aexit__(None, None, None)
            if isinstance(error, TimeoutError):
                raise SourceError(f"the worker wasn't ready within {_READY_WITHIN_S:.0f} s") from None
            raise
        return self

    async def _until_ready(self) -> None:
        while True:
            self._check_alive()
            self.url = self.url or self._find_url()
            if self.url and await self._answers("readyz"):
                return
            await asyncio.sleep(0.2)

    def _check_alive(self) -> None:
        if self._process is not None and self._process.returncode is not None:
            last = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
            raise SourceError(f"the worker ended with {self._process.returncode}: {' '.join(last)}")

    def _find_url(self) -> str:
        """Return the page's address, which the worker logs once it listens."""
        for line in self.log.read_bytes().splitlines():
            with contextlib.suppress(msgspec.DecodeError):
                fields = msgspec.json.decode(line, type=dict[str, object])
                if fields.get("event") == "page":
                    return str(fields["url"])
        return ""

    async def _answers(self, path: str) -> bool:
        try:
            async with self._get(path) as response:
                return response.status == 200
        except aiohttp.ClientError:
            return False

    def _get(self, path: str) -> contextlib.AbstractAsyncContextManager[aiohttp.ClientResponse]:
        if self._session is None:
            raise RuntimeError("ask a worker that was started")
        return self._session.get(f"{self.url}{path}")

    async def board(self) -> BoardSnapshot | None:
        """Return what the board says, None before it says anything.

        Raises
        ------
        SourceError
            The worker has ended.
        """
        self._check_alive()
        try:
            async with self._get("api/board") as response:
                body = await response.read()
                return msgspec.json.decode(body, type=BoardSnapshot) if response.status == 200 else None
        except aiohttp.ClientError as error:
            raise SourceError(f"the worker doesn't answer ({type(error).__name__}); its log: {self.log}") from None

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()
        process = self._process
        if process is not None and process.returncode is None:
            process.terminate()
            try:
                await asyncio.wait_for(process.wait(), _END_WITHIN_S)
            except TimeoutError:
                process.kill()
                await process.wait()
        if not isinstance(error, SourceError):  # it names the log
            shutil.rmtree(self._folder, ignore_errors=True)
