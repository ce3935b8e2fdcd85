"""Which code points of a text are white space, kept after the text itself is let go of.

A label may be nothing but white space, and is then none; to say so whenever it comes, the ledger needs this and no word
of the text. Kept are the lengths of the stretches between white space, a byte each, Huffman-coded: some 350 bytes for a
transcript of 5 KB, where a deflated map of a byte a code point takes 520 and more time, and a bit each 590.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator

import numpy as np

_BEYOND = 0x3001
"""Above the last code point that is white space."""
_IS_WHITE = np.array([chr(code).isspace() for code in range(_BEYOND + 1)])
_ASCII_WHITE = bytes(chr(code).isspace() for code in range(256))
"""For `bytes.translate`, which takes half as long as looking each byte up in an array."""
_LONG = 255
"""A stretch of so many that goes on with the next byte: no white space follows."""
_STRETCHES = [*(bytes(length) + b"\1" for length in range(_LONG)), bytes(_LONG)]
_SHOWN = [*(b"\1" * length + b"\0" for length in range(_LONG)), b"\1" * _LONG]


def blanks(text: str) -> bytes:
    """Return the map of a text's white space.

    >>> is_blank = blank_test(blanks("a  b"))
    >>> is_blank(1, 3), is_blank(0, 2), is_blank(3, 4)
    (True, False, False)
    """
    # splitting at a regex took ten times as long, and a twentieth of ROUTE's time where one in a hundred is drawn
    if text.isascii():
        white = np.frombuffer(text.encode().translate(_ASCII_WHITE), np.bool_)
    else:
        white = _IS_WHITE[np.minimum(np.frombuffer(text.encode("utf-32-le"), np.uint32), _BEYOND)]
    at = np.flatnonzero(white)
    edges = np.empty(len(at) + 2, np.intp)  # by hand: np.diff with its ends takes six times as long
    edges[0], edges[1:-1], edges[-1] = -1, at, len(text)
    lengths = edges[1:] - edges[:-1] - 1
    if lengths.max() < _LONG:
        stretches = lengths.astype(np.uint8).tobytes()
    else:
        stretches = bytes(byte for length in lengths.tolist() for byte in _bytes_of(length))
    # the smallest window and memory: there's nothing to find twice, and setting up larger ones takes longer than coding
    packing = zlib.compressobj(wbits=-9, memLevel=4, strategy=zlib.Z_HUFFMAN_ONLY)
    return packing.compress(stretches) + packing.flush()


def _bytes_of(length: int) -> Iterator[int]:
    yield from [_LONG] * (length // _LONG)
    yield length % _LONG


def blank_test(packed: bytes) -> Callable[[int, int], bool]:
    """Return a test whether `[start, end)` of the text, `start < end`, is white space alone."""
    lengths = zlib.decompress(packed, wbits=-zlib.MAX_WBITS)
    marks = b"".join(map(_STRETCHES.__getitem__, lengths))[:-1]  # the text's end is no white space
    return lambda start, end: marks.find(0, start, end) < 0


def visible(packed: bytes) -> bytes:
    r"""Return for each code point of the text 0 where it is white space, and 1 where it isn't.

    >>> visible(blanks("a  b"))
    b'\x01\x00\x00\x01'
    """
    return b"".join(map(_SHOWN.__getitem__, zlib.decompress(packed, wbits=-zlib.MAX_WBITS)))[:-1]
