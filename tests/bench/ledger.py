"""What a label costs however many documents the ledger holds, and what one of them takes in memory."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Self

import msgspec
from bench.filled_ledger import LABELS, TOGETHER, Taken
from bench.lab import ROOT, Lab
from bench.latency import restart
from bench.rows import Row

__all__ = ["label_cost", "ledger_memory", "restart"]

SMALLEST = 1_000
SIZES = (SMALLEST, 10_000, 100_000, 1_000_000)
QUICK_SIZES = (SMALLEST, 100_000)
ENTRIES = 20_000
FLAT = 1.2
LARGEST_ENTRY = 1024
_HOLDERS = (
    "the row holds spans, answers, a digest and where white space stands, no word of the text; the text stands in the "
    "topics `sampled` (and in the tasks) for the longest window and the deadline, 37 days by default"
)


class Child:
    """A `bench.filled_ledger` process.

    Parameters
    ----------
    what, size
        Its arguments.

    """

    def __init__(self, what: str, size: int) -> None:
        path = f"{ROOT}:{ROOT / 'tests'}"
        command = [sys.executable, "-m", "bench.filled_ledger", what, str(size)]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env={"PYTHONPATH": path})
        self._name = f"bench.filled_ledger {what} {size}"

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()

    def answer(self) -> str:
        """Return its next line; raises `RuntimeError` where it has ended."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._name} ended without an answer")
        return line

    def ask(self) -> float:
        """Have it measure once more."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return float(self.answer())


def label_cost(lab: Lab) -> Iterator[Row]:
    """Measure a label, through fold and checkpoint, in ledgers of several sizes by turns."""
    yield from cost_rows(lab, QUICK_SIZES if lab.quick else SIZES)


def cost_rows(lab: Lab, sizes: Sequence[int]) -> Iterator[Row]:
    """Return a row a size, and the one that compares the largest with the smallest."""
    anew: dict[int, float] = {}
    costs: dict[int, list[float]] = {size: [] for size in sizes}
    with ExitStack() as owned:
        children: dict[int, Child] = {}
        for size in sizes:
            lab.say(f"filling a ledger with {size:,} documents")
            children[size] = owned.enter_context(Child("labels", size))
            anew[size] = float(children[size].answer())
        for turn in range(lab.times):
            for size in sizes if turn % 2 else reversed(sizes):
                costs[size].append(children[size].ask())
    yield from (_beside_recomputation(size, costs[size], anew[size]) for size in sizes)
    yield _flatness(costs, sizes)


def _beside_recomputation(size: int, costs: Sequence[float], anew: float) -> Row:
    cost = statistics.median(costs)
    return Row(
        name=f"a label, {size:,} documents in the ledger",
        unit="µs CPU",
        value=cost,
        reference=anew,
        compared_with="adding up all documents anew",
        ratio=cost / anew,
        bar=None,
        sense="<=",
        note=f"one checkpoint for {TOGETHER} labels; {min(costs):.0f}–{max(costs):.0f}",
    )


def _flatness(costs: Mapping[int, Sequence[float]], sizes: Sequence[int]) -> Row:
    smallest, largest = sizes[0], sizes[-1]
    ratios = sorted(large / small for small, large in zip(costs[smallest], costs[largest], strict=True))
    return Row(
        name=f"a label, {largest:,} documents against {smallest:,}",
        unit="µs CPU",
        value=statistics.median(costs[largest]),
        reference=statistics.median(costs[smallest]),
        compared_with=f"{smallest:,} documents",
        ratio=statistics.median(ratios),
        bar=FLAT,
        sense="<=",
        note=f"{LABELS} labels a turn, ratios {ratios[0]:.2f}–{ratios[-1]:.2f}",
    )


def ledger_memory(lab: Lab) -> Iterator[Row]:
    """Measure what an answered document of 5 KB and five spans takes, in the ledger and its table."""
    yield memory_row(lab, ENTRIES)


def memory_row(lab: Lab, entries: int) -> Row:
    """Return the row of so many entries."""
    lab.say(f"filling a ledger with {entries:,} documents of 5 KB")
    with Child("memory", entries) as child:
        taken = msgspec.json.decode(child.answer(), type=Taken)
    return Row(
        name="memory of a ledger entry",
        unit="bytes",
        value=taken.resident,
        reference=None,
        ratio=taken.resident,
        bar=LARGEST_ENTRY,
        sense="<=",
        note=f"resident; Python's objects {taken.traced:.0f}, of them the row {taken.row:.0f}; {_HOLDERS}",
    )
