"""The product's own command line on a file system that can't be written: opening a file to write raises, as there.

`python tests/unwriting_worker.py worker …` is `recallwatch worker …` in everything else. Devices may be written.
"""

from __future__ import annotations

import errno
import os
import sys

from streams import cli

_CHANGES = ("os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.link", "os.symlink", "os.truncate", "tempfile.")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def refuse(event: str, arguments: tuple[object, ...]) -> None:
    """Raise what a read-only file system does, at Python's own events."""
    if event == "open":
        path, mode, flags = arguments
        writes = any(letter in str(mode or "") for letter in "wax+") or bool(isinstance(flags, int) and flags & _WRITES)
        if writes and not isinstance(path, int) and not os.fsdecode(str(path)).startswith("/dev/"):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
    elif event.startswith(_CHANGES):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), event)


if __name__ == "__main__":
    sys.addaudithook(refuse)
    cli.main(prog_name="recallwatch")
