"""Which of two detector versions is the newer, whatever scheme their names follow.

Text order puts 1.10 before 1.9, so a panel of "the current version" would show the old detector. A version is read as
runs of digits and letters. Numbers compare as numbers. A word comes before the end, as in 1.10.0-rc1 < 1.10.0 (Semantic
Versioning 2.0.0, item 11), but `post`, `patch` and the like after it (PEP 440). What follows a `+` only breaks ties.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

_PARTS = re.compile(r"[0-9]+|[^\W\d_]+")
_PREFIX = re.compile(r"\Av(?=[0-9])")
_LONGEST = 256
_DEVELOPMENT = frozenset({"dev", "nightly", "snapshot"})
_LATER = frozenset({"fix", "hotfix", "patch", "post", "rev"})


class Part(NamedTuple):
    """A run of digits or letters: `rank` decides between kinds, `digits` (their number) between numbers, then text."""

    rank: int
    digits: int
    text: str


class Decided(msgspec.Struct, frozen=True):
    """When a detector version decided: its first and last decision of all that is kept, s since the epoch."""

    detector: str
    version: str
    first: float
    last: float


class VersionKey(NamedTuple):
    """What versions are sorted by."""

    release: tuple[Part, ...]
    has_build: bool
    build: tuple[Part, ...]


_END = Part(2, 0, "")


def version_key(version: str) -> VersionKey:
    """Return the sort key of a version; any text has one, and any two compare.

    Case, a leading v, and what follows the 256th character make no difference.

    >>> sorted(["1.10.0", "1.9.0", "1.10.0-rc1"], key=version_key)
    ['1.9.0', '1.10.0-rc1', '1.10.0']
    >>> version_key("v1.10.0") == version_key("1.10.0")
    True
    """
    release, plus, build = version.strip()[:_LONGEST].lower().partition("+")
    return VersionKey(_parts(_PREFIX.sub("", release)), bool(plus), _parts(build))


def newest(versions: Iterable[str]) -> str | None:
    """Return the newest of these versions, or None of none.

    Of two that are the same to `version_key`, the shorter spelling counts, then the first in text order: what is newest
    never depends on the order in which they arrive.

    >>> newest(["1.9.0", "1.10.0", "1.10.0-rc1", "v1.10.0"])
    '1.10.0'
    """
    spelt = sorted(versions, key=lambda version: (len(version), version))
    return max(spelt, key=version_key, default=None)


def _parts(text: str) -> tuple[Part, ...]:
    return (*(_part(run) for run in _PARTS.findall(text)), _END)


def _part(run: str) -> Part:
    # Digits are compared by length, then as text: a hash or a date of any length is never turned into a number.
    if run[0] in "0123456789":
        number = run.lstrip("0")
        return Part(4, len(number), number)
    if run in _DEVELOPMENT:
        return Part(0, 0, run)
    return Part(3 if run in _LATER else 1, 0, run)
