"""Arithmetic that tells a number that somebody was given from any run of digits.

A regex says "nine digits"; the issuing authority's rule says whether nine such digits can exist. Each function takes a
candidate as it stands in a text, separators and all, and answers whether it passes. None says that the number was
issued: one random candidate in ten passes Luhn, one in eleven an 11-test, one in 97 an IBAN's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import mul

# Bytes, because `bytes.translate` is several times faster than `str.translate`, and the net's hot path waits for it.
_SEPARATORS = " .-/\t\r\n\u00a0\u2009\u202f".encode()
_VALUES = bytes(48) + bytes(range(10)) + bytes(198)
_DOUBLED = bytes(sum(divmod(2 * digit, 10)) for digit in range(10)) + bytes(246)
_CONTROL_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
_IBAN_DIGITS = {character: str(int(character, 36)) for character in "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_NINO_NEVER_ISSUED = frozenset({"BG", "GB", "KN", "NK", "NT", "TN", "ZZ"})

# Total length by country: SWIFT, IBAN Registry (ISO 13616).
IBAN_LENGTHS: Mapping[str, int] = {
    country: length
    for length, countries in {
        15: "NO",
        16: "BE",
        18: "DK FI FK FO GL NL SD",
        19: "MK SI",
        20: "AT BA EE KZ LT LU MN XK",
        21: "CH HR LI LV",
        22: "BG BH CR DE GB GE IE ME RS VA",
        23: "AE GI IL IQ OM SO TL",
        24: "AD CZ ES MD PK RO SA SE SK TN VG",
        25: "LY PT ST",
        26: "IS TR",
        27: "BI DJ FR GR IT MC MR SM",
        28: "AL AZ BY CY DO GT HN HU LB NI PL SV",
        29: "BR EG PS QA UA",
        30: "JO KW MU YE",
        31: "MT SC",
        32: "LC",
        33: "RU",
    }.items()
    for country in countries.split()
}


# The same by a candidate's first two bytes, with the digits that the country's letters stand for: the net asks often.
_COUNTRIES = {
    country.encode(): (length, "".join(map(_IBAN_DIGITS.__getitem__, country)).encode())
    for country, length in IBAN_LENGTHS.items()
}


def _compact(candidate: str) -> str:
    """Return the candidate without separators, in capitals; another character outside ASCII stays one."""
    return candidate.encode().translate(None, _SEPARATORS).decode("ascii", "replace").upper()


def _digits(candidate: str, length: int) -> bytes:
    """Return the candidate's digits by value, or none where it isn't exactly `length` of them."""
    compact = candidate.encode().translate(None, _SEPARATORS)
    return compact.translate(_VALUES) if len(compact) == length and compact.isdigit() else b""


def _passes_luhn(digits: bytes) -> bool:
    return (sum(digits[::-2]) + sum(digits[-2::-2].translate(_DOUBLED))) % 10 == 0


def luhn(candidate: str) -> bool:
    """Whether the digits pass Luhn's formula, which every change of a single digit breaks.

    False for anything but digits and separators, and for no digit at all. Source: ISO/IEC 7812-1, annex B.

    >>> luhn("7992 7398 713"), luhn("7992 7398 714")
    (True, False)
    """
    compact = candidate.encode().translate(None, _SEPARATORS)
    return compact.isdigit() and _passes_luhn(compact.translate(_VALUES))


def payment_card(candidate: str) -> bool:
    """Whether 12 to 19 digits, not all the same, pass Luhn's formula. Source: ISO/IEC 7812-1; Maestro has 12.

    >>> payment_card("4111-1111-1111-1111"), payment_card("0000 0000 0000 0000")
    (True, False)
    """
    compact = candidate.encode().translate(None, _SEPARATORS)
    shaped = 12 <= len(compact) <= 19 and compact.isdigit() and compact.strip(compact[:1])
    return bool(shaped) and _passes_luhn(compact.translate(_VALUES))


def iban(candidate: str) -> bool:
    """Whether the candidate *begins* with an IBAN: a country's own length, and 1 modulo 97.

    Begins, because a regex can't know the length of each country and may have swallowed the next word; a country that
    isn't in the registry is no IBAN. Source: ISO 13616-1, ISO/IEC 7064 (MOD 97-10).

    >>> iban("GB82 WEST 1234 5698 7654 32 please"), iban("GB82 WEST 1234 5698 7654 33")
    (True, False)
    """
    compact = candidate.encode().translate(None, _SEPARATORS).upper()
    length, country = _COUNTRIES.get(compact[:2], (0, b""))
    if not length or len(compact) < length or not compact.isalnum():
        return False
    moved = compact[4:length] + country + compact[2:4]
    if not moved.isdigit():  # most are digits throughout, and spelling those out letter by letter takes half the time
        moved = "".join(map(_IBAN_DIGITS.__getitem__, moved.decode())).encode()
    return int(moved) % 97 == 1


def es_nif(candidate: str) -> bool:
    """Whether the control letter of a Spanish DNI, NIE or NIF K/L/M is right: the number modulo 23 names it.

    A NIE's X, Y or Z stands for 0, 1 or 2; the number of a NIF K, L or M is its seven digits. A company's NIF isn't
    personal, so it fails. Source: Ministerio del Interior, "Cálculo del dígito de control del NIF/NIE".

    >>> es_nif("12.345.678-Z"), es_nif("X-1234567-L"), es_nif("12345678A")
    (True, True, False)
    """
    compact = _compact(candidate)
    if len(compact) != 9 or not compact.isascii():
        return False
    number = {"X": "0", "Y": "1", "Z": "2", "K": "", "L": "", "M": ""}.get(compact[0], compact[0]) + compact[1:8]
    return number.isdigit() and _CONTROL_LETTERS[int(number) % 23] == compact[8]


def nl_bsn(candidate: str) -> bool:
    """Whether nine digits pass the Dutch 11-test: weights 9 to 2, and −1 for the last. Zeros alone fail.

    Source: Rijksdienst voor Identiteitsgegevens, Logisch Ontwerp BSN.

    >>> nl_bsn("1112.22.333"), nl_bsn("111222334")
    (True, False)
    """
    digits = _digits(candidate, 9)
    weighted = sum(map(mul, digits, (9, 8, 7, 6, 5, 4, 3, 2, -1)))
    return any(digits) and weighted % 11 == 0


def fr_nir(candidate: str) -> bool:
    """Whether the two-digit key of a French NIR is 97 − (number modulo 97); Corsica's 2A and 2B count as 19 and 18.

    Source: INSEE, "Numéro d'inscription au répertoire"; décret n° 82-103.

    >>> fr_nir("2 55 08 14 168 025 38"), fr_nir("2 55 08 14 168 025 39")
    (True, False)
    """
    compact = _compact(candidate)
    department = {"2A": "19", "2B": "18"}.get(compact[5:7], compact[5:7])
    digits = compact[:5] + department + compact[7:]
    if len(digits) != 15 or not (digits.isascii() and digits.isdigit()):
        return False
    return int(digits[13:]) == 97 - int(digits[:13]) % 97


def de_steuer_id(candidate: str) -> bool:
    """Whether eleven digits can be a German tax identification number.

    The first isn't 0; of the first ten exactly one digit occurs twice, or thrice but not three in a row, and no other
    repeats; the last is the check digit of ISO/IEC 7064 (MOD 11,10). Source: BZSt, "Prüfziffernberechnung der IdNr".

    >>> de_steuer_id("47 036 892 816"), de_steuer_id("47 036 892 817")
    (True, False)
    """
    digits = _digits(candidate, 11)
    first = _compact(candidate)[:10]
    repeated = [digit for digit in "0123456789" if first.count(digit) > 1]
    if not digits or digits[0] == 0 or len(repeated) != 1 or first.count(repeated[0]) > 3 or repeated[0] * 3 in first:
        return False
    product = 10
    for digit in digits[:10]:
        product = 2 * ((digit + product) % 10 or 10) % 11
    return (11 - product) % 10 == digits[10]


def uk_nino(candidate: str) -> bool:
    """Whether a National Insurance number has a prefix that can be issued; it carries no check digit.

    D, F, I, Q, U and V stand at neither place, O not at the second, and BG, GB, KN, NK, NT, TN and ZZ are kept back.
    Source: HMRC, NIM39110.

    >>> uk_nino("AB 12 34 56 C"), uk_nino("GB 12 34 56 C")
    (True, False)
    """
    compact = _compact(candidate)
    prefix, number, suffix = compact[:2], compact[2:8], compact[8:]
    allowed = not set(prefix) & set("DFIQUV") and prefix[1:] != "O" and prefix not in _NINO_NEVER_ISSUED
    shaped = prefix.isalpha() and len(number) == 6 and number.isdigit() and suffix in {"A", "B", "C", "D"}
    return compact.isascii() and allowed and shaped


def uk_nhs(candidate: str) -> bool:
    """Whether ten digits pass the NHS number's modulus 11: weights 10 to 2, a remainder that calls for 10 is invalid.

    Zeros alone fail. Source: NHS Data Dictionary, "NHS number".

    >>> uk_nhs("943 476 5919"), uk_nhs("943 476 5918")
    (True, False)
    """
    digits = _digits(candidate, 10)
    weighted = sum(map(mul, digits, range(10, 1, -1)))
    return any(digits) and (11 - weighted % 11) % 11 == digits[9]


def us_ssn(candidate: str) -> bool:
    """Whether nine digits can be a US social security number; it carries no check digit.

    The area isn't 000, 666 or 900 and above, the group isn't 00, the serial isn't 0000. Source: SSA, POMS RM 10201.035.

    >>> us_ssn("219-09-1234"), us_ssn("666-09-1234")
    (True, False)
    """
    compact = _compact(candidate)
    area, group, serial = compact[:3], compact[3:5], compact[5:]
    if len(compact) != 9 or not (compact.isascii() and compact.isdigit()):
        return False
    return area not in {"000", "666"} and area < "900" and group != "00" and serial != "0000"


CHECKS: Mapping[str, Callable[[str], bool]] = {
    check.__name__: check
    for check in (luhn, payment_card, iban, es_nif, nl_bsn, fr_nir, de_steuer_id, uk_nino, uk_nhs, us_ssn)
}
