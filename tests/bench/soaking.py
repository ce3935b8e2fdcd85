"""`tests/bench/soak`: one worker under steady traffic, watched for as long as asked, and a verdict at the end."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

import msgspec
from bench.command import machine, say
from bench.loading import RETENTION_CHECKS, Annotators, Load, Stock, create_topics
from bench.soak_plot import plot
from bench.soak_verdict import MIB, Check, Seen, Soak, checks, quantile, settled
from bench.watching import Sight, look
from brokers import missing_for_kafka, running_kafka
from workers import LOUD, Fleet, Worker

from streams.logs import configure_logs

RECORD = 1_000
SAMPLED = 0.0002
"""One document a second at 5,000 decisions: what people can read, and a ledger that is small beside the worker."""
RETAINED, SEGMENT = 128 * MIB, 16 * MIB
"""Bytes of a partition: at 5,000 decisions a second, more than a minute and a half of them."""
LOOK_EVERY_S, SAY_EVERY_S = 5.0, 10.0
DRAIN_S = 60.0
"""How long the worker has to count what was sent last."""
_ERRORS, _WARNINGS = frozenset({"error", "critical"}), frozenset({"warning"})


class Options(argparse.Namespace):
    """What the command line says."""

    minutes: float
    rate: float
    json: Path | None
    plot: Path | None
    folder: Path | None


def main(arguments: Sequence[str] | None = None) -> int:
    """Soak; return the exit code: 1 where anything that is asked fails."""
    options = read_options(arguments)
    missing = missing_for_kafka()
    if missing is not None:
        say(missing)
        return 1
    configure_logs(level="warning")
    signal.signal(signal.SIGTERM, _end)
    say("writing documents")
    stock = Stock(RECORD)
    say("starting Apache Kafka")
    with _folder(options.folder) as folder, running_kafka(folder / "kafka", RETENTION_CHECKS) as kafka:
        soak = run(kafka.server, folder, stock, options.minutes * 60, options.rate)
    found = checks(soak)
    tell(soak, found)
    if options.json:
        options.json.write_bytes(as_json(soak, found))
    if options.plot:
        plot(soak, options.plot)
    return int(not all(check.ok for check in found))


def read_options(arguments: Sequence[str] | None) -> Options:
    """Return the options; ends with 2 where they can't be understood."""
    parser = argparse.ArgumentParser(prog="tests/bench/soak", description=__doc__)
    parser.add_argument("--minutes", type=_positive, required=True, metavar="M")
    parser.add_argument("--rate", type=_positive, default=5000.0, metavar="R", help="decisions a second (5000)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the checks and all that was seen")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw memory and lag over time (PNG, SVG)")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="keep topics and logs there")
    return parser.parse_args(arguments, Options())


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"{text} is no positive number")
    return value


@contextmanager
def _folder(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="recallwatch-soak-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def run(server: str, folder: Path, stock: Stock, asked_s: float, rate: float) -> Soak:
    """Soak for so many seconds and return what was seen.

    Parameters
    ----------
    server
        A broker that checks retention often.
    folder
        Where the worker's log goes.
    stock
        What is sent.
    asked_s
        How long decisions are sent.
    rate
        Decisions a second.
    """
    usual = ("sampling.loose_rate=0.0", "checkpoint.interval_s=0.5", "kafka.session_timeout_s=60.0")
    fleet = Fleet(server, "soak", folder, (f"sampling.random_rate={SAMPLED}", *usual))
    try:
        return asyncio.run(_soak(fleet, stock, asked_s, rate))
    finally:
        fleet.kill()


async def _soak(fleet: Fleet, stock: Stock, asked_s: float, rate: float) -> Soak:
    await create_topics(fleet, RETAINED, SEGMENT)
    worker = fleet.start(0)
    await fleet.ready(0)
    log = Log(worker)
    async with Load(fleet, stock) as load, Annotators(fleet, stock):
        begun = time.monotonic()
        sending = asyncio.create_task(load.send_steadily(int(asked_s * rate), rate))
        seen = await _watch(fleet, load, log, sending, asked_s)
        took_s = max(time.monotonic() - begun, asked_s)
        last = await _drain(fleet, load)
    code = await fleet.end(0)
    errors, warnings = log.events()
    return Soak(
        asked_s=asked_s,
        rate=rate,
        took_s=took_s,
        sent=load.sent,
        decided=last.decided,
        lost=last.lost,
        sampled=last.sampled,
        exit_code=code,
        errors=sorted(set(errors)),
        warnings=sorted(set(warnings)),
        seen=seen,
    )


class Log:
    """What a worker logs from now on."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._skipped = len(worker.lines())

    def events(self) -> tuple[list[str], list[str]]:
        """Return the events at error or above, or that no log may hold, and those at warning."""
        errors, warnings = [], []
        for line in self._worker.lines()[self._skipped :]:
            event = str(line.get("event", line.get("raw")))[:100]
            if line.get("level") in _ERRORS or "raw" in line or any(word in event for word in LOUD):
                errors.append(event)
            elif line.get("level") in _WARNINGS:
                warnings.append(event)
        return errors, warnings


async def _watch(fleet: Fleet, load: Load, log: Log, sending: asyncio.Task[None], asked_s: float) -> list[Seen]:
    """Look at the worker every few seconds until all was sent."""
    seen: list[Seen] = []
    before = await look(fleet, 0)
    begun = said = time.monotonic()
    while not sending.done():
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(sending), LOOK_EVERY_S)
        now = await look(fleet, 0)
        seen.append(_seen(begun, before, now, load.sent, log))
        before = now
        if now.at_s - said >= SAY_EVERY_S:
            said += SAY_EVERY_S
            say(_line(seen[-1], asked_s))
    sending.result()
    return seen


def _seen(begun: float, before: Sight, now: Sight, sent: int, log: Log) -> Seen:
    errors, warnings = log.events()
    return Seen(
        at_s=now.at_s - begun,
        rss_bytes=now.rss_bytes,
        lag=max(sent - now.decided, 0),
        warnings=len(warnings),
        errors=len(errors),
        scrape_s=now.scrape_s,
        cpu_share=(now.cpu_s - before.cpu_s) / max(now.at_s - before.at_s, 1e-9),
        sent=sent,
        decided=now.decided,
        lost=now.lost,
    )


def _line(seen: Seen, asked_s: float) -> str:
    at, end = (f"{int(s) // 60}:{int(s) % 60:02d}" for s in (seen.at_s, asked_s))
    return (
        f"{at} of {end}: {seen.sent:,} sent, lag {seen.lag:,}, memory {seen.rss_bytes / MIB:.1f} MiB, "
        f"CPU {seen.cpu_share:.0%}, /metrics {seen.scrape_s * 1000:.0f} ms, "
        f"{seen.warnings} warnings, {seen.errors} errors"
    )


async def _drain(fleet: Fleet, load: Load) -> Sight:
    """Return how the worker is once it has counted everything, or when the time is over."""
    end = time.monotonic() + DRAIN_S
    while True:
        last = await look(fleet, 0)
        if last.decided >= load.sent or time.monotonic() > end:
            return last
        await asyncio.sleep(1.0)


def tell(soak: Soak, found: Sequence[Check]) -> None:
    """Print the verdict."""
    after = settled(soak)
    scrapes, shares = [s.scrape_s for s in after], [s.cpu_share for s in after]
    for check in found:
        sys.stdout.write(f"{'good  ' if check.ok else 'FAILED'} {check.name}: {check.said}\n")
    sys.stdout.write(
        f"       /metrics p50 {quantile(scrapes, 0.5) * 1000:.0f} ms, p99 {quantile(scrapes, 0.99) * 1000:.0f} ms; "
        f"CPU {quantile(shares, 0.5):.0%} of a core; {soak.asked_s / 60:g} minutes\n"
    )


def as_json(soak: Soak, found: Sequence[Check]) -> bytes:
    """Return verdict, machine and all that was seen as a document."""
    document = {"ok": all(check.ok for check in found), "checks": found, "machine": machine(), "soak": soak}
    return msgspec.json.format(msgspec.json.encode(document), indent=1)


def _end(number: int, _frame: object) -> NoReturn:
    """End as on Ctrl-C, so that broker and worker end too."""
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
