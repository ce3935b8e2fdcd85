r"""The structure of a regex in RE2's syntax: repetitions, alternatives, what must hold between characters.

Python's own parser doesn't know RE2's syntax (`\z`, `\x{a0}`, `\pL`, `[[:alpha:]]`, `\Q…\E`, `(?U)`), and RE2 doesn't
show its tree. A character, an escape or a class is kept as it stands, with the flags in force, for RE2 to say what it
matches. Only what RE2 has compiled is parsed, so nothing is refused here. Source: RE2's `doc/syntax.txt`.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

Kind = Literal["text", "line", "line end", "text end", "edge", "no edge"]


class Atom(NamedTuple):
    """One character, given by a regex that matches it."""

    regex: str


class Assertion(NamedTuple):
    """Something that must hold between two characters."""

    kind: Kind


class Sequence(NamedTuple):
    """One after the other; nothing where there is no part."""

    parts: tuple[Node, ...]


class Union(NamedTuple):
    """One or the other."""

    choices: tuple[Node, ...]


class Repeat(NamedTuple):
    """Again and again; without end where `most` is None."""

    part: Node
    least: int
    most: int | None


Node: TypeAlias = Atom | Assertion | Sequence | Union | Repeat

_ESCAPED: dict[str, Kind] = {"\\A": "text", "\\z": "text end", "\\b": "edge", "\\B": "no edge"}
_ASSERTED: dict[Kind, str] = {
    "text": r"\A",
    "line": "(?m:^)",
    "line end": "(?m:$)",
    "text end": r"\z",
    "edge": r"\b",
    "no edge": r"\B",
}
_KEPT = 4
"""The longest repetition that is loosened by nothing."""
_TOKEN = re.compile(
    r"""(?P<quote>\\Q.*?(?:\\E|\Z))
    |(?P<flags>\(\?(?P<on>[imsU]*)(?:-(?P<off>[imsU]*))?(?P<scope>[:)]))
    |(?P<open>\((?:\?P?<\w+>)?)
    |(?P<close>\))|(?P<bar>\|)
    |(?P<repeat>(?:[*+?]|\{(?P<least>\d+)(?:(?P<comma>,)(?P<most>\d*))?\})\??)
    |(?P<atom>\\(?:x\{[0-9A-Fa-f]+\}|x[0-9A-Fa-f]{2}|[pP](?:\{\^?\w+\}|\^?\w)|[0-7]{1,3}|.)
    |\[\^?\]?(?:\[:\^?\w+:\]|\\(?:x\{[^}]*\}|[pP]\{[^}]*\}|.)|[^\]\\])*\]|.)""",
    re.DOTALL | re.VERBOSE,
)


def parse_regex(regex: str) -> Node:
    """Return the structure of a regex that RE2 has compiled.

    >>> parse_regex("(?i)a+|$")
    Union(choices=(Repeat(part=Atom(regex='(?i:a)'), least=1, most=None), Assertion(kind='text end')))
    """
    return _Parser(regex).union()


def plain_regex(regex: str) -> str:
    r"""Return the same regex without names of groups, which RE2 would report, and with a quotation that ends.

    So it can stand among others: two may name a group alike, and an open `\Q` would swallow what follows.

    >>> plain_regex(r"(?P<kind>EMP)-\d\Q.")
    '(EMP)-\\d\\Q.\\E'
    """
    return "".join(map(_plain, _TOKEN.finditer(regex)))


def _plain(token: re.Match[str]) -> str:
    if token["open"]:
        return "("
    if token["quote"] and not token["quote"].endswith("\\E"):
        return token["quote"] + "\\E"
    return token[0]


def loosen_regex(regex: str) -> str:
    r"""Return a regex that matches wherever `regex` does, without the bounds of its longer repetitions.

    What counts to forty has forty places for every start; `*` has one.

    >>> loosen_regex(r"\b[a-z.]{1,64}@x{2}")
    '\\b(?:[a-z.])+@(?:x){2}'
    """
    return _written(parse_regex(regex))


def _written(node: Node) -> str:
    match node:
        case Atom(regex):
            return regex
        case Assertion(kind):
            return _ASSERTED[kind]
        case Sequence(parts):
            return "".join(map(_written, parts))
        case Union(choices):
            return f"(?:{'|'.join(map(_written, choices))})"
        case Repeat(part, least, most):
            if most is None or most > _KEPT:
                return f"(?:{_written(part)}){'+' if least else '*'}"
            return f"(?:{_written(part)}){{{least}}}" if least == most else f"(?:{_written(part)}){{{least},{most}}}"


class _Parser:
    def __init__(self, regex: str) -> None:
        self._tokens = list(_TOKEN.finditer(regex))[::-1]
        self._flags = frozenset[str]()

    def union(self) -> Node:
        """Read to the end of the group; flags that it sets end with it."""
        flags, choices, parts = self._flags, [], list[Node]()
        while self._tokens:
            token = self._tokens.pop()
            if token["close"]:
                break
            if token["bar"]:
                choices.append(_sequence(parts))
                parts = []
            else:
                self._read(token, parts)
        self._flags = flags
        choices.append(_sequence(parts))
        return choices[0] if len(choices) == 1 else Union(tuple(choices))

    def _read(self, token: re.Match[str], parts: list[Node]) -> None:
        if token["quote"]:
            quoted = token["quote"].removeprefix("\\Q").removesuffix("\\E")
            parts.extend(self._atom(re.escape(character)) for character in quoted)
        elif token["flags"]:
            self._set_flags(token, parts)
        elif token["open"]:
            parts.append(self.union())
        elif token["repeat"] and parts:
            parts.append(_repeat(token, parts.pop()))
        else:
            parts.append(self._single(token[0]))

    def _set_flags(self, token: re.Match[str], parts: list[Node]) -> None:
        outside = self._flags
        self._flags = (outside | set(token["on"])) - set(token["off"] or "")
        if token["scope"] == ":":
            parts.append(self.union())
            self._flags = outside

    def _single(self, written: str) -> Node:
        lines = "m" in self._flags
        if written == "^":
            return Assertion("line" if lines else "text")
        if written == "$":
            return Assertion("line end" if lines else "text end")
        return Assertion(_ESCAPED[written]) if written in _ESCAPED else self._atom(written)

    def _atom(self, written: str) -> Atom:
        flags = "".join(sorted(self._flags & {"i", "s"}))
        return Atom(f"(?{flags}:{written})" if flags else written)


def _sequence(parts: list[Node]) -> Node:
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts))


def _repeat(token: re.Match[str], part: Node) -> Repeat:
    if token["least"]:
        least = int(token["least"])
        most = least if not token["comma"] else int(token["most"]) if token["most"] else None
        return Repeat(part, least, most)
    least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[token["repeat"][0]]
    return Repeat(part, least, most)
