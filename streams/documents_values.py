"""Pools of seeded values, drawn once from faker: drawing each value when it's needed would be a hundred times slower.

Mail domains are those that RFC 2606 and RFC 6761 reserve, so no address that is written belongs to anybody.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from functools import lru_cache
from random import Random
from typing import NamedTuple

from faker import Faker

from streams.documents_templates import Language, read_transcripts

LOCALES: Mapping[str, Language] = {
    "en_US": "en",
    "en_GB": "en",
    "es_ES": "es",
    "fr_FR": "fr",
    "de_DE": "de",
    "nl_NL": "nl",
}
_MAIL = ("example.com", "example.org", "example.net", "mail.example", "post.example")
_COMPANIES = ("northwind", "mutua", "deltacare")


class Person(NamedTuple):
    """Somebody invented: a name and an e-mail address that is made of it."""

    first: str
    last: str
    email: str


class Pool(NamedTuple):
    """What one locale draws from; every value in the spelling that faker gives it."""

    language: Language
    people: tuple[Person, ...]
    phones: tuple[str, ...]
    addresses: tuple[str, ...]
    cities: tuple[str, ...]
    ibans: tuple[str, ...]
    cards: tuple[str, ...]
    ips: tuple[str, ...]
    passports: tuple[str, ...]
    plates: tuple[str, ...]
    passwords: tuple[str, ...]
    role_mailboxes: tuple[str, ...]
    """Addresses of a department: nobody's personal data, though they look like it."""


@lru_cache(maxsize=16)
def draw_pool(locale: str, seed: int) -> Pool:
    """Return the pool of a locale of `LOCALES`; the same for the same seed and version of faker."""
    fake = Faker(locale)
    fake.seed_instance(seed)
    rng = Random(f"{locale} {seed}")
    language = LOCALES[locale]

    def draw(count: int, value: Callable[[], str]) -> tuple[str, ...]:
        return tuple(" ".join(value().split()) for _ in range(count))

    firsts, lasts = draw(200, fake.first_name), draw(250, fake.last_name)
    streets, codes, cities = draw(200, fake.street_address), draw(200, fake.postcode), draw(200, fake.city)
    return Pool(
        language,
        tuple(_invent_person(rng, rng.choice(firsts), rng.choice(lasts)) for _ in range(2000)),
        draw(400, fake.phone_number),
        tuple(map(_write_address(locale), streets, codes, cities)),
        cities,
        draw(150, fake.iban),
        draw(150, lambda: fake.credit_card_number(rng.choice(("visa16", "visa16", "mastercard", "amex")))),
        draw(60, lambda: fake.ipv6() if rng.random() < 0.15 else fake.ipv4_public()),
        draw(60, fake.passport_number),
        draw(60, lambda: fake.bothify("??-###-??").upper() if locale == "fr_FR" else fake.license_plate()),
        draw(60, lambda: fake.password(length=rng.randint(8, 13))),
        tuple(f"{role}@{name}.example" for role in read_transcripts(language).words.roles for name in _COMPANIES),
    )


def _write_address(locale: str) -> Callable[[str, str, str], str]:
    """Return how a locale writes street, postal code and city on one line."""
    if locale.startswith("en"):
        return lambda street, code, city: f"{street}, {city} {code}"
    return lambda street, code, city: f"{street}, {code} {city}"


def _invent_person(rng: Random, first: str, last: str) -> Person:
    """Return a person whose address is written as people choose theirs; half have letters alone before the @."""
    f, s = _fold_ascii(first), _fold_ascii(last)
    year = rng.randint(50, 99)
    shapes = (
        f"{f}{s}",
        f"{f[0]}{s}",
        f"{f}.{s}",
        f"{s}.{f}",
        f"{f[0]}.{s}",
        f"{f}_{s}",
        f"{f}{year}",
        f"{f}.{s}{year}",
    )
    (local,) = rng.choices(shapes, weights=(26, 22, 24, 5, 6, 4, 8, 5))
    return Person(first, last, f"{local}@{rng.choice(_MAIL)}")


def _fold_ascii(name: str) -> str:
    """Return a name as it can stand in an address: lower-case ASCII letters alone."""
    folded = unicodedata.normalize("NFKD", name.replace("ß", "ss").replace("ø", "o")).lower()
    return "".join(c for c in folded if "a" <= c <= "z")
