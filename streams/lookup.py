"""What a command asks of a broker before it reads: whether it's there, and whether a topic is ours.

Somebody waits for a command, so it gives up where a worker would go on waiting.
"""

from __future__ import annotations

import asyncio

from monitor.errors import ConfigError, SourceError
from streams.broker import wait_for_broker
from streams.declare import ensure
from streams.live import connection, declared_topics
from streams.settings import Settings
from streams.topics import TopicSpec

PATIENCE_S = 15.0
"""How long a command waits for a broker."""


async def find_broker(settings: Settings) -> None:
    """Wait a little for the broker.

    Raises
    ------
    SourceError
        No broker within `PATIENCE_S`, or one that refuses.
    """
    try:
        await asyncio.wait_for(wait_for_broker(connection(settings)), PATIENCE_S)
    except TimeoutError:
        raise SourceError(f"{settings.config.kafka.brokers}: no broker within {PATIENCE_S:.0f} s") from None


async def find_topic(settings: Settings, name: str) -> TopicSpec:
    """Wait a little for the broker, and return what a topic is declared as, once it's found to be so.

    A broker may make the topic that a consumer asks for, so it's asked about before.

    Raises
    ------
    SourceError
        No broker within `PATIENCE_S`, or one that refuses; a topic that isn't there or is another one's.
    """
    await find_broker(settings)
    (spec,) = [spec for spec in declared_topics(settings.config) if spec.name == name]
    try:
        await ensure(connection(settings), [spec], create=False)
    except ConfigError as error:
        raise SourceError(str(error)) from None
    return spec
