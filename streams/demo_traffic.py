"""The demo's outside world, on a real broker: a detector that sends decisions, and people who answer tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

import msgspec
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from monitor.config import Topics
from monitor.records import Decision, Span, Task
from streams.annotators import Annotators
from streams.broker import Connection
from streams.detector import Detector, Release
from streams.documents import documents

_TASK = msgspec.json.Decoder(Task)
_BATCH = 50


class Known(NamedTuple):
    """A decision, and what its document really holds."""

    decision: Decision
    truth: list[Span]


def generated(version: Release, *, seed: int, start: int) -> Iterator[Known]:
    """Yield decisions of a real detector on generated documents, without end.

    Parameters
    ----------
    version
        1 is the detector as it is; 2 is worse by a setting (`streams.detector`).
    start
        Number of the first document.
    """
    detector = Detector(version)
    for document in documents(seed, None, start=start):
        yield Known(detector.detect(document.doc_id, document.lang, document.text), document.labels)


class Traffic:
    """Sends decisions and answers tasks.

    Parameters
    ----------
    truth
        What each document holds; filled as decisions go out, read by `annotators`.
    """

    def __init__(
        self, connection: Connection, topics: Topics, annotators: Annotators, truth: dict[str, list[Span]]
    ) -> None:
        self._connection = connection
        self._topics = topics
        self._annotators = annotators
        self._truth = truth
        self._producer: AIOKafkaProducer | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._people: asyncio.Task[None] | None = None
        self.sent = 0
        self.answered = 0

    async def start(self) -> None:
        """Connect, and begin to answer tasks."""
        self._producer = AIOKafkaProducer(linger_ms=5, **self._connection.client_options())
        await self._producer.start()
        self._people = asyncio.create_task(self._answer_tasks())

    async def send(
        self, known: Iterable[Known], per_s: float | None = None, on_sent: Callable[[], None] | None = None
    ) -> None:
        """Send decisions; detecting runs in a thread, `per_s` paces it, None is as fast as it goes."""
        iterator = iter(known)
        size = _BATCH if per_s is None else max(int(per_s / 4), 1)
        while batch := await asyncio.to_thread(lambda: list(islice(iterator, size))):
            pause = asyncio.sleep(0 if per_s is None else size / per_s)
            for one in batch:
                self._truth[one.decision.doc_id] = one.truth
                await self._put(self._topics.decisions, one.decision.doc_id, one.decision)
            self.sent += len(batch)
            if on_sent is not None:
                on_sent()
            await pause

    async def _put(self, topic: str, key: str, record: msgspec.Struct) -> None:
        assert self._producer is not None  # noqa: S101  # started before anything is sent
        await self._producer.send(topic, msgspec.json.encode(record), key=key.encode())

    async def _answer_tasks(self) -> None:
        """Read annotation tasks from all partitions, and let each be answered after its time."""
        consumer = AIOKafkaConsumer(
            enable_auto_commit=False, auto_offset_reset="earliest", **self._connection.client_options()
        )
        await consumer.start()
        try:
            count = self._topics.partitions
            consumer.assign([TopicPartition(self._topics.annotation_tasks, p) for p in range(count)])
            async for record in consumer:
                task = _TASK.decode(record.value)
                work = asyncio.create_task(self._answer(task))
                self._tasks.add(work)
                work.add_done_callback(self._tasks.discard)
        finally:
            await consumer.stop()

    async def _answer(self, task: Task) -> None:
        await asyncio.sleep(self._annotators.delay_s(task))
        label = self._annotators.answer(task)
        # keyed by annotator, as tools do: putting labels beside their documents is recallwatch's job
        await self._put(self._topics.labels, label.annotator, label)
        self.answered += 1

    async def stop(self) -> None:
        """Let the people go and close the connections."""
        pending = [*self._tasks, *([self._people] if self._people else [])]
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
        if self._producer is not None:
            await self._producer.stop()


def recorded(decisions: Iterable[Decision], truth: Mapping[str, list[Span]], suffix: str = "") -> Iterator[Known]:
    """Yield recorded decisions with what people labelled; `suffix`, behind each id, makes other documents of them."""
    for decision in decisions:
        named = msgspec.structs.replace(decision, doc_id=decision.doc_id + suffix)
        yield Known(named, list(truth.get(decision.doc_id, ())))
