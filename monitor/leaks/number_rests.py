"""The rest of a number or an address that follows its mask, or stands before it."""

from __future__ import annotations

import re

from monitor.leaks.squeezed import squeeze
from monitor.leaks.values import Nature

_NEXT_DIGITS = re.compile(r"[.\-/\u2011]\d+(?:[ .\-/]\d+)*|[ \u00a0](\d{2,4})(?: \d{2,4})*(?![\d%€$£]|[.,:]\d| ?%)")
_LAST_DIGITS = re.compile(r"(?<![^\W_])(?:\+ ?)?\(?\d[\d\-.()/ \u00a0]{0,9}\Z")
_NEXT_GROUPS = re.compile(r"(?:[ \-]?[0-9A-Z]{1,4}){1,8}(?![^\W_])")
_YEAR = re.compile(r"[ ,./\-]{1,2}((?:19|20)\d\d)(?!\d)")
_YEAR_INSIDE = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_UNIT = re.compile(
    r" \d{1,4} ?-?(?:hs|bis|ter|huis|bg|[IVX]{1,3}|[a-zA-Z])(?![^\W_])| \d{1,4}(?=[.,;]?(?:\n|$))"
    r"|[-/] ?[^\W_]{1,5}(?![^\W_])|,? (?:hs|bis|ter|huis|rd|bg|[IVX]{1,4}|\d{1,2} ?[ºª°][^\s,]*)(?![^\W_])"
)
_POSTAL = (
    r"(?:\d{4} ?[A-Za-z]{2}|[A-Z]{1,2}-?\d{4,5}|\d{5}(?:-\d{4})?|[A-Za-z]{1,2}\d[A-Za-z\d]? ?\d[A-Za-z]{2}"
    r"|\d{3} \d{2}(?= +[A-Z\u00c0-\u00de][a-z\u00df-\u00ff]))(?![^\W_])"
)
_CITY = r"(?: [A-Z][^\W_]*)*"
_AFTER_NUMBER = re.compile(
    r"(?:[ ,\n]{1,2}(?:[A-Z\u00c0-\u00de][^\W_]*\.?|[a-z]{1,3}|\d+ ?[A-Za-z]?)){0,8}?"
    rf"[ ,\n]{{1,3}}{_POSTAL}{_CITY}"
)
_AFTER_NUMBER_TYPED = re.compile(rf"(?:[ ,\n]{{1,2}}[^\W_]+\.?){{0,8}}?[ ,\n]{{1,3}}{_POSTAL}")
_COMPLETE = re.compile(rf"[^\W\d_].*(?<![^\W_]){_POSTAL}(?:[ ,]+[^\W\d_]+)*$", re.DOTALL)
_DOOR = re.compile(r"(?:apt|suite|unit|flat|box|bus|puerta|piso|nr|no|wohnung|floor|bloque|portal)\.?$", re.IGNORECASE)
_DOOR_NUMBER = re.compile(r" \d+[A-Za-z]?(?![^\W_])")
_HOUSE = re.compile(
    r"(?:[ \-][^\W\d_]+\.?){0,5}?[ ,]{1,2}(?:n[ro]?[.º°]? ?)?\d{1,5} ?[A-Za-z]?(?![^\W_]|[.,:]\d)"
    rf"(?:[-/ ,\n]{{1,3}}{_POSTAL}{_CITY}|[-/][^\W_]{{1,5}})?"
)
_COMPLETE_DIGITS = 9
"""Digits of a number that lacks nothing: the shortest telephone numbers and identity numbers that are written whole."""
_COMPLETE_LETTERS = 15
"""Letters and digits of an account number that lacks nothing: Norway's IBAN."""


def digits_after(value: str, following: str, nature: Nature) -> int:
    """Return the length of digit groups that go on with a number that isn't complete yet."""
    digits = sum(map(str.isdigit, value))
    if not value[-1].isdigit() or digits < 3 or nature in {"address", "place", "group"}:
        return _groups_after(value, following, digits)
    found = _NEXT_DIGITS.match(following)
    if found is None:
        return _groups_after(value, following, digits)
    if found[1] is None:
        return found.end() if nature != "date" or digits < 8 else 0
    if nature == "date" or digits >= _COMPLETE_DIGITS + 7 or (digits >= _COMPLETE_DIGITS and not _in_fours(value)):
        return 0
    groups = re.findall(r"\d+", value)
    if not groups:  # superscripts are digits to `isdigit` alone
        return 0
    alike = value[-len(groups[-1]) - 1 : -len(groups[-1])] in {" ", "\u00a0"} or len(groups) > 1 or digits >= 6
    return found.end() if alike and (len(found[1]) == len(groups[-1]) or len(groups) > 1 or digits >= 6) else 0


def _in_fours(value: str) -> bool:
    """Return whether a number is written in groups of four, as cards are: it has sixteen digits."""
    return re.fullmatch(r"\d{4}([ \-])\d{4}(\1\d{1,4})*", value) is not None


def _groups_after(value: str, following: str, digits: int) -> int:
    """Return the length of groups that go on with an account number."""
    letters = squeeze(value)
    if not re.match(r"[A-Za-z]{2}\d\d", value) or digits < 2 or len(letters) >= _COMPLETE_LETTERS:
        return 0
    found = _NEXT_GROUPS.match(following)
    return found.end() if found and any(map(str.isdigit, found[0])) else 0


def digits_before(value: str, before: str) -> int:
    """Return the length of digits that a number, too short for a whole one, begins with."""
    if not value[0].isdigit() or any(map(str.isalpha, value)):
        return 0
    digits = sum(map(str.isdigit, value))
    if not 3 <= digits < _COMPLETE_DIGITS:
        return 0
    found = _LAST_DIGITS.search(before)
    if found is None or (before[-1] == " " and not found[0].startswith(("+", "0", "("))):
        return 0
    return len(found[0])


def year_after(value: str, following: str) -> int:
    """Return the length of a year that follows a date without one."""
    found = _YEAR.match(following)
    return found.end() if found and not _YEAR_INSIDE.search(value) and any(map(str.isdigit, value)) else 0


def address_after(value: str, following: str) -> int:
    """Return the length of a house number, its addition or a postal code that goes on with a street."""
    later = _AFTER_NUMBER if any(map(str.isupper, value)) or value.isdigit() else _AFTER_NUMBER_TYPED
    if any(map(str.isdigit, value)):
        unit = _UNIT.match(following) if value[-1].isdigit() else None
        door = _DOOR_NUMBER.match(following) if _DOOR.search(value) else None
        found = unit or door
    else:
        found = _HOUSE.match(following)
    size = found.end() if found else 0
    if _COMPLETE.search(value):
        return size
    rest = later.match(following, size)
    return rest.end() if rest else size
