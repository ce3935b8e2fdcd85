"""What a slot of a transcript becomes: a value in the spelling of this document, and the entity it's labelled with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from random import Random
from typing import NamedTuple

from streams.documents_ids import NATIONAL_IDS
from streams.documents_templates import ChannelName, Words
from streams.documents_values import Pool
from streams.documents_writing import (
    say_digits,
    say_email,
    spell,
    write_card,
    write_date,
    write_day,
    write_email,
    write_iban,
)


class Value(NamedTuple):
    """Text to write, and the entity it is; empty where it's nobody's personal data."""

    text: str
    entity: str = ""


class Scene:
    """One document's people and numbers, and how they're written in it.

    `informal`: the other side writes in lower case throughout. `stamped`: every line has the time before it. What
    belongs to the document (who they are, their number) stays the same wherever it's mentioned again.
    """

    def __init__(self, rng: Random, locale: str, pool: Pool, words: Words, channel: ChannelName) -> None:
        self.rng = rng
        self.locale = locale
        self.pool = pool
        self.words = words
        self.spoken = channel == "phone"
        self.informal = channel == "chat" and rng.random() < 0.25
        self.stamped = channel == "chat" and rng.random() < 0.3
        self.customer = rng.choice(pool.people)
        self.other = rng.choice(pool.people)
        self.national_id = NATIONAL_IDS[locale](rng)
        self._kept: dict[str, Value] = {}

    def fill(self, slot: str) -> Value:
        """Return what stands in a slot; KeyError for a slot that no transcript may use."""
        if slot in _PASSING:
            return _PASSING[slot](self)
        if slot not in self._kept:
            self._kept[slot] = _KEPT[slot](self)
        return self._kept[slot]


def _email(scene: Scene) -> Value:
    email = scene.customer.email
    if scene.spoken and scene.rng.random() < 0.22:
        return Value(say_email(scene.words, email), "EMAIL_ADDRESS")
    return Value(write_email(scene.rng, email), "EMAIL_ADDRESS")


def _phone(scene: Scene) -> Value:
    phone = scene.rng.choice(scene.pool.phones)
    if scene.spoken and scene.rng.random() < 0.15:
        return Value(say_digits(scene.words, phone), "PHONE_NUMBER")
    return Value(phone, "PHONE_NUMBER")


def _other(scene: Scene) -> Value:
    return Value(f"{scene.other.first} {scene.other.last}", "PERSON")


def _birth(scene: Scene) -> Value:
    born = date(1940, 1, 1) + timedelta(days=scene.rng.randrange(66 * 365))
    return Value(write_date(scene.rng, scene.locale, scene.words, born), "DATE_OF_BIRTH")


def _day(scene: Scene) -> Value:
    day = date(2024, 1, 1) + timedelta(days=scene.rng.randrange(730))
    return Value(write_day(scene.rng, scene.locale, scene.words, day))


def _amount(scene: Scene) -> Value:
    whole, cents = scene.rng.randint(9, 900), scene.rng.choice((0, 50, 90, 99))
    if scene.locale.startswith("en"):
        return Value(f"{'$' if scene.locale == 'en_US' else '£'}{whole}.{cents:02d}")
    return Value(f"{whole},{cents:02d} €")


def _order(scene: Scene) -> Value:
    """Return an order number; some have as many digits as a postal code or a telephone number."""
    (length,) = scene.rng.choices((8, 7, 5, 10), weights=(70, 18, 6, 6))
    return Value(str(scene.rng.randrange(10 ** (length - 1), 10**length)))


def _reference(scene: Scene) -> Value:
    letters = "".join(scene.rng.choices("ABCDEFHKLMNPRSTUVWX", k=2))
    return Value(f"{letters}-{scene.rng.randrange(100_000, 1_000_000)}")


def _username(scene: Scene) -> Value:
    return Value(f"{scene.customer.email.split('@')[0]}{scene.rng.randrange(10, 100)}", "USERNAME")


# Drawn anew wherever it's written: nothing that a document has to be consistent about.
_PASSING: Mapping[str, Callable[[Scene], Value]] = {
    "date": _day,
    "amount": _amount,
    "time": lambda s: Value(f"{s.rng.randint(8, 17)}:{s.rng.choice(('00', '15', '30', '45'))}"),
    "lastfour": lambda s: Value(f"{s.rng.randrange(10_000):04d}"),
    "city": lambda s: Value(s.rng.choice(s.pool.cities), "LOCATION"),
    "rolebox": lambda s: Value(s.rng.choice(s.pool.role_mailboxes)),
}

_KEPT: Mapping[str, Callable[[Scene], Value]] = {
    "person": lambda s: Value(f"{s.customer.first} {s.customer.last}", "PERSON"),
    "first": lambda s: Value(s.customer.first, "PERSON"),
    "spelled": lambda s: Value(spell(s.customer.last), "PERSON"),
    "agent": lambda s: Value(s.rng.choice(s.pool.people).first, "PERSON"),
    "other": _other,
    "email": _email,
    "phone": _phone,
    "address": lambda s: Value(s.rng.choice(s.pool.addresses), "ADDRESS"),
    "birth": _birth,
    "iban": lambda s: Value(write_iban(s.rng, s.rng.choice(s.pool.ibans)), "IBAN_CODE"),
    "card": lambda s: Value(write_card(s.rng, s.rng.choice(s.pool.cards)), "CREDIT_CARD"),
    "nid": lambda s: Value(s.national_id.number, "NATIONAL_ID"),
    "id_name": lambda s: Value(s.national_id.called),
    "ip": lambda s: Value(s.rng.choice(s.pool.ips), "IP_ADDRESS"),
    "passport": lambda s: Value(s.rng.choice(s.pool.passports), "PASSPORT_NUMBER"),
    "plate": lambda s: Value(s.rng.choice(s.pool.plates), "LICENSE_PLATE"),
    "username": _username,
    "password": lambda s: Value(s.rng.choice(s.pool.passwords), "PASSWORD"),
    "order": _order,
    "ref": _reference,
    "product": lambda s: Value(s.rng.choice(s.words.product)),
}
