"""The life of a drawn document in the ledger: drawn (perhaps by several detector versions), asked about, answered.

A document is one row. Everything that the ledger counts is derived from rows (`monitor.contribution`), so a row that is
written twice, or read again, changes no number. Each row remembers the offset of the last record of either input that
it took; a record at or below it was taken before and is nothing new.

    drawn ──▶ open ──submitted──▶ labelled ──higher revision──▶ labelled
                └────skipped────▶ skipped ──submitted──▶ labelled

An answer belongs to a *text*, not to a detector version: versions that read the same text share one task and one truth,
and a version that comes after the answer is served by it at once. Where two people are asked, the text has two copies
of the task and, when their answers differ, an adjudication's (`monitor.document_text`); an answer is that to the copy
whose task it names (`monitor.answers`). A text that changed under the same id is another text with tasks of its own.
An answer that comes before its text waits in the row: the two inputs are read at their own pace, and after a crash in
another order than before. A rejected record leaves the row as it was, but for the count of it.

A row that no topic takes would stop its worker for good, so none grows beyond `LARGEST_ROW`. To stay under it a row
lets go of what no estimate reads: the words kept for an adjudicator, labels that wait, the oldest first, then answers
beside those that count. A first reading (10,000 spans × 270 bytes, and where the text is blank) and the answer to it
(`LARGEST_LABEL`) always fit.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Literal

import msgspec

from monitor.answers import Answer, Joined, join
from monitor.document_text import Drawn, Text, drawn_of, keep_words, label_tasks, new_text, task_id, text_digest
from monitor.errors import BadSpan, RecordError, TooLarge
from monitor.origin import DrawnRecord, Origin, taken_before
from monitor.records import Label, Task

__all__ = ["DAY_S", "LARGEST_ROW", "Answer", "Document", "Drawn", "Early", "Outcome", "Text", "task_id", "text_digest"]

Outcome = Literal[Joined, "orphan", "other_task", "rejected", "late", "repeat"]
"""What became of a label (`late` beside another one), or of a document drawn twice, or once too often (`repeat`)."""

_EARLY_KEPT = 64
_EARLY_SPANS = 20_000
LARGEST_ROW = 4 << 20
"""Bytes of a row, but for its counters; topics and producer take 8 MiB. A first reading is let in at any size: ROUTE
has seen to it that it can be sent."""
DAY_S = 86_400


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
    def named(self) -> set[str]:
        """The entities that annotators or detectors named, as they spelled them."""
        spans = [each.spans for text in self.texts for each in text.answers]
        spans += [each.spans for text in self.texts for each in text.drawn]
        return {entity for some in spans for _, _, entity in some}

    def count(self, outcome: Outcome) -> None:
        """Count what became of a record."""
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1

    def draw(self, sampled: DrawnRecord, deadline_s: float, copies: int, copied_share: float = 1.0) -> list[Task]:
        """Put the drawn document in, unless this detector version is there already; return the tasks to send.

        A further reading that the row has no room for is a `repeat` too. `copies` people are asked about `copied_share`
        of the texts, as `new_text` says; it's decided once a text.
        """
        sent_again = taken_before(self.drawn_from, sampled.origin)
        if any(d.detector == sampled.detector and d.version == sampled.version for t in self.texts for d in t.drawn):
            if not sent_again:
                self.count("repeat")
            return []
        self.day = max(self.day, sampled.day) if self.texts else sampled.day
        digest = text_digest(sampled.text)
        text = next((t for t in self.texts if t.digest == digest), None)
        if text is not None:
            text.drawn.append(drawn_of(sampled))
            if self._is_too_large():
                text.drawn.pop()
                if not sent_again:
                    self.count("repeat")
            return []
        text = new_text(sampled, digest, deadline_s, copies, copied_share)
        self.texts.append(text)
        if len(self.texts) > 1 and self._is_too_large():
            self.texts.pop()
            if not sent_again:
                self.count("repeat")
            return []
        keep_words(text, sampled.text)
        self._take_early(text)
        settled = self.adjudicate(sampled.doc_id, text.due_at)
        self._make_room()
        return [*label_tasks(text, sampled), *settled]

    def _take_early(self, text: Text) -> None:
        """Join the labels that waited for a text."""
        waiting, self.early = self.early, []
        for early in waiting:
            found = self._text_of(early.label)
            if found is not None and found[0] is text:
                with suppress(RecordError):
                    self._join(*found, early.label, early.at, sent_again=False)
            else:
                self.early.append(early)

    def adjudicate(self, doc_id: str, due_at: float) -> list[Task]:
        """Return a task for each text whose two blind readings are in and differ, once.

        Parameters: the document's id, which the row doesn't hold, and the deadline, s since the epoch.
        """
        waiting = [text for text in self.texts if text.twice is not None and text.twice.words]
        return [task for text in waiting if (task := text.adjudication(doc_id, due_at)) is not None]

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
        found = self._text_of(label)
        if found is not None:
            return self._join(*found, label, at, sent_again=sent_again)
        if sent_again and any(early.label == label for early in self.early):
            return None
        return self._keep_early(label, at)

    def _join(self, text: Text, copy: int, label: Label, at: float, *, sent_again: bool) -> Outcome | None:
        try:
            read = text.read(label)
        except BadSpan:
            if not sent_again:
                self.count("rejected")
            raise
        before = list(text.answers)
        submitted = label.status == "submitted"
        spans = read if submitted else []
        outcome = join(text.answers, Answer(label.annotator, label.revision, submitted, spans, at, copy))
        fits = text.answers == before or self._make_room()
        if sent_again and text.answers == before:
            return None
        if not fits:
            text.answers = before
            if not sent_again:
                self.count("rejected")
            raise TooLarge("$", "no room in the row of its document")
        self.count(outcome)
        if at > text.due(copy) and outcome in {"joined", "skipped"}:
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

    def _is_too_large(self) -> bool:
        """Say whether the row is too large without the words for adjudicators; with them it's too large, they go."""
        if self._excess <= 0:
            return False
        for text in self.texts:
            if text.twice is not None:
                text.twice.words = b""
        return self._excess > 0

    def _make_room(self) -> bool:
        """Let go of what no estimate reads until the row is small enough; say whether it is."""
        if not self._is_too_large():
            return True
        excess = self._excess
        while excess > 0 and self.early:
            excess -= _size(self._drop_early())
        for text in self.texts:
            beside = text.needless
            while excess > 0 and beside:
                excess -= _size(dropped := beside.pop())
                text.answers = [a for a in text.answers if a is not dropped]
        return excess <= 0

    def _text_of(self, label: Label) -> tuple[Text, int] | None:
        """Return the text that a label is about, and the copy: its task's, or the newest text's if it names no task."""
        for text in self.texts if label.task_id else self.texts[-1:]:
            copy = text.copy_of(label)
            if copy is not None:
                return text, copy
        return None


def _size(part: Document | Early | Answer) -> int:
    return len(msgspec.msgpack.encode(part))
