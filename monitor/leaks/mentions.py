"""Where a flagged value stands elsewhere in the output, in whatever spelling, and whether it's the value that is meant.

A few keys are looked for one by one in the squeezed output, which takes 3 µs each for 5 KB; many all at once, at each
of its words, by tables of keys with the same first letters, so that time stays linear in the output and in the keys.
Numbers are looked for by their last seven digits, which national and international writing share, and by their first
seven, where a number was cut.

What a word means where it stands, `monitor.leaks.evidence` tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from monitor.leaks.evidence import Prose
from monitor.leaks.ordinary_words import ORDINARY
from monitor.leaks.squeezed import Letters, read_escapes, squeeze
from monitor.leaks.standing import Standing
from monitor.leaks.values import SUFFIX, WORDS, Key, piece_size
from monitor.leaks.words import PARTICLES

_PREFIX = 3
_DIGITS = re.compile(rf"\d{{{SUFFIX},}}")
_PIECES = 32
_SEPARATORS = re.compile(r"[^\w\n,;:?!]{0,4}|[ \u00a0]?_[ \u00a0]?")
_WORD = re.compile(r"[^\W_]+")
_FEW = 4_000_000
"""Keys times characters that are searched key by key: a millisecond or two."""


def _standing(text: str, letters: str) -> Iterator[int]:
    """Yield where letters stand in a text between the edges of words."""
    at = text.find(letters)
    while at >= 0:
        end = at + len(letters)
        if not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
            yield at
        at = text.find(letters, at + 1)


def _is_word(key: Key) -> int:
    return -(key.way in WORDS)  # words first: of two keys of the same letters the other one counts


class Mention(NamedTuple):
    """Something of a value that stands in the output: code points, and the key that was found."""

    start: int
    end: int
    key: Key
    first: int
    last: int
    """Which of the key's letters and digits stand there, half-open: of a number it may be a piece."""


def _common(one: str, other: str) -> int:
    """Return how many characters both begin with."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


class _Pieces(NamedTuple):
    """Numbers that have the same seven digits at one end, by all of their pieces there that count."""

    keys: dict[str, Key]
    sizes: list[int]
    """Of the pieces, the largest first."""


def _pieces(keys: Sequence[Key], *, tails: bool) -> dict[str, _Pieces]:
    """Return numbers by their last seven digits, or by their first; a piece that is one of them whole is that one's.

    Of a number of more than 80 digits 32 do, from the smallest that counts to all of it.
    """
    found: dict[str, _Pieces] = {}
    for key in sorted(keys, key=lambda one: len(one.letters)):
        letters, digits = key.letters, len(key.letters)
        own = found.setdefault(letters[-SUFFIX:] if tails else letters[:SUFFIX], _Pieces({}, []))
        smallest = piece_size(digits)
        for size in {*range(smallest, digits, (digits - smallest) // _PIECES or 1), digits}:
            own.keys.setdefault(letters[-size:] if tails else letters[:size], key)
    for own in found.values():
        own.sizes[:] = sorted({len(piece) for piece in own.keys}, reverse=True)
    return found


_Occurrence = tuple[int, int, Key, bool]
"""Code points, the key, and whether it's letters of several words."""


class Searched(Prose):
    """A text, prepared for being asked about its words; what isn't asked for is never made."""

    def __init__(self, text: str, standing: Standing | None = None) -> None:
        super().__init__(text)
        self._standing = standing

    @cached_property
    def letters(self) -> Letters:
        """Return its letters and digits in one spelling."""
        return Letters(self.text, self._folded.squeezed.decode())

    @cached_property
    def _folded(self) -> Standing:
        return self._standing or Standing(self.text)

    def mentions(self, keys: Sequence[Key]) -> list[Mention]:
        """Return where keys stand as what they mean, in order; of those that overlap the longest that begins first."""
        few = len(keys) * len(self.text) <= _FEW
        if few:
            keys = [key for key in keys if key.needle in self.letters.text]
        plain = {k.letters: k for k in sorted(keys, key=_is_word) if k.way != "number" or len(k.letters) < SUFFIX}
        numbers = [key for key in keys if key.way == "number" and len(key.letters) >= SUFFIX]
        found = list(self._numbers(numbers)) if numbers else []
        for start, end, key, apart in self._occurrences(plain) if few else self._occurrences_of_many(plain):
            if key.way not in WORDS:
                meant = key.way == "number" or self._is_value(read_escapes(self.text[start:end]))
            else:
                meant = self.is_meant(key.letters, key.way, start, end, apart=apart)
            if meant:
                found.append(Mention(start, end, key, 0, len(key.letters)))
        first: list[Mention] = []
        for mention in sorted(found, key=lambda one: (one.start, -one.end)):
            if not first or mention.start >= first[-1].end:
                first.append(mention)
        return first

    def _occurrences(self, keys: Mapping[str, Key]) -> Iterator[_Occurrence]:
        """Yield where keys stand between the edges of words, key by key."""
        text, begins_word = self.letters.text, self.letters.begins_word
        words = self._folded.words or b""
        lowered = words[1:-1].decode() if len(words) == len(self.text) + 2 else ""  # place by place
        for letters, key in keys.items():
            if lowered and not self._may_be_apart(letters, lowered):
                for at in _standing(lowered, letters):
                    yield at, at + len(letters), key, False
                continue
            at = text.find(letters)
            while at >= 0:
                if begins_word(at) and begins_word(at + len(letters)):
                    yield self._placed(at, key)
                at = text.find(letters, at + 1)

    def _may_be_apart(self, letters: str, lowered: str) -> bool:
        """Return whether letters may stand in several words."""
        if self.letters.text.count(letters) == lowered.count(letters):
            return False
        return self._folded.may_have_words(letters.encode(), several=True)

    def _placed(self, at: int, key: Key) -> _Occurrence:
        end = at + len(key.letters)
        return *self.letters.place(at, end), key, self.letters.is_apart(at, end)

    def _occurrences_of_many(self, keys: Mapping[str, Key]) -> Iterator[_Occurrence]:
        """Yield the same word by word, by tables of keys with the same first letters."""
        lengths: dict[str, set[int]] = {}
        for letters in keys:
            lengths.setdefault(letters[:_PREFIX], set()).add(len(letters))
        text, begins = self.letters.text, self.letters.word_begins()
        ends = {*begins[1:], len(text)}
        for begin in begins:
            for length in lengths.get(text[begin : begin + _PREFIX], ()):
                key = keys.get(text[begin : begin + length])
                if key is not None and begin + length in ends:
                    yield self._placed(begin, key)

    def _numbers(self, keys: Sequence[Key]) -> Iterator[Mention]:
        tails, heads = _pieces(keys, tails=True), _pieces(keys, tails=False)
        for chain in _DIGITS.finditer(self.letters.text):
            low, high = chain.span()
            reached = low
            for at in range(low, high - SUFFIX + 1):
                seven = chain[0][at - low : at - low + SUFFIX]
                if at < reached or not (seven in tails or seven in heads):
                    continue
                found = self._ending(tails.get(seven), low, at + SUFFIX, high) or self._beginning(
                    heads.get(seven), low, at, high
                )
                if found:
                    first, last, key, offset = found
                    reached = last
                    yield Mention(*self.letters.place(first, last), key, offset, offset + last - first)

    def _ending(self, pieces: _Pieces | None, low: int, end: int, high: int) -> tuple[int, int, Key, int] | None:
        """Return how far a number stands before the place where its last digits end: all of it, or enough."""
        if pieces is None or not (end == high or self.letters.begins_word(end)):
            return None
        text = self.letters.text
        for size in pieces.sizes:
            key = pieces.keys.get(text[end - size : end]) if end - size >= low else None
            if key is not None:
                rest = len(key.letters) - size
                more = _common(text[max(low, end - size - rest) : end - size][::-1], key.letters[:rest][::-1])
                return end - size - more, end, key, rest - more
        return None

    def _beginning(self, pieces: _Pieces | None, low: int, start: int, high: int) -> tuple[int, int, Key, int] | None:
        """Return a number that was cut: it stands alone there. Numbers of one office begin alike, and go on."""
        if pieces is None or not (start == low or self._parts(start)):
            return None
        text = self.letters.text
        for size in pieces.sizes:
            end = start + size
            key = pieces.keys.get(text[start:end]) if end <= high else None
            if key is not None:
                end += _common(text[end:high], key.letters[size:])
                whole = end - start == len(key.letters)
                alone = end == high or (self.letters.begins_word(end) if whole else self._parts(end))
                return (start, end, key, 0) if alone else None
        return None

    def _parts(self, offset: int) -> bool:
        """Return whether what stands before an offset between two digits is more than a number's own separators."""
        return self.letters.begins_word(offset) and _SEPARATORS.fullmatch(self.letters.gap(offset)) is None

    def _is_value(self, written: str) -> bool:
        """Return whether what stands there is a value of several words, and not an article with an ordinary word."""
        words = _WORD.findall(written)
        told = [word for word in words if squeeze(word) not in PARTICLES]
        if len(told) != 1 or len(words) == 1 or not told[0].isalpha() or squeeze(told[0]) not in ORDINARY:
            return True
        return all(word[:1].isupper() for word in words) and not self.is_german
