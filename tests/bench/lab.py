"""Where a bench is run: its folder, how often each thing is measured, one Kafka for all that need one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from bench.rows import Row
from brokers import Kafka, running_kafka

ROOT = Path(__file__).parents[2]


@dataclass
class Lab:
    """A run of the bench; as a context it ends what it started.

    Parameters
    ----------
    folder
        For topics' data, logs and results; large: some 10 GB where memory is measured.
    times
        How often each thing is measured: five, three with `--quick`.
    say
        Takes a line of progress.

    """

    folder: Path
    times: int = 5
    quick: bool = False
    say: Callable[[str], None] = print
    _owned: ExitStack = field(default_factory=ExitStack)
    _kafka: Kafka | None = None

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the broker."""
        self._owned.close()

    @property
    def kafka(self) -> Kafka:
        """A real Kafka, started when it is first asked for."""
        if self._kafka is None:
            self.say("starting Apache Kafka")
            self._kafka = self._owned.enter_context(running_kafka(self.folder / "kafka"))
        return self._kafka


Section = Callable[[Lab], Iterable[Row]]
"""Measures one subject; each row is printed when it comes."""
