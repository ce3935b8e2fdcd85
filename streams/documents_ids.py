"""National identity numbers that could exist: seeded, with the check digits that each country's rule asks for.

The rules themselves, with their sources, stand in `monitor.checksums`, which the tests hold these against.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import NamedTuple

_NIF_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"


class NationalId(NamedTuple):
    """A number, and what people call it in a conversation."""

    called: str
    number: str


def us_ssn(rng: Random) -> NationalId:
    """Return a US social security number: areas 001 to 665; one in four is written without hyphens."""
    gap = rng.choice(("-", "-", "-", ""))
    groups = f"{rng.randint(1, 665):03d}", f"{rng.randint(1, 99):02d}", f"{rng.randint(1, 9999):04d}"
    return NationalId("Social Security number", gap.join(groups))


def uk_nino(rng: Random) -> NationalId:
    """Return a UK National Insurance number with a prefix that can be issued."""
    prefix = rng.choice("ABCEGHJKLMNPRSTWXY") + rng.choice("ABCEHJLMPRSTWXYZ")
    if prefix in {"NT", "KN", "TN", "ZZ", "BG", "GB", "NK"}:
        prefix = "AB"
    pairs = [f"{rng.randint(0, 99):02d}" for _ in range(3)]
    gap = rng.choice((" ", " ", ""))
    return NationalId("National Insurance number", gap.join((prefix, *pairs, rng.choice("ABCD"))))


def es_nif(rng: Random) -> NationalId:
    """Return a Spanish DNI or, one in five, a NIE."""
    if rng.random() < 0.2:
        first, rest = rng.randint(0, 2), rng.randint(0, 9_999_999)
        letter = _NIF_LETTERS[(first * 10_000_000 + rest) % 23]
        return NationalId("NIE", f"{'XYZ'[first]}{rest:07d}{letter}")
    number = rng.randint(1_000_000, 99_999_999)
    gap = rng.choice(("", "", "-", " "))
    return NationalId("DNI", f"{number:08d}{gap}{_NIF_LETTERS[number % 23]}")


def fr_nir(rng: Random) -> NationalId:
    """Return a French NIR of the mainland; two in three are written in groups."""
    groups = (
        str(rng.randint(1, 2)),
        f"{rng.randint(0, 99):02d}",
        f"{rng.randint(1, 12):02d}",
        f"{rng.choice([n for n in range(1, 96) if n != 20]):02d}",
        f"{rng.randint(1, 989):03d}",
        f"{rng.randint(1, 999):03d}",
    )
    key = f"{97 - int(''.join(groups)) % 97:02d}"
    return NationalId("numéro de sécurité sociale", rng.choice((" ", " ", "")).join((*groups, key)))


def de_steuer_id(rng: Random) -> NationalId:
    """Return a German tax identification number: one of the first ten digits stands there twice, another never."""
    digits = rng.sample(range(10), 10)
    digits[rng.randint(5, 9)] = digits[rng.randint(0, 4)]
    if digits[0] == 0:
        digits.reverse()
    if digits[0] == 0:  # 0 was the digit that stands twice, at both ends
        digits[0], digits[1] = digits[1], digits[0]
    product = 10
    for digit in digits:
        product = 2 * ((digit + product) % 10 or 10) % 11
    written = "".join(map(str, (*digits, (11 - product) % 10)))
    gap = rng.choice((" ", " ", ""))
    return NationalId("Steuer-ID", gap.join((written[:2], written[2:5], written[5:8], written[8:])))


def nl_bsn(rng: Random) -> NationalId:
    """Return a Dutch citizen service number: drawn until the eleven-test leaves a single last digit."""
    while True:
        digits = [rng.randint(1, 9), *(rng.randint(0, 9) for _ in range(7))]
        last = sum(weight * digit for weight, digit in zip(range(9, 1, -1), digits, strict=True)) % 11
        if last < 10:
            return NationalId("burgerservicenummer", "".join(map(str, (*digits, last))))


NATIONAL_IDS: Mapping[str, Callable[[Random], NationalId]] = {
    "en_US": us_ssn,
    "en_GB": uk_nino,
    "es_ES": es_nif,
    "fr_FR": fr_nir,
    "de_DE": de_steuer_id,
    "nl_NL": nl_bsn,
}
"""By faker's name of the locale."""
