"""Which code points of a text are white space, kept after the text itself is let go of.

A label may be nothing but white space, and is then none; to say so whenever it comes, the ledger needs this and no word
of the text. One byte a code point, deflated: some 500 bytes for a transcript of 5 KB.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable


def blanks(text: str) -> bytes:
    """Return the map of a text's white space.

    >>> is_blank = blank_test(blanks("a  b"))
    >>> is_blank(1, 3), is_blank(0, 2), is_blank(3, 4)
    (True, False, False)
    """
    return zlib.compress(bytes(map(str.isspace, text)))


def blank_test(packed: bytes) -> Callable[[int, int], bool]:
    """Return a test whether `[start, end)` of the text, `start < end`, is white space alone."""
    marks = zlib.decompress(packed)
    return lambda start, end: marks.find(0, start, end) < 0
