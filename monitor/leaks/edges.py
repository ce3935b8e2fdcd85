r"""What touches a mask and belongs to the masked value: the rest that nobody flagged.

A detector that stops short leaves the end of a number, the house number, one part of a name, or the local part of a
mail address beside a mask that is right as far as it goes. What it is follows from the masked value and from the shape
of what touches it: a value that is complete has no rest, and a word in the next sentence is none.
"""

from __future__ import annotations

import re

from monitor.leaks.mentions import Searched
from monitor.leaks.name_rests import name_after, name_before
from monitor.leaks.number_rests import address_after, digits_after, digits_before, year_after
from monitor.leaks.values import Nature, nature_of_value
from monitor.leaks.words import PARTICLES, TITLES

_REACH = 160
"""Characters beside a mask that are looked at."""
_WORD_REST = 3
"""Letters glued to a masked word that are more than an ending (`Berliner`, `Smiths`)."""
_WRITTEN: frozenset[Nature] = frozenset(("person", "place", "organization", "address", "mail"))
"""What is made of words: letters glued to another thing, as to `www.of.be|cause`, are none of it."""
_WORD = re.compile(r"[^\W_]+")
_MASKS = re.compile(r"(?<![^\W_])(?:[A-Z]{3,}(?:_[A-Z]+)*_[0-9]{1,6}|[A-Z]{2,}(?:_[A-Z]{2,})+|[Xx]{2,})(?![^\W_])")
_DIGIT_GROUPS = re.compile(r"\d+(?:[ \u00a0.\-/]\d+)*(?![^\W\d_])")
_MAIL_BEFORE = re.compile(r"[^\s@<>(),;:\"'\[\]{}=|]+@?\Z|[A-Za-z0-9._%+\-]+ \Z")


def rest_after(source: Searched, start: int, end: int, entity: str, limit: int) -> int:
    """Return where a rest ends that follows a masked stretch; its own end where none does.

    `limit` is where the next mask begins.
    """
    text = source.text
    nature = nature_of_value(entity, text[start:end])
    if not may_follow(text, end, nature):
        return end
    value, following = text[max(start, end - _REACH) : end], text[end : min(limit, end + _REACH)]
    if not value or not following:
        return end
    size = (
        _glued_after(value, following, nature)
        or digits_after(value, following, nature)
        or (nature == "address" and address_after(value, following))
        or (nature == "date" and year_after(value, following))
        or (nature == "person" and name_after(source, end, value, following))
    )
    return end if not size or _is_masked(following[:size]) else end + int(size)


_FOLLOWS = re.compile(r"[^\W_]|[@._%+\-/\u2011][^\s<>\[\](){},;\"]|[ \u00a0][\dA-Z]")
_FOLLOWS_NAME = re.compile(
    r"[^\W_]|[@._%+\-][^\s<>\[\](){},;\"]|[ \u00a0](?:[^\W\d_]{1,4}[ \u00a0]|'[a-z] ?){0,3}(?![a-z])[^\W\d_]"
)
_FOLLOWS_DATE = re.compile(r"[^\W_]|[@._%+\-/\u2011][^\s<>\[\](){},;\"]|[ ,./\-]{1,2}\d")


def may_follow(text: str, end: int, nature: Nature) -> bool:
    """Return whether anything follows a mask that could be a rest of what it masks: most often a look tells no."""
    if nature == "address":
        return text[end : end + 1] not in _ENDING
    pattern = _FOLLOWS_NAME if nature == "person" else _FOLLOWS_DATE if nature == "date" else _FOLLOWS
    return pattern.match(text, end) is not None


def may_precede(text: str, start: int, nature: Nature) -> bool:
    """Return whether anything stands before a mask that could be a rest of what it masks."""
    before = text[start - 1 : start]
    if not before or not before.isspace():
        return bool(before) and before not in _PARTING
    if nature == "person":
        return _may_be_name_before(text, start)
    if nature == "mail":
        return text[start : start + 1] == "@"
    return nature == "other" and text[start - 2 : start - 1].isdigit()


def _may_be_name_before(text: str, start: int) -> bool:
    if not text[start - 2 : start - 1].isalnum():
        return False
    word = text[max(0, start - _AROUND) : start - 1].rpartition(" ")[2].rpartition("\n")[2]
    return word in PARTICLES if word.islower() else word.isalpha() and word.lower() not in TITLES


_GLUED_AFTER = re.compile(r"[@._%+\-][^\s<>\[\](){},;\"]+")
_GLUED_BEFORE = re.compile(r"[^\s<>\[\](){},;\"]+[@._%+\-]\Z")
_GLUE = frozenset("@._%+-")
_ENDING = frozenset(".;:?!)")
_PARTING = frozenset("<>(,;:\"'[]{}=|!?\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb\u00bf\u00a1")
_AROUND = 48


def glued_after(text: str, end: int, limit: int) -> tuple[int, int] | None:
    """Return the stretch that is joined to a mask's end by a character that joins parts of one thing."""
    found = _GLUED_AFTER.match(text, end, min(limit, end + _REACH))
    return found.span() if found else None


def glued_before(text: str, start: int, limit: int) -> tuple[int, int] | None:
    """Return the stretch that is joined so to a mask's beginning."""
    if text[start - 1 : start] not in _GLUE:
        return None
    found = _GLUED_BEFORE.search(text, max(limit, start - _REACH), start)
    return found.span() if found else None


def rest_before(source: Searched, start: int, end: int, entity: str, limit: int) -> int:
    """Return where a rest begins that stands before a masked stretch; its own beginning where none does."""
    text = source.text
    nature = nature_of_value(entity, text[start:end])
    if not may_precede(text, start, nature):
        return start
    value, low = text[start : min(end, start + _REACH)], max(limit, start - _REACH)
    before = text[low:start]
    if not value or not before:
        return start
    size = (
        _mail_before(value, before, nature)
        or _glued_before(value, before, nature)
        or (nature == "other" and digits_before(value, before))
        or (nature == "person" and name_before(source, start, value, before))
    )
    return start if not size or _is_masked(before[-size:]) else start - int(size)


def _is_masked(rest: str) -> bool:
    """Return whether a rest is what an earlier redactor left in the text: `PERSON_1-`, `XXXX/`."""
    return not any(map(str.isalnum, _MASKS.sub("", rest)))


def _glued_after(value: str, following: str, nature: Nature) -> int:
    """Return the length of what goes on inside a word."""
    if not (value[-1].isalnum() and following[0].isalnum()):
        return 0
    if value[-1].isdigit() and following[0].isdigit():
        found = _DIGIT_GROUPS.match(following)
        return found.end() if found else 1
    word = _WORD.match(following)
    rest = word[0] if word else ""
    told = (len(rest) >= _WORD_REST and nature in _WRITTEN) or any(map(str.isdigit, rest)) or "@" in value
    return len(rest) if told else 0


def _glued_before(value: str, before: str, nature: Nature) -> int:
    if not (value[0].isalnum() and before[-1].isalnum()):
        return 0
    rest = before[len(before.rstrip(_letters_of(before))) :]
    told = (len(rest) >= _WORD_REST and nature in _WRITTEN) or any(map(str.isdigit, rest))
    return len(rest) if told else 0


def _letters_of(text: str) -> str:
    return "".join(set(filter(str.isalnum, text)))


def _mail_before(value: str, before: str, nature: Nature) -> int:
    """Return the length of what stands glued before a mail address, or before the domain of one."""
    if before[-1] != "@" and ("@" not in value or (nature != "mail" and value[0] != "@")):
        return 0
    found = _MAIL_BEFORE.search(before)
    return len(found[0]) if found and any(map(str.isalnum, found[0])) else 0
