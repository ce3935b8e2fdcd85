"""Topics on a real Apache Kafka: created as specified, and refused with one line where they are otherwise."""

from __future__ import annotations

import asyncio

import pytest
from brokers import Kafka, free_port
from deliveries import Delivery
from toys import channel_topics, specs

from monitor.errors import ConfigError, SourceError
from streams.broker import Connection
from streams.declare import ensure
from streams.topics import COMPACTED, TopicSpec

pytestmark = [pytest.mark.broker, pytest.mark.kafka]


def test_missing_topics_are_created_once(kafka: Kafka, tag: str) -> None:
    """A second call finds them as they must be."""
    connection = Connection(servers=(kafka.server,))
    assert len(asyncio.run(ensure(connection, specs(tag)))) == len(specs(tag))
    assert asyncio.run(ensure(connection, specs(tag), create=False)) == ()


@pytest.mark.parametrize(
    ("existing", "wanted", "line"),
    [
        ({"partitions": 3}, {"partitions": 4}, "partitions is 3, wanted 4"),
        ({}, {"settings": COMPACTED}, "cleanup.policy is delete, wanted compact"),
        (
            {"settings": {"retention.ms": "1000"}},
            {"settings": {"retention.ms": "5000"}},
            "retention.ms is 1000, wanted at least 5000",
        ),
    ],
)
def test_a_topic_with_other_settings_is_refused(
    kafka: Kafka, tag: str, existing: dict[str, object], wanted: dict[str, object], line: str
) -> None:
    """The line names topic, setting, what was found and what was wanted, and nothing is changed."""
    connection = Connection(servers=(kafka.server,))
    default: dict[str, object] = {"name": tag, "partitions": 1}
    asyncio.run(ensure(connection, [TopicSpec(**{**default, **existing})]))  # type: ignore[arg-type]  # from a table
    with pytest.raises(ConfigError) as refused:
        asyncio.run(ensure(connection, [TopicSpec(**{**default, **wanted})]))  # type: ignore[arg-type]  # from a table
    assert f"topic {tag}: {line}" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_missing_topic_is_an_error_where_none_may_be_created(kafka: Kafka, tag: str) -> None:
    """The worker says which command creates it, and creates nothing."""
    connection = Connection(servers=(kafka.server,))
    for _ in range(2):
        with pytest.raises(ConfigError, match=f"topic {tag}: missing, create it with"):
            asyncio.run(ensure(connection, [TopicSpec(name=tag, partitions=1)], create=False))


def test_more_replicas_than_brokers_are_an_error_of_one_line(kafka: Kafka, tag: str) -> None:
    """What the broker says is passed on."""
    connection = Connection(servers=(kafka.server,))
    with pytest.raises(SourceError, match=f"topic {tag} can't be created"):
        asyncio.run(ensure(connection, [TopicSpec(name=tag, partitions=1, replication=3)]))


def test_a_worker_does_not_start_over_a_topic_that_is_otherwise(delivery: Delivery) -> None:
    """It ends with the same line, and reads nothing."""
    name = channel_topics(delivery.tag)["sampled"]
    connection = Connection(servers=(delivery.server,))
    asyncio.run(ensure(connection, [TopicSpec(name=name, partitions=2)]))
    delivery.start(0)
    assert delivery.wait(0) == 1
    log = delivery.log(0).read_text()
    assert f"ConfigError: broker: topic {name}: partitions is 2, wanted 4" in log
    assert "reading_from" not in log


def test_a_broker_that_is_not_there_is_a_source_error() -> None:
    """A command ends with one line; the worker waits instead."""
    server = f"127.0.0.1:{free_port()}"
    with pytest.raises(SourceError, match=server):
        asyncio.run(ensure(Connection(servers=(server,)), [TopicSpec(name="x", partitions=1)]))
