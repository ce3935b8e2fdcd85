"""What the net uses of RE2: searches for a regex, and sets of regexes that match at a text's beginning.

Where a search's automaton outgrows its memory RE2 goes on without one, more slowly. A set answers "nothing" then, which
whoever asks must reckon with. Both release the interpreter's lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import re2

from monitor.errors import ConfigError
from monitor.regex_syntax import plain_regex

MAX_MEM = 32 << 20
"""Bytes that RE2 may use for one automaton. The default net's took under 8 MB after 25 MB of random digits."""
_NOTHING = r"[^\x{0}-\x{10ffff}]"
Anchor: TypeAlias = re2._re2.RE2.Anchor  # noqa: SLF001  # see finder
SOMEWHERE, HERE = Anchor.UNANCHORED, Anchor.ANCHOR_START
# Texts that a pattern must not match emptily: one that does fires on every document.
_PROBES = (b"", b"a", b" a\n1 ")
Finder: TypeAlias = Callable[[Anchor, bytes, int, int], list[tuple[int, int]]]
"""Takes where to begin, the text, and the stretch of it; returns `[(start, end)]`, or `[(-1, -1)]`."""


def options_of(max_mem: int) -> re2.Options:
    """Return the options of every regex of a net; `max_mem` is bytes, for each automaton."""
    options = re2.Options()
    options.log_errors = False  # RE2 would write patterns to stderr
    options.never_capture = True  # groups cost time, and nobody reads them
    options.max_mem = max_mem
    return options


def compiled(key: str, regex: str, options: re2.Options) -> re2._Regexp:
    """Return a regex; raises `ConfigError` under `key` where RE2 can't compile it, or where it matches emptily."""
    compiled = parsed(key, regex, options)
    if any(match.start() == match.end() for probe in _PROBES for match in compiled.finditer(probe)):
        raise ConfigError(key, f"{regex!r} matches the empty text, so it would fire on every document")
    return compiled


def parsed(key: str, regex: str, options: re2.Options) -> re2._Regexp:
    """Return a regex; raises `ConfigError` under `key` where RE2 can't compile it."""
    try:
        re2.compile(regex, options)  # as it stands, for RE2's own word on what is wrong
        return re2.compile(plain_regex(regex), options)
    except (re2.error, UnicodeEncodeError) as error:
        raise ConfigError(key, f"RE2 can't compile {regex!r}: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    if not isinstance(error, re2.error):
        return "a lone surrogate"
    reason = error.args[0]
    return reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)


def compiled_set(regexes: Sequence[str], options: re2.Options) -> re2.Set:
    """Return an automaton that tells which of these match at a text's beginning."""
    built = re2.Set.MatchSet(options)
    for regex in regexes:
        built.Add(regex)
    built.Compile()
    return built


def union(regexes: Iterable[str], options: re2.Options) -> Finder:
    """Return the search for any of these; of none of them, one that finds nothing.

    Raises `ConfigError` where each compiles, and all together are too large.
    """
    try:
        return finder(re2.compile("|".join(f"(?:{plain_regex(regex)})" for regex in regexes) or _NOTHING, options))
    except re2.error as error:
        problem = f"the patterns compile one by one, but not together, in {options.max_mem} bytes: {_reason(error)}"
        raise ConfigError("net.patterns", problem) from None


def finder(compiled: re2._Regexp) -> Finder:
    """Return RE2's own search, `[(start, end)]` or `[(-1, -1)]`.

    The binding's public `search` adds 6 µs of Python to its 2, and hostile text pays that for every candidate.
    """
    find: Finder = compiled._regexp.Match  # noqa: SLF001  # said above
    return find
