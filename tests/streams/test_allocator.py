"""Memory of freed blocks goes back to the system, however large the blocks were that were freed before."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import ctypes
from streams.allocator import fix_limits
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
def test_large_blocks_stay_off_the_heap() -> None:
    """A block of 8 MiB doesn't grow the heap even once a larger one was freed: free limits would have moved by then."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"
