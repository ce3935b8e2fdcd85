"""Replay: files instead of topics, the same stages, no broker.

Decisions and labels are read a line at a time and go through ROUTE, INTAKE, LEDGER and BOARD as they would on a worker,
in one partition. Bad lines are dead letters, as bad records are. The readings speak of the whole input, however many
days it covers, and don't depend on the order of its lines.

A corpus line has a text: its labels are sent as the answers to that text's task, so that they reach the text that they
are about, and no other one of the same document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from monitor.board import Board
from monitor.config import Config
from monitor.document import task_id, text_digest
from monitor.errors import RecordError
from monitor.fold import Channel, Output
from monitor.formats.corpus import read_label_line
from monitor.intake import Intake
from monitor.ledger import Ledger
from monitor.plan import Plan
from monitor.readings import BoardSnapshot, Tally, Window
from monitor.records import Label, Record
from monitor.route import Change, Route
from monitor.tallies import LATEST_MS
from streams.corpora import read_lines as numbered_lines

CHUNK = 500
CHUNK_BYTES = 1 << 22
_FOR_EVER = 1_000_000
"""Days until anything expires."""
_NO_TIME = -1


class _Ts(msgspec.Struct):
    ts: float | str | None = None


_TS = msgspec.json.Decoder(_Ts)


class Replay:
    """The four stages in one process.

    Parameters
    ----------
    config
        Settings of the whole run.
    annotators
        Whose labels count; empty takes everybody's, and the first answer of a document is its truth.
    """

    def __init__(self, config: Config, annotators: Sequence[str] = ()) -> None:
        self._plan = plan = Plan(config, horizon_days=_FOR_EVER)
        topics = config.topics
        self._annotators = annotators
        self._route = Route(topics.decisions, 0, [Change(0, plan)])
        self._intake = Intake(topics.labels, 0, plan)
        self._ledger = Ledger(0, plan, {"sampled": topics.sampled, "labels_by_document": topics.labels_by_document})
        self._board = Board(plan, [None])
        self._offsets: Counter[Channel] = Counter()
        self._not_chosen = 0
        self._first_ms, self._last_ms = LATEST_MS, _NO_TIME

    def decide(self, lines: Iterable[bytes]) -> int:
        """Take lines of decisions; return how many."""
        count = 0
        for chunk in _chunks(lines):
            records = [self._record("decisions", line, self._dated(line)) for line in chunk]
            count += len(records)
            self._pass_on("sampled", self._route.fold("decisions", records, self._offsets["decisions"]))
        return count

    def label(self, lines: Iterable[bytes]) -> int:
        """Take lines of labels, of a corpus or as wire records; return how many labels they hold."""
        count = 0
        for chunk in _chunks(lines):
            values = [msgspec.json.encode(label) for line in chunk for label in self._labels_of(line)]
            count += len(values)
            records = [self._record("labels", value, 0) for value in values]
            self._pass_on("labels_by_document", self._intake.fold("labels", records, self._offsets["labels"]))
        return count

    def _labels_of(self, line: bytes) -> Iterator[Label]:
        """Yield the labels of a line that count; one that can't be read is a dead letter, the others go on."""
        try:
            read = read_label_line(line, self._plan.limits)
        except RecordError as error:
            self._intake.refuse("labels", self._offsets["labels"], error)
            return
        for label in read.labels:
            if isinstance(label, RecordError):
                self._intake.refuse("labels", self._offsets["labels"], label)
            elif self._annotators and label.annotator not in self._annotators:
                self._not_chosen += 1
            elif read.text is None:
                yield label
            else:
                task = task_id(label.doc_id, text_digest(read.text), "label", 1)
                yield msgspec.structs.replace(label, task_id=task)

    def _dated(self, line: bytes) -> int:
        """Return a decision's own time, and keep the first and the last one."""
        at_ms = _timestamp_ms(line)
        if at_ms != _NO_TIME:
            self._first_ms, self._last_ms = min(self._first_ms, at_ms), max(self._last_ms, at_ms)
        return at_ms

    def _pass_on(self, channel: Channel, outputs: Sequence[Output]) -> None:
        """Hand the outputs of one stage to the ledger."""
        mine = [(o.value, o.timestamp_ms or 0) for o in outputs if o.channel == channel and o.value is not None]
        records = [self._record(channel, value, timestamp_ms) for value, timestamp_ms in mine]
        self._ledger.fold(channel, records, self._offsets[channel])

    def _record(self, channel: Channel, value: bytes, timestamp_ms: int) -> Record:
        offset = self._offsets[channel]
        self._offsets[channel] += 1
        return Record(offset, timestamp_ms, value)

    def snapshot(self) -> BoardSnapshot:
        """Return the readings of everything taken so far; a window without any time has no days."""
        for stage in (self._route, self._intake, self._ledger):
            for output in stage.tallies():
                self._board.take(output.key, output.value)
            stage.settle()
        found = self._board.snapshot(None)
        # ROUTE's days never go back, so the board's own first day hangs on the order of the lines
        window = Window(None, *(_day(self._first_ms), _day(self._last_ms)) if self._last_ms >= 0 else (None, None))
        left_out = [Tally(("not_chosen",), self._not_chosen)] if self._not_chosen else []
        return msgspec.structs.replace(
            found,
            readings=tuple(msgspec.structs.replace(reading, window=window) for reading in found.readings),
            outcomes=(*found.outcomes, *left_out),
        )


def read_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file that aren't blank; raises SourceError where it can't be read."""
    return (line for _, line in numbered_lines(path))


def _chunks(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Yield lines by the hundreds, of long ones fewer: what is held in memory has a bound."""
    chunk: list[bytes] = []
    size = 0
    for line in lines:
        chunk.append(line)
        size += len(line)
        if len(chunk) == CHUNK or size >= CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _day(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).date().isoformat()


def _timestamp_ms(line: bytes) -> int:
    """Return a decision's own time where its line has one that can be meant; a file has no broker's."""
    if b'"ts"' not in line:
        return _NO_TIME
    try:
        ts = _TS.decode(line).ts
        if isinstance(ts, str):
            at = datetime.fromisoformat(ts)
            ts = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
        at_ms = _NO_TIME if ts is None else int(ts * 1000)
    except (msgspec.DecodeError, ValueError, OverflowError, RecursionError):
        return _NO_TIME
    return at_ms if 0 <= at_ms < LATEST_MS else _NO_TIME
