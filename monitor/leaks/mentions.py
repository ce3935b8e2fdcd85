"""Where a flagged value stands elsewhere in the output, in whatever spelling, and whether it's the value that is meant.

All keys of all values are looked for at once: at each word of the squeezed output, by tables of keys with the same
first letters, so that time is linear in the output and in the keys. Numbers are looked for by their last seven digits,
which national and international writing share, and by their first seven, where a number was cut.

A name that is a word too counts where it's written as a name. What that is depends on the language: in German every
noun has a capital, so there a title must stand before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from monitor.leaks.ordinary_words import ORDINARY
from monitor.leaks.squeezed import Words, squeeze
from monitor.leaks.values import SUFFIX, SUFFIX_SHARE, Key
from monitor.leaks.words import (
    DETERMINERS,
    LITTLE_WORDS,
    PARTICLES,
    PREPOSITIONS_OF_TIME,
    PUBLIC_NEIGHBOURS,
    STREETS,
    TITLES,
    Language,
)

_PREFIX = 3
_DIGITS = re.compile(rf"\d{{{SUFFIX},}}")
_SEPARATORS = re.compile(r"[^\w\n,;:?!]{0,4}|[ \u00a0]?_[ \u00a0]?")
_WORD = re.compile(r"[^\W_]+")
_APART = re.compile(r"(?<![\w.@+\-/])[^\W\d_]+(?![\w@+\-/]|\.\w)")
"""A word by itself, not one of a mail address."""
_SPELLED = re.compile(r"[^\W_](?:[^\w\n]{1,2}[^\W_])+|[^\W_]+(?:-\s?\n\s?|\u00ad|-)[^\W_]+")
"""A name letter by letter, or broken at a line's end."""
_BEFORE = re.compile(r"([^\W_]+)[.'’]?[^\w.!?\n:;]{0,3}$")
_AFTER = re.compile(r"[^\w.!?\n:;]{0,2}([^\W_]+)")
_SENTENCE = re.compile(r"(?:^|[.!?:;\n\r•|>\]*\u00bf\u00a1])[\s\"'“”„«»‘’(\[\-–—*]*$")
_AROUND = 48
_LOWER_CASE = 5
"""Letters of a name that's met in lower case and no ordinary word."""
_READ = 4000  # characters of a text that its language is told from


class Mention(NamedTuple):
    """Something of a value that stands in the output: code points, and the key that was found."""

    start: int
    end: int
    key: Key
    first: int
    last: int
    """Which of the key's letters and digits stand there, half-open: of a number it may be a piece."""


class Searched:
    """A text, prepared for being asked about its words; what isn't asked for is never made."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def words(self) -> Words:
        """Return its words in one spelling."""
        return Words(self.text)

    @cached_property
    def lower_case(self) -> frozenset[str]:
        """Return the words that it has in lower case throughout."""
        return frozenset(word for word in _APART.findall(self.text) if word.islower())

    @cached_property
    def language(self) -> Language:
        """Return which language it seems to be in, by the little words of its beginning."""
        words = [squeeze(word) for word in _WORD.findall(self.text[:_READ])]
        counts: dict[Language, int] = {name: sum(map(told.__contains__, words)) for name, told in LITTLE_WORDS.items()}
        return max(counts, key=lambda name: counts[name])

    @property
    def is_german(self) -> bool:
        """Return whether its nouns have capitals."""
        return self.language == "de"

    def mentions(self, keys: Sequence[Key]) -> Iterator[Mention]:
        """Yield where keys stand as what they mean; a place is yielded once, with the longest key that begins there."""
        plain = {key.letters: key for key in keys if key.way != "number" or len(key.letters) < SUFFIX}
        numbers = [key for key in keys if key.way == "number" and len(key.letters) >= SUFFIX]
        if plain:
            yield from self._written(plain)
        if numbers:
            yield from self._numbers(numbers)

    def _written(self, keys: Mapping[str, Key]) -> Iterator[Mention]:
        lengths: dict[str, list[int]] = {}
        for letters in sorted(keys, key=len, reverse=True):
            found = lengths.setdefault(letters[:_PREFIX], [])
            if len(letters) not in found:
                found.append(len(letters))
        text, begins = self.words.text, self.words.begins
        ends = {*begins[1:], len(text)}
        reached = 0
        for begin in begins:
            if begin < reached:
                continue
            for length in lengths.get(text[begin : begin + _PREFIX], ()):
                key = keys.get(text[begin : begin + length])
                if key is not None and begin + length in ends:
                    start, end = self.words.place(begin, begin + length)
                    apart = self.words.word(begin) != self.words.word(begin + length - 1)
                    if self._is_meant(key, start, end, apart=apart):
                        yield Mention(start, end, key, 0, length)
                        reached = begin + length
                        break

    def _numbers(self, keys: Sequence[Key]) -> Iterator[Mention]:
        tails = {key.letters[-SUFFIX:]: key for key in keys}
        heads = {key.letters[:SUFFIX]: key for key in keys}
        for chain in _DIGITS.finditer(self.words.text):
            low, high = chain.span()
            reached = low
            for at in range(low, high - SUFFIX + 1):
                seven = chain[0][at - low : at - low + SUFFIX]
                if at < reached or not (seven in tails or seven in heads):
                    continue
                found = (
                    self._ending(tails.get(seven), low, at + SUFFIX, high)
                    or self._beginning(heads.get(seven), low, at, high)
                )  # fmt: skip
                if found:
                    first, last, key, offset = found
                    reached = last
                    yield Mention(*self.words.place(first, last), key, offset, offset + last - first)

    def _ending(self, key: Key | None, low: int, end: int, high: int) -> tuple[int, int, Key, int] | None:
        """Return how far a number stands before the place where its last digits end: all of it, or enough."""
        if key is None or not (end == high or self._is_edge(end)):
            return None
        text, letters = self.words.text, key.letters
        size = SUFFIX
        while size < len(letters) and end - size > low and text[end - size - 1] == letters[-size - 1]:
            size += 1
        return (end - size, end, key, len(letters) - size) if size >= SUFFIX_SHARE * len(letters) else None

    def _beginning(self, key: Key | None, low: int, start: int, high: int) -> tuple[int, int, Key, int] | None:
        """Return a number that was cut: it stands alone there. Numbers of one office begin alike, and go on."""
        if key is None or not (start == low or self._parts(start)):
            return None
        text, letters = self.words.text, key.letters
        size = SUFFIX
        while size < len(letters) and start + size < high and text[start + size] == letters[size]:
            size += 1
        end = start + size
        if size == len(letters):
            return (start, end, key, 0) if end == high or self._is_edge(end) else None
        alone = end == high or self._parts(end)
        return (start, end, key, 0) if alone and size >= SUFFIX_SHARE * len(letters) else None

    def _is_edge(self, offset: int) -> bool:
        """Return whether a word of the output begins at an offset of its squeezed words."""
        return self.words.word(offset) != self.words.word(offset - 1)

    def _parts(self, offset: int) -> bool:
        """Return whether what stands before an offset between two digits is more than a number's own separators."""
        before, after = self.words.word(offset - 1), self.words.word(offset)
        return before != after and _SEPARATORS.fullmatch(self.text, before[1], after[0]) is None

    def _is_meant(self, key: Key, start: int, end: int, *, apart: bool) -> bool:
        """Return whether a key that stands there in some spelling means what was flagged."""
        written = self.text[start:end]
        if key.way != "name":
            return key.way == "number" or self._is_value(written)
        if apart and not _SPELLED.fullmatch(written):
            return False  # "There's a" is no Theresa
        if written.lower() == written.upper():
            return True  # a script without case
        before = _BEFORE.search(self.text, max(0, start - _AROUND), start)
        word_before = squeeze(before[1]) if before else ""
        ordinary = key.letters in ORDINARY or key.letters in PARTICLES or key.letters in TITLES
        if not written[:1].isupper():
            return not ordinary and len(key.letters) >= _LOWER_CASE and word_before not in DETERMINERS
        after = _AFTER.match(self.text, end, end + _AROUND)
        word_after = squeeze(after[1]) if after else ""
        if word_after in PUBLIC_NEIGHBOURS or (word_before in STREETS and word_before not in TITLES):
            return False
        if word_before in TITLES:
            return True
        if not (ordinary or len(key.letters) <= _PREFIX or written.lower() in self.lower_case):
            return True
        return self._is_written_as_name(written, word_before, word_after, start)

    def _is_value(self, written: str) -> bool:
        """Return whether what stands there is a value of several words, and not an article with an ordinary word."""
        words = _WORD.findall(written)
        told = [word for word in words if squeeze(word) not in PARTICLES]
        if len(told) != 1 or len(words) == 1 or not told[0].isalpha() or squeeze(told[0]) not in ORDINARY:
            return True
        return told[0][:1].isupper() and not self.is_german

    def _is_written_as_name(self, written: str, word_before: str, word_after: str, start: int) -> bool:
        """Return whether an ordinary word with a capital has it as a name: not as a sentence's first, a month, a noun."""
        if self.is_german or written.isupper() or word_after.isdigit():
            return False
        if word_before in DETERMINERS or word_before in PREPOSITIONS_OF_TIME:
            return False
        return _SENTENCE.search(self.text, max(0, start - _AROUND), start) is None
