"""Where a flagged value stands elsewhere in the output, in whatever spelling, and whether it's the value that is meant.

A few keys are looked for one by one in the squeezed output, which takes 3 µs each for 5 KB; many all at once, at each
of its words, by tables of keys with the same first letters, so that time stays linear in the output and in the keys.
Numbers are looked for by their last seven digits, which national and international writing share, and by their first
seven, where a number was cut.

A name that is a word too counts where it's written as a name. What that is depends on the language: in German every
noun has a capital, so there a title must stand before it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from monitor.leaks.ordinary_words import ORDINARY
from monitor.leaks.squeezed import Letters, read_escapes, squeeze
from monitor.leaks.values import SUFFIX, Key, piece_size
from monitor.leaks.words import (
    DETERMINERS,
    LITTLE_WORDS,
    MONTHS_AND_DAYS,
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
_SPELLED = re.compile(r"[^\W_](?:[^\w\n]{1,3}[^\W_])+|[^\W_]+(?:-\s?\n\s?|\u00ad|-)[^\W_]+")
"""A name letter by letter, or broken at a line's end."""
_BEFORE = re.compile(r"(?:(?<![^\W_])([^\W_]{1,4})\.|([^\W_]+)['’]?)[^\w.!?\n:;]{0,3}$")
_AFTER = re.compile(r"[^\w.!?\n:;]{0,2}([^\W_]+)")
_SENTENCE = re.compile(r"(?:^|[.!?:;\n\r•|>\]*\u00bf\u00a1])[\s\"'“”„«»‘’(\[\-–—*]*$")
_AROUND = 48
_LOWER_CASE = 5
"""Letters of a name that's met in lower case and no ordinary word."""
_READ = 800  # characters of a text that its language is told from


_ASKED = 16
"""Words that are looked for one by one before all are counted at once."""
_FEW = 4_000_000
"""Keys times characters that are searched key by key: a millisecond or two."""


def _stands_in(text: str, letters: str) -> bool:
    """Return whether letters stand in a text between the edges of words."""
    at = text.find(letters)
    while at >= 0:
        end = at + len(letters)
        if not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
            return True
        at = text.find(letters, at + 1)
    return False


def _is_name(key: Key) -> int:
    return -(key.way == "name")  # names first: of two keys of the same letters the other one counts


_ORDINARY = (ORDINARY, MONTHS_AND_DAYS, PARTICLES, TITLES)


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

    def __init__(self, text: str, squeezed: str | None = None) -> None:
        self.text = text
        self._squeezed = squeezed
        self._asked = 0

    @cached_property
    def letters(self) -> Letters:
        """Return its letters and digits in one spelling."""
        return Letters(self.text, self._squeezed)

    def count_lower_case(self, word: str) -> int:
        """Return how often a word stands in the text in lower case, by itself and in no mail address."""
        if self._asked < _ASKED:
            self._asked += 1
            return sum(1 for found in re.finditer(re.escape(word), self.text) if self._is_apart(*found.span()))
        return self._lower_case.get(word, 0)

    def _is_apart(self, start: int, end: int) -> bool:
        match = _APART.match(self.text, start)
        return match is not None and match.end() == end

    @cached_property
    def _lower_case(self) -> Mapping[str, int]:
        return Counter(word for word in _APART.findall(self.text) if word.islower())

    @cached_property
    def language(self) -> Language:
        """Return which language it seems to be in, by the little words of its beginning."""
        words = set(_WORD.findall(self.text[:_READ].lower()))
        return max(LITTLE_WORDS, key=lambda name: len(LITTLE_WORDS[name] & words))

    @property
    def is_german(self) -> bool:
        """Return whether its nouns have capitals."""
        return self.language == "de"

    def mentions(self, keys: Sequence[Key]) -> list[Mention]:
        """Return where keys stand as what they mean, in order; of those that overlap the longest that begins first."""
        few = len(keys) * len(self.text) <= _FEW
        if few:
            keys = [key for key in keys if key.needle in self.letters.text]
        plain = {k.letters: k for k in sorted(keys, key=_is_name) if k.way != "number" or len(k.letters) < SUFFIX}
        numbers = [key for key in keys if key.way == "number" and len(key.letters) >= SUFFIX]
        found = list(self._numbers(numbers)) if numbers else []
        for low, high, key in self._occurrences(plain) if few else self._occurrences_of_many(plain):
            start, end = self.letters.place(low, high)
            if self._is_meant(key, start, end, apart=self.letters.is_apart(low, high)):
                found.append(Mention(start, end, key, 0, high - low))
        apart: list[Mention] = []
        for mention in sorted(found, key=lambda one: (one.start, -one.end)):
            if not apart or mention.start >= apart[-1].end:
                apart.append(mention)
        return apart

    def _occurrences(self, keys: Mapping[str, Key]) -> Iterator[tuple[int, int, Key]]:
        """Yield where keys stand between the edges of words, key by key."""
        text, begins_word = self.letters.text, self.letters.begins_word
        lowered = self.text.lower() if self.text.isascii() else ""
        for letters, key in keys.items():
            if lowered and text.count(letters) == lowered.count(letters) and not _stands_in(lowered, letters):
                continue  # each is written in one piece, inside a longer word
            at = text.find(letters)
            while at >= 0:
                if begins_word(at) and begins_word(at + len(letters)):
                    yield at, at + len(letters), key
                at = text.find(letters, at + 1)

    def _occurrences_of_many(self, keys: Mapping[str, Key]) -> Iterator[tuple[int, int, Key]]:
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
                    yield begin, begin + length, key

    def _numbers(self, keys: Sequence[Key]) -> Iterator[Mention]:
        tails = {key.letters[-SUFFIX:]: key for key in keys}
        heads = {key.letters[:SUFFIX]: key for key in keys}
        for chain in _DIGITS.finditer(self.letters.text):
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
                    yield Mention(*self.letters.place(first, last), key, offset, offset + last - first)

    def _ending(self, key: Key | None, low: int, end: int, high: int) -> tuple[int, int, Key, int] | None:
        """Return how far a number stands before the place where its last digits end: all of it, or enough."""
        if key is None or not (end == high or self.letters.begins_word(end)):
            return None
        text, letters = self.letters.text, key.letters
        size = SUFFIX
        while size < len(letters) and end - size > low and text[end - size - 1] == letters[-size - 1]:
            size += 1
        return (end - size, end, key, len(letters) - size) if size >= piece_size(len(letters)) else None

    def _beginning(self, key: Key | None, low: int, start: int, high: int) -> tuple[int, int, Key, int] | None:
        """Return a number that was cut: it stands alone there. Numbers of one office begin alike, and go on."""
        if key is None or not (start == low or self._parts(start)):
            return None
        text, letters = self.letters.text, key.letters
        size = SUFFIX
        while size < len(letters) and start + size < high and text[start + size] == letters[size]:
            size += 1
        end = start + size
        if size == len(letters):
            return (start, end, key, 0) if end == high or self.letters.begins_word(end) else None
        alone = end == high or self._parts(end)
        return (start, end, key, 0) if alone and size >= piece_size(len(letters)) else None

    def _parts(self, offset: int) -> bool:
        """Return whether what stands before an offset between two digits is more than a number's own separators."""
        return self.letters.begins_word(offset) and _SEPARATORS.fullmatch(self.letters.gap(offset)) is None

    def _is_meant(self, key: Key, start: int, end: int, *, apart: bool) -> bool:
        """Return whether a key that stands there in some spelling means what was flagged."""
        written = read_escapes(self.text[start:end])
        if key.way != "name":
            return key.way == "number" or self._is_value(written)
        if apart:
            return _SPELLED.fullmatch(written) is not None  # "There's a" is no Theresa
        if written.lower() == written.upper():
            return True  # a script without case
        ordinary = any(key.letters in words for words in _ORDINARY)
        if written[:1].isupper():
            return self._is_capital_meant(key, written, (start, end), ordinary=ordinary)
        if ordinary or len(key.letters) < _LOWER_CASE or self.count_lower_case(written) > 1:
            return False  # what comes again and again is a word that was taken for a name
        return self._word_before(start) not in DETERMINERS

    def _word_before(self, start: int) -> str:
        before = _BEFORE.search(self.text, max(0, start - _AROUND), start)
        return squeeze(before[1] or before[2]) if before else ""

    def _is_capital_meant(self, key: Key, written: str, place: tuple[int, int], *, ordinary: bool) -> bool:
        """Return whether a name with a capital is one: no label, not a street's or a firm's, no ordinary word."""
        start, end = place
        if self.text[end : end + 1] == ":" and self._begins_sentence(start):
            return False
        if self.text[end : end + 1] == "-" and self.is_german:
            return False  # "Steuer-ID" begins no name
        after = _AFTER.match(self.text, end, end + _AROUND)
        before, word_after = self._word_before(start), squeeze(after[1]) if after else ""
        if before in TITLES:
            return word_after not in PUBLIC_NEIGHBOURS
        if word_after in PUBLIC_NEIGHBOURS or before in STREETS:
            return False
        if not (ordinary or len(key.letters) <= _PREFIX or self.count_lower_case(written.lower())):
            return True
        return self._is_written_as_name(written, before, word_after, start)

    def _is_value(self, written: str) -> bool:
        """Return whether what stands there is a value of several words, and not an article with an ordinary word."""
        words = _WORD.findall(written)
        told = [word for word in words if squeeze(word) not in PARTICLES]
        if len(told) != 1 or len(words) == 1 or not told[0].isalpha() or squeeze(told[0]) not in ORDINARY:
            return True
        return all(word[:1].isupper() for word in words) and not self.is_german

    def _is_written_as_name(self, written: str, word_before: str, word_after: str, start: int) -> bool:
        """Return whether an ordinary word has its capital as a name: not as a sentence's first, a month, a noun."""
        if self.is_german or written.isupper() or word_before.isdigit() or word_after.isdigit():
            return False
        if word_before in DETERMINERS or word_before in PREPOSITIONS_OF_TIME:
            return False
        return not self._begins_sentence(start)

    def _begins_sentence(self, start: int) -> bool:
        return _SENTENCE.search(self.text, max(0, start - _AROUND), start) is not None
