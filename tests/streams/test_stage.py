"""A stage folds each record once, in order, and makes what it folded durable in the one order that survives a crash."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Mapping, Sequence

import pytest
from stagedoubles import FakeTable, Sent, stored_documents
from toys import CountFold, KeepFold

from monitor.errors import ConfigError
from monitor.fold import Channel, Fold, Output
from monitor.records import Record
from streams.checkpoint import STEPS, checkpoint
from streams.chunks import Chunk, Place
from streams.stage import Pace, Stage, StageSpec

EPOCH = 3


class FakePort:
    """Journals what a stage asks of the app."""

    def __init__(self, journal: list[str], failure: Exception | None = None) -> None:
        self.journal = journal
        self.failure = failure
        self.sent: list[tuple[Output, Sent]] = []

    async def emit(self, output: Output) -> Awaitable[object]:
        """Note the send."""
        sent = Sent(self.failure)
        self.sent.append((output, sent))
        self.journal.append(f"send {output.channel}")
        return sent

    def rewind(self, place: Place, offset: int) -> None:
        """Note the rewind."""
        self.journal.append(f"rewind {place.partition} to {offset}")

    def report(self, place: Place, offset: int) -> None:
        """Note the position."""
        self.journal.append(f"report {place.partition} at {offset}")


class Rig:
    """A stage between a fake app and a fake table, its clock in hand."""

    def __init__(self, spec: StageSpec | None = None, pace: Pace | None = None) -> None:
        self.journal: list[str] = []
        self.port = FakePort(self.journal)
        self.table = FakeTable(self.journal)
        self.now = 0.0
        self.leased = True
        self.spec = spec or StageSpec(
            name="count", inputs=("decisions",), opener=lambda p, head, _: CountFold(p, head), table="t"
        )
        self.stage = Stage(
            spec=self.spec,
            topics={channel: channel for channel in self.spec.inputs},
            port=self.port,
            table=self.table if self.spec.table else None,  # type: ignore[arg-type]  # stands in for Faust's
            pace=pace or Pace(),
            fail=lambda _stage, step: self.journal.append(step),
            leased=lambda: self.leased,
            let_go=lambda place, offset: self.journal.append(f"let go {place.partition} at {offset}"),
            clock=lambda: self.now,
        )

    def open(self, start: int = 0, partitions: Sequence[int] = (0,)) -> None:
        """Open folds and begin reading at `start` where they have no position."""
        names = [*self.spec.inputs, *(["t"] if self.spec.table else [])]
        opened = self.stage.open([Place(name, p) for name in names for p in partitions])
        self.stage.begin(EPOCH, {place: start if at is None else at for place, at in opened.items()})

    def take(self, base: int, count: int, *, epoch: int = EPOCH, channel: Channel = "decisions") -> None:
        """Give the stage a chunk of `count` records from `base`."""
        chunk = Chunk(base, base + count, stored_documents(count, base), epoch)
        asyncio.run(self.stage.take(channel, 0, chunk))

    def checkpoint(self, *, everything: bool = True) -> bool:
        """Make a checkpoint."""
        return asyncio.run(checkpoint(self.stage, everything=everything))

    @property
    def count(self) -> int:
        """What the fold has counted."""
        fold = self.stage.running[0].fold
        assert isinstance(fold, CountFold)
        return fold.state["count"]


def opened() -> Rig:
    """Return a stage whose one fold is open, its first checkpoint made and the journal empty."""
    rig = Rig()
    rig.open()
    rig.checkpoint()
    rig.journal.clear()
    return rig


def test_a_chunk_is_folded_once() -> None:
    """A chunk that comes again, or reaches back, adds only what is new."""
    rig = opened()
    rig.take(0, 5)
    rig.take(0, 5)
    rig.take(3, 4)
    assert rig.count == 7


def test_a_hole_is_not_folded_but_read_again() -> None:
    """What comes after a lost chunk is left, and the transport asked to rewind to the position."""
    rig = opened()
    rig.take(0, 2)
    rig.take(4, 2)
    assert rig.count == 2
    assert rig.journal[-1] == "rewind 0 to 2"


def test_a_lost_first_chunk_is_a_hole_too() -> None:
    """A fold that has read nothing counts from where reading began."""
    rig = Rig()
    rig.open(start=10)
    rig.take(12, 2)
    assert rig.count == 0
    assert "rewind 0 to 10" in rig.journal


def test_without_a_lease_nothing_is_folded_and_all_is_read_again() -> None:
    """Somebody else may have the partition: what is in hand is left, and read again where it was ours after all."""
    rig = opened()
    rig.leased = False
    rig.take(0, 2)
    assert rig.count == 0
    assert rig.journal == ["let go 0 at 0"]
    rig.leased = True
    rig.take(0, 2)
    assert rig.count == 2


def test_without_a_lease_nothing_new_takes_effect() -> None:
    """A change of config is put on record by whoever has the partition for certain; checkpoints go on."""
    changes: list[Fold] = []

    def note(fold: Fold) -> list[Output]:
        changes.append(fold)
        return []

    rig = Rig(
        StageSpec(
            name="c", inputs=("decisions",), opener=lambda p, head, _: CountFold(p, head), table="t", prepare=note
        )
    )
    rig.open()
    rig.leased = False
    assert rig.checkpoint()
    assert changes == []
    rig.leased = True
    assert rig.checkpoint()
    assert len(changes) == 1


def test_chunks_of_another_seek_are_skipped() -> None:
    """What was fetched before the last seek belongs to no running fold."""
    rig = opened()
    rig.take(0, 2, epoch=EPOCH - 1)
    assert rig.count == 0


def test_a_partition_that_is_not_ours_is_skipped() -> None:
    """After a drop, chunks that still wait open no fold."""
    rig = opened()
    rig.stage.drop()
    rig.take(0, 2)
    assert rig.stage.running == {}


def test_a_checkpoint_keeps_its_order() -> None:
    """Sends are awaited before the head is written, the head before tallies, tallies before the position."""
    rig = opened()
    rig.take(0, 20)
    rig.journal.clear()
    assert rig.checkpoint()
    assert all(sent.waited_for for _, sent in rig.port.sent)
    expected = ["taken", "sent", "settled", "rows", "write head", "settled", "head"]
    assert rig.journal == [*expected, "send tallies", "tallies", "report 0 at 20", "reported"]


def test_rows_are_acknowledged_before_the_head() -> None:
    """A head vouches for its rows."""
    spec = StageSpec(name="keep", inputs=("decisions",), opener=lambda _p, head, rows: KeepFold(head, rows), table="t")
    rig = Rig(spec)
    rig.open()
    rig.take(0, 1)
    rig.checkpoint()
    assert rig.journal[2:6] == ["write decisions:doc0", "settled", "rows", "write head"]


def test_nothing_is_written_where_nothing_changed() -> None:
    """A second checkpoint of the same state writes no row and publishes no tally."""
    rig = opened()
    rig.take(0, 5)
    rig.checkpoint()
    rig.journal.clear()
    rig.checkpoint()
    assert rig.journal == ["taken", "sent", "tallies", "reported"]


def test_a_fold_that_was_opened_publishes_its_tallies_but_writes_no_head() -> None:
    """Whoever had the partition before may have ended between its head and its tallies."""
    rig = Rig()
    rig.open()
    rig.checkpoint()
    assert "send tallies" in rig.journal
    assert "write head" not in rig.journal


@pytest.mark.parametrize("step", STEPS[:3])
def test_a_seek_between_two_steps_ends_the_checkpoint(step: str) -> None:
    """After the seek no head is written and no position reported."""
    rig = opened()
    rig.take(0, 20)
    rig.stage.fail = lambda _stage, passed: rig.stage.drop() if passed == step else None
    assert not rig.checkpoint()
    assert rig.table.heads == {}
    assert not [line for line in rig.journal if line.startswith("report")]


def test_after_a_failed_send_nothing_of_the_stage_is_written_any_more() -> None:
    """The error ends the worker, and the last checkpoint on the way out must not vouch for what was lost."""
    rig = opened()
    rig.port.failure = ConnectionError("gone")
    rig.take(0, 20)
    with pytest.raises(ConnectionError):
        rig.checkpoint()
    assert not rig.checkpoint()
    assert rig.table.heads == {}


class Raising(CountFold):
    """A fold with a fault."""

    def fold(self, channel: Channel, records: Sequence[Record], following: int) -> list[Output]:
        """Fold half, then fail."""
        super().fold(channel, records[:1], following)
        raise ZeroDivisionError


def test_a_fold_that_fails_half_way_is_never_written() -> None:
    """Half a chunk is no prefix of the log."""
    rig = Rig(StageSpec(name="x", inputs=("decisions",), opener=lambda p, head, _: Raising(p, head), table="t"))
    rig.open()
    with pytest.raises(ZeroDivisionError):
        rig.take(0, 2)
    assert not rig.checkpoint()
    assert rig.table.heads == {}


def test_an_expensive_row_stretches_the_interval() -> None:
    """A head of some 40 bytes and its tally, at 10 bytes a second, aren't due again after a second."""
    rig = Rig(pace=Pace(interval_s=1.0, bytes_per_s=10.0))
    rig.open()
    rig.take(0, 5)
    rig.checkpoint(everything=False)
    head = len(rig.table.heads[0])
    tally = len(rig.port.sent[-1][0].value or b"")
    assert rig.stage.running[0].due == pytest.approx((head + tally) / 10.0)
    rig.take(5, 5)
    rig.now = 3.0
    rig.checkpoint(everything=False)
    assert json.loads(rig.table.heads[0])["count"] == 5


def test_new_rows_do_not_stretch_the_interval() -> None:
    """A row that was never written costs the same now or later."""
    spec = StageSpec(name="keep", inputs=("decisions",), opener=lambda _p, head, rows: KeepFold(head, rows), table="t")
    rig = Rig(spec, Pace(interval_s=1.0, bytes_per_s=50.0))
    rig.open()
    rig.take(0, 100)
    rig.checkpoint(everything=False)
    assert rig.stage.running[0].due == 1.0


def test_what_prepare_changed_is_sent_and_written_by_the_same_checkpoint() -> None:
    """A change of config takes effect at the beginning of a checkpoint, and its outputs are awaited before the head."""
    task = Output("annotation_tasks", b"k", b"v")
    spec = StageSpec(
        name="count",
        inputs=("decisions",),
        opener=lambda p, head, _: CountFold(p, head),
        table="t",
        prepare=lambda _fold: [task],
    )
    rig = Rig(spec)
    rig.open()
    rig.checkpoint()
    assert rig.port.sent[0][0] == task
    assert rig.port.sent[0][1].waited_for
    assert rig.journal.index("send annotation_tasks") < rig.journal.index("write head")


def test_a_prepare_that_changes_nothing_costs_nothing() -> None:
    """None leaves an idle fold alone."""
    spec = StageSpec(
        name="c",
        inputs=("decisions",),
        opener=lambda p, head, _: CountFold(p, head),
        table="t",
        prepare=lambda _fold: None,
    )
    rig = Rig(spec)
    rig.open()
    rig.checkpoint()
    assert "write head" not in rig.journal


class Keyless(CountFold):
    """A fold with a nameless row."""

    def rows(self) -> Mapping[str, bytes | None]:
        """Return a row that would replace the head."""
        return {"": b"x"}


def test_a_row_without_a_name_is_refused() -> None:
    """It would take the head's place."""
    rig = Rig(StageSpec(name="x", inputs=("decisions",), opener=lambda p, head, _: Keyless(p, head), table="t"))
    rig.open()
    rig.take(0, 1)
    with pytest.raises(ValueError, match="without a name"):
        rig.checkpoint()


def test_a_stage_without_a_table_keeps_nothing_and_reports_positions() -> None:
    """The board reads all tallies again after a restart; its position is for lag tools."""

    def open_board(partition: int, head: bytes | None, rows: Mapping[str, bytes]) -> Fold:
        assert (head, rows) == (None, {})
        return CountFold(partition, head)

    rig = Rig(StageSpec(name="board", inputs=("decisions",), opener=open_board, from_start=True))
    rig.open()
    rig.take(0, 3)
    rig.checkpoint()
    assert "report 0 at 3" in rig.journal
    assert rig.table.heads == {}


def test_inputs_that_are_not_co_partitioned_are_refused() -> None:
    """Partition 1 of one topic without partition 1 of the other can't be folded together."""
    spec = StageSpec(
        name="keep",
        inputs=("sampled", "labels_by_document"),
        opener=lambda _p, head, rows: KeepFold(head, rows),
        table="t",
    )
    rig = Rig(spec)
    places = [Place("sampled", 0), Place("sampled", 1), Place("labels_by_document", 0), Place("t", 0), Place("t", 1)]
    with pytest.raises(ConfigError, match="labels_by_document: partition 1 is missing"):
        rig.stage.open(places)


def test_two_inputs_have_positions_of_their_own() -> None:
    """One fold takes the same partition of both, and each is read on where it was left."""
    spec = StageSpec(
        name="keep",
        inputs=("sampled", "labels_by_document"),
        opener=lambda _p, head, rows: KeepFold(head, rows),
        table="t",
    )
    rig = Rig(spec)
    rig.open()
    rig.take(0, 3, channel="sampled")
    rig.take(0, 1, channel="labels_by_document")
    rig.checkpoint()
    rig.stage.drop()
    opened = rig.stage.open([Place(name, 0) for name in ("sampled", "labels_by_document", "t")])
    assert opened == {Place("sampled", 0): 3, Place("labels_by_document", 0): 1}
