"""How people write the same value: dates in words, numbers in groups, e-mail addresses said aloud.

A detector that meets each value in one spelling only would look far better, or far worse, than it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from random import Random

from streams.documents_templates import Words

_NUMERIC: Mapping[str, str] = {
    "en_US": "{m:02d}/{d:02d}/{y}",
    "en_GB": "{d:02d}/{m:02d}/{y}",
    "es_ES": "{d:02d}/{m:02d}/{y}",
    "fr_FR": "{d:02d}/{m:02d}/{y}",
    "de_DE": "{d:02d}.{m:02d}.{y}",
    "nl_NL": "{d:02d}-{m:02d}-{y}",
}


def write_date(rng: Random, locale: str, words: Words, day: date) -> str:
    """Return a full date: mostly in the country's own digits, else in words, in ISO 8601, or with a short year."""
    pick = rng.random()
    if pick < 0.56:
        return _NUMERIC[locale].format(d=day.day, m=day.month, y=day.year)
    if pick < 0.66:
        return _NUMERIC[locale].format(d=day.day, m=day.month, y=f"{day.year % 100:02d}")
    if pick < 0.72:
        return day.isoformat()
    month = words.months[day.month - 1]
    if locale == "en_US":
        return f"{month} {day.day}, {day.year}"
    return words.date.format(d=day.day, m=month, y=day.year)


def write_day(rng: Random, locale: str, words: Words, day: date) -> str:
    """Return a date that is nobody's birthday: mostly day and month in words, as people say it."""
    if rng.random() < 0.1:
        return _NUMERIC[locale].format(d=day.day, m=day.month, y=day.year)
    month = words.months[day.month - 1]
    if locale == "en_US":
        return f"{month} {day.day}"
    return words.day.format(d=day.day, m=month)


def say_email(words: Words, email: str) -> str:
    """Return an address as a speech recogniser writes it down.

    >>> from streams.documents_templates import read_transcripts
    >>> say_email(read_transcripts("en").words, "ann.lee@mail.example")
    'ann dot lee at mail dot example'
    """
    return email.replace("@", f" {words.at} ").replace(".", f" {words.dot} ")


def say_digits(words: Words, number: str) -> str:
    """Return a number digit by digit, in words; what isn't a digit is left out.

    >>> from streams.documents_templates import read_transcripts
    >>> say_digits(read_transcripts("nl").words, "06-12")
    'nul zes een twee'
    """
    return " ".join(words.digits[int(c)] for c in number if c.isdigit())


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
