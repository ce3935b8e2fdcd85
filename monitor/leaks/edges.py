r"""What touches a mask and belongs to the masked value: the rest that nobody flagged.

A detector that stops short leaves the end of a number, the house number, one part of a name, or the local part of a
mail address beside a mask that is right as far as it goes. What it is follows from the masked value and from the shape
of what touches it: a value that is complete has no rest, and a word in the next sentence is none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from monitor.leaks.mentions import Searched
from monitor.leaks.ordinary_words import ORDINARY
from monitor.leaks.squeezed import squeeze
from monitor.leaks.values import Nature, nature_of_value
from monitor.leaks.words import (
    DETERMINERS,
    INTERJECTIONS,
    MONTHS_AND_DAYS,
    PARTICLES,
    PREPOSITIONS_OF_TIME,
    PUBLIC_NEIGHBOURS,
    ROLES,
    TITLES,
    Language,
)

_REACH = 160
"""Characters beside a mask that are looked at."""
_WORD_REST = 3
"""Letters glued to a masked word that are more than an ending (`Berliner`, `Smiths`)."""
_WORD = re.compile(r"[^\W_]+")
_DIGIT_GROUPS = re.compile(r"\d+(?:[ \u00a0.\-/]\d+)*(?![^\W\d_])")
_NEXT_DIGITS = re.compile(r"[.\-/\u2011]\d+(?:[ .\-/]\d+)*|[ \u00a0](\d{2,4})(?: \d{2,4})*(?![\d%€$£]|[.,:]\d| ?%)")
_LAST_DIGITS = re.compile(r"(?<![^\W_])(?:\+ ?)?\(?\d[\d\-.()/ \u00a0]{0,9}$")
_NEXT_GROUPS = re.compile(r"(?:[ \-]?[0-9A-Z]{1,4}){1,8}(?![^\W_])")
_YEAR = re.compile(r"[ ,./\-]{1,2}((?:19|20)\d\d)(?!\d)")
_YEAR_INSIDE = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_UNIT = re.compile(
    r"[-/] ?[^\W_]{1,5}(?![^\W_])|,? (?:hs|bis|ter|huis|rd|bg|[IVX]{1,4}|\d{1,2} ?[ºª°][^\s,]*)(?![^\W_])"
)
_POSTAL = (
    r"(?:\d{4} ?[A-Za-z]{2}|[A-Z]{1,2}-?\d{4,5}|\d{5}(?:-\d{4})?|[A-Za-z]{1,2}\d[A-Za-z\d]? ?\d[A-Za-z]{2})(?![^\W_])"
)
_AFTER_NUMBER = re.compile(
    rf"(?:[ ,\n]{{1,2}}(?:[A-Z\u00c0-\u00de][^\W_]*\.?|[a-z]{{1,3}}|\d+ ?[A-Za-z]?)){{0,8}}?[ ,\n]{{1,3}}{_POSTAL}(?: [A-Z][^\W_]*)*"
)
_AFTER_NUMBER_TYPED = re.compile(rf"(?:[ ,\n]{{1,2}}[^\W_]+\.?){{0,8}}?[ ,\n]{{1,3}}{_POSTAL}")
_COMPLETE = re.compile(rf"[^\W\d_].*(?<![^\W_]){_POSTAL}(?:[ ,]+[^\W\d_]+)*$", re.DOTALL)
_DOOR = re.compile(r"(?:apt|suite|unit|flat|box|bus|puerta|piso|nr|no|wohnung|floor|bloque|portal)\.?$", re.IGNORECASE)
_DOOR_NUMBER = re.compile(r" \d+[A-Za-z]?(?![^\W_])")
_HOUSE = re.compile(
    r"(?:[ \-][^\W\d_]+\.?){0,5}?[ ,]{1,2}(?:n[ro]?[.º°]? ?)?\d{1,5} ?[A-Za-z]?(?![^\W_]|[.,:]\d)"
    rf"(?:[-/ ,\n]{{1,3}}{_POSTAL}|[-/][^\W_]{{1,5}})?"
)
_NEXT_NAME = re.compile(r"((?:[ \u00a0](?:[a-z]{1,4}|'[a-z]) ?){0,3})([ \-\u00a0])([^\W\d_]{2,})(?![^\W_]|:|@|\.[a-z])")
_LAST_NAME = re.compile(r"(?<![^\W_@.\-])([^\W\d_]{2,})((?:[ \u00a0][a-z]{1,4}){0,3})([ \-\u00a0])$")
_MAIL_BEFORE = re.compile(r"[^\s@<>(),;:\"'\[\]{}=|]+@?$")
_ANSWERS = re.compile(r"(?:^|\n)[^\W\d_][^\n.!?:]{0,30}: $")
_SENTENCE = re.compile(r"(?:^|[.!?:;\n\r•|\u00bf\u00a1>\]])[\s\"'“”„«»‘’(\[\-–—*]*$")
_COMPLETE_DIGITS = 9
"""Digits of a number that lacks nothing: the shortest telephone numbers and identity numbers that are written whole."""
_COMPLETE_LETTERS = 15
"""Letters and digits of an account number that lacks nothing: Norway's IBAN."""


def rest_after(source: Searched, start: int, end: int, entity: str, limit: int) -> int:
    """Return where a rest ends that follows a masked stretch; its own end where none does.

    `limit` is where the next mask begins.
    """
    text = source.text
    value, following = text[start:end], text[end : min(limit, end + _REACH)]
    if not value or not following:
        return end
    nature = nature_of_value(entity, value)
    size = (
        _glued_after(value, following)
        or _digits_after(value, following, nature)
        or (nature == "address" and _address_after(value, following))
        or (nature == "date" and _year_after(value, following))
        or (nature == "person" and _name_after(source, end, value, following))
    )
    return end + int(size or 0)


def rest_before(source: Searched, start: int, end: int, entity: str, limit: int) -> int:
    """Return where a rest begins that stands before a masked stretch; its own beginning where none does."""
    text = source.text
    value, low = text[start:end], max(limit, start - _REACH)
    before = text[low:start]
    if not value or not before:
        return start
    nature = nature_of_value(entity, value)
    size = (
        (nature == "mail" or before[-1] == "@" or value[0] == "@")
        and _mail_before(value, before)
        or _glued_before(value, before)
        or (nature == "other" or nature == "person")
        and _digits_before(value, before)
        or (nature == "person" and _name_before(source, start, value, before))
    )
    return start - int(size or 0)


def _glued_after(value: str, following: str) -> int:
    """Return the length of what goes on inside a word."""
    if not (value[-1].isalnum() and following[0].isalnum()):
        return 0
    if value[-1].isdigit() and following[0].isdigit():
        found = _DIGIT_GROUPS.match(following)
        return found.end() if found else 1
    word = _WORD.match(following)
    rest = word[0] if word else ""
    told = len(rest) >= _WORD_REST or any(map(str.isdigit, rest)) or "@" in value
    return len(rest) if told else 0


def _glued_before(value: str, before: str) -> int:
    if not (value[0].isalnum() and before[-1].isalnum()):
        return 0
    rest = before[len(before.rstrip(_letters_of(before))) :]
    told = len(rest) >= _WORD_REST or any(map(str.isdigit, rest))
    return len(rest) if told else 0


def _letters_of(text: str) -> str:
    return "".join(set(filter(str.isalnum, text)))


def _digits_after(value: str, following: str, nature: Nature) -> int:
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


def _digits_before(value: str, before: str) -> int:
    if not value[0].isdigit() or any(map(str.isalpha, value)):
        return 0
    digits = sum(map(str.isdigit, value))
    if not 3 <= digits < _COMPLETE_DIGITS:
        return 0
    found = _LAST_DIGITS.search(before)
    if found is None or (before[-1] == " " and not found[0].startswith(("+", "0", "("))):
        return 0
    return len(found[0])


def _year_after(value: str, following: str) -> int:
    found = _YEAR.match(following)
    return found.end() if found and not _YEAR_INSIDE.search(value) and any(map(str.isdigit, value)) else 0


def _address_after(value: str, following: str) -> int:
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


def _name_after(source: Searched, end: int, value: str, following: str) -> int:
    """Return the length of a name's next part: hyphened, after particles, or a word with a capital."""
    found = _NEXT_NAME.match(following)
    if found is None:
        return 0
    particles, gap, word = found.groups()
    joined = [squeeze(p) for p in particles.split()]
    if not word[0].isupper() or not all(p in PARTICLES for p in joined) or not _may_be_name(source, word):
        return 0
    if (word.isupper() and not value.isupper()) or (value.isupper() and not word.isupper()):
        return 0
    tail = source.text[end + found.end() : end + found.end() + _REACH]
    beside = _WORD.match(tail[1:]) if tail[:1] == " " else None
    if squeeze(word) in PUBLIC_NEIGHBOURS or (beside and squeeze(beside[0]) in PUBLIC_NEIGHBOURS):
        return 0
    parts = [part for part in value.split() if squeeze(part) not in TITLES]
    if gap == "-" or " ".join(joined) in _JOINING.get(source.language, ()):
        return found.end()
    if joined or len(parts) != 1 or not value[0].isupper() or (source.is_german and _is_german_noun(word)):
        return 0
    return found.end()


_JOINING: Mapping[Language, tuple[str, ...]] = {
    "en": (
        "van",
        "van der",
        "van den",
        "van de",
        "von",
        "von der",
        "de",
        "de la",
        "del",
        "di",
        "da",
        "el",
        "al",
        "bin",
    ),
    "nl": ("de", "der", "den", "van der", "van den", "van de", "ter", "ten"),
}
"""What joins the parts of a name, and nothing else: a German is "von der" a department, too, a Dutchman "van" a firm."""
_GERMAN_NOUN = re.compile(
    r"(?:ung|heit|keit|schaft|tion|tät|nis|tum|mal|zeit|tag|geld|konto|nummer|karte|kunde|kundin)(?:en)?$"
)


def _is_german_noun(word: str) -> bool:
    return _GERMAN_NOUN.search(word) is not None


def _may_be_name(source: Searched, word: str) -> bool:
    """Return whether a word with a capital isn't one that has it for another reason."""
    plain = squeeze(word)
    if plain in TITLES or plain in MONTHS_AND_DAYS or plain in DETERMINERS or plain in PREPOSITIONS_OF_TIME:
        return False
    return word.lower() not in source.lower_case


def _is_answer(text: str, at: int, start: int, value: str) -> bool:
    """Return whether a line says two words and no more: `Patient: Bo Smid.`"""
    following = text[start + len(value) : start + len(value) + 2]
    if following[:1] not in {"", ".", ",", "\n", "\r"} or (
        following[:1] == "." and following[1:] not in {"", "\n", " "}
    ):
        return False
    before = text[max(0, at - _REACH) : at]
    return squeeze(text[at:start]) not in ORDINARY | INTERJECTIONS and _ANSWERS.search(before) is not None


def _name_before(source: Searched, start: int, value: str, before: str) -> int:
    """Return the length of a name's part before the mask; a sentence's first word has a capital anyway."""
    found = _LAST_NAME.search(before)
    if found is None:
        return 0
    word, particles, gap = found.groups()
    plain = squeeze(word)
    joined = [squeeze(p) for p in particles.split()]
    if not word[0].isupper() or word.isupper() or plain in PARTICLES or not all(p in PARTICLES for p in joined):
        return 0
    if not value[0].isupper() or len(value.split()) != 1 or not _may_be_name(source, word):
        return 0
    at = start - len(found[0])
    if (
        gap != "-"
        and _SENTENCE.search(source.text, max(0, at - _REACH), at)
        and not _is_answer(source.text, at, start, value)
    ):
        return 0
    if plain in PUBLIC_NEIGHBOURS or plain in ROLES or (source.is_german and plain in ORDINARY):
        return 0
    if source.is_german and (_is_german_noun(word) or plain.endswith(_ROLE_ENDINGS)):
        return 0
    return len(found[0])


_ROLE_ENDINGS = (
    "leiter",
    "leiterin",
    "arbeiter",
    "arbeiterin",
    "berater",
    "beraterin",
    "partner",
    "partnerin",
    "arzt",
    "arztin",
    "meister",
    "handler",
    "nehmer",
    "kollege",
    "kollegin",
    "freund",
    "freundin",
    "nachbar",
    "nachbarin",
    "firma",
    "familie",
    "mann",
    "frau",
    "kunde",
    "kundin",
)


def _mail_before(value: str, before: str) -> int:
    """Return the length of what stands glued before a mail address, or before the domain of one."""
    if "@" not in value and before[-1] != "@":
        return 0
    found = _MAIL_BEFORE.search(before)
    return len(found[0]) if found and any(map(str.isalnum, found[0])) else 0
