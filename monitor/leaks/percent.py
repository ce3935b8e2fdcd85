"""Outputs that were percent-encoded, as URLs and forms are: read as what they stand for, with each character's place.

Only where an output isn't the text with parts replaced: then the whole of it may have been written so.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_RUN = re.compile(r"(?:%[0-9A-Fa-f]{2})+")


class Decoded(NamedTuple):
    """An output without percent escapes."""

    text: str
    starts: list[int]
    """Where each of its characters begins in the output, and after the last one where that ends."""

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return the code points of the output that a stretch, not an empty one, comes from."""
        return self.starts[start], self.starts[end]


def decode(output: str) -> Decoded | None:
    """Return an output with its percent escapes read; None where it has none that are UTF-8.

    >>> decode("B%C3%A9r%20enger")
    Decoded(text='Bér enger', starts=[0, 1, 7, 8, 11, 12, 13, 14, 15, 16])
    >>> decode("100%, %CARD%") is None
    True
    """
    if "%" not in output:
        return None
    parts: list[str] = []
    starts: list[int] = []
    at = 0
    for run in _RUN.finditer(output):
        try:
            read = bytes.fromhex(run[0].replace("%", "")).decode()
        except UnicodeDecodeError:
            continue
        parts += output[at : run.start()], read
        starts += range(at, run.start())
        at = run.start()
        for character in read:
            starts.append(at)
            at += 3 * len(character.encode())
    if not parts:
        return None
    starts += range(at, len(output) + 1)
    return Decoded("".join(parts) + output[at:], starts)
