"""Documents that two people read, and their answers; complete but for what a test is about."""

from __future__ import annotations

from drawn import WEEK_S, label, sampled

from monitor.document import Document, Outcome, task_id
from monitor.records import Label, Span

ANNA = Span(0, 4, "PERSON")
UTRECHT = Span(8, 15, "LOCATION")


def asked_twice(share: float = 1.0, **fields: object) -> Document:
    """Return a document that was drawn and waits for two people."""
    document = Document(0)
    document.draw(sampled("a", **fields), WEEK_S, 2, share)
    return document


def answer_to(document: Document, copy: int, annotator: str, *spans: Span, **fields: object) -> Label:
    """Return an answer to a copy of the newest text's task, 0 for the adjudication."""
    kind = "label" if copy else "adjudicate"
    given = task_id("a", document.texts[-1].digest, kind, copy)
    return label(annotator=annotator, task_id=given, spans=list(spans), **fields)


def say(document: Document, copy: int, annotator: str, *spans: Span, **fields: object) -> Outcome | None:
    """Take such an answer."""
    return document.answer(answer_to(document, copy, annotator, *spans, **fields), 0)


def read_twice(first: tuple[Span, ...], second: tuple[Span, ...], share: float = 1.0, **fields: object) -> Document:
    """Return a document with two blind readings."""
    document = asked_twice(share, **fields)
    say(document, 1, "ann", *first)
    say(document, 2, "bo", *second)
    return document


def blind(document: Document) -> list[tuple[str, int]] | None:
    """Return who read the newest text blind, with the number of spans; None where two people didn't."""
    pair = document.texts[-1].pair
    return None if pair is None else [(answer.annotator, len(answer.spans)) for answer in pair]


def truth_of(document: Document) -> tuple[str, int] | None:
    """Return whose answer is the newest text's truth, with the number of spans."""
    truth = document.texts[-1].truth
    return None if truth is None else (truth.annotator, len(truth.spans))
