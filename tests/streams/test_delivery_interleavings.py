"""Any interleaving of fetches, lost chunks, seeks, checkpoints and crashes gives every record once.

Cursors, stage and checkpoint are the product's; the broker is a list, the client a position in it, and the table a
dictionary that a crash leaves as it is.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable

from hypothesis import given, settings
from hypothesis import strategies as st
from stagedoubles import FakeTable, Sent, stored_documents
from toys import CountFold, digest, drawn

from monitor.fold import Output
from streams.checkpoint import STEPS, checkpoint
from streams.chunks import Chunk, Cursors, Place
from streams.stage import Stage, StageSpec

PLACE = Place("decisions", 0)
LOG = stored_documents(60)
TAIL = 3
"""Records that come when all is calm again: a lost chunk shows by the one after it."""


class Crash(Exception):  # it stands for the end of a process, not for an error
    """The process ended."""


class World:
    """A partition, its reader, and whatever survives the reader."""

    def __init__(self) -> None:
        self.table = FakeTable()
        self.sampled: set[str] = set()
        self.dies_after: str | None = None
        self.end = len(LOG) - TAIL
        self.start()

    def start(self) -> None:
        """Start the process: all that is in memory is new."""
        self.cursors = Cursors(7)
        self.client = 0
        self.queue: list[Chunk] = []
        spec = StageSpec(name="count", inputs=("decisions",), opener=lambda p, head, _: CountFold(p, head), table="t")
        self.stage = Stage(
            spec=spec,
            topics={"decisions": PLACE.topic},
            port=self,
            table=self.table,  # type: ignore[arg-type]  # stands in for Faust's
            fail=self.pass_point,
        )
        self.seek()

    def pass_point(self, _stage: str, step: str) -> None:
        """End the process after the step that was drawn."""
        if step == self.dies_after:
            raise Crash

    def seek(self) -> None:
        """Rebalance: drop the folds, open them from the rows, read on at their positions."""
        self.stage.drop()
        opened = self.stage.open([PLACE, Place("t", 0)])
        positions = {place: position or 0 for place, position in opened.items()}
        self.cursors.place(positions)
        self.stage.begin(self.cursors.epoch, positions)

    def fetch(self, count: int, delivered: int) -> None:
        """Fetch `count` records and deliver the first `delivered` chunks of them."""
        for offset in self.cursors.take_seeks().values():
            self.client = offset
        rest = LOG[self.client : min(self.client + count, self.end)]
        self.client += len(rest)
        while rest and delivered:
            chunk, rest = self.cursors.cut(PLACE, rest)
            if chunk is not None:
                self.queue.append(chunk)
            delivered -= 1
        if rest:
            self.cursors.undelivered([PLACE])

    async def fold(self, count: int) -> None:
        """Let the stage take `count` chunks from its queue."""
        for chunk in self.queue[:count]:
            await self.stage.take("decisions", 0, chunk)
        del self.queue[:count]

    async def checkpoint(self, dies_after: str | None) -> None:
        """Make a checkpoint, and perhaps die in it."""
        self.dies_after = dies_after
        try:
            await checkpoint(self.stage, everything=True)
        except Crash:
            self.start()
        finally:
            self.dies_after = None

    async def emit(self, output: Output) -> Awaitable[object]:
        """Send; a record that nobody waited for may be on the broker all the same."""
        if output.channel == "sampled":
            self.sampled.add(output.key.decode())
        return Sent()

    def rewind(self, place: Place, offset: int) -> None:
        """Read again."""
        self.cursors.report_hole(place, offset)

    def report(self, place: Place, offset: int) -> None:
        """Commit: nothing depends on it."""


ACTIONS = st.one_of(
    st.tuples(st.just("fetch"), st.integers(1, 30), st.integers(0, 5)),
    st.tuples(st.just("fold"), st.integers(1, 4)),
    st.tuples(st.just("checkpoint"), st.sampled_from([None, *STEPS])),
    st.tuples(st.sampled_from(["seek", "lose", "crash"])),
)


async def play(actions: list[tuple[object, ...]]) -> World:
    """Do what was drawn, then read to the end undisturbed."""
    world = World()
    for name, *arguments in actions:
        match name, arguments:
            case "fetch", [int() as count, int() as delivered]:
                world.fetch(count, delivered)
            case "fold", [int() as count]:
                await world.fold(count)
            case "checkpoint", [None | str() as step]:
                await world.checkpoint(step)
            case "seek", _:
                world.seek()
            case "lose", _:
                world.queue.clear()
            case _:
                world.start()
    world.end = len(LOG)
    for _ in range(2 * len(LOG)):
        world.fetch(10, 5)
        await world.fold(len(world.queue))
    await world.checkpoint(None)
    return world


@settings(max_examples=300, deadline=None)
@given(st.lists(ACTIONS, max_size=40))
def test_every_record_is_counted_once_whatever_happens(actions: list[tuple[object, ...]]) -> None:
    """Count, sum and forwarded documents are those of an undisturbed run, and the head says so."""
    world = asyncio.run(play(actions))
    documents = [json.loads(record.value or b"")["doc_id"] for record in LOG]
    head = json.loads(world.table.heads[0])
    expected = {"following": len(LOG), "count": len(LOG), "total": sum(map(digest, documents))}
    assert expected == head
    assert {document for document in documents if drawn(document)} == world.sampled
