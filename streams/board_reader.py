"""The live board, read by a command: the compacted topic of tallies from its start to where it ends now.

No consumer group is made, so workers notice nothing and nothing is left behind.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from monitor.board import Board
from monitor.errors import SourceError
from monitor.history import History
from monitor.in_force import InForce, read_in_force
from monitor.plan import Plan
from monitor.records import Record
from streams.broker import Connection
from streams.history_topic import HistoryReader
from streams.live import channel_topics, connection
from streams.lookup import find_topic
from streams.settings import Settings

PATIENCE_S = 15.0
"""How long a command waits for the next record of a topic that hasn't ended."""
_QUIET_MS = 500
"""How long a poll waits for something to come."""


class Live(NamedTuple):
    """What a command reads off a broker: readings, and what was in force when."""

    board: Board
    history: History


class _Fetched(Protocol):
    """A record as the client library hands it out."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None


def read_board(settings: Settings) -> Board:
    """Return the board of all that the stages have published until now.

    Parameters: `settings` say which broker and topic; targets, windows, periods are those in force, as recorded.

    A topic without a record gives an empty board.

    Raises
    ------
    SourceError
        No broker that answers or takes us, a topic that is missing, isn't ours or doesn't answer within `PATIENCE_S`.
    StateError
        A config in force that nobody can read, see `monitor.in_force.read_in_force`.
    """
    return read_live(settings).board


def read_live(settings: Settings) -> Live:
    """Return the board, made by what is in force, and the history of configs; see `read_board`."""
    return read_ruled(settings)[0]


def read_ruled(settings: Settings) -> tuple[Live, InForce]:
    """Return what `read_live` does, and the rules in force that the board is made by; see `read_board`."""
    return asyncio.run(_read_ruled(settings))


async def _read_ruled(settings: Settings) -> tuple[Live, InForce]:
    history = await read_history(settings)  # first: it says by which config the board is made
    rules = read_in_force(history, settings.config)
    return Live(await _read_board(settings, rules.plan), history), rules


async def _read_board(settings: Settings, plan: Plan) -> Board:
    topic = channel_topics(settings.config)["tallies"]
    await find_topic(settings, topic)
    board = Board(plan)
    try:
        await _follow(connection(settings), topic, board)
    except KafkaError as error:
        raise SourceError(f"topic {topic} can't be read ({type(error).__name__})") from None
    return board


async def read_history(settings: Settings) -> History:
    """Return what the history topic says now; see `read_board`."""
    topic = channel_topics(settings.config)["history"]
    await find_topic(settings, topic)
    found = History()
    reader = HistoryReader(connection(settings), topic, found)
    try:
        await asyncio.wait_for(reader.start(), PATIENCE_S)
    except TimeoutError:
        raise SourceError(f"topic {topic} wasn't read to its end within {PATIENCE_S:.0f} s") from None
    except KafkaError as error:
        raise SourceError(f"topic {topic} can't be read ({type(error).__name__})") from None
    finally:
        await reader.stop()
    return found


async def _follow(broker: Connection, topic: str, board: Board, clock: Callable[[], float] = time.monotonic) -> None:
    """Hand a board all that its topic holds at this moment."""
    place = TopicPartition(topic, 0)
    consumer = AIOKafkaConsumer(enable_auto_commit=False, **broker.client_options())
    try:
        await consumer.start()
        consumer.assign([place])
        await consumer.seek_to_beginning(place)
        end = (await consumer.end_offsets([place]))[place]
        heard = clock()
        while (position := await consumer.position(place)) < end:
            for fetched in (await consumer.getmany(timeout_ms=_QUIET_MS)).values():
                board.fold("tallies", records(fetched), fetched[-1].offset + 1)
            if await consumer.position(place) > position:
                heard = clock()
            elif clock() - heard > PATIENCE_S:
                raise SourceError(f"topic {topic}: nothing more came within {PATIENCE_S:.0f} s")
    finally:
        await consumer.stop()


def records(fetched: Iterable[_Fetched]) -> list[Record]:
    """Return fetched records as a stage sees them."""
    return [Record(one.offset, one.timestamp, one.value, one.key) for one in fetched]
