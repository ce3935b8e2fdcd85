r"""One spelling for all spellings: letters and digits alone, without case, accents or width.

A character becomes what is left of it after NFKC, case folding and NFKD, marks and everything that is no letter or
digit taken away; a decimal digit of any script becomes its value, which NFKC does for full-width digits and not for
Arabic ones. HTML entities and `\u00e9` escapes are read as what they stand for, `\n` as a space. Separators vanish with
the rest: two writings of one number come out equal, and whoever needs to know where a word ends asks for the edges.

Almost all text is ASCII or Latin-1, and there one `bytes.translate` does it all in 9 µs for 5 KB. Other letters take a
pass each, and a text of another script one in Python.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cached_property, lru_cache
from html import unescape
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

_ESCAPED = r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});|\\u[0-9A-Fa-f]{4}"
_ESCAPE = re.compile(_ESCAPED)
_BACKSLASHED = re.compile(r"\\(?:[nrtbf]|u[0-9A-Fa-f]{4})")
_CONTROL = re.compile(r"\\[nrtbf]")
_UNDECOMPOSED = {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ħ": "h", "ı": "i", "ŧ": "t"}
_MANY = 24
"""Distinct letters beyond Latin-1 from which on one pass in Python takes less time than one in C for each."""
INSIDE_WORDS = frozenset(("Mn", "Mc", "Me", "Cf"))
Places: TypeAlias = npt.NDArray[np.intp]
"""Code points, one a letter."""


@lru_cache(maxsize=8192)
def fold_character(character: str) -> str:
    """Return the letters and digits that one character stands for; most often one, and none for a mark or separator.

    >>> [fold_character(c) for c in "Éß٣３²-"]
    ['e', 'ss', '3', '3', '2', '']
    """
    if not character.isalnum():
        return ""
    if character.isascii():
        return character.lower()
    value = unicodedata.decimal(character, None)
    if value is not None:
        return str(value)
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", character).casefold())
    return "".join(_UNDECOMPOSED.get(c, c) for c in plain if c.isalnum())


_LATIN = [fold_character(chr(code)) for code in range(256)]
_TABLE = bytes(ord(f) if len(f) == 1 and f.isascii() else 0 for f in _LATIN)
"""What becomes several letters becomes a zero byte, which is found at memory speed."""
_OTHER = 256
_TOLD = np.array([bool(folded) for folded in _LATIN])
_LONGEST_GAP = 64  # of what is kept in memory, too
_LENGTHS = np.array([*map(len, _LATIN), 0])
_IN_TABLE = frozenset(chr(code) for code, folded in enumerate(_LATIN) if len(folded) < 2 and folded.isascii())
_ASCII = bytes(range(128))
_DROPPED = bytes(code for code, folded in enumerate(_LATIN) if not folded)


def squeeze(text: str) -> str:
    r"""Return a text's letters and digits in one spelling, and nothing between them.

    >>> squeeze("J&eacute;r\u00f4me  O\u2019Neil, \uff10\uff16-31")
    'jeromeoneil0631'
    """
    if "&" in text or "\\" in text:
        text = read_escapes(text)
    try:
        folded = text.encode("latin-1").translate(_TABLE, _DROPPED)
    except UnicodeEncodeError:
        return _squeeze_any(text)
    return _squeeze_any(text) if b"\0" in folded else folded.decode("ascii")


def _squeeze_any(text: str) -> str:
    """Return what `squeeze` does, of a text that holds what takes more than one byte, or becomes several letters."""
    others = set(text.encode(errors="replace").translate(None, _ASCII).decode())
    beyond = {c: folded for c in others - _IN_TABLE if (folded := fold_character(c))}
    if len(beyond) > _MANY or not all(map(str.isascii, beyond.values())):
        return "".join(map(fold_character, text))
    for character, folded in beyond.items():
        text = text.replace(character, folded)
    return text.encode("latin-1", "ignore").translate(_TABLE, _DROPPED).decode("ascii")


def read_escapes(text: str) -> str:
    r"""Return a text with HTML entities and `\u00e9` escapes read as what they stand for."""
    return _ESCAPE.sub(_read_escape, _CONTROL.sub("  ", text)) if has_escapes(text) else text


def has_escapes(text: str) -> bool:
    r"""Return whether a text holds HTML entities, or escapes as JSON has them."""
    return ("&" in text and _ESCAPE.search(text) is not None) or (
        "\\" in text and _BACKSLASHED.search(text) is not None
    )


def _read_escape(match: re.Match[str]) -> str:
    return unescape(match[0]) if match[0][0] == "&" else chr(int(f"0x{match[0][2:]}", 0))


class Letters:
    """A text's letters and digits in one spelling, and where each comes from. What isn't asked for is never made."""

    def __init__(self, original: str, squeezed: str | None = None) -> None:
        self._original = original
        self.text = squeeze(original) if squeezed is None else squeezed

    @cached_property
    def _places(self) -> tuple[Places, Places]:
        """Return where the character begins, and ends, that each letter comes from."""
        if not has_escapes(self._original):
            starts = _origins(self._original)
            return starts, starts + 1
        readable = _CONTROL.sub("  ", self._original)
        low: list[int] = []
        high: list[int] = []
        at = 0
        for match in _ESCAPE.finditer(readable):
            _add_origins(readable, at, match.start(), low, high)
            size = len(squeeze(match[0]))
            low += [match.start()] * size
            high += [match.end()] * size
            at = match.end()
        _add_origins(readable, at, len(readable), low, high)
        return np.array(low, np.intp), np.array(high, np.intp)

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return the code points of the original that a stretch of `text`, not an empty one, comes from."""
        starts, ends = self._places
        return int(starts[start]), int(ends[end - 1])

    def gap(self, offset: int) -> str:
        """Return what stands between a letter and the one before it; no more than tells that much stands there."""
        starts, ends = self._places
        return self._original[ends[offset - 1] : min(starts[offset], ends[offset - 1] + _LONGEST_GAP + 1)]

    def begins_word(self, offset: int) -> bool:
        """Return whether a word begins at an offset of `text`, or the text ends: marks and the invisible part none."""
        if not 0 < offset < len(self.text):
            return True
        return _parts(self.gap(offset))

    def is_apart(self, start: int, end: int) -> bool:
        """Return whether a stretch of `text` holds a word's edge."""
        starts, ends = self._places
        edges = np.flatnonzero(starts[start + 1 : end] > ends[start : end - 1])
        return any(self.begins_word(start + 1 + int(edge)) for edge in edges)

    def word_begins(self) -> list[int]:
        """Return all offsets of `text` at which a word begins."""
        starts, ends = self._places
        edges: list[int] = (np.flatnonzero(starts[1:] > ends[:-1]) + 1).tolist()
        if not self._original.isascii() or has_escapes(self._original):
            edges = [edge for edge in edges if self.begins_word(edge)]
        return [0, *edges] if self.text else []


@lru_cache(maxsize=1024)
def _parts(gap: str) -> bool:
    """Return whether what stands between two letters makes two words of them."""
    if not gap:
        return False
    if len(gap) > _LONGEST_GAP or (gap.isascii() and not has_escapes(gap)):
        return True
    return not all(unicodedata.category(character) in INSIDE_WORDS for character in read_escapes(gap))


def _add_origins(text: str, start: int, end: int, low: list[int], high: list[int]) -> None:
    """Add the places of the letters of a stretch without escapes, which most often is a word or two."""
    for at in range(start, end):
        size = len(fold_character(text[at]))
        if size:
            low += [at] * size
            high += [at + 1] * size


def _origins(text: str) -> Places:
    """Return for each letter of a squeezed text, without escapes, the code point that it comes from."""
    if text.isascii():
        return np.flatnonzero(_TOLD[np.frombuffer(text.encode(), np.uint8)])
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    lengths = _LENGTHS[np.minimum(codes, _OTHER)]
    for code in np.unique(codes[codes >= _OTHER]).tolist():
        lengths[codes == code] = len(fold_character(chr(code)))
    return np.repeat(np.arange(len(codes)), lengths)


def trace(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return a text squeezed, and for each of its letters and digits the code points that it comes from."""
    letters: list[str] = []
    places: list[tuple[int, int]] = []
    at = 0
    while at < len(text):
        if text[at] == "\\" and _CONTROL.match(text, at):
            at += 2
            continue
        match = _ESCAPE.match(text, at) if text[at] in "&\\" else None
        end = match.end() if match else at + 1
        for letter in squeeze(text[at:end]) if match else fold_character(text[at]):
            letters.append(letter)
            places.append((at, end))
        at = end
    return "".join(letters), places
