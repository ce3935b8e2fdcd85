"""The product's own command line, with a worker that hangs when told, and limits of silence that a test can wait for.

`python tests/hung_worker.py worker …` is `recallwatch worker …` in everything else. SIGUSR1 blocks its event loop for
`BLOCKED_S`; SIGUSR2 keeps its chunk loop from going on, while the event loop turns. When it ends it takes its time.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Mapping

from streams import cli, live_commands
from streams.health import Health, Limits
from streams.http import HttpServer
from streams.live import LiveApp
from streams.settings import Settings

LIMITS = Limits(loop_s=3.0, chunks_s=3.0, away_s=60.0)
BLOCKED_S = 6.0
ENDS_IN_S = 2.0


class HangingApp(LiveApp):
    """The app of a worker that hangs when told."""

    def __init__(self, settings: Settings, env: Mapping[str, str] = os.environ, *, embedded: bool = False) -> None:
        super().__init__(settings, env, embedded=embedded)
        http = settings.config.http
        self.http = HttpServer(http.host, http.port, self.published, Health(self.signs, LIMITS))

    async def on_start(self) -> None:
        """Listen to the two signals."""
        await super().on_start()
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGUSR1, time.sleep, BLOCKED_S)
        loop.add_signal_handler(signal.SIGUSR2, lambda: loop.create_task(self._hold_all()))

    async def _hold_all(self) -> None:
        for stage in self.stages:
            await stage.lock.acquire()

    async def on_stop(self) -> None:
        """End a little later."""
        await asyncio.sleep(ENDS_IN_S)
        await super().on_stop()


if __name__ == "__main__":
    vars(live_commands)["LiveApp"] = HangingApp  # the one difference to the product's own command
    cli.main(prog_name="recallwatch")
