"""A worker in a process: signals, the end, and the exit code.

SIGTERM or SIGINT: the last checkpoint, then 0; a second one changes nothing. Where no broker takes it, 0 all the same:
what isn't durable is read again. A crash: 1, and whoever supervises the process starts it again, its state being whole.
Either way the process ends: past a deadline it is ended from a thread of its own, since what hangs is the loop.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import threading

import mode
import structlog

from monitor.errors import RecallwatchError
from streams.allocator import fix_limits
from streams.app import App
from streams.outages import calm

log = structlog.get_logger(__name__)

STOP_WITHIN_S = 45.0
"""From SIGTERM to the end; below the grace period of whoever sends it."""
CLOSE_WITHIN_S = 15.0
"""From the last checkpoint to the end."""
GIVE_UP_S = 3.0
"""The same where no broker took it."""
CRASH_WITHIN_S = 20.0
"""From a crash to the end."""


class Process(mode.Worker):
    """Runs one app on a loop of its own; logging and standard output stay as they are."""

    def __init__(self, app: App, loop: asyncio.AbstractEventLoop) -> None:
        self.app = app
        self._deadline: threading.Timer | None = None
        app.left = self._close_within
        super().__init__(app, loop=loop, quiet=True, override_logging=False, redirect_stdouts=False)

    async def on_start(self) -> None:
        """Tell Faust that this is no client."""
        self.app.in_worker = True
        await super().on_start()

    def run(self) -> int:
        """Run until a signal or a crash; return the exit code, raise the crash's reason where it is ours."""
        self._starting_fut = asyncio.ensure_future(self.start(), loop=self.loop)
        try:
            self.loop.run_until_complete(self._starting_fut)
        except asyncio.CancelledError:
            log.info("stopped_while_starting")
        except Exception as error:  # noqa: BLE001  # what ended the worker is reported below, after everything is closed
            self._crash(error)
        try:
            self.stop_and_shutdown()
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  # mode raises the crash's reason again
            self._crash(error)
        finally:
            for sig in (signal.SIGINT, signal.SIGTERM):
                signal.signal(sig, signal.SIG_IGN)  # the loop's handlers are gone, and the process is about to end
            if self._deadline is not None:
                self._deadline.cancel()
        return self._exit_code()

    def _exit_code(self) -> int:
        reason = self.crash_reason
        if isinstance(reason, RecallwatchError):
            raise reason
        if reason is not None:
            log.critical("worker_crashed", problem=f"{type(reason).__name__}")
            return 1
        return 0

    def _schedule_shutdown(self, signal: signal.Signals) -> None:
        self._end_within(STOP_WITHIN_S)
        super()._schedule_shutdown(signal)

    def _crash(self, reason: BaseException) -> None:
        if self._deadline is not None and self._deadline.function is _end_without_broker:
            self._deadline.cancel()  # it would end a crash with 0
            self._deadline = None
        self._end_within(CRASH_WITHIN_S)
        if self.crash_reason is not None and isinstance(reason, asyncio.CancelledError):
            return  # an agent that is cancelled because of the first reason reports that as a crash of its own
        super()._crash(reason)

    def _end_within(self, seconds: float) -> None:
        if self._deadline is None:
            self._set_deadline(threading.Timer(seconds, _end, [seconds]))

    def _close_within(self, reached: bool) -> None:  # noqa: FBT001  # the one fact that there is
        """Wait a little for the connections to close: without a broker the client library would try for minutes."""
        if reached:
            self._set_deadline(threading.Timer(CLOSE_WITHIN_S, _end, [CLOSE_WITHIN_S]))
        else:
            self._set_deadline(threading.Timer(GIVE_UP_S, _end_without_broker))

    def _set_deadline(self, timer: threading.Timer) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = timer
        timer.daemon = True
        timer.start()

    async def _sentinel_task(self) -> None:
        """Mode sleeps a second here for tasks that it has cancelled; one turn of the loop is enough."""
        await asyncio.sleep(0)


def _end_without_broker() -> None:
    log.warning("ended_without_broker", reason="what is not durable will be read again")
    logging.shutdown()
    os._exit(0)


def _end(seconds: float) -> None:
    log.critical("worker_hangs", ended_after_s=seconds)
    logging.shutdown()
    os._exit(1)


def run_worker(app: App) -> int:
    """Run a worker in this process until a signal or a crash; return the exit code.

    For the main thread of a process that ends afterwards: SIGINT and SIGTERM are ignored from then on.

    Raises
    ------
    RecallwatchError
        Where that is what ended it: `ConfigError` for a topic with other settings, `StateError` for unreadable rows.

    """
    calm()
    fix_limits()
    gc.freeze()  # what was imported stays: else every full collection looks at it, 80 ms in the midst of a chunk
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    return Process(app, loop).run()
