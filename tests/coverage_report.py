"""How often limits hold, node by node, beside what peers' formulas give on the same streams: as JSON and as a picture.

`tests/run --slow` writes it to `tests/reports`. By itself, with fewer streams a node:
`PYTHONPATH=.:tests python -m coverage_report 100`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from coverage_plot import plot
from limit_coverage import CERTIFIED, LOWER, TWO_SIDED, Judged, judge
from simulation import GRID

REPORTS = Path(__file__).parent / "reports"


def write(judged: Sequence[Judged], directory: Path) -> None:
    """Write coverage.json and coverage.png; the directory is made where there is none."""
    directory.mkdir(parents=True, exist_ok=True)
    day = datetime.now(UTC).date().isoformat()
    document = {
        "made": day,
        "asked": {"two_sided": TWO_SIDED, "lower": LOWER, "certified": CERTIFIED},
        "nodes": [
            {
                "node": one.node._asdict(),
                "streams": one.streams,
                "no_interval": one.unoffered,
                "broken": one.broken,
                "recallwatch": one.ours._asdict(),
                "recallwatch_no_miss_seen": one.silent._asdict(),
                "certified": one.certified._asdict(),
                **{name: coverage._asdict() for name, coverage in one.peers.items()},
            }
            for one in judged
        ],
    }
    text = json.dumps(document, indent=1, allow_nan=False)
    (directory / "coverage.json").write_text(text + "\n", encoding="utf-8")
    plot(judged, directory / "coverage.png", day)


def summary(judged: Sequence[Judged]) -> str:
    """Return the lowest coverages over the nodes, by kind of limit, in lines."""
    kinds = {"recallwatch": [one.ours for one in judged], "certified": [one.certified for one in judged]}
    kinds |= {name: [one.peers[name] for one in judged] for name in judged[0].peers}
    kinds["no miss seen"] = [one.silent for one in judged]
    lines = []
    for name, coverages in kinds.items():
        two = [c.two_sided for c in coverages if c.two_sided is not None]
        low = [c.lower for c in coverages if c.lower is not None]
        wide = [c.width for c in coverages if c.width is not None]
        figures = (min(two), sum(two) / len(two), min(low), sum(low) / len(low), sum(wide) / len(wide))
        lines.append(
            f"{name:13} two-sided {figures[0]:.3f} (mean {figures[1]:.3f}), lower {figures[2]:.3f} "
            f"(mean {figures[3]:.3f}), width {figures[4]:.3f}"
        )
    without = sum(one.unoffered for one in judged)
    lines.append(
        f"{without} of {sum(one.streams for one in judged)} streams have no interval, "
        f"{sum(one.broken for one in judged)} a broken one"
    )
    return "\n".join(lines)


def main() -> None:
    """Judge every node of the grid, and write the report."""
    streams = int(sys.argv[1])
    directory = Path(sys.argv[2]) if len(sys.argv) > 2 else REPORTS
    judged = [judge(node, streams, seed) for seed, node in enumerate(GRID)]
    write(judged, directory)
    sys.stdout.write(summary(judged) + "\n")


if __name__ == "__main__":
    main()
