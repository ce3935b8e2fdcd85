"""One text of a document: who drew it, the tasks about it, and what the answers to them make of it.

Where two people are asked, neither sees the other's spans, nor does anybody the detector's. Which texts those are is
told by a hash of the task's id, so that the probability of being read twice is known: that of being drawn, times the
share in force. When the two readings differ, an adjudicator gets both, without names and in an order that says nothing.

THE WORDS. A row keeps none of its text's words, with one exception: those of a text that two people read stay in it,
deflated, until both readings are in, for the adjudicator must get the text and a row is all there is by then. They go
when the adjudication is sent or the readings agree; with the row when it expires, where a second reading never comes;
and before anything else where the row grows too large, at the cost of that adjudication. So a reading that is revised
after the two agreed isn't settled by anybody: the first copy's stands.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable
from typing import Literal

import msgspec

from monitor.answers import ADJUDICATION, Answer, blind_pair, open_copy, reading
from monitor.bare_spans import bare_spans
from monitor.blanks import blanks, visible
from monitor.errors import BadSpan
from monitor.kept_coverage import KeptCoverage
from monitor.origin import DrawnRecord
from monitor.records import Label, Sampled, Span, Stratum, Task

SpanTuple = tuple[int, int, str]
TWO = 2
"""As many as read one text."""
_LARGEST_TASK = 7 << 20
"""Bytes; a topic takes eight. Two of the largest labels with the largest text are more, and go to no adjudicator."""
_DIGITS = 13
"""Hex digits that decide who reads twice: as many as a float holds exactly."""
_TASKS: tuple[tuple[Literal["label", "adjudicate"], int, int], ...] = (
    ("label", 2, 2),
    ("adjudicate", 0, ADJUDICATION),
    ("label", 0, 0),
)
"""Kind and number of a task other than the first copy's, and which copy its answer is; 0 for whichever is open."""


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
    spans: list[SpanTuple]
    floors: tuple[float, float] | None = None
    """The smallest probabilities in force then; None of a document that an older version drew."""
    coverage: KeptCoverage | None = None
    """What the redacted output shows nothing of; None where there is none, and of what an older version drew."""


class Twice(msgspec.Struct, array_like=True):
    """What a text has that two people are asked about."""

    share: float
    """Of the drawn texts, those that two people were asked about then; in (0, 1]."""
    words: bytes = b""
    """The text, deflated, until both readings are in."""
    adjudication_due: float | None = None
    """Deadline of the adjudication, s since the epoch; None as long as none was sent."""


class Text(msgspec.Struct, array_like=True):
    """One text of the document; of its words nothing but where it's blank."""

    digest: str
    length: int
    language: str
    blank: bytes
    """Which code points are white space (`monitor.blanks`): a label of nothing else is none, whenever it comes."""
    task_id: str
    """Of the first copy."""
    due_at: float
    drawn: list[Drawn]
    answers: list[Answer] = []
    twice: Twice | None = None
    """None where one person is asked, which is most texts."""

    @property
    def truth(self) -> Answer | None:
        """The answer that counts: the first annotator's whose answer was submitted; of two copies, the adjudicated."""
        for answer in self.answers:  # a generator takes four times as long, and a ledger that opens asks 300,000 times
            if answer.submitted:
                return answer
        return None

    @property
    def pair(self) -> tuple[Answer, Answer] | None:
        """The two blind readings, whatever was settled later; None as long as there aren't two."""
        return None if self.twice is None else blind_pair(self.answers)

    @property
    def settled(self) -> bool:
        """Whether no reading is still to come that may take the place of the truth: where two read, both are in.

        What the second reader or the adjudicator strikes out must have woken nobody.
        """
        if self.twice is None or reading(self.answers, ADJUDICATION) is not None:
            return True
        return self.pair is not None and self.twice.adjudication_due is None

    @property
    def needless(self) -> list[Answer]:
        """The submitted answers that no estimate reads, oldest first."""
        needed = [self.truth, *(self.pair or ())]
        return [a for a in self.answers if a.submitted and not any(a is n for n in needed)]

    def trimmed(self, answer: Answer) -> list[SpanTuple]:
        """Return an answer's spans, each once and sorted, without white space at their edges: it carries no opinion."""
        return sorted(set(_trimmed(answer.spans, visible(self.blank))))

    def copy_of(self, label: Label) -> int | None:
        """Return the copy that a label answers, 1 where there's one alone; None where it's about another text."""
        copy = 1 if label.task_id == self.task_id else self._other_copy(label)
        if copy is None:
            return None
        if self.twice is None:
            return 1
        return copy or open_copy(self.answers, label.annotator)

    def _other_copy(self, label: Label) -> int | None:
        if not label.task_id:
            return 0
        ids = ((task_id(label.doc_id, self.digest, kind, number), copy) for kind, number, copy in _TASKS)
        return next((copy for one, copy in ids if one == label.task_id), None)

    def due(self, copy: int) -> float:
        """Return when an answer to a copy is due, s since the epoch."""
        if copy == ADJUDICATION and self.twice is not None and self.twice.adjudication_due is not None:
            return self.twice.adjudication_due
        return self.due_at

    def read(self, label: Label) -> list[SpanTuple]:
        """Return a label's spans without white space at their edges, as they come, repeats too.

        Raises
        ------
        BadSpan
            A span that the text can't have.
        """
        if not label.spans:
            return []
        shown = visible(self.blank)
        for i, span in enumerate(label.spans):
            if span.end > self.length:
                raise BadSpan(f"$.spans[{i}].end", f"beyond the text's {self.length} code points")
            if shown.find(1, span.start, span.end) < 0:
                raise BadSpan(f"$.spans[{i}]", "nothing but white space")
        return _trimmed([(span.start, span.end, span.entity) for span in label.spans], shown)

    def adjudication(self, doc_id: str, due_at: float) -> Task | None:
        """Return the task to settle what both readings differ in, and let go of the words; None once they are gone."""
        pair = self.pair
        if self.twice is None or not self.twice.words or pair is None:
            return None
        words, self.twice.words = zlib.decompress(self.twice.words).decode(), b""
        readings = [self.trimmed(answer) for answer in pair]
        if _agree(*readings) or reading(self.answers, ADJUDICATION) is not None:
            return None
        task = _adjudication(doc_id, self, words, readings, due_at)
        if len(msgspec.json.encode(task)) > _LARGEST_TASK:
            return None
        self.twice.adjudication_due = due_at
        return task


def _trimmed(spans: Iterable[SpanTuple], shown: bytes) -> list[SpanTuple]:
    # find, not a step at a time: 10,000 spans may begin in the same megabyte of blanks
    return [(shown.find(1, start, end), shown.rfind(1, start, end) + 1, entity) for start, end, entity in spans]


def text_digest(text: str) -> str:
    """Return what tells two texts of one document apart: 64 bits of its hash, in hex."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def task_id(doc_id: str, digest: str, kind: str, copy: int) -> str:
    """Return the id of a task: a hash, so that it says nothing, and the same one whenever the task is sent again.

    Parameters: `kind` and `copy` are ("label", 1 or 2), or ("adjudicate", 0). Nobody is sent ("label", 0); a label that
    names it is about this text and no copy in particular, as one without any id is about the newest text.
    """
    return hashlib.blake2b(f"{kind}\n{copy}\n{digest}\n{doc_id}".encode(), digest_size=12).hexdigest()


def new_text(sampled: DrawnRecord, digest: str, deadline_s: float, copies: int, copied_share: float) -> Text:
    """Return the text of a drawn document, without its words.

    Parameters: `digest` is the words' (`text_digest`); `copies` people are asked about `copied_share` of the texts, in
    (0, 1], and one about the others.
    """
    first = task_id(sampled.doc_id, digest, "label", 1)
    return Text(
        digest,
        len(sampled.text),
        sampled.lang,
        blanks(sampled.text),
        first,
        sampled.sampled_at + deadline_s,
        [drawn_of(sampled)],
        twice=Twice(copied_share) if copies == TWO and is_copied(first, copied_share) else None,
    )


def is_copied(first: str, share: float) -> bool:
    """Say whether two people are asked about a text, by the id of its first copy's task.

    >>> is_copied("80000000000000ab", 0.5), is_copied("7fffffffffffffab", 0.5)
    (False, True)
    """
    return int(first[:_DIGITS], 16) < share * float(16**_DIGITS)


def drawn_of(sampled: DrawnRecord) -> Drawn:
    """Return what a row keeps of a detector version's reading."""
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
        spans=bare_spans(sampled.spans, sampled.text),
        floors=sampled.floors,
        coverage=None if sampled.coverage is None else KeptCoverage.of(sampled.coverage),
    )


def keep_words(text: Text, words: str) -> None:
    """Keep the words of a text that two people read, for an adjudicator."""
    if text.twice is not None:
        text.twice.words = zlib.compress(words.encode())


def label_tasks(text: Text, sampled: Sampled) -> list[Task]:
    """Return a task for each copy of a text that nobody has read yet."""
    copies = 1 if text.twice is None else TWO
    return [
        Task(
            task_id=task_id(sampled.doc_id, text.digest, "label", copy),
            doc_id=sampled.doc_id,
            copy=copy,
            copies=copies,
            kind="label",
            lang=text.language,
            text=sampled.text,
            due_at=text.due_at,
        )
        for copy in range(1, copies + 1)
        if reading(text.answers, copy) is None
    ]


def _adjudication(doc_id: str, text: Text, words: str, readings: list[list[SpanTuple]], due_at: float) -> Task:
    given = task_id(doc_id, text.digest, "adjudicate", 0)
    shown = [[Span(*span) for span in spans] for spans in readings]
    return Task(
        task_id=given,
        doc_id=doc_id,
        copy=0,
        copies=TWO,
        kind="adjudicate",
        lang=text.language,
        text=words,
        due_at=due_at,
        readings=shown[::-1] if int(given, 16) % 2 else shown,
    )


def _agree(first: list[SpanTuple], second: list[SpanTuple]) -> bool:
    """Say whether two readings mark the same, entities compared as they are spelled but for their case."""
    one, other = ({(s, e, entity.casefold()) for s, e, entity in spans} for spans in (first, second))
    return one == other
