"""The product's own command line, with a worker that ends or freezes between two steps of its delivery when told.

`python tests/faults/worker.py worker …` is `recallwatch worker …` in everything else. What it does is told by a file,
which the environment's RECALLWATCH_TEST_TRAP names: `exit route rows` or `freeze ledger head`. The first worker that
passes that step takes the file away and does so.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from streams import cli, live_commands
from streams.live import LiveApp
from streams.settings import Settings

VARIABLE = "RECALLWATCH_TEST_TRAP"
EXIT_CODE = 9


class Trap(NamedTuple):
    """What the first worker does that passes a step."""

    action: str
    """`exit` at once, without any clean-up, or `freeze` as SIGSTOP does."""
    stage: str
    step: str

    def set_up(self, path: Path) -> None:
        """Write the file; it's never seen half written."""
        written = path.with_suffix(".new")
        written.write_text(" ".join(self))
        written.rename(path)

    @classmethod
    def look(cls, path: Path) -> Trap | None:
        """Return what the file says; None where there is none."""
        try:
            return cls(*path.read_text().split())
        except FileNotFoundError:
            return None


class BreakableApp(LiveApp):
    """The app of a worker whose failure points are switched on."""

    def __init__(self, settings: Settings, env: Mapping[str, str] = os.environ, *, embedded: bool = False) -> None:
        super().__init__(settings, env, embedded=embedded)
        self._trap = Path(env[VARIABLE])
        for stage in self.stages:
            stage.fail = self._pass

    def _pass(self, stage: str, step: str) -> None:
        trap = Trap.look(self._trap)
        if trap is None or (trap.stage, trap.step) != (stage, step):
            return
        try:
            self._trap.unlink()
        except FileNotFoundError:  # another worker was faster
            return
        if trap.action == "exit":
            os._exit(EXIT_CODE)
        os.kill(os.getpid(), signal.SIGSTOP)


if __name__ == "__main__":
    vars(live_commands)["LiveApp"] = BreakableApp  # the one difference to the product's own command
    cli.main(prog_name="recallwatch")
