"""Whether letters stand in an output at all: a look that costs a fiftieth of the check.

A text's words are its letters and digits in one spelling (`monitor.leaks.squeezed`), a blank in place of each other
character, which one pass at the speed of memory gives. Without the blanks they are the squeezed text, and what the
check finds stands in that. What it finds of names and other words begins and ends where words do, too, however the
letters are spaced. So it's one whole word, or several in a row, and where the text has no such words it isn't there.

StringZilla does the pass, and searches 4 KB in a fifth of a microsecond, by vector instructions: a tenth of what the
methods of `bytes` take.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator

import stringzilla

from monitor.leaks.squeezed import INSIDE_WORDS, fold_character, has_escapes, squeeze

find: Callable[[bytes, bytes], int] = stringzilla.find
_translate: Callable[[bytes, bytes], bytes] = stringzilla.translate

_SEVERAL = 1
"""Stands for a character that becomes several letters, `ß` for one."""
_UNCLEAR = 2
"""Stands for what may be more than it seems: a soft hyphen, or what an HTML entity or another escape begins with."""
_BLANK = 32
_FOLDED = [fold_character(chr(code)) for code in range(256)]
_UNCLEAR_CODES = frozenset(map(ord, "&\\\u00ad"))


def _byte_of(code: int) -> int:
    folded = _FOLDED[code]
    if len(folded) == 1 and folded.isascii():
        return ord(folded)
    return _SEVERAL if folded else _UNCLEAR if code in _UNCLEAR_CODES else _BLANK


_TABLE = bytes(map(_byte_of, range(256)))
_SPELLED_OUT = tuple(
    (bytes((code,)), folded.encode()) for code, folded in enumerate(_FOLDED) if len(folded) > 1 and folded.isascii()
)
_COMMON = (*((character, " ") for character in "€–—‘’“”„…•"), ("œ", "oe"))
"""Of the characters beyond Latin-1 those that almost all texts with such characters have."""
_MOST = 24
"""Distinct other characters beyond Latin-1 that are replaced one by one."""
_ASCII = bytes(range(128))
_GAPS = (b" ", b"  ", b"   ")
"""What stands between the words of almost all values."""
_FAR = b"    "
_LONGEST = 48
"""Letters of a value that are looked for: as many stand nowhere by chance."""


def words_of(text: str) -> bytes | None:
    r"""Return a text's words with a blank before and behind each; None where they can't be told character by character.

    That's so of escapes, of marks and invisible characters inside words, and of scripts other than the Latin one.

    >>> words_of("M\u00fcller-Stra\u00dfe 5"), words_of("M&uuml;ller"), words_of("\u0414\u0430")
    (b' muller strasse 5 ', None, None)
    """
    try:
        encoded = text.encode("latin-1")
    except UnicodeEncodeError:
        latin = _in_latin(text)
        if latin is None:
            return None
        encoded = latin
    words = _translate(b" %b " % encoded, _TABLE)
    if find(words, b"\2") >= 0:
        if "\u00ad" in text or has_escapes(text):
            return None
        words = words.replace(b"\2", b" ")
    if find(words, b"\1") < 0:
        return words
    for character, letters in _SPELLED_OUT:
        encoded = encoded.replace(character, letters)
    words = _translate(b" %b " % encoded, _TABLE).replace(b"\2", b" ")
    return None if find(words, b"\1") >= 0 else words  # µ becomes a Greek letter


def _in_latin(text: str) -> bytes | None:
    """Return a text in Latin-1, other letters spelled with those of ASCII; None where that can't be."""
    for character, letters in _COMMON:
        text = text.replace(character, letters)
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        others = set(text.encode(errors="replace").translate(None, _ASCII).decode())
    beyond = [character for character in others if character > "\u00ff"]
    if len(beyond) > _MOST:
        return None
    for character in beyond:
        letters = fold_character(character)
        if not letters.isascii() or (not letters and unicodedata.category(character) in INSIDE_WORDS):
            return None
        text = text.replace(character, letters or " ")
    return text.encode("latin-1", "replace")  # of what is left only lone surrogates take more than a byte


class Standing:
    """A text that is asked what may stand in it."""

    __slots__ = ("squeezed", "words")

    def __init__(self, text: str) -> None:
        self.words = words = words_of(text)
        self.squeezed = squeeze(text).encode() if words is None else words.translate(None, b" ")
        """All its letters and digits: `find` them here, whatever is between and around them."""

    def may_have_words(self, letters: bytes, *, several: bool = False) -> bool:
        """Return whether letters that stand in it are one word, or whole words that follow one another somewhere.

        Where they stand between the edges of words it's True; with `several`, where more than one word has them. Time
        grows with the letters that words begin with.

        >>> standing = Standing("Hij heet Jan de Vries en woont hier.")
        >>> [standing.may_have_words(letters) for letters in (b"jandevries", b"vri", b"vriesen", b"hijwoont")]
        [True, False, True, False]
        """
        words = self.words
        if words is None or (not several and find(words, b" %b " % letters) >= 0):
            return True
        reached = [0]
        for at in reached:
            for end in _ends(words, letters, at):
                if end > len(letters) or (end == len(letters) and (at or not several)):
                    return True
                if end < len(letters) and end not in reached and _goes_on(words, letters, at, end):
                    reached.append(end)
        return False


def _ends(words: bytes, letters: bytes, at: int) -> Iterator[int]:
    """Yield where words that begin with the letters from a place on end; beyond all where one is too long to tell."""
    for end in range(at + 1, len(letters) + 1):
        word = b" " + letters[at:end]
        if find(words, word) < 0:
            return
        if end > _LONGEST:
            yield len(letters) + 1
        if find(words, word + b" ") >= 0:
            yield end


def _goes_on(words: bytes, letters: bytes, at: int, end: int) -> bool:
    """Return whether after a word one follows that begins with the next letter, or that's too far away to tell."""
    word = b" " + letters[at:end]
    near = any(find(words, word + gap + letters[end : end + 1]) >= 0 for gap in _GAPS)
    return near or find(words, word + _FAR) >= 0
