"""Brokers for the tests of the shell: each is started once for all of them, and ends with them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from brokers import Kafka, missing_for_kafka, running_kafka
from deliveries import Delivery
from workers import Fleet

from monitor.errors import SourceError
from streams.embedded import EmbeddedBroker


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka]:
    """Give a real Apache Kafka; skip, and say what to install, where it can't be started."""
    missing = missing_for_kafka()
    if missing is not None:
        pytest.skip(missing)
    with running_kafka(tmp_path_factory.mktemp("kafka")) as broker:
        yield broker


@pytest.fixture(scope="session")
def embedded_server() -> Iterator[str]:
    """Give the address of an embedded broker; skip, and say what to install, where it has no binary."""
    broker = EmbeddedBroker(port=0)
    try:
        broker.start()
    except SourceError as error:
        pytest.skip(str(error))
    yield broker.server
    broker.stop()


@pytest.fixture
def tag() -> str:
    """Give a prefix for topics and groups that no other test uses."""
    return f"t{uuid.uuid4().hex[:8]}"


@pytest.fixture
def fleet(embedded_server: str, tag: str, tmp_path: Path) -> Iterator[Fleet]:
    """Give topics of one partition on the embedded broker, of whose documents every one is drawn."""
    fleet = Fleet(embedded_server, tag, tmp_path, ("sampling.random_rate=1", "topics.partitions=1"))
    try:
        yield fleet
    finally:
        fleet.kill()


@pytest.fixture
def delivery(kafka: Kafka, tag: str, tmp_path: Path) -> Iterator[Delivery]:
    """Give topics of their own on the real Kafka, and end whatever worker a test leaves behind."""
    delivery = Delivery(kafka.server, tag, tmp_path)
    try:
        yield delivery
    finally:
        delivery.kill()
