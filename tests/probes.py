"""A worker's answers to probes, as a test says they are."""

from __future__ import annotations

from typing import NamedTuple

from streams.health import Answer


class Said(NamedTuple):
    """What a supervisor is answered."""

    of_life: Answer
    of_readiness: Answer

    def alive(self) -> Answer:
        """Answer as told."""
        return self.of_life

    def ready(self) -> Answer:
        """Answer as told."""
        return self.of_readiness


WELL = Said(Answer(good=True, text="alive"), Answer(good=True, text="ready"))
