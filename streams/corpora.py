"""Labelled corpora and recorded decisions, out of JSON Lines files: read a line at a time, however long they are.

Two shapes of a line hold labels. Ours is the `label` record. The corpus shape is one document a line, with all of its
readers:

    {"doc_id", "lang", "text", "labels": [{"start", "end", "entity", "annotator"}], "annotators": [...]}

`annotators` names everybody who read the document; whoever is named there and has no span found nothing, which is an
answer. A line that can't be read is reported by its number and a reason, never by its text, and the lines around it go
on. Blank lines don't count as anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from monitor.decoding import Limits, Quarantine, decode_decision, decode_label, span_fault
from monitor.errors import BadField, BadSpan, RecordError, SourceError
from monitor.records import Decision, Label, Span
from monitor.salvage import Fields, check_length, parse_object, salvage_spans

_LIMITS = Limits()


class BadLine(NamedTuple):
    """A line, or one annotator's reading in it, that can't be used.

    >>> str(BadLine("labels.jsonl", 12, "bad_span", "$.labels[3].end"))
    'labels.jsonl:12: bad_span at $.labels[3].end'
    """

    file: str
    line: int
    reason: str
    where: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.reason} at {self.where}"


class Story(NamedTuple):
    """Recorded decisions of two detectors on the same documents, and the labels of these."""

    first: Path
    second: Path
    labels: Path


def find_story(
    directory: Path,
    first: str = "presidio_sm__uner_ewt_en",
    second: str = "presidio_piifast__uner_ewt_en",
    corpus: str = "uner_ewt_en",
) -> Story:
    """Return where the parts of a story stand under a directory of `decisions/` and `corpora/`.

    Raises SourceError, naming the file, where one isn't there.
    """
    decisions, corpora = directory / "decisions", directory / "corpora"
    story = Story(decisions / f"{first}.jsonl", decisions / f"{second}.jsonl", corpora / f"{corpus}.jsonl")
    for path in story:
        if not path.is_file():
            raise SourceError(f"{path}: no such file")
    return story


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that aren't blank with their numbers, from 1; raises SourceError where the file can't be read."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if stripped := line.strip():
                    yield number, stripped
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror}") from error


def read_decisions(path: Path, limits: Limits = _LIMITS) -> Iterator[Decision | BadLine]:
    """Yield the decision of each line, without the spans that can't be used, or why there is none."""
    for number, line in read_lines(path):
        try:
            yield decode_decision(line, limits).record
        except RecordError as error:
            yield BadLine(path.name, number, error.reason, error.where)


def read_labels(path: Path, limits: Limits = _LIMITS) -> Iterator[Label | BadLine]:
    """Yield the labels of a file of either shape, or of both: a corpus line gives one for each of its annotators."""
    for number, line in read_lines(path):
        try:
            for label in _labels_of(line, limits):
                if isinstance(label, RecordError):
                    yield BadLine(path.name, number, label.reason, label.where)
                else:
                    yield label
        except RecordError as error:
            yield BadLine(path.name, number, error.reason, error.where)


def read_truth(path: Path, annotator: str | None = None, limits: Limits = _LIMITS) -> dict[str, list[Span]]:
    """Return one annotator's spans by document, for `streams.annotators`; by default the first who read each document.

    Held in memory whole. Lines that can't be read, and documents that this annotator didn't answer, aren't in it.
    """
    truth: dict[str, list[Span]] = {}
    for label in read_labels(path, limits):
        if isinstance(label, BadLine) or label.status == "skipped" or annotator not in {None, label.annotator}:
            continue
        truth.setdefault(label.doc_id, label.spans)
    return truth


def _labels_of(line: bytes, limits: Limits) -> Iterator[Label | RecordError]:
    # Most lines are told apart without parsing them twice: a label record has no reason to hold this key.
    if b'"labels"' in line:
        fields = parse_object(line)
        if "labels" in fields.values:
            yield from _readings(fields, limits)
            return
    yield decode_label(line, limits)


def _readings(fields: Fields, limits: Limits) -> Iterator[Label | RecordError]:
    """Yield each annotator's label of a corpus line; one with a bad span gives an error, the others stand."""
    doc_id = fields.name("doc_id")
    text = None if fields.first("text") is None else fields.string("text")
    if text is not None:
        check_length(text, limits)
    items = fields.items("labels", limits)
    readers = _named_readers(fields)
    marked: dict[str, list[Span | BadSpan]] = {reader: [] for reader in readers}
    for index, (item, span) in enumerate(zip(items, salvage_spans(items, "$.labels"), strict=True)):
        whose = _reader_of(item, index, readers)
        marked.setdefault(whose, []).append(_usable(span, f"$.labels[{index}]", text, limits))
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
