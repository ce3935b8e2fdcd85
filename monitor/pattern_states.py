r"""How many states can a regex's automaton have? Counted without RE2, and only up to a limit.

RE2 makes a state for every *set* of places in the regex at which a match may stand, when a text first brings it there.
A few hundred such sets are soon made and cost nothing more. A regex that counts from every start has exponentially
many: in `a.{40}c` each `a` of the last 40 characters is a place of its own, so that random text brings a new set with
every byte, which takes RE2 some 6 µs instead of 0.003. Time would stay linear, and the stream would stand.

The sets are counted as RE2 would make them: breadth first from the beginning of a text, a match may begin anywhere.
Clocks and RE2's memory say the same less surely: the one isn't pure, the other isn't visible. Only the regex's
*structure* is read here (groups, alternatives, repetitions, flags, assertions). What a single character or class means
is asked of RE2 itself, on characters that stand for the rest: Unicode's subtleties hardly change a number of states.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import accumulate
from typing import NamedTuple

import re2

from monitor.regex_syntax import Assertion, Atom, Node, Repeat, Sequence, Union, parse_regex

LIMIT = 2_000
"""States that a pattern may have: made once, they cost some 15 ms in all."""

MOST_PLACES = 4_000
"""Places in a regex, repetitions written out; RE2 refuses a larger one before that by its own limits."""

_ASCII = "".join(map(chr, range(128)))
# Letters with a folded form outside ASCII, accented, without case, of other scripts; digits, spaces, a symbol.
_BEYOND = "ſ\u212aéÉßñøžĀǅαΩжא中々ªº٣²½\x85\xa0\u202f\u2009\u200d\u0301’–€😀\U00010ffff"


def count_states(regex: str, limit: int = LIMIT) -> int:
    r"""Return how many states the automaton of `regex` has, or `limit + 1` where it has more.

    `regex` must be one that RE2 compiles.

    >>> count_states(r"\bK-\d{4}\b"), count_states("a.{40}c")
    (10, 2001)
    """
    return _count_states(regex, limit)


def count_states_on(regex: str, text: str) -> int:
    """Return how many states the automaton of `regex` has made when it has read `text`.

    A regex too long to be looked at makes one a character.

    >>> count_states_on("a.{40}c", "banana")
    7
    """
    return _count_states_on(regex, text)


@lru_cache(maxsize=1024)
def _count_states(regex: str, limit: int) -> int:
    walk = _walk(regex)
    return limit + 1 if walk is None else walk.count(limit, _letters(walk.atoms, _ASCII + _BEYOND + regex).values())


@lru_cache(maxsize=1024)
def _count_states_on(regex: str, text: str) -> int:
    walk = _walk(regex)
    return len(text) if walk is None else walk.count_on(text, _letters(walk.atoms, text))


def _walk(regex: str) -> _Walk | None:
    places = _Places()
    try:
        return _Walk(places, places.add(parse_regex(regex), places.end))
    except _TooManyError:
        return None


class _TooManyError(Exception):
    """The regex written out is too long to be looked at."""


@dataclass
class _Places:
    """A regex as places, each with ways on: by an atom, under an assertion, or freely."""

    atoms: list[str] = field(default_factory=list)
    """By number, the regex of what a text must hold to go on from an atom's place."""
    after: list[int] = field(default_factory=list)
    """By number of the atom, the place behind it."""
    ways: list[list[tuple[Assertion | None, int]]] = field(default_factory=lambda: [[]])
    """By place, what may be passed without reading: the assertion and the place behind it."""
    reads: dict[int, int] = field(default_factory=dict)
    """By place, the atom that must be read there."""
    end: int = 0

    def place(self, *ways: tuple[Assertion | None, int]) -> int:
        if len(self.ways) > MOST_PLACES:
            raise _TooManyError
        self.ways.append(list(ways))
        return len(self.ways) - 1

    def add(self, node: Node, behind: int) -> int:
        """Return the place where `node` begins that goes on at `behind`."""
        match node:
            case Atom(regex):
                place = self.place()
                self.reads[place] = len(self.atoms)
                self.atoms.append(regex)
                self.after.append(behind)
                return place
            case Assertion():
                return self.place((node, behind))
            case Sequence(parts):
                for part in reversed(parts):
                    behind = self.add(part, behind)
                return behind
            case Union(choices):
                return self.place(*((None, self.add(choice, behind)) for choice in choices))
            case Repeat(part, least, most):
                return self._repeat(part, least, most, behind)

    def _repeat(self, part: Node, least: int, most: int | None, behind: int) -> int:
        if most is None:
            loop = self.place((None, behind))
            self.ways[loop].append((None, self.add(part, loop)))
            behind = loop
        else:
            last = behind
            for _ in range(most - least):
                behind = self.place((None, last), (None, self.add(part, behind)))
        for _ in range(least):
            behind = self.add(part, behind)
        return behind


class _Letter(NamedTuple):
    """Characters that no atom tells apart: what reads them, as bits, and what an assertion asks of them."""

    read_by: int
    word: bool
    newline: bool


_State = tuple[int, bool | None, bool]
"""Atoms just read, as bits; was the last character of a word (None at the beginning); was it a newline."""
_FIRST: _State = (0, None, True)


class _Walk:
    """From state to state, by every letter or along a text."""

    def __init__(self, places: _Places, start: int) -> None:
        self._places, self._start = places, start
        self._reach = cache(self._reachable)
        self.atoms = tuple(places.atoms)

    def count(self, limit: int, letters: Iterable[_Letter]) -> int:
        """Return how many states there are, breadth first, or `limit + 1`."""
        seen = {_FIRST}
        front, letters = [_FIRST], sorted(set(letters))
        while front:
            found = []
            for state in front:
                for letter in letters:
                    behind = self._step(state, letter)
                    if behind not in seen:
                        seen.add(behind)
                        found.append(behind)
                        if len(seen) > limit:
                            return limit + 1
            front = found
        return len(seen)

    def count_on(self, text: str, letters: Mapping[str, _Letter]) -> int:
        """Return how many states one text leads through."""
        step = cache(self._step)
        return len(set(accumulate(text, lambda state, character: step(state, letters[character]), initial=_FIRST)))

    def _step(self, state: _State, letter: _Letter) -> _State:
        read, word, line = state
        context = (word, line, letter.word, letter.newline)
        reach = self._reach(self._start, context)
        for atom in _bits(read):
            reach |= self._reach(self._places.after[atom], context)
        return reach & letter.read_by, letter.word, letter.newline

    def _reachable(self, place: int, context: tuple[bool | None, bool, bool, bool]) -> int:
        """Return the atoms, as bits, that may be read next from `place` between the two characters of `context`."""
        atoms, seen, front = 0, {place}, [place]
        while front:
            here = front.pop()
            if here in self._places.reads:
                atoms |= 1 << self._places.reads[here]
            for assertion, behind in self._places.ways[here]:
                if behind not in seen and (assertion is None or _holds(assertion, context)):
                    seen.add(behind)
                    front.append(behind)
        return atoms


def _holds(assertion: Assertion, context: tuple[bool | None, bool, bool, bool]) -> bool:
    """Whether an assertion may hold between two characters; at a text's end nothing more is read."""
    before_word, before_line, word, newline = context
    match assertion.kind:
        case "text":
            return before_word is None
        case "line":
            return before_line
        case "line end":
            return newline
        case "text end":
            return False
        case "edge":
            return bool(before_word) != word
        case "no edge":
            return bool(before_word) == word


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def _letters(atoms: tuple[str, ...], characters: str) -> dict[str, _Letter]:
    """Return what each character is to the atoms; those that none tells apart are equal."""
    options = re2.Options()
    options.log_errors = False
    compiled = {atom: re2.compile(atom, options) for atom in dict.fromkeys(atoms)}
    letters = {}
    for character in set(characters):
        read = {atom for atom, one in compiled.items() if one.fullmatch(character)}
        read_by = sum(1 << number for number, atom in enumerate(atoms) if atom in read)
        word = character.isascii() and (character.isalnum() or character == "_")
        letters[character] = _Letter(read_by, word, character == "\n")
    return letters
