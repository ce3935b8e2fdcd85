"""The demo as a user has it: a process that is watched, told to go on, and ended."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

ROOT = Path(__file__).parents[1]
READY_S, END_S = 90.0, 60.0


@dataclass
class Demo:
    """A demo that runs, its versions changed by hand."""

    process: subprocess.Popen[bytes]
    log: Path

    @property
    def said(self) -> str:
        """What it has printed."""
        return self.log.read_text(encoding="utf-8")

    @property
    def target(self) -> str:
        """Where its worker is scraped, `host:port`; empty before that is known."""
        found = re.search(r"page http://(\S+)", self.said)
        return found[1].rstrip("/") if found else ""

    def go_on(self) -> None:
        """Press Enter."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def end(self) -> int:
        """Ask it to end; return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(END_S)


@contextmanager
def running_demo(folder: Path, *options: str) -> Iterator[Demo]:
    """Run the demo while the block runs, once its first decisions are being sent."""
    log = folder / "demo.log"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RECALLWATCH_")}
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "streams.demo", "--by-hand", *options],
            cwd=folder,
            env={**kept, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=out,
        )
    demo = Demo(process, log)
    try:
        end = monotonic() + READY_S
        while "version 1 is running" not in demo.said:
            assert process.poll() is None, demo.said
            assert monotonic() < end, f"not within {READY_S:.0f} s: {demo.said}"
            sleep(0.2)
        yield demo
    finally:
        if process.poll() is None and demo.end() != 0:
            raise AssertionError(demo.said)
        if process.stdin is not None:
            process.stdin.close()
