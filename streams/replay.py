"""Replay: files instead of topics, the same stages, no broker.

Decisions and labels are read a line at a time and go through ROUTE, INTAKE, LEDGER and BOARD as they would on a worker,
in one partition. Bad lines are dead letters, as bad records are. The readings speak of the whole input, however many
days it covers, and don't depend on the order of its lines.

A corpus line has a text: its labels are sent as answers about that text, so that they reach the text that they are
about, and no other one of the same document; where two people are asked, the first two are its two readings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from monitor.cells import CellSample
from monitor.config import Config
from monitor.document import Document, task_id, text_digest
from monitor.errors import RecordError
from monitor.formats.corpus import read_label_line
from monitor.plan import Plan
from monitor.readings import BoardSnapshot, Tally, Window
from monitor.records import Label
from monitor.salvage import parse_object, read_number
from monitor.tallies import LATEST_MS
from streams.corpora import read_lines as numbered_lines
from streams.replay_stages import Stages

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
        self._stages = Stages(Plan(config, horizon_days=_FOR_EVER), [None])
        self._annotators = annotators
        self._not_chosen = 0
        self.seen: set[str] = set()
        """Who gave the labels, chosen or not."""
        self._first_ms, self._last_ms = LATEST_MS, _NO_TIME

    def decide(self, lines: Iterable[bytes]) -> int:
        """Take lines of decisions; return how many."""
        count = 0
        for chunk in chunks(lines):
            self._stages.decide([(line, self._dated(line)) for line in chunk])
            count += len(chunk)
        return count

    def label(self, lines: Iterable[bytes]) -> int:
        """Take lines of labels, of a corpus or as wire records; return how many labels they hold."""
        count = 0
        for chunk in chunks(lines):
            values = [(msgspec.json.encode(label), 0) for line in chunk for label in self._labels_of(line)]
            count += len(values)
            self._stages.label(values)
        return count

    def _labels_of(self, line: bytes) -> Iterator[Label]:
        """Yield the labels of a line that count; one that can't be read is a dead letter, the others go on."""
        try:
            read = read_label_line(line, self._stages.plan.limits)
        except RecordError as error:
            self._stages.refuse_label(error)
            return
        for label in read.labels:
            if isinstance(label, RecordError):
                self._stages.refuse_label(label)
                continue
            self.seen.add(label.annotator)
            if self._annotators and label.annotator not in self._annotators:
                self._not_chosen += 1
            elif read.text is None:
                yield label
            else:
                task = task_id(label.doc_id, text_digest(read.text), "label", 0)
                yield msgspec.structs.replace(label, task_id=task)

    def _dated(self, line: bytes) -> int:
        """Return a decision's own time, and keep the first and the last one; 0 where it has none.

        ROUTE would give it the day it has come to, which hangs on the order of the lines.
        """
        at_ms = _timestamp_ms(line)
        if at_ms == _NO_TIME:
            return 0
        self._first_ms, self._last_ms = min(self._first_ms, at_ms), max(self._last_ms, at_ms)
        return at_ms

    def snapshot(self) -> BoardSnapshot:
        """Return the readings of everything taken so far; a window without any time has no days."""
        self._stages.publish()
        found = self._stages.board.snapshot(None)
        # ROUTE's days never go back, so the board's own first day hangs on the order of the lines
        window = Window(None, *(_day(self._first_ms), _day(self._last_ms)) if self._last_ms >= 0 else (None, None))
        left_out = [Tally(("not_chosen",), self._not_chosen)] if self._not_chosen else []
        return msgspec.structs.replace(
            found,
            readings=tuple(msgspec.structs.replace(reading, window=window) for reading in found.readings),
            outputs=tuple(msgspec.structs.replace(reading, window=window) for reading in found.outputs),
            outcomes=(*found.outcomes, *left_out),
        )

    def samples(self) -> list[CellSample]:
        """Return the sample of every cell, over everything taken so far."""
        self._stages.publish()
        return self._stages.board.samples()

    def documents(self) -> Iterator[tuple[str, Document]]:
        """Yield every drawn document with its id."""
        return self._stages.ledger.documents()


def read_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file that aren't blank; raises SourceError where it can't be read."""
    return (line for _, line in numbered_lines(path))


def chunks(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
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
        at_ms = int(_seconds(_ts(line)) * 1000)
    except (RecordError, ValueError, OverflowError):
        return _NO_TIME
    return at_ms if 0 <= at_ms < LATEST_MS else _NO_TIME


def _ts(line: bytes) -> object:
    """Return the field as it stands; of what the typed decoder refuses, as ROUTE reads it."""
    try:
        return _TS.decode(line).ts
    except (msgspec.DecodeError, RecursionError):
        return parse_object(line).first("ts")


def _seconds(ts: object) -> float:
    """Return seconds since the epoch, of a number, of a string that writes one, or of ISO 8601, by default in UTC.

    Raises ValueError for anything else.
    """
    if isinstance(ts, str):
        try:
            at = datetime.fromisoformat(ts)
        except ValueError:
            pass
        else:
            return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    number = read_number(ts)
    if number is None:
        raise ValueError("no time")
    return number
