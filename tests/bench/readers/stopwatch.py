"""The clock that every reference program reads by, so that all of them are measured alike, and like a worker."""

from __future__ import annotations

import json
import os
import resource
import time

SKIPPED = 0.05
"""Share of a topic that goes by before the clock starts: whatever belongs to starting up is over by then."""


class Stopwatch:
    """Counts decisions; measures from `SKIPPED` of them on until all were counted.

    What a reader has fetched ahead when the clock starts isn't measured. That is a fetch or two for the readers on
    aiokafka; librdkafka keeps up to 64 MB ahead, an eighth of a large topic's transcripts, so it is flattered.

    Parameters
    ----------
    total
        Decisions to count, at least 1.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self.counted = 0
        self._first = max(int(total * SKIPPED), 1)
        self._started: tuple[int, float, float] | None = None

    def count(self, number: int) -> bool:
        """Count so many more; return whether these were the last, having written down what was measured."""
        self.counted += number
        if self._started is None and self.counted >= self._first:
            self._started = self.counted, time.perf_counter(), _cpu_s()
        if self.counted < self.total:
            return False
        self._report()
        return True

    def _report(self) -> None:
        if self._started is None:
            return
        counted, at, cpu_s = self._started
        run = {"decisions": self.counted - counted, "wall_s": time.perf_counter() - at, "cpu_s": _cpu_s() - cpu_s}
        # not through `sys.stdout`, where Faust puts its log; on a line of its own, for it has a spinner there
        os.write(1, b"\n" + json.dumps(run).encode() + b"\n")


def _cpu_s() -> float:
    """Return the CPU seconds of this process, all its threads together."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
