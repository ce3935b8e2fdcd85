"""Drawn documents and their labels, complete but for what a test is about."""

from __future__ import annotations

import msgspec

from monitor.document import Document
from monitor.origin import DrawnRecord
from monitor.records import Label, Slices, Span

WEEK_S = 7 * 86_400


def sampled(doc_id: str = "a", **fields: object) -> DrawnRecord:
    """Return a drawn document as ROUTE sends it."""
    text = str(fields.pop("text", "Anna at Utrecht"))
    given = DrawnRecord(doc_id, "nl", text, "d", "1", [], "both", Slices(1, 1), 1.0, 1.0, "c", "n", 1000.0, 0)
    return msgspec.structs.replace(given, **fields)


def label(**fields: object) -> Label:
    """Return a label of the first five characters."""
    return msgspec.structs.replace(Label("a", "jo", [Span(0, 5, "PERSON")]), **fields)


def opened(**fields: object) -> Document:
    """Return a document that was drawn and waits for its label."""
    document = Document(0)
    document.draw(sampled("a", **fields), WEEK_S, 1)
    return document
