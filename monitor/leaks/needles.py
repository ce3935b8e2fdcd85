"""What of a value is looked for before its keys are: letters of which some stand wherever a key of it does.

They are told from the value's words in a few steps, and are fewer than the keys: all of a name has its parts in it. A
needle too many costs the time to look for it, one too few a leak. So where `monitor.leaks.values` leaves a key out for
a reason that takes time to tell, it's kept here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from monitor.leaks.standing import Standing, words_of
from monitor.leaks.values import FEWEST_DIGITS, SUFFIX, Key, Nature, keys_of, piece_size
from monitor.leaks.words import MONTHS_AND_DAYS, PARTICLES, STREET_ENDINGS, TITLES

_TOKEN = 4
_NAMES_OF_ONE = 2
_NO_NAMES = frozenset(word.encode() for word in TITLES | PARTICLES | MONTHS_AND_DAYS)
_STREET_ENDINGS = tuple(ending.encode() for ending in STREET_ENDINGS)
_NAMES = re.compile(rb"[a-z]{2,}")


Needles: TypeAlias = tuple[Sequence[bytes], bytes]
"""What to look for, all of it letters and digits in one spelling.

First the fewest letters of which some stand wherever a key does. Then all of the value, if each key is this or one of
the fewest, and all of them stand between the edges of words; else nothing.
"""


def may_stand(standing: Standing, needles: Needles) -> bool:
    """Return whether a key of a value, of which some needle does stand in an output, may do so, too."""
    fewest, whole = needles
    return not whole or any(map(standing.may_have_words, fewest)) or standing.may_have_words(whole)


def _is_cut(key: Key) -> bool:
    """Return whether a key is a number that pieces stand for: they are found inside longer ones, too."""
    return key.way == "number" and len(key.letters) >= SUFFIX


def _pieces(digits: bytes) -> tuple[bytes, bytes]:
    """Return what a number that was cut has at least: its beginning or its end, of the least size."""
    size = piece_size(len(digits))
    return digits[:size], digits[-size:]


_NONE: Needles = (), b""


def needles_of(entity: str, nature: Nature, value: str) -> Needles:
    """Return what to look for of a value, of which `monitor.leaks.values.keys_of` are the keys.

    >>> needles_of("PERSON", "person", "Bo de Jong"), needles_of("AGE", "group", "46 years")
    (([b'jong'], b'bodejong'), ((), b''))
    """
    folded = words_of(value)
    if folded is None:
        return _of_keys(keys_of(entity, value)), b""
    words = folded.split()
    letters = b"".join(words)
    if nature == "mail":
        return _of_mail(entity, value, letters)
    if letters.isdigit():
        return _of_number(letters)
    if not letters or nature == "group" or (nature == "place" and letters.isalpha()):
        return _NONE
    fewest: Sequence[bytes] = ()
    if nature == "person" and len(words) > 1:
        fewest = [word for word in words if len(word) >= _TOKEN and word not in _NO_NAMES]
    elif nature == "address":
        fewest = [word for word in words if word.endswith(_STREET_ENDINGS)]
    return fewest or (letters,), letters


def _of_number(digits: bytes) -> Needles:
    count = len(digits)
    if count < SUFFIX:
        return ((digits,), digits) if count >= FEWEST_DIGITS else _NONE
    return _pieces(digits), b""


def _of_mail(entity: str, value: str, letters: bytes) -> Needles:
    local, at, _ = value.partition("@")
    if not at or local.isalnum():
        return ((letters,), letters) if letters else _NONE
    if not value.isascii():
        return _of_keys(keys_of(entity, value)), b""
    names = _NAMES.findall(local.lower().encode())
    told = [name for name in names if len(name) >= _TOKEN] if len(names) == _NAMES_OF_ONE else []
    return told or (letters,), letters


def _of_keys(keys: Sequence[Key]) -> Sequence[bytes]:
    needles: list[bytes] = []
    for key in keys:
        letters = key.letters.encode()
        needles += _pieces(letters) if _is_cut(key) else (letters,)
    return needles
