"""The life of a drawn document in the ledger: drawn (perhaps by several detector versions), asked about, answered.

A document is one row. Everything that the ledger counts is derived from rows (`monitor.contribution`), so a row that is
written twice, or read again, changes no number. Each row remembers the offset of the last record of either input that
it took; a record at or below it was taken before and is nothing new.

    drawn ──▶ open ──submitted──▶ labelled ──higher revision──▶ labelled
                └────skipped────▶ skipped ──submitted──▶ labelled

An answer belongs to a *text*, not to a detector version: versions that read the same text share one task and one truth,
and a version that comes after the answer is served by it at once. A text that changed under the same id is another text
with a task of its own. An answer that comes before its text waits in the row: the two inputs are read at their own
pace, and after a crash in another order than before. A rejected record leaves the row as it was, but for the count of
it.

A row that no topic takes would stop its worker for good, so none grows beyond `LARGEST_ROW`. To stay under it a row
lets go of what no estimate reads: labels that wait, the oldest first, then answers beside the one that counts. A first
reading (10,000 spans × 270 bytes, and where the text is blank) and the answer to it (`LARGEST_LABEL`) always fit.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import Literal

import msgspec

from monitor.blanks import blank_test, blanks
from monitor.errors import BadSpan, RecordError, TooLarge
from monitor.origin import DrawnRecord, Origin, taken_before
from monitor.records import Label, Sampled, Stratum, Task

Outcome = Literal[
    "joined", "revised", "duplicate", "skipped", "extra", "orphan", "other_task", "rejected", "late", "repeat"
]
"""What became of a label (`late` beside another one), or of a document drawn twice, or once too often (`repeat`)."""

_EARLY_KEPT = 64
_EARLY_SPANS = 20_000
_ANSWERS_KEPT = 16
LARGEST_ROW = 4 << 20
"""Bytes of a row, but for its counters; topics and producer take 8 MiB. A first reading is let in at any size: ROUTE
has seen to it that it can be sent."""
DAY_S = 86_400


class Drawn(msgspec.Struct, array_like=True, frozen=True):
    """One detector version's reading of the text, with the design it was drawn under."""

    detector: str
    version: str
    language: str
    stratum: Stratum
    probability: float
    config: str
    net: str
    day: int
    at: float
    spans: list[tuple[int, int, str]]


class Answer(msgspec.Struct, array_like=True, frozen=True):
    """One annotator's latest answer."""

    annotator: str
    revision: int
    submitted: bool
    spans: list[tuple[int, int, str]]


class Text(msgspec.Struct, array_like=True):
    """One text of the document: who drew it, its task, its answers; of its words nothing but where it's blank."""

    digest: str
    length: int
    language: str
    blank: bytes
    """Which code points are white space (`monitor.blanks`): a label of nothing else is none, whenever it comes."""
    task_id: str
    due_at: float
    drawn: list[Drawn]
    answers: list[Answer] = []

    @property
    def truth(self) -> Answer | None:
        """The answer that counts: the first annotator's whose answer was submitted."""
        for answer in self.answers:  # a generator takes four times as long, and a ledger that opens asks 300,000 times
            if answer.submitted:
                return answer
        return None


class Early(msgspec.Struct, array_like=True, frozen=True):
    """A label that came before its document."""

    label: Label
    at: float


class Document(msgspec.Struct, array_like=True):
    """The row of a document."""

    day: int
    """The last day it was drawn, or the day of its label while it isn't; it expires with the window."""
    sampled_offset: int = -1
    labels_offset: int = -1
    texts: list[Text] = []
    early: list[Early] = []
    outcomes: dict[str, int] = {}
    drawn_from: dict[int, int] = {}
    """Highest offset by partition of decisions that this document was drawn from."""
    labelled_from: dict[int, int] = {}
    """The same of the labels as the tools sent them."""

    @property
    def answered(self) -> set[str]:
        """The entities that annotators named, as they spelled them."""
        return {entity for text in self.texts for answer in text.answers for _, _, entity in answer.spans}

    def count(self, outcome: Outcome) -> None:
        """Count what became of a record."""
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1

    def draw(self, sampled: DrawnRecord, deadline_s: float, copies: int) -> Task | None:
        """Put the drawn document in, unless this detector version is there already; return the task to send, if any.

        A further reading that the row has no room for is a `repeat` too.
        """
        sent_again = taken_before(self.drawn_from, sampled.origin)
        if any(d.detector == sampled.detector and d.version == sampled.version for t in self.texts for d in t.drawn):
            if not sent_again:
                self.count("repeat")
            return None
        self.day = max(self.day, sampled.day) if self.texts else sampled.day
        digest = text_digest(sampled.text)
        text = next((t for t in self.texts if t.digest == digest), None)
        if text is not None:
            text.drawn.append(_drawn(sampled))
            if self._excess > 0:
                text.drawn.pop()
                if not sent_again:
                    self.count("repeat")
            return None
        task = _task(sampled, digest, deadline_s, copies)
        text = Text(digest, len(sampled.text), sampled.lang, blanks(sampled.text), task.task_id, task.due_at, [])
        text.drawn.append(_drawn(sampled))
        self.texts.append(text)
        if len(self.texts) > 1 and self._excess > 0:
            self.texts.pop()
            if not sent_again:
                self.count("repeat")
            return None
        waiting, self.early = self.early, []
        for early in waiting:
            if self._text_of(early.label) is text:
                with suppress(RecordError):
                    self._join(text, early.label, early.at, sent_again=False)
            else:
                self.early.append(early)
        self._make_room()
        return None if text.truth is not None else task

    def answer(self, label: Label, at: float, origin: Origin | None = None) -> Outcome | None:
        """Take a label; `at` is when it arrived, in seconds. Return None where INTAKE sent again what was taken before.

        Raises
        ------
        BadSpan
            A span that the text can't have. Nothing but the count of it has changed then.
        TooLarge
            The row has no room for it, whatever else it lets go of.
        """
        sent_again = taken_before(self.labelled_from, origin)
        text = self._text_of(label)
        if text is not None:
            return self._join(text, label, at, sent_again=sent_again)
        if sent_again and any(early.label == label for early in self.early):
            return None
        return self._keep_early(label, at)

    def _join(self, text: Text, label: Label, at: float, *, sent_again: bool) -> Outcome | None:
        try:
            _check_spans(label, text)
        except BadSpan:
            if not sent_again:
                self.count("rejected")
            raise
        before = list(text.answers)
        outcome = _join(text, label)
        fits = text.answers == before or self._make_room()
        if sent_again and text.answers == before:
            return None
        if not fits:
            text.answers = before
            if not sent_again:
                self.count("rejected")
            raise TooLarge("$", "no room in the row of its document")
        self.count(outcome)
        if at > text.due_at and outcome in {"joined", "skipped"}:
            self.count("late")
        return outcome

    @property
    def waiting(self) -> Outcome:
        """What the labels that wait are, as long as no text comes that they are about."""
        return "other_task" if self.texts else "orphan"

    def _keep_early(self, label: Label, at: float) -> Outcome:
        self.early.append(Early(label, at))
        spans = sum(len(early.label.spans) for early in self.early)
        while len(self.early) > 1 and (len(self.early) > _EARLY_KEPT or spans > _EARLY_SPANS):
            spans -= len(self._drop_early().label.spans)
        self._make_room()
        return self.waiting

    def _drop_early(self) -> Early:
        self.count(self.waiting)
        return self.early.pop(0)

    @property
    def _excess(self) -> int:
        return _size(self) - LARGEST_ROW

    def _make_room(self) -> bool:
        """Let go of what no estimate reads until the row is small enough; say whether it is."""
        excess = self._excess
        while excess > 0 and self.early:
            excess -= _size(self._drop_early())
        for text in self.texts:
            beside = [a for a in text.answers if a.submitted and a is not text.truth]
            while excess > 0 and beside:
                excess -= _size(dropped := beside.pop())
                text.answers = [a for a in text.answers if a is not dropped]
        return excess <= 0

    def _text_of(self, label: Label) -> Text | None:
        """Return the text that a label is about: its task's, or the newest one where it names no task."""
        if not label.task_id:
            return self.texts[-1] if self.texts else None
        return next((t for t in self.texts if t.task_id == label.task_id), None)


def text_digest(text: str) -> str:
    """Return what tells two texts of one document apart: 64 bits of its hash, in hex."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def task_id(doc_id: str, digest: str, kind: str, copy: int) -> str:
    """Return the id of a task: a hash, so that it says nothing, and the same one whenever the task is sent again."""
    return hashlib.blake2b(f"{kind}\n{copy}\n{digest}\n{doc_id}".encode(), digest_size=12).hexdigest()


def _task(sampled: Sampled, digest: str, deadline_s: float, copies: int) -> Task:
    return Task(
        task_id=task_id(sampled.doc_id, digest, "label", 1),
        doc_id=sampled.doc_id,
        copy=1,
        copies=copies,
        kind="label",
        lang=sampled.lang,
        text=sampled.text,
        due_at=sampled.sampled_at + deadline_s,
    )


def _drawn(sampled: Sampled) -> Drawn:
    return Drawn(
        detector=sampled.detector,
        version=sampled.version,
        language=sampled.lang,
        stratum=sampled.stratum,
        probability=sampled.probability,
        config=sampled.config,
        net=sampled.net,
        day=sampled.day,
        at=sampled.sampled_at,
        spans=[(s.start, s.end, s.entity) for s in sampled.spans],
    )


def _check_spans(label: Label, text: Text) -> None:
    if not label.spans:
        return
    is_blank = blank_test(text.blank)
    for i, span in enumerate(label.spans):
        if span.end > text.length:
            raise BadSpan(f"$.spans[{i}].end", f"beyond the text's {text.length} code points")
        if is_blank(span.start, span.end):
            raise BadSpan(f"$.spans[{i}]", "nothing but white space")


def _size(part: Document | Early | Answer) -> int:
    return len(msgspec.msgpack.encode(part))


def _join(text: Text, label: Label) -> Outcome:
    """Put an answer beside or in place of the annotator's last one, if there's room for one more annotator."""
    submitted = label.status == "submitted"
    spans = [(s.start, s.end, s.entity) for s in label.spans] if submitted else []
    answer = Answer(label.annotator, label.revision, submitted, spans)
    place = next((i for i, a in enumerate(text.answers) if a.annotator == label.annotator), None)
    had_truth = text.truth is not None
    if place is None:
        if len(text.answers) >= _ANSWERS_KEPT:
            if had_truth or not submitted:
                return "extra"
            del text.answers[0]  # somebody who skipped: the one answer that there is must find room
        text.answers.append(answer)
        if not submitted:
            return "skipped"
        return "extra" if had_truth else "joined"
    if label.revision <= text.answers[place].revision:
        return "duplicate"
    was_submitted = text.answers[place].submitted
    text.answers[place] = answer
    if not submitted:
        return "skipped"
    return "revised" if was_submitted else "joined"
