"""What kind of thing a flagged value is, and which writings of it would give it away elsewhere in the output.

The kind follows from the entity's name and, where that tells little, from the value. It decides what may be looked for:
a surname alone gives somebody away, a city or a month alone nobody, a house number is a number like any other.
"""

from __future__ import annotations

import itertools
import math
import re
from functools import lru_cache
from typing import Literal, NamedTuple

from monitor.leaks.squeezed import squeeze
from monitor.leaks.words import MONTHS_AND_DAYS, PARTICLES, STREET_ENDINGS, STREETS, TITLES

Nature = Literal["person", "address", "place", "organization", "group", "date", "mail", "other"]
Way = Literal["whole", "number", "street", "name", "given", "part"]
"""How a key is looked for: all of a value between the edges of words; a number's digits; an address's street; a word
that's all of a name, the first of several, or another one."""
WORDS: frozenset[Way] = frozenset(("street", "name", "given", "part"))
"""Keys that are one word, which may mean something else."""

_NAMED: dict[Nature, str] = {
    "mail": "EMAIL MAIL",
    "address": "ADDRESS STREET ADRES ADRESSE DIRECCION CALLE STREETADDRESS",
    "person": "PERSON NAME FIRSTNAME LASTNAME SURNAME PATIENT DOCTOR PER NAAM NOMBRE APELLIDO APELLIDOS NOM VORNAME",
    "place": "LOCATION LOC CITY TOWN COUNTRY GPE STATE PROVINCE REGION COUNTY PLACE FACILITY FAC NATION VILLAGE",
    "organization": "ORGANIZATION ORGANISATION ORG COMPANY HOSPITAL INSTITUTION EMPLOYER SCHOOL UNIVERSITY CLINIC",
    "group": "NRP NORP NATIONALITY RELIGION GENDER SEX TITLE PROFESSION JOB OCCUPATION AGE LANGUAGE DEMOGRAPHIC",
    "date": "DATE TIME DOB BIRTH YEAR BIRTHDAY",
}
_NETWORK = {"IP", "MAC", "URL", "DOMAIN", "WEB", "CRYPTO", "WALLET", "USER", "USERNAME"}
_WORD = re.compile(r"[^\W_]+")
_NAMES = re.compile(r"[^\W\d_]{2,}")
_AFTER_COMMA = re.compile(r"[^,]+, *([^\W_]+)")
"""`Smid, Bo`: where the given name stands behind."""
_MAIL = re.compile(r"[^\s@:/]+@[^\s@:/]+\.[A-Za-z]{2,}")
_STREET_NUMBER = re.compile(r"\d+\s?[a-zA-Z]?\b")

FEWEST_DIGITS = 5
"""Digits of a number that two numbers of one document don't share by chance."""
SUFFIX = 7
"""Digits at a number's end, or beginning, that stand for all of it: a telephone number without its prefixes."""
SUFFIX_SHARE = 0.6
"""Share of a number's digits that such a piece holds at least."""
_SPOKEN = 12
"""Letters of several words that are no name: a number as it was spoken (`zero six two four`), or a password."""
_TOKEN = 4
_SHORTEST = 3


class Key(NamedTuple):
    """Letters and digits to look for in a squeezed text, and how."""

    letters: str
    way: Way

    @property
    def needle(self) -> str:
        """Return letters that stand wherever the key does: of a number what its beginning and its end share."""
        return needle_of(self.letters) if self.way == "number" else self.letters


@lru_cache(maxsize=64)
def piece_size(digits: int) -> int:
    """Return how many digits at a number's end, or beginning, stand for all of it."""
    return max(SUFFIX, math.ceil(SUFFIX_SHARE * digits))


def needle_of(number: str) -> str:
    """Return the digits that both a number's beginning and its end have, of the size that counts.

    >>> needle_of("0631772095"), needle_of("12345")
    ('1772', '12345')
    """
    digits = len(number)
    size = min(digits, piece_size(digits))
    return number[digits - size : size]


@lru_cache(maxsize=4096)
def nature_of(entity: str) -> Nature:
    """Return what an entity's name says of its values.

    >>> nature_of("EMAIL_ADDRESS"), nature_of("IP_ADDRESS"), nature_of("LAST_NAME"), nature_of("DATE_OF_BIRTH")
    ('mail', 'other', 'person', 'date')
    """
    words = entity.upper().replace("-", "_").replace(" ", "_").split("_")
    if _NETWORK.intersection(words):
        return "other"
    return next((nature for nature, named in _NAMED.items() if not set(named.split()).isdisjoint(words)), "other")


def nature_of_value(entity: str, value: str) -> Nature:
    """Return what a value is: a place that names a street, or has a number, is an address."""
    nature = nature_of(entity)
    if nature in {"place", "organization"} and is_street(value):
        return "address"
    return "mail" if nature == "other" and "@" in value and _MAIL.fullmatch(value) else nature


def is_street(value: str) -> bool:
    """Return whether a value names a street: by a word of it, or by a word's ending with a number after it."""
    words = [squeeze(word) for word in _WORD.findall(value)]
    if any(len(word) > 5 and word.endswith(STREET_ENDINGS) for word in words):
        return True
    return len(words) > 1 and not STREETS.isdisjoint(words) and _STREET_NUMBER.search(value) is not None


def keys_of(entity: str, value: str) -> tuple[Key, ...]:
    """Return what gives a value away wherever it stands; nothing for one that's a word or number like any other.

    >>> keys_of("PHONE_NUMBER", "06-31 77 20 95")
    (Key(letters='0631772095', way='number'),)
    >>> keys_of("PERSON", "Bo de Jong")
    (Key(letters='bodejong', way='whole'), Key(letters='jong', way='part'))
    >>> keys_of("LOCATION", "Utrecht"), keys_of("AGE", "46 years")
    ((), ())
    """
    letters = squeeze(value)
    if not letters:  # HTML entities of blanks have letters, and are none
        return ()
    digits = sum(map(str.isdigit, letters))
    nature = nature_of_value(entity, value)
    if nature == "mail":
        return _mail_keys(value, letters)
    if digits >= FEWEST_DIGITS and digits == len(letters):
        return (Key(letters, "number"),)
    if nature == "person" and not digits:
        return _name_keys(value, letters)
    if nature == "address":
        return _address_keys(value, letters, digits)
    common = nature == "group" or (nature == "date" and digits < FEWEST_DIGITS)
    return (Key(letters, "whole"),) if not common and _is_identifying(value, letters, digits, nature) else ()


def _is_identifying(value: str, letters: str, digits: int, nature: Nature) -> bool:
    """Return whether a whole value is one that nobody writes by chance."""
    if digits:
        parts = _WORD.findall(value)
        mixed = " " not in value or all(not part.isalpha() or part.isupper() for part in parts)
        return digits >= FEWEST_DIGITS or (
            digits >= 2 and len(letters) >= FEWEST_DIGITS and mixed and nature == "other"
        )
    words = [word for word in map(squeeze, _WORD.findall(value)) if word not in PARTICLES]
    if nature == "place":
        return False
    if nature == "other" and len(words) >= 2 and len(letters) >= _SPOKEN:
        return True
    return (len(words) >= 2 and any(word[:1].isupper() for word in value.split())) or (
        nature == "other" and len(letters) >= 8 and len(words) == 1
    )


def _mail_keys(value: str, letters: str) -> tuple[Key, ...]:
    """Return the address, and the names of a local part that is made of two: a mailbox of one word may be a role."""
    if len(letters) < FEWEST_DIGITS:
        return ()
    local, at, _ = value.partition("@")
    if not at or local.isalnum():
        return (Key(letters, "whole"),)
    names = [squeeze(word) for word in _NAMES.findall(local)]
    if len(names) != 2:
        return (Key(letters, "whole"),)
    return (
        Key(letters, "whole"),
        *(Key(name, "part") for name in dict.fromkeys(names) if len(name) >= _TOKEN and name not in MONTHS_AND_DAYS),
    )


def _name_keys(value: str, letters: str) -> tuple[Key, ...]:
    words = [squeeze(word) for word in _WORD.findall(value)]
    if max(map(len, words), default=0) == 1:
        words = [letters]  # spelled out
    told = [word for word in words if word not in TITLES and word not in PARTICLES and word not in MONTHS_AND_DAYS]
    if len(words) == 1:
        return (Key(letters, "name"),) if len(letters) >= _SHORTEST and letters not in TITLES else ()
    if sum(map(len, told)) < _SHORTEST:
        return ()  # a title and an initial
    given = squeeze(found[1]) if (found := _AFTER_COMMA.match(value)) else told[0]
    names = [Key(word, "given" if word == given else "part") for word in dict.fromkeys(told) if len(word) >= _TOKEN]
    return (Key(letters, "whole"), *names)


def _address_keys(value: str, letters: str, digits: int) -> tuple[Key, ...]:
    """Return the address, and its street where that is one word: others (`Calle Mayor`) are words like any."""
    words = [squeeze(word) for word in _WORD.findall(value)]
    streets = [
        word
        for word, following in itertools.pairwise(words)
        if len(word) >= 8 and word.endswith(STREET_ENDINGS) and following[:1].isdigit()
    ]
    whole = [Key(letters, "whole")] if digits and len(letters) - digits >= _TOKEN else []
    return (*whole, *(Key(word, "street") for word in dict.fromkeys(streets)))
