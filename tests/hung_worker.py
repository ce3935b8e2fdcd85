"""The product's own command line, with a worker that hangs when told, and limits of silence that a test can wait for.

`python tests/hung_worker.py worker …` is `recallwatch worker …` in everything else. SIGUSR1 blocks its event loop for
`BLOCKED_S`. SIGUSR2 makes one part of it hang for ever, the one that `HANGS_IN` names, while the event loop turns:
`checkpoints`, `folding`, `publishing` or `following`; `client` blocks the Kafka client's thread for `BLOCKED_S`.
`HANGS_IN=opening` hangs from the beginning, at the end of recovery; `HANGS_IN=nothing` doesn't, but takes `SLOW_S` for
each chunk. When it ends it takes its time.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Mapping

from faust.types import Message

from monitor.fold import Channel
from streams import cli, live_commands
from streams.health import Health, Limits
from streams.http import HttpServer
from streams.live import LiveApp
from streams.settings import Settings
from streams.stage import Stage

LIMITS = Limits(loop_s=3.0, chunks_s=5.0, away_s=60.0)
BLOCKED_S = 6.0
ENDS_IN_S = 2.0
SLOW_S = 0.1


class HangingApp(LiveApp):
    """The app of a worker that hangs when told."""

    def __init__(self, settings: Settings, env: Mapping[str, str] = os.environ, *, embedded: bool = False) -> None:
        super().__init__(settings, env, embedded=embedded)
        http = settings.config.http
        self.http = HttpServer(http.host, http.port, self.published, Health(self.signs, LIMITS))
        self._chosen = env.get("HANGS_IN", "checkpoints")
        self._hanging = self._chosen == "opening"

    async def on_start(self) -> None:
        """Listen to the two signals."""
        await super().on_start()
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGUSR1, time.sleep, BLOCKED_S)
        loop.add_signal_handler(signal.SIGUSR2, lambda: loop.create_task(self._begin()))

    async def _begin(self) -> None:
        self._hanging = True
        if self._chosen == "client":
            self._client.thread_loop.call_soon_threadsafe(time.sleep, BLOCKED_S)
        if self._chosen == "checkpoints":
            for stage in self.stages:
                await stage.lock.acquire()

    async def _pass(self, part: str) -> None:
        """Go on, unless this is where it hangs."""
        if self._hanging and part == self._chosen:
            await asyncio.Event().wait()

    async def before_open(self) -> None:
        """Come to the end of recovery."""
        await super().before_open()
        await self._pass("opening")

    async def take(self, stage: Stage, channel: Channel, message: Message) -> None:
        """Fold."""
        await self._pass("folding")
        if self._chosen == "nothing":
            await asyncio.sleep(SLOW_S)
        await super().take(stage, channel, message)

    async def _announce_board(self) -> None:
        await self._pass("publishing")
        await super()._announce_board()

    async def _follow(self) -> None:
        """Follow config and history; the reader is the product's."""
        read = self._reader.read

        async def read_or_hang() -> int:
            await self._pass("following")
            return await read()

        vars(self._reader)["read"] = read_or_hang
        await super()._follow()

    async def on_stop(self) -> None:
        """End a little later."""
        await asyncio.sleep(ENDS_IN_S)
        await super().on_stop()


if __name__ == "__main__":
    vars(live_commands)["LiveApp"] = HangingApp  # the one difference to the product's own command
    cli.main(prog_name="recallwatch")
