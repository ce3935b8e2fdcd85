"""Generated files: written, and compared with what is in the tree. Knows nothing of what any of them says.

An artefact is text that follows from the code. It stands in the tree, because people read it there; `check` keeps it
in step.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple


class Artefact(NamedTuple):
    """One generated file: its path under the folder of all of them, and what makes its text."""

    path: str
    render: Callable[[], str]


def write(artefacts: Sequence[Artefact], folder: Path) -> list[Path]:
    """Write those that differ from what is in the folder, and return their paths; the others aren't touched.

    Raises
    ------
    OSError
        The folder can't be written to.
    """
    written = []
    for artefact in artefacts:
        path = folder / artefact.path
        text = artefact.render()
        if _read(path) != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
            written.append(path)
    return written


def differences(artefacts: Sequence[Artefact], folder: Path) -> Iterator[str]:
    """Yield the lines of a unified diff from the folder to what would be written; nothing where all is in step.

    A file that isn't there is an empty one.
    """
    for artefact in artefacts:
        path = folder / artefact.path
        held, text = _read(path), artefact.render()
        if held != text:
            lines = (held or "").splitlines(), text.splitlines()
            yield from difflib.unified_diff(*lines, str(path), f"{path} as generated", lineterm="", n=0)
            if held is None or lines[0] == lines[1]:
                yield f"{path}: {'not there' if held is None else 'other line ends'}"


def _read(path: Path) -> str | None:
    """Return a file's text, its line ends as they are; None where there is none."""
    return path.read_bytes().decode(errors="replace") if path.is_file() else None
