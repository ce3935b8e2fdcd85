"""The loose net: does a text hold anything that looks like personal data? One RE2 pass over its UTF-8 bytes.

All patterns and triggers are one `re2.Set`, a single automaton whose cost a byte doesn't grow with their number, and
which no pattern can make superlinear. Three things it doesn't do by itself:

* *Say that it failed.* If its automaton outgrows `max_mem`, `Set.Match` answers "nothing". `_SENTINEL` matches every
  text, so an answer without it is a failure; each pattern is then searched alone, where RE2 has a way without one.
* *Check sums.* Where all that matched has a check, candidates are looked up in a further pass and tried one at a time.
  Tries are bounded by the text's length. A text with more candidates than that, all of them wrong, counts as caught:
  nobody can say that a page full of card-shaped numbers holds none, and a loose net may err this way only.
* *Take a str.* The binding reads a buffer of bytes. Encoding copies ASCII at memory speed (0.3 µs for 5 KB, of 13 in
  all) and costs 6 µs where a letter isn't ASCII. The bytes of the record are no way out: JSON escapes stand in them.

`Set.Match` releases the interpreter's lock.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

import re2

from monitor.checksums import CHECKS
from monitor.errors import ConfigError
from monitor.patterns import DEFAULT_PATTERNS, DEFAULT_TRIGGERS, Pattern, trigger_regex, union_regex

REVISION = 1
"""Part of every net's version: raised when the same config begins to catch other texts (a check, a boundary)."""

MAX_MEM = 32 << 20
"""Bytes that RE2 may use for one automaton. The default net's took under 8 MB after 25 MB of random digits."""

_SENTINEL = r"\z"
_FREE_TRIES = 3
_BYTES_A_TRY = 2048
_SOMEWHERE, _HERE = re2._re2.RE2.Anchor.UNANCHORED, re2._re2.RE2.Anchor.ANCHOR_START  # noqa: SLF001  # see _finder
# Texts that a pattern must not match emptily: one that does fires on every document.
_PROBES = (b"", b"a", b" a\n1 ")


class Automaton(Protocol):
    """What is used of `re2.Set`."""

    def Match(self, text: bytes) -> list[int] | None:  # noqa: N802  # RE2's name
        """Return the indices of all that matches, or None."""


class Net:
    r"""Patterns and triggers, compiled; immutable, and safe to use from several threads.

    Parameters
    ----------
    patterns
        What to look for. Names are unique. A regex is RE2's syntax, case-sensitive unless it says `(?i)`, and `^` is
        the text's beginning unless it says `(?m)`. One that counts from every start (`a.{40}c`) makes RE2 build its
        automaton anew at each byte: linear still, but 6 µs a byte instead of 0.003 where `a` is frequent. Use `*`.
    triggers
        Words and phrases; `monitor.patterns` says how they're matched. One that stands twice counts once.
    max_mem
        Bytes that RE2 may use for its automaton.

    Raises
    ------
    ConfigError
        For a pattern that doesn't compile, matches emptily, names an unknown check or has a name twice, and for a
        trigger without a letter or digit. `key` names it: `net.patterns.passport_nl`.

    Examples
    --------
    >>> net = Net([Pattern("badge", r"\bK-\d{4}\b")], ["sort code"])
    >>> net.catches("badge K-1234"), net.catches("badge L-1234"), net.names("my Sort-Code is")
    (True, False, ['trigger:sort code'])
    """

    __slots__ = ("_checks", "_find", "_find_any", "_names", "_set", "_singles", "_triggers", "version")

    version: str

    def __init__(self, patterns: Sequence[Pattern], triggers: Sequence[str], *, max_mem: int = MAX_MEM) -> None:
        _refuse_repeated(patterns)
        options = _options(max_mem)
        self._triggers = tuple(dict.fromkeys(triggers))
        self._names = tuple(pattern.name for pattern in patterns)
        checks = [_check(pattern) for pattern in patterns]
        self._checks = {index: check for index, check in enumerate(checks) if check}
        regexes = [pattern.regex for pattern in patterns]
        self._singles = [_compiled(f"net.patterns.{pattern.name}", pattern.regex, options) for pattern in patterns]
        for words in union_regex(self._triggers):
            regexes.append(words)
            self._singles.append(_compiled("net.triggers", words, options))
        self._find = {index: _finder(self._singles[index]) for index in self._checks}
        checked = "|".join(f"(?:{regexes[index]})" for index in self._checks)
        self._find_any = _finder(_parsed("net.patterns", checked, options))
        self._set = _compiled_set([*regexes, _SENTINEL], options)
        self.version = _version(patterns, self._triggers)

    def catches(self, text: str) -> bool:
        """Return whether a pattern or trigger fires, a pattern with a check only if a candidate passes it.

        `text` is any str without lone surrogates. Time is linear in its length.
        """
        data = text.encode()
        matched = matched_indices(self._set, self._singles, data)
        if not matched:
            return False
        if not self._checks.keys() >= set(matched):
            return True
        return any(True for _ in self._passing(data, matched))

    def names(self, text: str) -> list[str]:
        """Return what fires, in the order of the config, for tests and diagnosis: `catches` is true where any does.

        A trigger is `trigger:` and its words. Slower than `catches`, which stops at the first.
        """
        data = text.encode()
        matched = matched_indices(self._set, self._singles, data)
        passing = set(self._passing(data, [index for index in matched if index in self._checks]))
        fired = passing.union(index for index in matched if index not in self._checks)
        names = [name for index, name in enumerate(self._names) if index in fired]
        if any(index >= len(self._names) for index in fired):
            names += [f"trigger:{words}" for words in self._triggers if re2.search(trigger_regex(words), text)]
        return names

    def _passing(self, data: bytes, matched: Sequence[int]) -> Iterator[int]:
        """Yield those of `matched`, which all have a check, that a candidate passes; all of them when tries run out."""
        if not matched:
            return
        tries = _FREE_TRIES + len(data) // _BYTES_A_TRY
        find, length = (self._find[matched[0]] if len(matched) == 1 else self._find_any), len(data)
        [(start, end)] = find(_SOMEWHERE, data, 0, length)
        while start >= 0:
            for index in matched:
                if len(matched) > 1:
                    [(here, end)] = self._find[index](_HERE, data, start, length)
                    if here < 0:
                        continue
                if not tries:
                    yield from matched
                    return
                tries -= 1
                if self._checks[index](data[start:end].decode(errors="replace")):
                    yield index
            # From the next byte, not from the candidate's end: "2020 4111 1111 1111 1111" hides a card.
            [(start, end)] = find(_SOMEWHERE, data, start + 1, length)


def matched_indices(automaton: Automaton, singles: Sequence[re2._Regexp], data: bytes) -> list[int]:
    """Return the indices of the patterns that match somewhere in `data`, in no order; checks aren't applied.

    `automaton` holds `singles` in their order and the sentinel after them. RE2 as of 2025 refuses to compile a set
    that has no room for twenty states and starts afresh when its room is full, so a silent failure wasn't seen in any
    trial; its interface allows one all the same, and a net that failed silently would look like a clean stream.
    """
    matched = automaton.Match(data) or []
    if len(singles) in matched:
        matched.remove(len(singles))
        return matched
    return [index for index, single in enumerate(singles) if single.search(data)]


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


def default_net() -> Net:
    """Return the net of `monitor.patterns`' defaults."""
    return build_net(defaults=True, patterns={}, triggers=())


def _options(max_mem: int) -> re2.Options:
    options = re2.Options()
    options.log_errors = False  # RE2 would write patterns to stderr
    options.never_capture = True  # groups cost time, and nobody reads them
    options.max_mem = max_mem
    return options


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


def _compiled(key: str, regex: str, options: re2.Options) -> re2._Regexp:
    compiled = _parsed(key, regex, options)
    if any(match.start() == match.end() for probe in _PROBES for match in compiled.finditer(probe)):
        raise ConfigError(key, f"{regex!r} matches the empty text, so it would fire on every document")
    return compiled


def _parsed(key: str, regex: str, options: re2.Options) -> re2._Regexp:
    try:
        return re2.compile(regex, options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0] if isinstance(error, re2.error) else "a lone surrogate"
        detail = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        raise ConfigError(key, f"RE2 can't compile {regex!r}: {detail}") from None


def _compiled_set(regexes: Sequence[str], options: re2.Options) -> re2.Set:
    built = re2.Set.SearchSet(options)
    try:
        for regex in regexes:
            built.Add(regex)
        built.Compile()
    except re2.error:
        problem = f"the patterns compile one by one, but together they're too large ({options.max_mem} bytes)"
        raise ConfigError("net.patterns", problem) from None
    return built


def _finder(compiled: re2._Regexp) -> Callable[[re2._re2.RE2.Anchor, bytes, int, int], list[tuple[int, int]]]:
    """Return RE2's own search, `[(start, end)]` or `[(-1, -1)]`.

    The binding's public `search` adds 6 µs of Python to its 2, and hostile text pays that for every candidate.
    """
    find: Callable[[re2._re2.RE2.Anchor, bytes, int, int], list[tuple[int, int]]] = compiled._regexp.Match  # noqa: SLF001  # said above
    return find


def _version(patterns: Sequence[Pattern], triggers: Sequence[str]) -> str:
    """Return 12 hex digits that are equal for equal configs, in whatever order they list their parts."""
    content = json.dumps([REVISION, sorted(map(list, patterns), key=str), sorted(triggers)])
    return hashlib.sha256(content.encode()).hexdigest()[:12]
