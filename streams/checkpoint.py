"""The writing of a checkpoint, in the one order that survives a crash between any two steps.

1. every outstanding send is acknowledged: what the folds gave out is on the broker before a position says so;
2. the rows are written and acknowledged, then the head, which holds the positions and vouches for the rows;
3. the tallies are published and acknowledged: downstream they are compared by position, so repeating them is harmless;
4. the positions are reported, to be committed.

Between the steps the epoch is compared: after a seek the folds that this was taken from are gone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable

from streams.stage import Stage, Taken

STEPS = ("taken", "sent", "rows", "head", "tallies", "reported")
"""The failure points: each is passed after its step."""


async def checkpoint(stage: Stage, *, everything: bool = False) -> bool:
    """Make durable what is due, `everything` on leaving; return False where a seek or an error cut it short.

    Raises
    ------
    Exception
        What made a send or a write fail; the worker must end then, since the folds can't take it back.

    """
    async with stage.writing:
        epoch = stage.epoch
        if stage.broken or not epoch:
            return False
        begun = stage.clock()
        sends, taken = await stage.take_due(everything=everything)
        try:
            through = await _write(stage, epoch, sends, taken)
        except Exception:
            stage.broken = True
            raise
        if through and taken:
            stage.checkpoints += 1
            stage.checkpoint_s += stage.clock() - begun
        return through


async def _write(stage: Stage, epoch: int, sends: Iterable[Awaitable[object]], taken: list[Taken]) -> bool:
    stands = _Stands(stage, epoch)
    if not stands.after("taken"):
        return False
    await _all(sends)
    if not stands.after("sent"):
        return False
    if not await _keep(stage, stands, [one for one in taken if one.head is not None]):
        return False
    await _all([await stage.port.emit(tally) for one in taken for tally in one.tallies])
    if not stands.after("tallies"):
        return False
    for one in taken:
        for place, position in one.positions.items():
            stage.port.report(place, position)
    return stands.after("reported")


async def _keep(stage: Stage, stands: _Stands, taken: list[Taken]) -> bool:
    """Write rows, then heads; return False where a seek came between."""
    if stage.table is None or not taken:
        return True
    for one in taken:
        for row, value in one.rows.items():
            if not row:
                raise ValueError(f"stage {stage.spec.name}: a row without a name would replace the head")
            if not stands.still():
                return False
            await stage.table.write(one.partition, row, value)
    await stage.table.settled()
    if not stands.after("rows"):
        return False
    for one in taken:
        await stage.table.write(one.partition, "", one.head)
    await stage.table.settled()
    return stands.after("head")


async def _all(sends: Iterable[Awaitable[object]]) -> None:
    for sent in sends:
        await sent


class _Stands:
    """Whether the seek that a checkpoint was taken under still stands."""

    def __init__(self, stage: Stage, epoch: int) -> None:
        self.stage = stage
        self.epoch = epoch

    def after(self, step: str) -> bool:
        """Pass the failure point of `step`; return False after a seek."""
        self.stage.fail(self.stage.spec.name, step)
        return self.still()

    def still(self) -> bool:
        """Return False after a seek."""
        return self.stage.epoch == self.epoch
