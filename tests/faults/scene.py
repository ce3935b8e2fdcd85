"""What faults are done to: a Kafka behind a proxy, workers that are supervised, traffic; and their recovery."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from aiokafka import TopicPartition
from brokers import Kafka, free_port, running_kafka
from faults.broker_settings import ends
from faults.flow import Traffic
from faults.proxy import Proxy
from faults.worker import VARIABLE
from workers import ROOT, Fleet, until

from monitor.config import config_id
from streams.live import declared_topics
from streams.settings import load_settings
from streams.topics import TopicSpec

RECOVERS_S = 120.0
TURN_S = 0.8
"""Between two looks at all workers, which cost them and us something."""
ENDS_IN_A_ROW = 4
SESSION_S = 6.0
BROKER = """listeners=PLAINTEXT://127.0.0.1:{{port}},DIRECT://127.0.0.1:{direct},CONTROLLER://127.0.0.1:{{controller}}
advertised.listeners=PLAINTEXT://127.0.0.1:{proxy},DIRECT://127.0.0.1:{direct}
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,DIRECT:PLAINTEXT
inter.broker.listener.name=DIRECT
log.cleaner.backoff.ms=300
"""
"""Workers reach the broker through the proxy, whatever it answers them; the suite's own clients go past it."""
CONFIG = """[sampling]
random_rate = {random_rate}
loose_rate = {loose_rate}
[net]
triggers = [{triggers}]
[targets]
PERSON = {target}
"""
FIRST_CONFIG = CONFIG.format(random_rate=0.15, loose_rate=0.15, triggers="", target=0.9)


@dataclass
class Scene:
    """All that runs.

    Parameters
    ----------
    wanted
        The numbers of the workers that should run.
    trap
        Where `faults.worker` looks for what it is to do.

    """

    kafka: Kafka
    proxy: Proxy
    fleet: Fleet
    traffic: Traffic
    trap: Path
    away_s: float
    wanted: set[int] = field(default_factory=set)
    configs: list[str] = field(default_factory=list)
    """Ids of the configs that were written, in order."""
    surprises: list[str] = field(default_factory=list)
    """What happened that no fault explains."""
    patience: int = ENDS_IN_A_ROW
    """How many more workers may end by themselves before a recovery is given up."""
    failing: set[int] = field(default_factory=set)
    """Workers that may be ending over what the fault did: each has ten seconds for its last commit."""

    # -- workers -----------------------------------------------------------------------------------------------------

    def pick(self, number: int) -> int:
        """Return one of the workers that run."""
        return sorted(self.wanted)[number % len(self.wanted)]

    def start(self, number: int) -> None:
        """Start a worker, and again whenever it ends."""
        self.wanted.add(number)
        self.fleet.start(number)

    async def end(self, number: int, sig: signal.Signals, code: int, within_s: float = 60.0) -> None:
        """Send a worker a signal and wait for its end; another exit code than this one is a surprise."""
        found = await self.fleet.end(number, sig, within_s)
        if found != code:
            self.surprise(number, f"ended with {found} instead of {code}")

    def surprise(self, number: int, what: str) -> None:
        """Note what a worker shouldn't have done."""
        worker = self.fleet.workers[number]
        said = worker.log.read_text().splitlines()[-1:] if worker.log.exists() else []
        self.surprises.append(f"{worker.log.name}: {what}: {' '.join(said)[:400]}")

    def ended(self) -> dict[int, int]:
        """Return the exit code of each worker that should run and doesn't."""
        codes = {number: self.fleet.workers[number].process.poll() for number in self.wanted}
        return {number: code for number, code in codes.items() if code is not None}

    def supervise(self) -> None:
        """Start again what ended although nobody ended it, and note that."""
        for number, code in self.ended().items():
            if number in self.failing and code == 1:
                self.failing.discard(number)
            else:
                self.surprise(number, f"ended by itself with {code}")
            self.patience -= 1
            assert self.patience > 0, f"workers end by themselves again and again, {code} last"
            self.fleet.start(number)

    def wake(self) -> None:
        """Let whatever was frozen go on."""
        for number in self.wanted:
            with suppress(ProcessLookupError):
                self.fleet.workers[number].process.send_signal(signal.SIGCONT)

    # -- recovery ----------------------------------------------------------------------------------------------------

    @property
    def inputs(self) -> dict[str, int]:
        """Topics that stages read, with the number of their partitions."""
        topics = self.fleet.tree.topics
        named = {topics.decisions, topics.sampled, topics.labels_by_document}
        return {**dict.fromkeys(named, topics.partitions), topics.labels: topics.labels_partitions, topics.tallies: 1}

    async def shared_out(self, numbers: set[int]) -> bool:
        """Tell whether these workers are ready and have all partitions between them."""
        return self.have_all([await self.fleet.metrics(number) for number in sorted(numbers)])

    def have_all(self, workers: Sequence[Mapping[str, float]]) -> bool:
        """Tell the same of what workers show."""
        assigned = sum(samples.get("recallwatch_assigned_partitions", 0.0) for samples in workers)
        ready = all(samples.get("recallwatch_ready") == 1 for samples in workers)
        return ready and assigned == sum(self.inputs.values())

    def positions(self, workers: Sequence[Mapping[str, float]]) -> dict[TopicPartition, float]:
        """Return what the workers say that they read next."""
        topics = self.fleet.tree.topics
        found: dict[TopicPartition, float] = {}
        for topic, partitions in self.inputs.items():
            channel = next(name for name in topics.__struct_fields__ if getattr(topics, name) == topic)
            for partition in range(partitions):
                name = f'recallwatch_position_offset{{channel="{channel}",partition="{partition}"}}'
                found[TopicPartition(topic, partition)] = max(samples.get(name, 0.0) for samples in workers)
        return found

    async def ends(self) -> dict[TopicPartition, int]:
        """Return where all inputs end."""
        return await ends(self.fleet.server_for_tests, self.inputs)

    async def reads_again(self, within_s: float = RECOVERS_S) -> float:
        """Wait until every worker is ready and all that stood in the topics when this was called was read."""
        begun, self.patience = time.monotonic(), ENDS_IN_A_ROW
        upto = await self.ends()
        behind: list[str] = []

        async def caught_up() -> bool:
            self.supervise()
            workers = [await self.fleet.metrics(number) for number in sorted(self.wanted)]
            at = self.positions(workers)
            behind[:] = [f"{p.topic}/{p.partition}@{at[p]:.0f}<{end}" for p, end in upto.items() if at[p] < end]
            return not behind and self.have_all(workers)

        try:
            await until(caught_up, within_s, "all workers read again", every_s=TURN_S)
        except AssertionError as error:
            raise AssertionError(f"{error}; behind: {behind}") from None
        return time.monotonic() - begun

    # -- settings ----------------------------------------------------------------------------------------------------

    def specs(self) -> dict[str, TopicSpec]:
        """Return what every topic was made with, by its name."""
        return {spec.name: spec for spec in declared_topics(self.fleet.tree)}

    def configure(self, text: str) -> None:
        """Write the settings file."""
        assert self.fleet.config is not None
        written = self.fleet.config.with_suffix(".new")
        written.write_text(text)
        written.rename(self.fleet.config)
        self.configs.append(config_id(load_settings(self.fleet.config, self.fleet.overrides, {}).config))

    async def configured(self) -> bool:
        """Tell whether every partition of decisions has the config in force on record as its last one."""
        history, topics = await self.fleet.history(), self.fleet.tree.topics
        recorded = [history.of(topics.decisions, partition) for partition in range(topics.partitions)]
        return all(changes and changes[-1].config == self.configs[-1] for changes in recorded)


@asynccontextmanager
async def stage_scene(folder: Path, tag: str, workers: int, away_s: float, days: int) -> AsyncIterator[Scene]:
    """Start all of it, and end it."""
    proxy_port, direct_port = free_port(), free_port()
    settings = BROKER.format(proxy=proxy_port, direct=direct_port)
    with running_kafka(folder / "kafka", settings) as kafka, Proxy(proxy_port, kafka.port) as proxy:
        direct, trap = f"127.0.0.1:{direct_port}", folder / "trap"
        own: tuple[str, ...] = ("topics.labels_partitions=2", "topics.decisions_retention_hours=100000")
        own += ("readings.windows_days=[28]", "checkpoint.interval_s=0.5")
        fleet = Fleet(
            f"127.0.0.1:{proxy_port}",
            tag,
            folder,
            own,
            folder / "recallwatch.toml",
            direct,
            ("-m", "faults.worker"),
            {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}", VARIABLE: str(trap)},
        )
        scene = Scene(kafka, proxy, fleet, Traffic(fleet, days), trap, away_s)
        scene.configure(FIRST_CONFIG)
        done = await asyncio.to_thread(fleet.run, "topics")
        assert done.returncode == 0, done.stderr
        try:
            async with scene.traffic:
                for number in range(workers):
                    scene.start(number)
                await scene.reads_again()
                yield scene
        finally:
            scene.wake()
            fleet.kill()
