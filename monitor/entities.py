"""Names that producers and annotators choose: what may be one, how it reads in a metric, and which mean the same.

Tools call the same thing PERSON, PER, NAME, PERSON_NAME or "person". Unfolded, a name that was found is a miss in one
cell and a false alarm in another. The default table folds names onto Presidio's; it merges only what is the same thing
under two names, never what merely contains it (FIRST_NAME, CITY, ADDRESS and DATE_OF_BIRTH stay themselves), because a
merge that shouldn't be can't be seen in any reading, and a missing one shows as a cell of its own.

Names after the public entity lists of Presidio, AWS Comprehend, Google Cloud DLP, Azure AI Language, spaCy (CoNLL and
OntoNotes labels) and the free words that GLiNER models are asked for.
"""

from __future__ import annotations

import difflib
import hashlib
import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

from monitor.errors import ConfigError

LONGEST_NAME = 64
UNKNOWN = "unknown"

# Controls, lone surrogates, and what breaks or turns round a line: none can stand in a metric, a log or on a page.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
# Soft hyphen, zero-width space, word joiner, byte order mark: two names that differ in them alone look the same.
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_SEPARATORS = re.compile(r"[\s._-]+")
_CACHED = 4096
_LONGEST_CACHED = 256

_ALIASES: Mapping[str, str] = {
    "PERSON": "PER PERS NAME PERSON_NAME FULL_NAME",
    "LOCATION": "LOC GPE FAC",
    "ORGANIZATION": "ORG ORGANISATION ORGANIZATION_NAME ORGANISATION_NAME",
    "NRP": "NORP",
    "DATE_TIME": "DATE TIME",
    "DATE_OF_BIRTH": "DOB BIRTH_DATE",
    "PHONE_NUMBER": "PHONE TELEPHONE TELEPHONE_NUMBER MOBILE_PHONE MOBILE_PHONE_NUMBER LANDLINE_PHONE_NUMBER",
    "EMAIL_ADDRESS": "EMAIL E_MAIL E_MAIL_ADDRESS",
    "CREDIT_CARD": "CREDIT_CARD_NUMBER CREDIT_DEBIT_NUMBER DEBIT_CARD_NUMBER PAYMENT_CARD PAYMENT_CARD_NUMBER",
    "IBAN_CODE": "IBAN INTERNATIONAL_BANK_ACCOUNT_NUMBER INTERNATIONAL_BANKING_ACCOUNT_NUMBER",
    "SWIFT_CODE": "SWIFT BIC",
    "IP_ADDRESS": "IP IPV4 IPV6 IPV4_ADDRESS IPV6_ADDRESS",
    "MAC_ADDRESS": "MAC",
    "POSTAL_CODE": "POSTCODE ZIP ZIP_CODE",
    "PASSPORT_NUMBER": "PASSPORT",
    "NATIONAL_ID": "NATIONAL_ID_NUMBER NATIONAL_IDENTIFICATION_NUMBER",
    "US_SSN": "SSN US_SOCIAL_SECURITY_NUMBER",
    "US_ITIN": "US_INDIVIDUAL_TAX_IDENTIFICATION_NUMBER US_INDIVIDUAL_TAXPAYER_IDENTIFICATION_NUMBER"
    " US_INDIVIDUAL_TAXPAYER_IDENTIFICATION",
    "US_DRIVER_LICENSE": "US_DRIVERS_LICENSE US_DRIVERS_LICENSE_NUMBER",
    "US_BANK_NUMBER": "US_BANK_ACCOUNT_NUMBER",
    "US_PASSPORT": "US_PASSPORT_NUMBER",
    "UK_NHS": "UK_NATIONAL_HEALTH_NUMBER UK_NATIONAL_HEALTH_SERVICE_NUMBER",
    "UK_NINO": "UK_NATIONAL_INSURANCE_NUMBER",
    "ES_NIF": "SPAIN_NIF_NUMBER",
    "ES_NIE": "SPAIN_NIE_NUMBER",
    "VEHICLE_IDENTIFICATION_NUMBER": "VIN",
    "URL": "URI",
    "USERNAME": "USER_NAME",
}
# Known under one name only, so that a report of unknown names is short.
_ALONE = (
    "ADDRESS AGE BANK_ACCOUNT_NUMBER CITY COUNTRY CRYPTO DRIVER_ID FIRST_NAME ID LAST_NAME LICENSE_PLATE"
    " MEDICAL_LICENSE PASSWORD PIN STREET_ADDRESS TITLE UUID"
)


def usable_name(name: str) -> bool:
    r"""Return whether a name says anything: not blank, and no control character or lone surrogate inside.

    >>> usable_name("Person "), usable_name("LINE\nBREAK"), usable_name(" ")
    (True, False, False)
    """
    stripped = _INVISIBLE.sub("", name).strip()
    return bool(stripped) and _FORBIDDEN.search(stripped) is None


def clean_name(raw: str | None) -> str:
    r"""Return a name as it may stand in a metric: never empty, at most 64 characters, every one printable.

    What isn't printable becomes U+FFFD, what can't be seen goes, and letters are composed (NFC). A longer name is cut
    and ends in eight digits of its hash, so that two long names stay two; the digits survive a change of case. Nothing
    at all is `unknown`. Cleaning twice changes nothing.

    >>> clean_name(" LINE\nBREAK "), clean_name(None), len(clean_name("x" * 1000))
    ('LINE�BREAK', 'unknown', 64)
    """
    if raw is None:
        return UNKNOWN
    return _clean_short(raw) if len(raw) <= _LONGEST_CACHED else _clean(raw)


def _clean(raw: str) -> str:
    shown = raw if raw.isascii() else unicodedata.normalize("NFC", _INVISIBLE.sub("", raw))
    name = _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", shown.strip())
    if len(name) > LONGEST_NAME:
        digest = hashlib.blake2b(shown.strip().encode("utf-8", "surrogatepass"), digest_size=8).digest()
        suffix = f"~{int.from_bytes(digest) % 10**8:08d}"
        name = name[: LONGEST_NAME - len(suffix)] + suffix
    return name or UNKNOWN


_clean_short = lru_cache(_CACHED)(_clean)


class Aliases:
    """Folds entity names onto one name each, by the default table and an operator's own.

    Case, runs of spaces, hyphens, dots and underscores, and how letters are encoded (composed or not, full width) make
    no difference; a folded name is in upper case, joined by underscores, and clean. An alias of the operator's wins
    over the default and is applied to its results too; one that maps a name to itself keeps that name apart from what
    the default would make of it. Folding twice changes nothing.

    Parameters
    ----------
    extra
        Names to the names they stand for: `entities.aliases` of the config.

    Raises
    ------
    ConfigError
        For an alias without a usable name on either side, for two that differ, and for a circle.

    Examples
    --------
    >>> Aliases().fold("phone number")
    'PHONE_NUMBER'
    >>> Aliases({"PERSON": "NAME_X"}).fold("per")
    'NAME_X'
    """

    def __init__(self, extra: Mapping[str, str] | None = None) -> None:
        own = _read(extra or {})
        edges = {**_DEFAULT, **own}
        for target in own.values():
            # The operator calls PERSON "PER": the name given last is the one to keep, so PER no longer leads away.
            if target not in own and _leads_back(target, edges):
                del edges[target]
        self._folded = {name: _end(name, edges) for name in edges}
        self._known = frozenset((*self._folded, *self._folded.values(), *_CANONICAL))
        self._cache: dict[str, str] = {}

    def fold(self, name: str) -> str:
        """Return the one name for everything called so; unknown names are kept, in upper case."""
        folded = self._cache.get(name)
        return self._look_up(name) if folded is None else folded

    def known(self, name: str) -> bool:
        """Return whether the name is in the default table or the operator's, on either side."""
        return _plain(name) in self._known

    def nearest(self, name: str) -> str | None:
        """Return the known name that is spelled most alike, None where none is near.

        >>> Aliases().nearest("PERSN"), Aliases().nearest("QUX")
        ('PERSON', None)
        """
        return next(iter(difflib.get_close_matches(_plain(name), sorted(self._known), n=1, cutoff=0.8)), None)

    def _look_up(self, name: str) -> str:
        plain = _plain(name)
        folded = self._folded.get(plain, plain)
        if len(name) <= _LONGEST_CACHED:
            if len(self._cache) >= _CACHED:
                # Names are a producer's to invent; starting again is cheaper than remembering which came last.
                self._cache.clear()
            self._cache[name] = folded
        return folded


def _plain(name: str) -> str:
    if not name.isascii():
        # what can't be seen goes first: beside it a separator wouldn't be at the edge
        name = unicodedata.normalize("NFKC", _INVISIBLE.sub("", name).upper())
    return clean_name(_SEPARATORS.sub("_", name).strip("_").upper()).upper()


def _default() -> dict[str, str]:
    """Return the default table, each name also written as one word (`EmailAddress`)."""
    pairs = [(alias, name) for name, aliases in _ALIASES.items() for alias in aliases.split()]
    pairs += [(name, name) for name in _ALIASES]
    joined = {alias.replace("_", ""): name for alias, name in pairs}
    return {alias: name for alias, name in {**joined, **dict(pairs)}.items() if alias != name}


_DEFAULT: Mapping[str, str] = _default()
_CANONICAL = (*_ALIASES, *_ALONE.split())


def _read(extra: Mapping[str, str]) -> dict[str, str]:
    """Return the operator's aliases in plain spelling."""
    own: dict[str, str] = {}
    for name, target in extra.items():
        key = f"entities.aliases.{clean_name(name)}"
        if not usable_name(name) or not usable_name(target):
            raise ConfigError(key, "an alias and its name need a letter or digit, and no control characters")
        plain, to = _plain(name), _plain(target)
        if own.setdefault(plain, to) != to:
            raise ConfigError(key, f"{plain} stands for {own[plain]} already")
    return own


def _leads_back(name: str, edges: Mapping[str, str]) -> bool:
    at, seen = edges.get(name), {name}
    while at is not None and at not in seen:
        seen.add(at)
        at = edges.get(at)
    return at == name


def _end(name: str, edges: Mapping[str, str]) -> str:
    """Return where the chain of aliases from `name` ends; a name that stands for itself ends it."""
    at, seen = name, {name}
    while (following := edges.get(at, at)) != at:
        if following in seen:
            raise ConfigError(f"entities.aliases.{following}", "stands, in a circle, for itself")
        seen.add(following)
        at = following
    return at
