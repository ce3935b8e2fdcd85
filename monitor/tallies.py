"""The topic between the stages and the board: one row a stage, partition and day; the highest position wins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from monitor.errors import StateError
from monitor.fold import Output
from monitor.tally import Tally

DAY_MS = 86_400_000
LATEST_MS = 4_102_444_800_000
"""2100-01-01: a record that says it's later speaks in another unit (µs, ns), and would end every window at once."""
Stage = Literal["route", "intake", "ledger"]
Clock: TypeAlias = Callable[[], float]
"""Seconds since the epoch."""


class RowKey(NamedTuple):
    """Whose tally it is."""

    stage: Stage
    partition: int
    day: int


def latest_usable_ms(clock: Clock | None) -> int:
    """Return the latest time (ms) that a record can mean: a day ahead of the clock, or the year 2100 without one."""
    return LATEST_MS if clock is None else int(clock() * 1000) + DAY_MS


def usable_ms(timestamp_ms: int, day: int, latest_ms: int = LATEST_MS) -> int:
    """Return a record's time (ms since the epoch), or the beginning of `day` where it has none that can be meant.

    One record from the future would end every window: days never go back.

    >>> usable_ms(-1, 1), usable_ms(1_790_000_000_000_000, 1), usable_ms(5, 1), usable_ms(5, 1, 4)
    (86400000, 86400000, 5, 86400000)
    """
    return timestamp_ms if 0 <= timestamp_ms < latest_ms else day * DAY_MS


def published(stage: Stage, partition: int, day: str, position: int, tally: Tally | None) -> Output:
    """Return the record of a day's tally as of a position; None is a day that was dropped."""
    key = f"{stage}/{partition}/{day}".encode()
    value = None if tally is None else msgspec.msgpack.encode((position, tally.encode()))
    return Output("tallies", key, value)


def read_key(key: bytes) -> RowKey:
    """Return whose tally a record is.

    Raises
    ------
    StateError
        A key of another form.
    """
    stage, _, rest = key.decode("ascii", "replace").partition("/")
    partition, _, day = rest.partition("/")
    if stage not in ("route", "intake", "ledger") or not partition.isdecimal() or not day.isdecimal():
        raise StateError("tallies: a key that no stage of this version writes: rebuild the board from the topics")
    return RowKey(stage, int(partition), int(day))  # type: ignore[arg-type]  # checked above


def read_value(value: bytes) -> tuple[int, Tally]:
    """Return the position and the tally of a record.

    Raises
    ------
    StateError
        Bytes that are no tally of this version.
    """
    try:
        position, tally = msgspec.msgpack.decode(value, type=tuple[int, bytes])
    except msgspec.DecodeError:
        raise StateError("tallies: a row that no stage of this version writes: rebuild the board") from None
    return position, Tally.decode(tally)


def position_of(value: bytes) -> int | None:
    """Return the position of a record without decoding its tally; None for bytes that no stage wrote."""
    try:
        position, _ = _POSITION.decode(value)
    except msgspec.DecodeError:
        return None
    return position


_POSITION = msgspec.msgpack.Decoder(tuple[int, msgspec.Raw])
