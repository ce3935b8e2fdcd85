"""The same value in another spelling, which a reader recognises and a search for the value doesn't find."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Mapping
from random import Random

Respell = Callable[[Random, str], str]

_DIGITS = {"full-width": 0xFF10, "Arabic-Indic": 0x0660, "Persian": 0x06F0, "Devanagari": 0x0966, "bold": 0x1D7CE}
_HIDDEN = ("\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad")
_MARKS = ("\u0332", "\u0336", "\u0335")  # drawn under and through letters
_NAMED = {"@": "&commat;", ".": "&period;", "-": "&hyphen;", "é": "&eacute;", "ü": "&uuml;", "ñ": "&ntilde;"}


def count_digits(value: str) -> int:
    """Return how many ASCII digits a value has."""
    return sum("0" <= letter <= "9" for letter in value)


def count_graphemes(value: str) -> int:
    """Return how many letters and digits a value has."""
    return sum(map(str.isalnum, value))


def other_digits(rng: Random, value: str) -> str:
    """Return the value in digits of another script; full-width ones come with full-width letters now and then."""
    zero = rng.choice(tuple(_DIGITS.values()))
    if zero == 0xFF10 and rng.random() < 0.3:
        return "".join(chr(ord(c) - 0x21 + 0xFF01) if "!" <= c <= "~" else c for c in value)
    return "".join(chr(zero + int(c)) if "0" <= c <= "9" else c for c in value)


def hidden_characters(rng: Random, value: str) -> str:
    """Return the value with characters that show nothing between some of its own."""
    hidden = rng.choice(_HIDDEN)
    if rng.random() < 0.4:
        at = rng.randint(1, len(value) - 1)
        return value[:at] + hidden + value[at:]
    return hidden.join(value)


def html_entities(rng: Random, value: str) -> str:
    """Return the value with HTML entities for some or all of its characters: named, decimal, hexadecimal."""
    if rng.random() < 0.3 and any(c in _NAMED for c in value):
        return "".join(_NAMED.get(c, c) for c in value)
    shape = rng.choice(("&#{};", "&#x{:x};", "&#x{:X};", "&#{:04d};"))
    share = rng.choice((0.3, 1))
    written = "".join(shape.format(ord(c)) if rng.random() < share else html.escape(c) for c in value)
    return written if "&#" in written else shape.format(ord(value[0])) + value[1:]


def combining_marks(rng: Random, value: str) -> str:
    """Return the value decomposed where it has accents, and else struck through or underlined."""
    apart = unicodedata.normalize("NFD", value)
    if apart != value:
        return apart
    mark = rng.choice(_MARKS)
    return "".join(c + mark if c.isalnum() else c for c in value)


def other_separators(rng: Random, value: str) -> str:
    """Return a number with other characters between its groups, or none; a value of letters in the other case."""
    if count_digits(value) < 5:
        return value.lower() if value.isupper() or rng.random() < 0.3 else value.upper()
    groups = re.findall(r"\w+", value)
    gaps = [gap for gap in ("", " ", "-", ".", " | ", "/", "\u00a0", "\u2011", " - ", "_", "·") if gap != " "]
    if len(groups) == 1:
        size = rng.choice((2, 3, 4))
        groups = [value[at : at + size] for at in range(0, len(value), size)]
    written = rng.choice(gaps).join(groups)
    return written if written != value else " | ".join(groups)


def international(rng: Random, rest: str, prefix: str) -> str:
    """Return a telephone number as written from abroad: `rest` is without the trunk zero."""
    size = rng.choice((2, 3, 4, 20))
    grouped = rng.choice((" ", "-", " ")).join(rest[at : at + size] for at in range(0, len(rest), size))
    trunk = "" if prefix in {"1", "34"} else " (0)"
    return rng.choice(("+", "+", "00")) + prefix + rng.choice((" ", "", trunk)) + grouped


SPELLINGS: Mapping[str, tuple[Respell, tuple[str, ...], Callable[[str], bool]]] = {
    "other_digits": (
        other_digits,
        ("PHONE_NUMBER", "IBAN_CODE", "CREDIT_CARD", "NATIONAL_ID", "DATE_OF_BIRTH"),
        lambda value: count_digits(value) >= 6,
    ),
    "hidden_characters": (
        hidden_characters,
        ("PHONE_NUMBER", "PERSON", "EMAIL_ADDRESS", "IBAN_CODE", "CREDIT_CARD"),
        lambda value: count_graphemes(value) >= 6,
    ),
    "html_entities": (
        html_entities,
        ("PERSON", "EMAIL_ADDRESS", "PHONE_NUMBER", "ADDRESS"),
        lambda value: count_graphemes(value) >= 6,
    ),
    "combining_marks": (
        combining_marks,
        ("PERSON", "EMAIL_ADDRESS", "ADDRESS", "PHONE_NUMBER"),
        lambda value: count_graphemes(value) >= 6,
    ),
    "other_separators": (
        other_separators,
        ("PHONE_NUMBER", "IBAN_CODE", "CREDIT_CARD", "NATIONAL_ID", "PERSON", "EMAIL_ADDRESS"),
        lambda value: count_graphemes(value) >= 8 and len(value) < 60,
    ),
}
"""By kind of fault: how to respell, of which entities, and which values fit."""
