"""Labelled corpora and recorded decisions, out of JSON Lines files: read a line at a time, however long they are.

A line of labels is either our `label` record or a corpus' (`monitor.formats.corpus`). A line that can't be read is
reported by its number and a reason, never by its text, and the lines around it go on. Blank lines don't count as
anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from monitor.decoding import Limits, decode_decision
from monitor.errors import RecordError, SourceError
from monitor.formats.corpus import read_label_line
from monitor.records import Decision, Label, Span

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
            for label in read_label_line(line, limits).labels:
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
