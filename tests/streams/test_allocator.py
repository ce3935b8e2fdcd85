"""Memory of freed blocks goes back to the system, however large the blocks were that were freed before."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import ctypes, sys
from streams.allocator import fix_limits
if sys.argv[1] == "fixed":
    assert fix_limits()
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]
size = 16 << 20
libc.free(libc.malloc(size))  # raises the limit, where nothing fixes it
heap = libc.sbrk
heap.restype, heap.argtypes = ctypes.c_void_p, [ctypes.c_ssize_t]
before = heap(0)
block = libc.malloc(size // 2)
print(heap(0) - before >= size // 2)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library has other limits")
@pytest.mark.parametrize(("limits", "on_heap"), [("fixed", "False"), ("free", "True")])
def test_large_blocks_stay_off_the_heap(limits: str, on_heap: str) -> None:
    """A block of 8 MiB grows the heap once a larger one was freed, unless the limits are fixed."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, limits], capture_output=True, text=True, check=True)

    assert on_heap == done.stdout.strip()
