"""Replay: files instead of topics, the same stages, no broker.

Decisions and labels are read a line at a time and go through ROUTE, INTAKE, LEDGER and BOARD as they would on a worker,
in one partition. Bad lines are dead letters, as bad records are. The readings speak of the whole input.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import msgspec

from monitor.board import Board
from monitor.config import Config
from monitor.errors import RecordError
from monitor.fold import Output
from monitor.formats.corpus import read_label_line
from monitor.intake import Intake
from monitor.ledger import Ledger
from monitor.plan import Plan
from monitor.readings import BoardSnapshot
from monitor.records import Label, Record
from monitor.route import Change, Route
from streams.corpora import read_lines as numbered_lines

CHUNK = 500


class _DocumentText(msgspec.Struct):
    doc_id: str
    text: str


class _Ts(msgspec.Struct):
    ts: float | str | None = None


_TEXT = msgspec.json.Decoder(_DocumentText)
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
        self._plan = plan = Plan(config)
        topics = config.topics
        self._annotators = annotators
        self._route = Route(topics.decisions, 0, [Change(0, plan)])
        self._intake = Intake(topics.labels, 0, plan)
        self._ledger = Ledger(0, plan, {"sampled": topics.sampled, "labels_by_document": topics.labels_by_document})
        self._board = Board(plan, [None])
        self._offsets: Counter[str] = Counter()
        self._digests: dict[str, set[bytes]] = {}
        self.other_text = 0
        """Labels left out because their line holds another text than the decision did."""

    def decide(self, lines: Iterable[bytes]) -> int:
        """Take lines of decisions; return how many."""
        count = 0
        for chunk in _chunks(lines):
            records = [self._record("decisions", line, _timestamp_ms(line)) for line in chunk]
            count += len(records)
            drawn = [o for o in self._route.fold("decisions", records, self._offsets["decisions"]) if o.value]
            self._pass_on("sampled", drawn)
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
            elif read.text is not None and self._is_other_text(label.doc_id, read.text):
                self.other_text += 1
            elif not self._annotators or label.annotator in self._annotators:
                yield label

    def _is_other_text(self, doc_id: str, text: str) -> bool:
        """Say whether the document was drawn, but never with this text: a label's offsets mean nothing in another."""
        drawn = self._digests.get(doc_id)
        return drawn is not None and _digest(text) not in drawn

    def _pass_on(self, channel: str, outputs: Sequence[Output]) -> None:
        """Hand the outputs of one stage to the ledger."""
        records: list[Record] = []
        for output in outputs:
            if output.channel == channel and output.value is not None:
                records.append(self._record(channel, output.value, output.timestamp_ms or 0))
                if channel == "sampled":
                    drawn = _TEXT.decode(output.value)
                    self._digests.setdefault(drawn.doc_id, set()).add(_digest(drawn.text))
        if channel == "sampled":
            self._ledger.fold("sampled", records, self._offsets[channel])
        else:
            self._ledger.fold("labels_by_document", records, self._offsets[channel])

    def _record(self, channel: str, value: bytes, timestamp_ms: int) -> Record:
        offset = self._offsets[channel]
        self._offsets[channel] += 1
        return Record(offset, timestamp_ms, value)

    def counts(self) -> dict[str, object]:
        """Return what the replay alone counts."""
        return {"other_text": self.other_text, "rows_unreadable": self._board.unreadable}

    def snapshot(self) -> BoardSnapshot:
        """Return the readings of everything taken so far."""
        for stage in (self._route, self._intake, self._ledger):
            for output in stage.tallies():
                self._board.take(output.key, output.value)
            stage.settle()
        return self._board.snapshot(None)


def read_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file that aren't blank; raises SourceError where it can't be read."""
    return (line for _, line in numbered_lines(path))


def _chunks(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    iterator = iter(lines)
    while chunk := list(islice(iterator, CHUNK)):
        yield chunk


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _timestamp_ms(line: bytes) -> int:
    """Return a decision's own time where its line has one; a file has no broker's."""
    if b'"ts"' not in line:
        return 0
    try:
        ts = _TS.decode(line).ts
        if isinstance(ts, str):
            at = datetime.fromisoformat(ts)
            ts = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
        return max(int((ts or 0) * 1000), 0)
    except (msgspec.DecodeError, ValueError, OverflowError, RecursionError):
        return 0
