"""Labelled corpora: one JSON object a line, with the text and the labels of everybody who read it.

    {"doc_id", "lang", "text", "labels": [{"start", "end", "entity", "annotator"}], "annotators": [...]}

`annotators` names everybody who read the document; whoever is named there and has no span found nothing, which is an
answer. Offsets are code points, half-open. Where the line has its text, spans must lie in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from monitor.decoding import Limits, Quarantine, decode_label, span_fault
from monitor.errors import BadField, BadSpan, RecordError
from monitor.records import Label, Span
from monitor.salvage import Fields, parse_object, salvage_spans
from monitor.sizes import check_length


class LabelLine(NamedTuple):
    """What one line of either shape says: the text where it has it, and a label, or what is wrong with it, a reader."""

    text: str | None
    labels: tuple[Label | RecordError, ...]


def read_label_line(line: bytes, limits: Limits) -> LabelLine:
    """Return the labels of a line: of a corpus one for each of its readers, else the one label record that it is.

    Raises
    ------
    RecordError
        Where the line as a whole can't be read.

    Examples
    --------
    >>> line = b'{"doc_id": "a", "labels": [], "annotators": ["ann", "bob"]}'
    >>> [label.annotator for label in read_label_line(line, Limits()).labels]
    ['ann', 'bob']
    """
    # Most lines are told apart without parsing them twice: a label record has no reason to hold this key.
    if b'"labels"' in line:
        fields = parse_object(line)
        if "labels" in fields.values:
            text = None if fields.first("text") is None else fields.string("text")
            return LabelLine(text, tuple(_readings(fields, text, limits)))
    return LabelLine(None, (decode_label(line, limits),))


def _readings(fields: Fields, text: str | None, limits: Limits) -> Iterator[Label | RecordError]:
    """Yield each annotator's label of a corpus line; one with a bad span gives an error, the others stand."""
    doc_id = fields.name("doc_id")
    if text is not None:
        check_length(text, limits)
    items = fields.items("labels", limits)
    readers = _named_readers(fields)
    marked: dict[str, list[Span | BadSpan]] = {reader: [] for reader in readers}
    for index, (item, span) in enumerate(zip(items, salvage_spans(items, "$.labels"), strict=True)):
        whose = _reader_of(item, index, readers)
        marked.setdefault(whose, []).append(_usable(span, f"$.labels[{index}]", text, limits))
    if not marked and fields.first("annotators") is None:
        # Nothing was found, and by nobody that is named. As silence it would be lost, as nobody's it can't be counted.
        yield BadField("annotators", "nobody is named")
    for annotator, theirs in marked.items():
        bad = next((span for span in theirs if isinstance(span, BadSpan)), None)
        yield bad or Label(doc_id, annotator, [span for span in theirs if isinstance(span, Span)])


def _usable(span: Span | Quarantine, where: str, text: str | None, limits: Limits) -> Span | BadSpan:
    """Return a span that the text can have, or what is wrong with it; without a text, the longest one is assumed."""
    length = limits.max_text_bytes if text is None else len(text)
    if isinstance(span, Span):
        fault = span_fault(span, where, length, text or "")
        return span if fault is None else BadSpan(fault.where, fault.reason)
    return BadSpan(span.where, span.reason)


def _named_readers(fields: Fields) -> Sequence[str]:
    """Return the annotators that a line names, each once; none where it names nobody."""
    named = fields.first("annotators")
    if named is None:
        return ()
    if not isinstance(named, list):
        raise BadField("annotators", "expected a list")
    return tuple(dict.fromkeys(Fields({"annotators": name}, fields.utf8).name("annotators") for name in named))


def _reader_of(item: object, index: int, readers: Sequence[str]) -> str:
    """Return whose span this is; a line with a single reader doesn't have to say."""
    if not isinstance(item, dict):
        raise BadSpan(f"$.labels[{index}]", "not_object")
    if item.get("annotator") is None and len(readers) == 1:
        return readers[0]
    try:
        return Fields(item, utf8=True).name("annotator")
    except RecordError as error:
        raise BadSpan(f"$.labels[{index}].annotator", error.problem) from None
