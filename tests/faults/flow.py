"""Traffic without end: decisions and labels that nobody asked for, while people answer what the product asks."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from random import Random
from typing import Self

from aiokafka import AIOKafkaProducer
from workers import Fleet
from workloads import BAD_DECISIONS, BAD_LABELS, Keyed, People, decisions, invented, unasked

DAY_MS = 86_400_000
BATCH = 8
PAUSE_S = 0.5
ENCODINGS = ("utf-16", "utf-7", "latin-1", "cp037")
"""In none of them JSON with an accent in it is UTF-8."""


def poison(good: Sequence[Keyed], bad: Sequence[bytes | None]) -> list[tuple[str | None, bytes | None]]:
    """Return bad records, some without a key: nothing at all, no JSON, wrong types, wrong encodings, cut short."""
    spoiled: list[bytes | None] = [*bad, None, b"", b"\0", b"null", b"[]", b"{}" * 2, b"\xef\xbb\xbf", b"1" * 5000]
    for encoding, (_, value) in zip(ENCODINGS, good, strict=False):
        spoiled.append(f'{{"é": {(value or b"").decode()}}}'.encode(encoding, "replace"))
        spoiled.append((value or b"")[: len(value or b"") // 2])
    return [(f"bad {n}" if n % 3 or value is None else None, value) for n, value in enumerate(spoiled)]


class Traffic:
    """Sends a few records twice a second until it's told to stop; what can be read is remembered by its bytes.

    Parameters
    ----------
    fleet
        Whose topics.
    days
        How many days ago the first decisions were made; `pass_day` goes on by one.

    """

    def __init__(self, fleet: Fleet, days: int) -> None:
        self._fleet = fleet
        self._days = days
        self._made = 0
        self._work: asyncio.Task[None] | None = None
        self._producer: AIOKafkaProducer | None = None
        self._sends: list[asyncio.Future[object]] = []
        self.people = People(fleet, [])
        self.recent: list[Keyed] = []
        """Decisions sent last."""
        self.decisions = 0
        """How many records were sent to `decisions`."""
        self.good: dict[str, set[bytes]] = {"decisions": set(), "labels": set()}
        """What was sent here that no stage may refuse to read."""

    async def __aenter__(self) -> Self:
        self._producer = self._fleet.producer()
        await self._producer.start()
        await self.people.__aenter__()
        self.resume()
        return self

    async def __aexit__(self, *_: object) -> None:
        with suppress(Exception):
            await self.stop()
        await self.people.__aexit__()
        assert self._producer is not None
        await self._producer.stop()

    def resume(self) -> None:
        """Begin to send."""
        self._work = asyncio.create_task(self._flow())

    async def stop(self) -> None:
        """Stop sending, and wait until the broker has acknowledged everything."""
        if self._work is not None:
            self._work.cancel()
            with suppress(asyncio.CancelledError):
                await self._work
            self._work = None
        sends, self._sends = self._sends, []
        await asyncio.gather(*sends)

    def readable(self) -> dict[str, set[bytes]]:
        """Return the values, by channel, that no stage may refuse to read."""
        answered = {value for _, value in self.people.sent if value is not None and is_readable(value)}
        return {**self.good, "labels": self.good["labels"] | answered}

    def pass_day(self) -> None:
        """Let the decisions' clock go on by a day, but never beyond today."""
        self._days = max(self._days - 1, 0)

    async def _flow(self) -> None:
        while True:
            found = invented(BATCH, start=self._made)
            self._made += BATCH
            self.people.know(found)
            sent = decisions(found)
            self.recent = [*self.recent, *sent][-400:]
            await self.send("labels", unasked(found))
            await self.send("decisions", sent)
            await asyncio.sleep(PAUSE_S)

    async def send(self, channel: str, records: Iterable[tuple[str | None, bytes | None]]) -> None:
        """Hand records to the producer; those of `decisions` are dated by the traffic's clock."""
        assert self._producer is not None
        bad = {"decisions": BAD_DECISIONS, "labels": BAD_LABELS}[channel]
        at_ms = int(time.time() * 1000) - self._days * DAY_MS if channel == "decisions" else None
        for key, value in records:
            if value is not None and value not in bad and is_readable(value):
                self.good[channel].add(value)
            self.decisions += channel == "decisions"
            named = None if key is None else key.encode()
            sent = await self._producer.send(self._fleet.topic(channel), value, key=named, timestamp_ms=at_ms)
            self._sends.append(sent)
        self._sends = [one for one in self._sends if not one.done() or one.exception() is not None]

    async def repeat(self, channel: str, number: int, chance: Random) -> int:
        """Send the last records once more, in another order; return how many."""
        last = (self.recent if channel == "decisions" else self.people.sent)[-number:]
        again = chance.sample(last, len(last))
        await self.send(channel, again)
        return len(again)

    async def spoil(self, chance: Random) -> int:
        """Send bad records to both topics, in any order; return how many."""
        bad = {
            "decisions": poison(self.recent, BAD_DECISIONS),
            "labels": poison(self.people.sent or unasked(invented(1)), BAD_LABELS),
        }
        for channel, records in bad.items():
            await self.send(channel, chance.sample(records, len(records)))
        return sum(map(len, bad.values()))


def is_readable(value: bytes) -> bool:
    """Tell whether a record of this suite's is a decision, or a label whose spans run forwards."""
    try:
        record = json.loads(value.decode())
        is_label = "annotator" in record
        return bool(record["doc_id"]) and all(s["start"] < s["end"] for s in record["spans"] if is_label)
    except (ValueError, TypeError, KeyError, RecursionError):
        return False


def census(good: set[bytes], values: Iterable[bytes | None]) -> Counter[str]:
    """Count records by what they are: `good`, `bad` or `null`."""
    return Counter("null" if value is None else "good" if value in good else "bad" for value in values)
