"""What a run says: a line a fault as it goes, the differences, one line at its end; and all of it as JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

Say = Callable[[str], None]


class Outcome(msgspec.Struct, frozen=True):
    """One fault and what came of it."""

    number: int
    kind: str
    where: str
    position: int
    """Decisions that had been sent when it began."""
    took_s: float
    """From its begin until every worker reads again."""
    outcome: str


class Result(msgspec.Struct, frozen=True):
    """A whole run. It passed if and only if `differences` is empty."""

    seed: int
    faults: list[Outcome]
    decisions: int
    labels: int
    sampled: int
    equal_after_s: float | None
    """From the end of the traffic until the readings were those of a replay; None where they never were."""
    took_s: float
    differences: list[str]

    def write(self, path: Path) -> None:
        """Write it as JSON."""
        path.write_bytes(msgspec.json.format(msgspec.json.encode(self), indent=1))


def header() -> str:
    """Return the table's first line."""
    return f"{'no':>3}  {'fault':<27} {'where':<30} {'at decision':>11} {'took s':>7}  outcome"


def line(one: Outcome) -> str:
    """Return the line of a fault."""
    return f"{one.number:>3}  {one.kind:<27} {one.where:<30} {one.position:>11,} {one.took_s:>7.1f}  {one.outcome}"


def closing(result: Result, most: int = 40) -> Sequence[str]:
    """Return what stands under the table."""
    lines = [f"  DIFFERENT {difference}" for difference in result.differences[:most]]
    if len(result.differences) > most:
        lines.append(f"  … and {len(result.differences) - most} more")
    equal = "never" if result.equal_after_s is None else f"after {result.equal_after_s:.1f} s"
    verdict = "good: 0 lost, 0 counted twice" if not result.differences else f"{len(result.differences)} DIFFERENCES"
    counts = f"{result.decisions:,} decisions, {result.sampled:,} sampled, {result.labels:,} labels"
    end = f"{len(result.faults)} faults, seed {result.seed}: {verdict}; {counts}; readings equal {equal}"
    return [*lines, f"{end}; {result.took_s:.0f} s in all"]
