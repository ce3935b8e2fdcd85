"""The loose net: does a text hold anything that looks like personal data? RE2 reads its UTF-8 bytes once, seldom twice.

It asks whether, never what or where, so a text is read no further than to the answer. Nine transcripts in ten hold
something that needs no check, on average in their first third, and one search for the union of all that is such is
enough: an automaton that tells which patterns match (`re2.Set`) reads them to the end, and takes twice the time. Where
most texts hold nothing of the kind, the first search goes for the union of all patterns and triggers: it reads the
whole text once where nothing is. Which of the two comes first follows from the texts before; the answer is the same.
What is left holds candidates that need a closer look.

* *At signs.* Finding a byte takes 0.1 µs, and half of all business letters and notes hold a mail address: the
  surroundings of the first at sign are looked at before anything else. What is found in a part of a text stands in the
  text too, as RE2 looks past the part's ends for the edges of words.
* *Checks.* Candidates of patterns with a check are tried one at a time. Tries are bounded by the text's length. A text
  with more candidates than that, all of them wrong, counts as caught: nobody can say that a page full of card-shaped
  numbers holds none, and a loose net may err this way only.
* *Cost a byte.* RE2 can't be made superlinear, but where text brings ever new states of its automaton, each byte costs
  a thousand times as much. So a pattern of an operator's that does so on ordinary prose is refused; one that could on
  text made for it is looked for without the bounds of its repetitions, and with them only where that matched
  (`monitor.pattern_states`).
* *Bytes.* The binding reads a buffer of bytes. Encoding copies ASCII at memory speed (0.3 µs for 5 KB, of 8 in all)
  and costs 6 µs where a letter isn't ASCII. The bytes of the record are no way out: JSON escapes stand in them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import re2

from monitor.automata import HERE, MAX_MEM, SOMEWHERE, compiled, compiled_set, finder, options_of, union
from monitor.checksums import CHECKS
from monitor.errors import ConfigError
from monitor.pattern_states import LIMIT, count_states, count_states_on
from monitor.patterns import DEFAULT_PATTERNS, DEFAULT_TRIGGERS, Pattern, trigger_regex, union_regex
from monitor.prose import PROSE
from monitor.regex_syntax import loosen_regex

REVISION = 1
"""Part of every net's version: raised when the same config begins to catch other texts (a check, a boundary)."""

MOST_ON_PROSE = 400
"""States that an operator's pattern may make on `PROSE`: those that count make 640 and more, others 30 at most."""

_OFTEN = 0.6
"""Share of the texts without a mail address that are caught without a check from which on looking for such things
first takes less time: on a text of 5 KB that saves 5 µs where something is found, and costs 13 where not. Both are even
at 0.7; this is lower, lest texts of about that share change the order, and what the cache holds, again and again.
"""
_FADE = 1 / 64

_MAIL = b" jan.jansen@mail.example.nl "
_BEFORE, _AFTER = 65, 256
"""Bytes around an at sign: a name of 64 and what stands before it, and a domain."""

_FREE_TRIES = 3
_BYTES_A_TRY = 2048
_MISSES = 64  # candidates without their bounds that may be none with them, in one text
_SOME = -1
_LONGEST = 64  # bytes in which a candidate of a default pattern ends: an IBAN in groups takes 44


class Net:
    r"""Patterns and triggers, compiled; what it tells of a text never changes, and several threads may ask it.

    Parameters
    ----------
    patterns
        What to look for. Names are unique. A regex is RE2's syntax, case-sensitive unless it says `(?i)`, and `^` is
        the text's beginning unless it says `(?m)`.
    triggers
        Words and phrases; `monitor.patterns` says how they're matched. One that stands twice counts once.
    max_mem
        Bytes that RE2 may use for its automaton.

    Raises
    ------
    ConfigError
        For a pattern that doesn't compile, matches emptily, counts from every start (`a.{40}c`), names an unknown check
        or has a name twice, and for a trigger without a letter or digit. `key` names it: `net.patterns.passport_nl`.

    Examples
    --------
    >>> net = Net([Pattern("badge", r"\bK-\d{4}\b")], ["sort code"])
    >>> net.catches("badge K-1234"), net.catches("badge L-1234"), net.names("my Sort-Code is")
    (True, False, ['trigger:sort code'])
    """

    __slots__ = (
        "_all_bounded",
        "_alone",
        "_any",
        "_at_signs",
        "_beginnings",
        "_candidates",
        "_certain",
        "_checks",
        "_far",
        "_find",
        "_loosened",
        "_names",
        "_near",
        "_often",
        "_seldom",
        "_singles",
        "_triggers",
        "_unbounded",
        "version",
    )

    version: str

    def __init__(self, patterns: Sequence[Pattern], triggers: Sequence[str], *, max_mem: int = MAX_MEM) -> None:
        _refuse_repeated(patterns)
        options = options_of(max_mem)
        self._triggers = tuple(dict.fromkeys(triggers))
        self._names = tuple(pattern.name for pattern in patterns)
        checks = [_check(pattern) for pattern in patterns]
        self._checks = {index: check for index, check in enumerate(checks) if check}
        self._singles = [compiled(f"net.patterns.{pattern.name}", pattern.regex, options) for pattern in patterns]
        words = union_regex(self._triggers)
        self._singles += [compiled("net.triggers", regex, options) for regex in words]
        cheap = [_cheap(pattern) for pattern in patterns]
        self._unbounded = {index for index, regex in enumerate(cheap) if regex != patterns[index].regex}
        self._loosened = sorted(self._unbounded - self._checks.keys())
        self._all_bounded = self._unbounded.isdisjoint(self._checks)
        doubtful = {*self._checks, *self._loosened}
        looked_for = [*cheap, *words]
        self._any = union(looked_for, options)
        self._certain = union((regex for n, regex in enumerate(looked_for) if n not in doubtful), options)
        self._candidates = union((cheap[index] for index in self._checks), options)
        self._seldom = union((cheap[index] for index in self._loosened), options)
        self._find = {index: finder(self._singles[index]) for index in self._checks}
        self._near = [index for index in self._checks if patterns[index] in DEFAULT_PATTERNS]
        self._far = [index for index in self._checks if index not in self._near]
        self._alone = [(index, *self._far) for index in self._near]
        self._beginnings = compiled_set([patterns[index].regex for index in self._near], options)
        self._often = 1.0
        self._at_signs = self._certain(SOMEWHERE, _MAIL, 0, len(_MAIL)) != [(-1, -1)]
        self.version = _version(patterns, self._triggers)

    def catches(self, text: str) -> bool:
        """Return whether a pattern or trigger fires, a pattern with a check only if a candidate passes it.

        `text` is any str without lone surrogates. Time is linear in its length.
        """
        data = text.encode()
        length = len(data)
        start = 0
        if self._at_signs and (at := data.find(b"@")) >= 0:
            [(certain, _)] = self._certain(SOMEWHERE, data, max(0, at - _BEFORE), min(length, at + _AFTER))
            if certain >= 0:
                return True
        if self._often < _OFTEN:
            [(start, _)] = self._any(SOMEWHERE, data, 0, length)
            if start < 0:
                self._often -= self._often * _FADE
                return False
        [(certain, _)] = self._certain(SOMEWHERE, data, start, length)
        if certain >= 0:
            self._often += (1.0 - self._often) * _FADE
            return True
        self._often -= self._often * _FADE
        if self._catches_exactly(data, start):
            return True
        for _ in self._passing(data, start):  # any() over them would be one generator more
            return True
        return False

    def _catches_exactly(self, data: bytes, start: int) -> bool:
        """Return whether a pattern fires that was looked for without its bounds."""
        if not self._loosened:
            return False
        [(start, _)] = self._seldom(SOMEWHERE, data, start, len(data))
        return start >= 0 and any(self._singles[index].search(data) for index in self._loosened)

    def names(self, text: str) -> list[str]:
        """Return what fires, in the order of the config, for tests and diagnosis: `catches` is true where any does.

        A trigger is `trigger:` and its words. Slower than `catches`, which stops at the first.
        """
        data = text.encode()
        passing = set(self._passing(data, 0))
        fired = [
            index in passing if index in self._checks else single.search(data) is not None
            for index, single in enumerate(self._singles)
        ]
        names = [name for name, fires in zip(self._names, fired, strict=False) if fires]  # triggers come after them
        if any(fired[len(self._names) :]):
            names += [f"trigger:{words}" for words in self._triggers if re2.search(trigger_regex(words), text)]
        return names

    def _passing(self, data: bytes, start: int) -> Iterator[int]:
        """Yield those with a check that a candidate from `start` on passes; where tries run out all that may begin.

        Then `_SOME` comes first, of whatever begins: who asks whether any passes needn't wait to be told which.
        """
        tries, length, misses = _FREE_TRIES + len(data) // _BYTES_A_TRY, len(data), _MISSES
        find, checks, unbounded = self._candidates, self._checks, self._unbounded
        [(start, end)] = find(SOMEWHERE, data, start, length)
        while start >= 0:
            if tries <= 0 and self._all_bounded:  # else a candidate may be none
                yield _SOME
            indices = self._beginning(data, start)
            for index in indices:
                if len(indices) > 1 or index in unbounded:  # else what was found is this one's
                    [(here, end)] = self._find[index](HERE, data, start, length)
                    if here < 0:
                        misses -= index in unbounded  # each cost a search over what was left of the text
                        if misses < 0:
                            yield index
                        continue
                tries -= 1
                if tries < 0 or checks[index](data[start:end].decode(errors="replace")):
                    yield index
            # From the next byte, not from the candidate's end: "2020 4111 1111 1111 1111" hides a card.
            [(start, end)] = find(SOMEWHERE, data, start + 1, length)

    def _beginning(self, data: bytes, start: int) -> Collection[int]:
        """Return the patterns with a check that may match at a candidate's first byte.

        One look at what follows tells it of the default ones, as they begin at a word's edge and end in `_LONGEST`
        bytes; those of an operator's are all asked.
        """
        if not self._near:
            return self._far
        places: list[int] | None = self._beginnings.Match(data[start : start + _LONGEST])
        if not places:  # what begins is an operator's, or this is a failure: each is asked
            return [*self._near, *self._far]
        # most candidates are one pattern's
        return self._alone[places[0]] if len(places) == 1 else [*(self._near[place] for place in places), *self._far]


def build_net(defaults: bool, patterns: Mapping[str, Pattern | None], triggers: Sequence[str]) -> Net:  # noqa: FBT001  # the config's own key
    """Return the net that a config asks for.

    With `defaults` the default patterns and triggers come first: a pattern of the same name replaces one, None removes
    it, and triggers are added. Without, the config's own are all. Raises `ConfigError` as `Net` does, and for None
    under a name that isn't a default's.

    >>> net = build_net(True, {"phone_national": None}, [])
    >>> net.catches("call 020 7946 0018"), net.catches("call +44 20 7946 0018")
    (False, True)
    """
    chosen: dict[str, Pattern] = {pattern.name: pattern for pattern in DEFAULT_PATTERNS} if defaults else {}
    for name, pattern in patterns.items():
        if pattern is not None:
            chosen[name] = pattern
        elif chosen.pop(name, None) is None:
            known = ", ".join(chosen) or "none, as net.defaults is false"
            raise ConfigError(f"net.patterns.{name}", f"empty, which removes a default pattern; there are: {known}")
    return Net(tuple(chosen.values()), (*(DEFAULT_TRIGGERS if defaults else ()), *triggers))


def _refuse_repeated(patterns: Sequence[Pattern]) -> None:
    names = [pattern.name for pattern in patterns]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"net.patterns.{name}", "stands twice; a name is one pattern's")


def _check(pattern: Pattern) -> Callable[[str], bool] | None:
    if pattern.check is None:
        return None
    if pattern.check not in CHECKS:
        allowed = ", ".join(CHECKS)
        raise ConfigError(f"net.patterns.{pattern.name}", f"unknown check {pattern.check!r}; there are: {allowed}")
    return CHECKS[pattern.check]


def _cheap(pattern: Pattern) -> str:
    """Return the regex that is looked for first, which matches wherever the pattern's does and makes few states.

    The defaults are held to it by their tests.
    """
    if pattern in DEFAULT_PATTERNS:
        return pattern.regex
    key = f"net.patterns.{pattern.name}"
    try:
        return _bounded(key, pattern.regex)
    except RecursionError:
        raise ConfigError(key, f"{pattern.regex!r} nests its groups too deep") from None


def _bounded(key: str, regex: str) -> str:
    if count_states(regex) <= LIMIT:
        return regex
    if count_states_on(regex, PROSE) > MOST_ON_PROSE:
        raise ConfigError(
            key,
            f"{regex!r} counts characters from every place where a match may begin, so that each character of a text "
            "costs a thousand times as much: write * or + instead of a number in braces, bridge gaps with a narrow "
            "class ([^.\\n]* instead of .{0,40}), or begin with what can't stand inside the gap (a word, \\b)",
        )
    loosened = loosen_regex(regex)
    # A long union of harmless shapes has more states than the limit, and no repetition to blame.
    return loosened if count_states(loosened) <= LIMIT else regex


def _version(patterns: Sequence[Pattern], triggers: Sequence[str]) -> str:
    """Return 12 hex digits that are equal for equal configs, in whatever order they list their parts."""
    content = json.dumps([REVISION, sorted(([*pattern] for pattern in patterns), key=str), sorted(triggers)])
    return hashlib.sha256(content.encode()).hexdigest()[:12]
