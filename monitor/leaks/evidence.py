"""What tells that a word, which a part of a flagged name has the letters of, is somebody's name where it stands.

A word that's missing from a list would be taken for a name wherever it stands. So a part of a name standing by itself
counts where its surroundings say that somebody is meant, whatever the word:

* What stands before it: a title, an initial, `named`, a name's field (`Patient:`), a closing on the line before.
* A verb beside it that only people do (`Berg called`), where a clause begins.
* A capital that the language gives no word there: in the middle of a sentence, in every language but German, where
  all nouns have one, and not in a headline; at a sentence's beginning where the next word has one too.
* Letters that nobody writes in a word: hidden, of another width, spelled one by one; a mail address's local part.

More is believed of a given name, and of a name that the document itself uses alone (`Key.way` is `given` or `name`):
they count wherever they have a capital and no article. Words of the list (`monitor.leaks.ordinary_words`) count with a
title, a verb of somebody's, or a capital inside a sentence alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from functools import cached_property

from monitor.leaks.ordinary_words import ORDINARY
from monitor.leaks.squeezed import read_escapes, squeeze
from monitor.leaks.values import Way
from monitor.leaks.words import (
    ARTICLES,
    CONJUNCTIONS,
    DETERMINERS,
    FIELDS,
    GREETINGS,
    LITTLE_WORDS,
    MONTHS_AND_DAYS,
    NAMING,
    PARTICLES,
    PERSONS_VERBS,
    PREPOSITIONS_OF_TIME,
    PUBLIC_NEIGHBOURS,
    SAID_BEFORE,
    STREETS,
    TITLES,
    Language,
)

_WORD = re.compile(r"[^\W_]+")
_APART = re.compile(r"(?<![\w.@+\-/])[^\W\d_]+(?![\w@+\-/]|\.\w)")
"""A word by itself, not one of a mail address."""
_SPELLED = re.compile(r"[^\W_](?:[^\w\n]{1,3}[^\W_])+")
"""A name letter by letter."""
_BROKEN = re.compile(r"[^\W_]+(?:-\s?\n\s?|\u00ad|-)[^\W_]+")
"""A name broken at a line's end."""
_BEFORE = re.compile(r"[^\w.!?\n:;]{0,3}(?:\.([^\W_]{1,4})(?![^\W_])|['’]?([^\W_]+))")
"""The word before a place, or one that's cut short. It's matched backwards, as are sentences: from the place."""
_AFTER = re.compile(r"[^\w.!?\n:;]{0,2}([^\W_]+)")
_SENTENCE = re.compile(r"[\s\"'“”„«»‘’(\[\-–—*]*[.!?:;\n\r•|>\]*\u00bf\u00a1]")
_BEGINNING = re.compile(r"[\s\"'“”„«»‘’(\[\-–—*]*\Z")
_FIELD = re.compile(r"([^\W\d_]+)(?: ?\([^\n()]{1,12}\))?(?: ?: {0,4}|[,!.]?\r?\n[ \t]*)\Z")
"""A field's name before a value, or a line's last word."""
_INITIAL = re.compile(
    r"[^\s](?<!\b[a-z]\.)[ \u00a0][A-Z\u00c0-\u00de]\.(?:[ \u00a0\-][A-Z\u00c0-\u00de]\.)?[ \u00a0]?\Z"
)
"""Initials inside a line: at its beginning they number it; after a small one they abbreviate words (`z. B.`)."""
_NEXT = re.compile(r"[ \u00a0](?:([^\W\d_])\.[ \u00a0])?([^\W\d_]+)")
_LOCAL = re.compile(r"[\w.+\-]{0,40}@[\w\-]")
_ENDS = re.compile(r"[,.!]?[ \t]*(?:\r?\n|$)")
_SPOKEN_TO = re.compile(r"[,!]|[ \t]*(?:\r?\n|$)")
_LETTER_BY_LETTER = re.compile("\u00ad[^\\W_]\u00ad")
_AROUND = 48
_LOWER_CASE = 5
"""Letters of a name that's met in lower case and no ordinary word."""
_SHORT = 3
_READ = 800  # characters of a text that its language is told from
_ASKED = 16
"""Words that are looked for one by one before all are counted at once."""
_HEADLINE = 4
"""Words of a line without a full stop that makes it a headline if all have capitals: with fewer it's a signature."""
_PUNCTUATION = re.compile("[,.'’:?!]")
_NO_HEADLINE = re.compile(r"[\d.,:;?@<>\[\]{}*/|]")
_GERMAN_ARTICLES = frozenset(
    """
der die das den dem des vom zum zur beim im am ein eine einen einem einer eines kein keine keinen keinem keiner mein
meine meinen meinem meiner dein deine deinen unser unsere unseren dieser diese dieses diesen diesem jeder jede jedes
jeden jedem welcher welche welches welchen
""".split()  # noqa: SIM905  # read as words
)
_CUT = frozenset("ave avda blvd ctra hwy mews pza str".split())  # noqa: SIM905  # read as words
"""Streets that are written with a full stop."""
_LIGATURES = re.compile("[\ufb00-\ufb06]")
_LISTED = (ORDINARY, MONTHS_AND_DAYS, PARTICLES, TITLES)


class Prose:
    """A text that's asked about its words; what isn't asked for is never made."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._asked = 0

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
    def _articled(self) -> frozenset[str]:
        """Words with a capital that stand somewhere with an article, or with one and an adjective: German nouns."""
        found: set[str] = set()
        article, adjective = False, False  # whether the word before is one, or one that follows one
        end = 0
        for match in _WORD.finditer(self.text):
            word, gap = match[0], self.text[end : min(match.start(), end + _SHORT)]
            if gap.strip(" \u00a0"):
                article = adjective = False
            if word[0].isupper() and (article or adjective):
                found.add(word)
            adjective = article and word.islower()
            article = word.lower() in _GERMAN_ARTICLES and "," not in gap  # behind a comma it's a relative pronoun
            end = match.end()
        return frozenset(found)

    @cached_property
    def language(self) -> Language:
        """Return which language it seems to be in, by the little words of its beginning."""
        words = set(_PUNCTUATION.sub(" ", self.text[:_READ].lower()).split())
        return max(LITTLE_WORDS, key=lambda name: len(LITTLE_WORDS[name] & words))

    @property
    def is_german(self) -> bool:
        """Return whether its nouns have capitals."""
        return self.language == "de"

    def uses_alone(self, start: int, end: int) -> bool:
        """Return whether a flagged name of one word stands by itself: without a title, and not as any word may.

        One in lower case, with an article or at a sentence's beginning is as well a word that was taken for a name.
        """
        before = self._word_before(start)
        if not self.text[start].isupper() or before in TITLES or before in DETERMINERS or self._has_initial(start):
            return False
        plain = not self._begins_sentence(start) or self._has_persons_verb(start, end)
        return plain or self._line_around(start, end).strip(" ,.!-\t\r") == ""

    def is_meant(self, letters: str, way: Way, start: int, end: int, *, apart: bool) -> bool:
        """Return whether the letters of a name, or a word of an address, mean what was flagged where they stand.

        `apart`: they are no word, but letters of several.
        """
        raw = self.text[start:end]
        written = read_escapes(raw)
        if apart and not _BROKEN.fullmatch(written):
            return _SPELLED.fullmatch(written) is not None  # "There's a" is no Theresa
        if written.lower() == written.upper() or _is_odd(raw, written):
            return True  # a script without case, or no usual spelling
        if written[:1].isupper():
            return self._is_capital_meant(letters, way, written, (start, end))
        if len(letters) < _LOWER_CASE or _is_listed(letters):
            return False
        if way in {"part", "given"}:
            return self._is_named(start, end, listed=False) or _LOCAL.match(self.text, end) is not None
        # what comes again and again is a word that was taken for a name
        return self.count_lower_case(written) <= 1 and self._word_before(start) not in DETERMINERS

    def _is_capital_meant(self, letters: str, way: Way, written: str, place: tuple[int, int]) -> bool:
        """Return whether a name with a capital is one: no label, not a street's or a firm's, no ordinary word."""
        start, end = place
        before, listed = self._word_before(start), _is_listed(letters)
        if self._is_elses(start, end):
            return False
        titled = before in (NAMING if self.is_german and way == "part" else TITLES)
        if titled or (before in STREETS and not self._ends_sentence(before, start)):
            return titled
        if self._is_named(start, end, listed=listed):
            return True
        if listed or len(letters) <= _SHORT or self.count_lower_case(written.lower()):
            return self._is_written_as_name(written, start, end)
        if way == "street":
            return True
        if self.is_german:
            articled = before in DETERMINERS or written in self._articled
        else:
            articled = before in ARTICLES.get(self.language, DETERMINERS)
        return not articled and (way != "part" or (not self.is_german and self._has_names_capital(written, start, end)))

    def _is_elses(self, start: int, end: int) -> bool:
        """Return whether a word is a label, a part of a German compound, or a street's, a firm's or an illness's."""
        after = self.text[end : end + 1]
        if (after == ":" and self._begins_sentence(start)) or (after == "-" and self.is_german):
            return True  # "Steuer-ID" begins no name
        return self._word_after(end) in PUBLIC_NEIGHBOURS

    def _is_written_as_name(self, written: str, start: int, end: int) -> bool:
        """Return whether an ordinary word inside a sentence has its capital as a name: not as a month, a noun."""
        before = self._word_before(start)
        if self.is_german or written.isupper() or before.isdigit() or self._word_after(end).isdigit():
            return False
        return not (before in DETERMINERS or before in PREPOSITIONS_OF_TIME or self._begins_sentence(start))

    def _is_named(self, start: int, end: int, *, listed: bool) -> bool:
        """Return whether what stands around a word, in whatever case, says that it's somebody's name."""
        before = self._word_before(start)
        greeted = before in GREETINGS and not self._has_stop(start) and _SPOKEN_TO.match(self.text, end)
        if before in NAMING or greeted:
            return True
        field = None
        if self.text[max(0, start - _SHORT) : start].rstrip(" \t")[-1:] in {":", "\n"}:
            field = _FIELD.search(self.text, max(0, start - _AROUND), start)
        named = _plain(field[1]) if field else ""
        if named in NAMING or (named in FIELDS and _ENDS.match(self.text, end)):
            return True
        if not listed and (self._has_initial(start) or self._line_around(start, end) == ","):
            return True
        return self._has_persons_verb(start, end)

    def _line_around(self, start: int, end: int) -> str:
        """Return what a line has beside a word; no more than tells that it has much."""
        low = self.text.rfind("\n", max(0, start - _AROUND), start) + 1 or max(0, start - _AROUND)
        high = self.text.find("\n", end, end + _AROUND)
        return self.text[low:start] + self.text[end : end + _AROUND if high < 0 else high]

    def _has_initial(self, start: int) -> bool:
        return self._has_stop(start) and _INITIAL.search(self.text, max(0, start - _AROUND), start) is not None

    def _has_persons_verb(self, start: int, end: int) -> bool:
        """Return whether a word is what says, writes or knows something."""
        before = self._word_before(start)
        if before in SAID_BEFORE and self.text[start].isupper():
            return True
        after = _NEXT.match(self.text, end, end + _AROUND)
        if after is None or after[1] or _plain(after[2]) not in PERSONS_VERBS[self.language]:
            return False
        return before in CONJUNCTIONS or self._begins_clause(start)

    def _begins_clause(self, start: int) -> bool:
        return self._begins_sentence(start) or self.text[max(0, start - 2) : start].rstrip()[-1:] == ","

    def _has_names_capital(self, written: str, start: int, end: int) -> bool:
        """Return whether the language gives a capital to names alone there."""
        if self._begins_sentence(start):
            beside = _NEXT.match(self.text, end, end + _AROUND)
            if beside is None or not beside[2][0].isupper() or written.isupper() or len(beside[2]) == 1:
                return False
            return not (beside[2].isupper() or self._is_headline(start))
        if written.isupper() and self._is_shouted(start, end):
            return False
        return not self._is_headline(start)

    def _is_shouted(self, start: int, end: int) -> bool:
        """Return whether the words beside one are in capitals, too."""
        low = self.text.rfind("\n", max(0, start - _AROUND), start) + 1
        before = _WORD.findall(self.text, max(low, start - _AROUND), start)[-1:]
        after = _WORD.findall(self.text, end, min(len(self.text), end + _AROUND))[:1]
        return any(word.isupper() and len(word) > 1 for word in (*before, *after))

    def _is_headline(self, start: int) -> bool:
        """Return whether all longer words of a line have capitals, and nothing else is in it."""
        first, last = max(0, start - 4 * _AROUND), start + 4 * _AROUND
        high = self.text.find("\n", start, last)
        line = self.text[self.text.rfind("\n", first, start) + 1 or first : last if high < 0 else high]
        if _NO_HEADLINE.search(line):
            return False
        words = [word for word in _WORD.findall(line) if len(word) > _SHORT and word.isalpha()]
        return len(words) >= _HEADLINE and all(word[0].isupper() for word in words)

    def _word_before(self, start: int) -> str:
        before = _BEFORE.match(self._backwards(start))
        return _plain((before[1] or before[2])[::-1]) if before else ""

    def _backwards(self, start: int) -> str:
        return self.text[max(0, start - _AROUND) : start][::-1]

    def _word_after(self, end: int) -> str:
        after = _AFTER.match(self.text, end, end + _AROUND)
        return _plain(after[1]) if after else ""

    def _ends_sentence(self, word: str, start: int) -> bool:
        """Return whether a word before another one ended a sentence, and isn't cut short: `by the way. Berg`."""
        return len(word) > _SHORT - 1 and word not in _CUT and self._has_stop(start)

    def _has_stop(self, start: int) -> bool:
        return self.text[max(0, start - _SHORT) : start].rstrip()[-1:] == "."

    def _begins_sentence(self, start: int) -> bool:
        if self.text[start - 1 : start] == " " and self.text[max(0, start - 2)].isalnum():
            return False
        before = self._backwards(start)
        if _SENTENCE.match(before):
            return True
        return start <= _AROUND and _BEGINNING.match(before) is not None


def _plain(word: str) -> str:
    return word.lower() if word.isascii() else squeeze(word)


def _is_listed(letters: str) -> bool:
    return any(letters in words for words in _LISTED)


def _is_odd(raw: str, written: str) -> bool:
    """Return whether a word is written as nobody writes words: hidden characters, marks on letters that bear none.

    Accents apart from their letters, ligatures and entities of accented letters are another matter: a whole text may
    be written so, and a soft hyphen in every long word.
    """
    if raw.isalpha() and raw.isascii():
        return False
    if raw != written and any(letter.isascii() and letter.isalnum() for letter in _entities(raw)):
        return True
    plain = unicodedata.normalize("NFC", _LIGATURES.sub("f", written))
    if unicodedata.normalize("NFKC", plain) != plain:
        return True
    if _LETTER_BY_LETTER.search(plain):
        return True
    return any(unicodedata.category(c) in {"Mn", "Me", "Cf"} for c in plain if c != "\u00ad")


def _entities(raw: str) -> str:
    return "".join(read_escapes(found) for found in _ENTITY.findall(raw))


_ENTITY = re.compile(r"&#?\w{1,32};|\\u[0-9A-Fa-f]{4}")
