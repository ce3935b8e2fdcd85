"""The C library's allocator, told once what a worker's memory is made of.

A worker takes and gives back blocks of megabytes, one a fetch and partition. glibc maps such a block by itself at
first. Each time one is freed, though, it raises the size from which it does that, up to 32 MiB, and then puts them on
the heap, where small objects come to stand between them. Over ten million decisions a worker went so from 216 to
248 MiB; with the limits below it stays at 170.
"""

from __future__ import annotations

import ctypes
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # malloc.h
MAPPED_BYTES = 256 << 10
"""Blocks of this size and more are mapped by themselves, and given back when they are freed. With 1 MiB those that
asyncio reads into came from the heap, which saved a worker 2 % of its time, and it grew again over ten million."""
KEPT_BYTES = 4 << 20
"""Free at the heap's end, more than which is given back."""


def fix_limits() -> bool:
    """Fix both limits for this process; return whether its C library has them (glibc has)."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(mallopt(_MMAP_THRESHOLD, MAPPED_BYTES)) and bool(mallopt(_TRIM_THRESHOLD, KEPT_BYTES))
