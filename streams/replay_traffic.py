"""The documents of a replay by days: a detector version's decisions, then the next one's, each read several times.

Each reading but the first gives every document another id, `#2`, `#3` … behind its own, counted over both sides: it is
another document then, drawn or not by its own hash, and with a task of its own.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from monitor.errors import SourceError
from streams.replay import chunks, read_lines

_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Batch(NamedTuple):
    """Decisions of one day and of one reading, as lines."""

    day: int
    """From 0, over both sides."""
    lines: list[bytes]
    suffix: str
    """What stands behind each document's own id."""
    place: int
    """The first line's among the documents of the day."""
    of: int
    """Documents that a whole day has; above `place`."""
    swapped: bool
    """Whether they are the next version's."""


class Lines:
    """The lines of some files, read anew as often as they are asked for.

    Raises
    ------
    SourceError
        Where a file can't be read; at once where it's a pipe, which can't be read twice.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        for path in paths:
            if path.exists() and not (path.is_file() or path.is_dir()):
                raise SourceError(f"{path}: is read more than once, so it must be a file")
        self._paths = paths

    def __iter__(self) -> Iterator[bytes]:
        return (line for path in self._paths for line in read_lines(path))


class Traffic:
    """Both sides' documents in the order of their days.

    Parameters
    ----------
    sides
        The lines of each side; they must give the same ones each time.
    passes
        How often each side is read, at least 1.
    per_day
        Documents a day, at least 1; None makes each reading of a side one day.
    """

    def __init__(
        self, sides: tuple[Iterable[bytes], Iterable[bytes]], passes: int = 1, per_day: int | None = None
    ) -> None:
        self._sides = sides
        self._passes = passes
        self._per_day = per_day
        self._sizes = [sum(1 for _ in side) for side in sides]

    @property
    def days(self) -> int:
        """How many days there are; 0 without any line."""
        if self._per_day is None:
            return self._passes * sum(size > 0 for size in self._sizes)
        return -(-self._passes * sum(self._sizes) // self._per_day)

    def batches(self) -> Iterator[Batch]:
        """Yield all documents, in batches that belong to one day and one reading."""
        day = place = readings = 0
        for side, (lines, size) in enumerate(zip(self._sides, self._sizes, strict=True)):
            of = self._per_day or size
            for _ in range(self._passes):
                readings += 1
                suffix = f"#{readings}" if readings > 1 else ""
                for chunk in chunks(lines):
                    taken = 0
                    while taken < len(chunk):
                        part = chunk[taken : taken + of - place]
                        yield Batch(day, part, suffix, place, of, swapped=side > 0)
                        taken += len(part)
                        place += len(part)
                        if place == of:
                            day, place = day + 1, 0


def renamed(line: bytes, suffix: str) -> bytes:
    """Return a decision under another id; a line that names no document as it is: whoever reads it says what's wrong.

    >>> renamed(b'{"doc_id": "a", "lang": "en"}', "#2")
    b'{"doc_id":"a#2","lang":"en"}'
    """
    if not suffix:
        return line
    try:
        fields = _FIELDS.decode(line.removeprefix(codecs.BOM_UTF8))
        doc_id = msgspec.json.decode(fields["doc_id"], type=str)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError):
        return line
    if not doc_id.strip():
        return line
    fields["doc_id"] = msgspec.Raw(msgspec.json.encode(doc_id + suffix))
    return msgspec.json.encode(fields)
