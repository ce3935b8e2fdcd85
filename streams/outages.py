"""One line a problem while a broker is away: the client library logs each of hundreds of attempts a second."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

LOUD = (
    "aiokafka",
    "aiokafka.conn",
    "aiokafka.consumer.fetcher",
    "aiokafka.consumer.group_coordinator",
    "aiokafka.producer.sender",
)
"""The loggers that report failed attempts. A filter works on its own logger only, not on those below."""


class OncePer(logging.Filter):
    """Lets a warning or error pass once in `every_s`, told apart by the text before its arguments are put in."""

    def __init__(self, every_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self.every_s = every_s
        self.clock = clock
        self._passed: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether `record` is logged."""
        if record.levelno < logging.WARNING:
            return True
        text, now = str(record.msg), self.clock()
        if now - self._passed.get(text, -self.every_s) < self.every_s:
            return False
        self._passed[text] = now
        return True


def calm(every_s: float = 30.0) -> None:
    """Install the filter on the client library's loggers; again is no error."""
    for name in LOUD:
        logger = logging.getLogger(name)
        if not any(isinstance(known, OncePer) for known in logger.filters):
            logger.addFilter(OncePer(every_s))
