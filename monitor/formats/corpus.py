"""Labelled corpora: one JSON object a line, with the text and the labels of everybody who read it.

`{"doc_id", "lang", "text", "labels": [{"start", "end", "entity", "annotator"}], "annotators": […]}`. `annotators` lists
everybody who read the document: a reader who found nothing leaves no span, and that is an answer. Offsets are code
points, half-open.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

UNNAMED = "corpus"
"""The annotator of a line that names none."""


class CorpusLabels(NamedTuple):
    """The labels of one line as wire records, not yet validated, and the text they speak of where the line has it."""

    doc_id: str
    text: str | None
    labels: tuple[bytes, ...]


class _Line(msgspec.Struct):
    doc_id: str
    labels: list[dict[str, object]]
    text: str | None = None
    annotators: list[str] | None = None


_DECODER = msgspec.json.Decoder(_Line)


def read_line(line: bytes, annotators: Sequence[str] = ()) -> CorpusLabels | None:
    """Return the labels of a corpus line, one record a reader, in `annotators` order; None for another format.

    Parameters
    ----------
    annotators
        Whose labels to take, in order of preference; empty takes everybody's.

    Examples
    --------
    >>> line = b'{"doc_id": "a", "labels": [], "annotators": ["ann", "bob"]}'
    >>> read_line(line, ["bob"]).labels
    (b'{"doc_id":"a","annotator":"bob","spans":[]}',)
    """
    try:
        read = _DECODER.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return None
    by_reader: dict[str, list[dict[str, object]]] = {name: [] for name in read.annotators or ()}
    for span in read.labels:
        by_reader.setdefault(str(span.get("annotator", UNNAMED)), []).append(span)
    if not by_reader:
        by_reader[UNNAMED] = []
    chosen = [name for name in annotators if name in by_reader] if annotators else list(by_reader)
    records = [{"doc_id": read.doc_id, "annotator": name, "spans": by_reader[name]} for name in chosen]
    return CorpusLabels(read.doc_id, read.text, tuple(msgspec.json.encode(r) for r in records))
