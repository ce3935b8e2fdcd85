"""ROUTE with all its work, in a worker as users start it, beside what else reads the same topic.

The work: decode, the net of 20 patterns and all default triggers, strata, keyed hashes, census, one document in a
hundred drawn, checkpoints twice a second. The worker does all else too: the drawn documents go through its ledger, and
it is the board. What it is compared with stands in `bench.readers`; each reads the same topic, by turns.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
from bench.filling import Filled, create, fill
from bench.lab import Lab
from bench.redacting import LEAKY
from bench.rows import Pair, Row, by_rounds, paired
from bench.running import PEERS, Run, run_reader, run_worker

from streams.embedded import EmbeddedBroker
from streams.settings import load_settings

SMALL, LARGE = 500, 5400
FAUST_RECORDS = 30_000
"""Stock Faust reads no more than these: at its speed a whole topic would take longer than all else together."""
OF_BARE, OF_FAUST, OF_QUIX = 0.35, 5.0, 1.1
OF_UNCHECKED = 0.6

RATES = ("sampling.random_rate=0.01", "sampling.loose_rate=0.0")
USUAL = ("kafka.session_timeout_s=60.0", "kafka.rebalance_timeout_s=60.0")
EMBEDDED = ("kafka.session_timeout_s=3.0", "kafka.rebalance_timeout_s=6.0")
"""The embedded broker answers whoever joins a group after half the session timeout."""
CHECKS_OFF = "redaction.check=false"
NET = r"""# The default net has sixteen patterns; with these they are twenty.
[net.patterns]
employee_number = '\bEMP-\d{6}\b'
policy_number = '\b[A-Z]{2}-POL-\d{7}\b'
vehicle_id = '\b[A-HJ-NPR-Z0-9]{13}\d{4}\b'
loyalty_card = { regex = '\b97\d{14}\b', check = "luhn" }
"""

Measure = Callable[[], Run]
Rounds = Sequence[Mapping[str, Run]]


@dataclass(frozen=True)
class Bench:
    """What can be run on one topic."""

    lab: Lab
    filled: Filled
    config: Path
    settings: Sequence[str]
    """Of the worker."""

    def worker(self) -> Run:
        """Run the product."""
        return run_worker(self.filled, self._folder(), self.settings, self.config)

    def unchecked(self) -> Run:
        """Run the product without its look at redacted outputs."""
        return run_worker(self.filled, self._folder(), (*self.settings, CHECKS_OFF), self.config)

    def bare(self) -> Run:
        """Run aiokafka and msgspec alone."""
        return run_reader("bare", self._read())

    def faust(self) -> Run:
        """Run stock Faust, decoding alone."""
        return run_reader("stock_faust", [*self._read(min(FAUST_RECORDS, self.filled.records)), self._folder()])

    def quix(self) -> Run:
        """Run Quix Streams, doing ROUTE's work."""
        folder = self._folder()
        settings = folder / "config.json"
        settings.write_bytes(msgspec.json.encode(load_settings(self.config, list(self.settings), {}).config))
        sampled, census = f"{folder.name}-sampled", f"{folder.name}-census"
        asyncio.run(create(self.filled.server, sampled, self.filled.partitions))
        asyncio.run(create(self.filled.server, census, 1))
        return run_reader("quix", [*self._read(), folder, settings, sampled, census], PEERS / "bin" / "python")

    def quix_decoding(self) -> Run:
        """Run Quix Streams, decoding alone."""
        return run_reader("quix", [*self._read(), self._folder()], PEERS / "bin" / "python")

    def _read(self, records: int | None = None) -> list[object]:
        return [self.filled.server, self.filled.topic, records or self.filled.records]

    def _folder(self) -> Path:
        folder = self.lab.folder / f"r{uuid.uuid4().hex[:8]}"
        folder.mkdir(parents=True)
        return folder


# -- sections --------------------------------------------------------------------------------------------------------


def route_kafka(lab: Lab) -> Iterator[Row]:
    """Measure transcripts of 5 KB on Apache Kafka, beside everything else."""
    bench = prepared(lab, lab.kafka.server, LARGE, 60_000 if lab.quick else 100_000)
    measures = {"worker": bench.worker, "bare": bench.bare, "stock Faust": bench.faust}
    peers = {"Quix": bench.quix, "Quix, decoding only": bench.quix_decoding}
    has_peers = PEERS.exists()
    rounds = in_rounds(lab, "5 KB", {**measures, **(peers if has_peers else {})})
    name = "ROUTE, 5 KB, Kafka"
    yield of_bare(name, bench, rounds)
    yield rate_row(name, rounds, "stock Faust", "stock Faust, decoding only", OF_FAUST)
    if not has_peers:
        raise RuntimeError(f"{PEERS} is missing, so nothing was compared with Quix Streams")
    yield cpu_row(name, rounds, "Quix", "Quix Streams, the same work", OF_QUIX)
    yield cpu_row(name, rounds, "Quix, decoding only", "Quix Streams, decoding only", None)


def route_lz4(lab: Lab) -> Iterator[Row]:
    """Measure transcripts of 5 KB in batches that the producer compressed."""
    bench = prepared(lab, lab.kafka.server, LARGE, 60_000 if lab.quick else 100_000, codec="lz4")
    yield of_bare("ROUTE, 5 KB with lz4, Kafka", bench, in_rounds(lab, "5 KB with lz4", both(bench)))


def route_small(lab: Lab) -> Iterator[Row]:
    """Measure short messages, where a record's own cost is all there is."""
    bench = prepared(lab, lab.kafka.server, SMALL, 200_000 if lab.quick else 400_000)
    yield of_bare("ROUTE, 500 bytes, Kafka", bench, in_rounds(lab, "500 bytes", both(bench)))


def route_embedded(lab: Lab) -> Iterator[Row]:
    """Measure transcripts of 5 KB on the embedded broker."""
    with _embedded(lab) as server:
        bench = prepared(lab, server, LARGE, 60_000 if lab.quick else 100_000, timings=EMBEDDED)
        yield of_bare("ROUTE, 5 KB, embedded", bench, in_rounds(lab, "5 KB, embedded", both(bench)))


def route_leaks(lab: Lab) -> Iterator[Row]:
    """Measure transcripts of 5 KB with their redacted outputs, which are looked at for leaks, or not."""
    count = 40_000 if lab.quick else 80_000
    bench = prepared(lab, lab.kafka.server, LARGE, count, outputs=True)
    rounds = in_rounds(lab, "5 KB with outputs", {"worker": bench.worker, "checks off": bench.unchecked})
    name = "ROUTE, 5 KB with redacted outputs, leak checks on, Kafka"
    row = rate_row(name, rounds, "checks off", "the same with leak checks off", OF_UNCHECKED)
    leaky = f"the output of one in {LEAKY} has a leak"
    yield msgspec.structs.replace(row, note=f"{_topic(bench.filled)}, {leaky}. {_costs(rounds)} {row.note}")
    yield cpu_row(name, rounds, "checks off", "the same with leak checks off", None)


@contextmanager
def _embedded(lab: Lab) -> Iterator[str]:
    lab.say("starting the embedded broker")
    with EmbeddedBroker(port=0) as broker:
        yield broker.server


# -- measuring -------------------------------------------------------------------------------------------------------


def prepared(
    lab: Lab,
    server: str,
    size: int,
    count: int,
    *,
    codec: str | None = None,
    timings: Sequence[str] = USUAL,
    outputs: bool = False,
) -> Bench:
    """Return what can be run on a new topic of `count` decisions of about `size` bytes, outputs not counted."""
    lab.say(f"filling a topic with {count:,} decisions of {size:,} bytes")
    topic = f"decisions-{uuid.uuid4().hex[:6]}"
    filled = asyncio.run(fill(server, topic, count, size, codec=codec, outputs=outputs))
    config = lab.folder / "bench.toml"
    config.write_text(NET)
    return Bench(lab, filled, config, (*RATES, *timings))


def both(bench: Bench) -> dict[str, Measure]:
    """Return the worker, and what its rate is a share of."""
    return {"worker": bench.worker, "bare": bench.bare}


def in_rounds(lab: Lab, subject: str, measures: Mapping[str, Measure]) -> Rounds:
    """Run all of them by turns and say what each did."""

    def told(name: str, measure: Measure) -> Measure:
        def run() -> Run:
            found = measure()
            lab.say(f"{subject}: {name} {found.rate:,.0f} decisions/s, {found.cpu_per_100k:.2f} CPU s per 100 k")
            return found

        return run

    return by_rounds({name: told(name, measure) for name, measure in measures.items()}, lab.times)


# -- rows ------------------------------------------------------------------------------------------------------------


def of_bare(name: str, bench: Bench, rounds: Rounds) -> Row:
    """Return the worker's rate beside that of the bare loop; its note tells the topic and what everybody cost."""
    row = rate_row(name, rounds, "bare", "bare aiokafka + msgspec", OF_BARE)
    return msgspec.structs.replace(row, note=f"{_topic(bench.filled)}. {_costs(rounds)} {row.note}")


def _topic(filled: Filled) -> str:
    return f"{filled.records:,} records of {filled.bytes:,} bytes, {filled.partitions} partitions"


def _costs(rounds: Rounds) -> str:
    return f"CPU s per 100 k: {', '.join(f'{who} {_cost(rounds, who):.2f}' for who in rounds[0])}."


def rate_row(name: str, rounds: Rounds, other: str, compared_with: str, bar: float | None) -> Row:
    """Return a row of decisions a second."""
    pair = paired([(one["worker"].rate, one[other].rate) for one in rounds])
    return _row(name, "decisions/s", pair, compared_with, bar)


def cpu_row(name: str, rounds: Rounds, other: str, compared_with: str, bar: float | None) -> Row:
    """Return a row of decisions a CPU second."""
    pair = paired([(_per_cpu_s(one["worker"]), _per_cpu_s(one[other])) for one in rounds])
    return _row(name, "decisions/CPU s", pair, compared_with, bar)


def _row(name: str, unit: str, pair: Pair, compared_with: str, bar: float | None) -> Row:
    return Row(
        name=name,
        unit=unit,
        value=pair.value,
        reference=pair.reference,
        compared_with=compared_with,
        ratio=pair.ratio,
        bar=bar,
        note=f"Rounds {pair.spread}.",
    )


def _per_cpu_s(run: Run) -> float:
    return run.decisions / run.cpu_s


def _cost(rounds: Rounds, who: str) -> float:
    return paired([(one[who].cpu_per_100k, 1.0) for one in rounds]).value
