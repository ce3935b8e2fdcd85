r"""One spelling for all spellings: letters and digits alone, without case, accents or width.

A character becomes what is left of it after NFKC, case folding and NFKD, marks and everything that is no letter or
digit taken away; a decimal digit of any script becomes its value, which NFKC does for full-width digits and not for
Arabic ones. HTML entities and `\u00e9` escapes are read as what they stand for, `\n` as a space. Separators vanish with the rest: two
writings of one number come out equal, and whoever needs to know where a word ends asks for the words.

Almost all text is ASCII or Latin-1, and there one `bytes.translate` does it all in 9 µs for 5 KB. Other letters take a
pass each, and a text of another script one in Python.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from bisect import bisect_right
from functools import lru_cache
from html import unescape

_ESCAPED = r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});|\\u[0-9A-Fa-f]{4}"
_ESCAPE = re.compile(_ESCAPED)
_BACKSLASHED = re.compile(r"\\(?:[nrtbf]|u[0-9A-Fa-f]{4})")
_CONTROL = re.compile(r"\\[nrtbf]")
_UNDECOMPOSED = {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ħ": "h", "ı": "i", "ŧ": "t"}
_MANY = 24
"""Distinct letters beyond Latin-1 from which on one pass in Python takes less time than one in C for each."""
_ASCII = bytes(range(128))
_ASCII_WORD = re.compile(r"[0-9A-Za-z]+")


@lru_cache(maxsize=8192)
def fold_character(character: str) -> str:
    """Return the letters and digits that one character stands for; most often one, and none for a mark or separator.

    >>> [fold_character(c) for c in "Éß٣３²-"]
    ['e', 'ss', '3', '3', '2', '']
    """
    if character.isascii():
        return character.lower() if character.isalnum() else ""
    value = unicodedata.decimal(character, None)
    if value is not None:
        return str(value)
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", character).casefold())
    return "".join(_UNDECOMPOSED.get(c, c) for c in plain if c.isalnum())


_LATIN = {chr(code): fold_character(chr(code)) for code in range(256)}
_TABLE = bytes(ord(f) if len(f) == 1 and f.isascii() else 0 for f in _LATIN.values())
_DROPPED = bytes(code for code, folded in enumerate(_LATIN.values()) if not folded)
_IN_TABLE = frozenset(c for c, folded in _LATIN.items() if not folded or (len(folded) == 1 and folded.isascii()))


def squeeze(text: str) -> str:
    r"""Return a text's letters and digits in one spelling, and nothing between them.

    >>> squeeze("J&eacute;r\u00f4me  O\u2019Neil, \uff10\uff16-31")
    'jeromeoneil0631'
    """
    if _has_escapes(text):
        text = _ESCAPE.sub(_read_escape, _CONTROL.sub("  ", text))
    if text.isascii():
        return text.encode().translate(_TABLE, _DROPPED).decode()
    others = set(text.encode(errors="replace").translate(None, _ASCII).decode())
    beyond = {c: folded for c in others - _IN_TABLE if (folded := fold_character(c))}
    if len(beyond) > _MANY or not all(map(str.isascii, beyond.values())):
        return "".join(map(fold_character, text))
    for character, folded in beyond.items():
        text = text.replace(character, folded)
    return text.encode("latin-1", "ignore").translate(_TABLE, _DROPPED).decode()


def _has_escapes(text: str) -> bool:
    return ("&" in text and _ESCAPE.search(text) is not None) or (
        "\\" in text and _BACKSLASHED.search(text) is not None
    )


def _read_escape(match: re.Match[str]) -> str:
    return unescape(match[0]) if match[0][0] == "&" else chr(int(f"0x{match[0][2:]}", 0))


@lru_cache(maxsize=1)
def _any_word() -> re.Pattern[str]:
    """Return what finds words of any script: marks and invisible characters are part of one, and so are escapes."""
    inside = [
        chr(n) for n in range(128, sys.maxunicode + 1) if unicodedata.category(chr(n)) in {"Mn", "Mc", "Me", "Cf"}
    ]
    return re.compile(rf"(?:[^\W_]|[{''.join(inside)}]|{_ESCAPED})+")


class Words:
    """The words of a text, squeezed one after another, and where they stand.

    A word is what nothing but a mark or an invisible character parts.
    """

    __slots__ = ("_original", "_places", "_plain", "_traced", "begins", "text")

    def __init__(self, original: str) -> None:
        self._original = original
        self._places: list[tuple[int, int]] = []
        self._traced: tuple[int, list[tuple[int, int]]] = (-1, [])
        self.begins: list[int] = []
        """Offsets in `text` at which a word begins, ascending."""
        parts: list[str] = []
        length = 0
        self._plain = original.isascii() and not _has_escapes(original)
        readable = original if self._plain else _CONTROL.sub("  ", original)
        for match in (_ASCII_WORD if self._plain else _any_word()).finditer(readable):
            folded = match[0].lower() if self._plain else squeeze(match[0])
            if not folded:
                continue  # a word of marks alone
            start, end = match.span()
            self.begins.append(length)
            self._places.append((start, end))
            parts.append(folded)
            length += len(folded)
        self.text = "".join(parts)
        """All words in one spelling, nothing between them."""

    def word(self, offset: int) -> tuple[int, int]:
        """Return the code points of the original where the word stands that an offset of `text` lies in."""
        return self._places[bisect_right(self.begins, offset) - 1]

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return the code points of the original that a stretch of `text`, not an empty one, comes from."""
        return self._point(start)[0], self._point(end - 1)[1]

    def _point(self, offset: int) -> tuple[int, int]:
        number = bisect_right(self.begins, offset) - 1
        start, end = self._places[number]
        within = offset - self.begins[number]
        if self._plain:
            return start + within, start + within + 1
        if self._traced[0] != number:  # a hit asks for both its ends, and hits in one long word follow one another
            self._traced = number, trace(self._original[start:end])[1]
        low, high = self._traced[1][within]
        return start + low, start + high


def trace(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return a text squeezed, and for each of its letters and digits the code points that it comes from."""
    letters: list[str] = []
    places: list[tuple[int, int]] = []
    at = 0
    while at < len(text):
        match = _ESCAPE.match(text, at) if text[at] in "&\\" else None
        end = match.end() if match else at + 1
        for letter in squeeze(text[at:end]) if match else fold_character(text[at]):
            letters.append(letter)
            places.append((at, end))
        at = end
    return "".join(letters), places
