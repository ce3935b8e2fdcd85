"""`tests/bench/run`: measures, and tells in a table, a file or a picture how each figure stands to its reference."""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import NoReturn, cast

import msgspec
from bench.lab import Lab, Section
from bench.plot import plot
from bench.rows import Row
from bench.table import console, said, show

from streams.logs import configure_logs

SECTIONS = (
    "bench.route:route_kafka",
    "bench.route:route_lz4",
    "bench.route:route_small",
    "bench.route:route_embedded",
    "bench.route:route_leaks",
    "bench.net:net_rows",
    "bench.ledger:label_cost",
    "bench.ledger:ledger_memory",
    "bench.ledger:restart",
    "bench.latency:label_to_metrics",
    "bench.latency:scrape_under_backlog",
    "bench.growth:memory",
    "bench.growth:workers",
)
"""Module and function of each, in the order of the table; the function's name is the section's."""
QUICK = frozenset({"route_kafka", "net_rows", "label_cost"})
TIMES, QUICK_TIMES = 5, 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the bench; return the exit code: 1 where a section failed or, with `--strict`, a bar is missed."""
    options = read_options(arguments)
    if options.list:
        sys.stdout.writelines(f"{name_of(s)}{' (quick)' * (name_of(s) in QUICK)}\n" for s in SECTIONS)
        return 0
    configure_logs(level="warning")
    signal.signal(signal.SIGTERM, _end)
    rows: list[Row] = []
    failed: list[str] = []
    facts = machine() | {"medians of": QUICK_TIMES if options.quick else TIMES}
    begun = time.monotonic()
    try:
        with _folder(options.folder) as folder:
            lab = Lab(folder, QUICK_TIMES if options.quick else TIMES, options.quick, say)
            with lab:
                failed += [s for s in chosen(options.only, quick=options.quick) if not measure(s, lab, rows)]
    finally:  # what was measured before Ctrl-C is told too
        tell(rows, failed, facts, options)
    say(f"measured in {time.monotonic() - begun:.0f} s")
    missed = any(row.ok is False for row in rows)
    return int(bool(failed) or (options.strict and missed))


class Options(argparse.Namespace):
    """What the command line says."""

    quick: bool
    strict: bool
    list: bool
    only: Sequence[str]
    json: Path | None
    plot: Path | None
    folder: Path | None


def read_options(arguments: Sequence[str] | None) -> Options:
    """Return the options; ends with 2 where they can't be understood."""
    parser = argparse.ArgumentParser(prog="tests/bench/run", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few sections, medians of three, within five minutes")
    parser.add_argument(
        "--only", nargs="+", action="extend", default=[], metavar="NAME", choices=[name_of(s) for s in SECTIONS]
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows and the machine's facts")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw ratios against their bars (PNG, SVG)")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="keep topics and logs there: up to 10 GB")
    parser.add_argument("--strict", action="store_true", help="exit 1 where a bar is missed")
    parser.add_argument("--list", action="store_true", help="name the sections")
    return parser.parse_args(arguments, Options())


def name_of(section: str) -> str:
    """Return a section's name.

    >>> name_of("bench.net:net_rows")
    'net_rows'
    """
    return section.rpartition(":")[2]


def chosen(only: Sequence[str], *, quick: bool) -> list[str]:
    """Return the sections to run, in the order of the table; `only` comes before `quick`."""
    wanted = set(only) or (QUICK if quick else {name_of(section) for section in SECTIONS})
    return [section for section in SECTIONS if name_of(section) in wanted]


def measure(section: str, lab: Lab, rows: list[Row]) -> bool:
    """Append a section's rows as they come; return whether it got to its end."""
    module, _, name = section.partition(":")
    say(f"{name} …")
    try:
        for row in cast("Section", getattr(importlib.import_module(module), name))(lab):
            rows.append(row)
            say(said(row))
    except Exception:  # noqa: BLE001  # whatever it is, the other sections go on
        say(f"{name} FAILED\n{traceback.format_exc()}")
        return False
    return True


def tell(rows: Sequence[Row], failed: Sequence[str], facts: Mapping[str, object], options: Options) -> None:
    """Print the table, write what was asked for, name the sections that failed."""
    show(rows, facts, console())
    if options.json:
        options.json.write_bytes(as_json(rows, failed, facts))
    if options.plot and any(row.bar for row in rows):
        plot(rows, facts, options.plot)
    if failed:
        say(f"FAILED: {', '.join(map(name_of, failed))}")


def as_json(rows: Sequence[Row], failed: Sequence[str], facts: Mapping[str, object]) -> bytes:
    """Return the rows as a document; `ok` is null where there is no bar."""
    told = [{**msgspec.structs.asdict(row), "ok": row.ok} for row in rows]
    return msgspec.json.format(
        msgspec.json.encode({"rows": told, "failed": [*map(name_of, failed)], "machine": facts}), indent=2
    )


def machine() -> dict[str, object]:
    """Return what the figures depend on besides the product."""
    return {
        "recallwatch": version("recallwatch"),
        "Python": platform.python_version(),
        "cores": os.cpu_count(),
        "date": datetime.now(UTC).date().isoformat(),
    }


def say(line: str) -> None:
    """Print a line of progress."""
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {line}\n")
    sys.stderr.flush()


@contextmanager
def _folder(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="recallwatch-bench-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _end(number: int, _frame: object) -> NoReturn:
    """End as on Ctrl-C, so that brokers and workers end too."""
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
