"""How people write the same value: dates in words, numbers in groups, e-mail addresses said aloud.

A detector that meets each value in one spelling only would look far better, or far worse, than it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from random import Random
from typing import NamedTuple

from streams.documents_templates import Language


class Words(NamedTuple):
    """What a language needs to say a number, a date and an e-mail address aloud."""

    months: tuple[str, ...]
    digits: tuple[str, ...]
    at: str
    dot: str
    day_first: str
    """Format of a date in words, with d, m (in words) and y."""


WORDS: Mapping[Language, Words] = {
    "en": Words(
        tuple("January February March April May June July August September October November December".split()),
        tuple("zero one two three four five six seven eight nine".split()),
        "at",
        "dot",
        "{d} {m} {y}",
    ),
    "es": Words(
        tuple("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split()),
        tuple("cero uno dos tres cuatro cinco seis siete ocho nueve".split()),
        "arroba",
        "punto",
        "{d} de {m} de {y}",
    ),
    "fr": Words(
        tuple("janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split()),
        tuple("zéro un deux trois quatre cinq six sept huit neuf".split()),
        "arobase",
        "point",
        "{d} {m} {y}",
    ),
    "de": Words(
        tuple("Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()),
        tuple("null eins zwei drei vier fünf sechs sieben acht neun".split()),
        "ät",
        "Punkt",
        "{d}. {m} {y}",
    ),
    "nl": Words(
        tuple("januari februari maart april mei juni juli augustus september oktober november december".split()),
        tuple("nul een twee drie vier vijf zes zeven acht negen".split()),
        "apenstaartje",
        "punt",
        "{d} {m} {y}",
    ),
}

_NUMERIC: Mapping[str, str] = {
    "en_US": "{m:02d}/{d:02d}/{y}",
    "en_GB": "{d:02d}/{m:02d}/{y}",
    "es_ES": "{d:02d}/{m:02d}/{y}",
    "fr_FR": "{d:02d}/{m:02d}/{y}",
    "de_DE": "{d:02d}.{m:02d}.{y}",
    "nl_NL": "{d:02d}-{m:02d}-{y}",
}


def write_date(rng: Random, locale: str, language: Language, day: date) -> str:
    """Return a full date: mostly in the country's own digits, else in words, in ISO 8601, or with a short year."""
    pick = rng.random()
    if pick < 0.56:
        return _NUMERIC[locale].format(d=day.day, m=day.month, y=day.year)
    if pick < 0.66:
        return _NUMERIC[locale].format(d=day.day, m=day.month, y=f"{day.year % 100:02d}")
    if pick < 0.72:
        return day.isoformat()
    words = WORDS[language]
    month = words.months[day.month - 1]
    if locale == "en_US":
        return f"{month} {day.day}, {day.year}"
    return words.day_first.format(d=day.day, m=month, y=day.year)


def write_day(rng: Random, locale: str, language: Language, day: date) -> str:
    """Return a date that is nobody's birthday: mostly day and month in words, as people say it."""
    if rng.random() < 0.1:
        return _NUMERIC[locale].format(d=day.day, m=day.month, y=day.year)
    month = WORDS[language].months[day.month - 1]
    if locale == "en_US":
        return f"{month} {day.day}"
    return WORDS[language].day_first.format(d=day.day, m=month, y="").strip().removesuffix(" de")


def say_email(language: Language, email: str) -> str:
    """Return an address as a speech recogniser writes it down.

    >>> say_email("en", "ann.lee@mail.example")
    'ann dot lee at mail dot example'
    """
    words = WORDS[language]
    return email.replace("@", f" {words.at} ").replace(".", f" {words.dot} ")


def say_digits(language: Language, number: str) -> str:
    """Return a number digit by digit, in words; what isn't a digit is left out.

    >>> say_digits("nl", "06-12")
    'nul zes een twee'
    """
    return " ".join(WORDS[language].digits[int(c)] for c in number if c.isdigit())


def write_email(rng: Random, email: str) -> str:
    """Return an address as typed: as it is, with capitals, or mangled in one of the ways that hide it from a regex."""
    pick = rng.random()
    if pick < 0.90:
        return email
    local, domain = email.split("@")
    if pick < 0.96:
        return f"{local.title()}@{domain}"
    return f"{local} @ {domain}" if pick < 0.98 else f"{local}(at){domain}"


def write_iban(rng: Random, iban: str) -> str:
    """Return an account number in groups of four, as it's printed on a card, or in one piece."""
    return write_groups(iban, " ") if rng.random() < 0.7 else iban


def write_card(rng: Random, card: str) -> str:
    """Return a card number in groups of four with spaces or hyphens, or in one piece."""
    pick = rng.random()
    return card if pick < 0.3 else write_groups(card, "-" if pick < 0.4 else " ")


def write_groups(number: str, gap: str) -> str:
    """Return a number in groups of four.

    >>> write_groups("NL91ABNA0417164300", " ")
    'NL91 ABNA 0417 1643 00'
    """
    return gap.join(number[i : i + 4] for i in range(0, len(number), 4))


def spell(name: str) -> str:
    """Return a name letter by letter.

    >>> spell("Lee")
    'L-E-E'
    """
    return "-".join(c.upper() for c in name if c.isalpha())
