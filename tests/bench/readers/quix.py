"""The third reference: Quix Streams (librdkafka), decoding alone or doing ROUTE's own work.

`python -m bench.readers.quix SERVER TOPIC N FOLDER [CONFIG SAMPLED CENSUS]`, in a venv of its own: its requirements
(`tests/bench/peers.txt`) can't stand beside the product's. CONFIG is a file with the product's settings as JSON;
drawn documents go to the topic SAMPLED, rows to CENSUS.

The work is the product's own code: `monitor.route.Route`, one record a call, since Quix hands on one message at a
time. Larger fetches or other queues than librdkafka's own changed nothing.

State as cheap as Quix allows it: counted in memory, and one row a partition written and acknowledged whenever
Quix makes a checkpoint (every half second, as the product does), in a sink's `flush`, which comes before the commit
of the offsets. A `State` store would cost a lookup in a transaction with each message. After a crash offsets and rows
can differ, which the product rules out; nothing is charged for that here.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec
from bench.readers.stopwatch import Stopwatch
from quixstreams import Application, message_context  # type: ignore[import-not-found]  # in the venv of the peers
from quixstreams.kafka import Producer  # type: ignore[import-not-found]  # the same
from quixstreams.sinks.base import BaseSink  # type: ignore[import-not-found]  # the same

from monitor.config import Config
from monitor.plan import Plan
from monitor.records import Decision, Record
from monitor.route import Change, Route

CHECKPOINT_S = 0.5


def application(server: str, folder: Path) -> Application:
    """Return an app of a group of its own that reads from the beginning."""
    return Application(
        broker_address=server,
        consumer_group=folder.name,
        auto_offset_reset="earliest",
        commit_interval=CHECKPOINT_S,
        auto_create_topics=False,
        state_dir=folder,
        loglevel="ERROR",
        producer_extra_config={"linger.ms": 5},
    )


def decode_only(app: Application, topic: str, watch: Stopwatch) -> None:
    """Set up decoding and nothing else."""
    decode = msgspec.json.Decoder(Decision).decode

    def take(value: bytes) -> None:
        decode(value)
        if watch.count(1):
            app.stop()

    stream = app.dataframe(app.topic(topic, key_deserializer="bytes", value_deserializer="bytes"))
    stream.update(take)


class Census(BaseSink):  # type: ignore[misc]  # the same
    """Writes the row of every partition when Quix makes a checkpoint, and waits for the broker's answer."""

    def __init__(self, producer: Producer, topic: str, routes: dict[int, Route]) -> None:
        super().__init__(on_client_connect_success=lambda: None)
        self._producer = producer
        self._topic = topic
        self._routes = routes

    def add(self, *_: Any, **__: Any) -> None:  # noqa: ANN401  # quix's own arguments
        """Do nothing: what is drawn was sent already."""

    def flush(self) -> None:
        """Write the rows."""
        for partition, route in self._routes.items():
            self._producer.produce(self._topic, key=str(partition).encode(), value=route.head())
            route.settle()
        self._producer.flush()


def route_all(app: Application, topics: tuple[str, str, str], watch: Stopwatch, plan: Plan) -> None:
    """Set up ROUTE's work: `topics` are those of decisions, of drawn documents and of rows."""
    decisions, sampled, census = topics
    routes: dict[int, Route] = {}

    def take(value: bytes, key: bytes, timestamp: int, _headers: object) -> list[bytes]:
        place = message_context()
        route = routes.get(place.partition)
        if route is None:
            route = routes[place.partition] = Route(decisions, place.partition, [Change(0, plan)])
        outputs = route.fold("decisions", [Record(place.offset, timestamp, value, key)], place.offset + 1)
        if watch.count(1):
            app.stop()
        return [output.value or b"" for output in outputs if output.channel == "sampled"]

    source = app.topic(decisions, key_deserializer="bytes", value_deserializer="bytes")
    target = app.topic(sampled, key_serializer="bytes", value_serializer="bytes")
    drawn = app.dataframe(source).apply(take, expand=True, metadata=True).to_topic(target)
    drawn.sink(Census(app.get_producer(), census, routes))


def run(server: str, topic: str, total: int, folder: Path, more: list[str]) -> None:
    """Read so many decisions and end."""
    app, watch = application(server, folder), Stopwatch(total)
    if more:
        config, sampled, census = more
        plan = Plan(msgspec.json.decode(Path(config).read_bytes(), type=Config))
        route_all(app, (topic, sampled, census), watch, plan)
    else:
        decode_only(app, topic, watch)
    app.run()


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]), sys.argv[5:])
